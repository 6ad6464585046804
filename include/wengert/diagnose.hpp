// wengert/diagnose.hpp: finding trouble. Where a NaN comes from, whether a gradient is right, what a graph looks like.
//
//   wengert::NaiveTape<double> tape;
//   wengert::Id x = tape.input(1.0), y = tape.log(x);
//   tape.label(x, "x");
//   wengert::Program<double> program = wengert::compile(tape, tape.mul(y, y));
//   double points[3] = {1, 2, -1};
//   std::puts(wengert::diagnose(program, 3, wengert::rows(points, 1)).describe().c_str());  // sample 2: log (id 1) is nan, ...
//   std::puts(wengert::check_gradient(program, 2, wengert::rows(points, 1)).describe().c_str());
//   std::puts(wengert::dot(program).c_str());  // for Graphviz: dot -Tsvg
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/custom.hpp"
#include "wengert/program.hpp"
#include "wengert/replay.hpp"
#include "wengert/tape.hpp"

namespace wengert {

/// A number that is infinite or NaN, where all that it was computed from is finite or an input is to blame.
///
/// Ids of a program count its inputs, then the constants, then the results of ops that its outputs depend on; ids of a
/// tape are the tape's. A name is a label with its scopes (wengert/labels.hpp), empty where there is none.
struct NonFinite {
  /// An operand of the op that is named, and what it was there.
  struct Operand {
    Id id;             ///< of the tape or program
    std::string name;  ///< its label, with scopes
    double value;      ///< in that sample
  };
  std::size_t sample = 0;  ///< of the batch; Departure::every_sample for what there is once; 0 of a tape
  Id id = no_id;           ///< the variable
  std::string name;        ///< its label
  std::string op;          ///< what computes it; "input"
  double number = 0;       ///< its value, or its adjoint

  /// Of an adjoint: the op that contributed what isn't finite, and its adjoint. no_id where contributions are finite each, but
  /// not their sum.
  Id through = no_id;
  std::string through_name;    ///< its label
  std::string through_op;      ///< what it computes
  double through_adjoint = 0;  ///< its adjoint

  std::vector<Operand> operands;  ///< of `op`; of an adjoint those of `through_op`; none of a sum over samples
};

/// Where a NaN or an infinity begins, if there is one.
struct Diagnosis {
  /// The first of what comes before all samples (parameters, and what follows from them alone), or in the first sample that
  /// has any, inputs included, or of what follows from sums over the samples.
  std::optional<NonFinite> value;
  /// Likewise, in the order of the reverse sweep, of what depends on a differentiated input.
  std::optional<NonFinite> adjoint;

  bool clean() const { return !value && !adjoint; }  ///< everything is finite
  /// A line for each.
  WENGERT_API std::string describe() const;
};

/// Evaluates every op of every sample, with all outputs seeded with 1; `parameters` are those when compiled where none are
/// given. Takes the memory of the tape, times as many samples as go into a block, and several times the time of
/// Replay::gradient. Throws bad_size (parameters), out_of_memory.
template <class Real>
WENGERT_API Diagnosis diagnose(const Program<Real>& program, std::size_t samples,
                               Samples<const std::type_identity_t<Real>> inputs,
                               std::span<const std::type_identity_t<Real>> parameters = {});
/// Looks at a tape as it is: values, and adjoints of the last `backward`.
template <class Real>
WENGERT_API Diagnosis diagnose(const NaiveTape<Real>& tape);

/// What check_gradient found.
struct GradientCheck {
  /// One derivative.
  struct Entry {
    std::size_t sample;  ///< of the batch
    std::size_t output;  ///< of the program
    std::size_t input;   ///< counts the differentiated ones
    double gradient;     ///< ours
    double difference;   ///< by differences
    double error;        ///< by how much that may be wrong
    bool known;          ///< whether differences give any number here
    bool agrees;         ///< true where not known
  };
  std::vector<Entry> entries;  ///< for each sample, output and differentiated input

  bool passed() const;              ///< all agree
  std::size_t disagreeing() const;  ///< how many don't
  /// How many agree, and the worst that don't.
  WENGERT_API std::string describe() const;
};

/// Compares the derivatives of all outputs with central differences, extrapolated to step 0 with an estimate of their error
/// (C. J. F. Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Advances in Engineering Software 4 (1982), 75-76), in
/// double for float programs too. They agree where |gradient - difference| <= 10 error + tolerance * the larger of the two + the
/// smallest normal number; tolerance 0 is 1e-6 for double, 1e-4 for float. At a kink differences see the slope of neither side, or of both.
/// Parameters are those when compiled. Takes 24 evaluations per sample and input. Throws unsupported where the program has
/// sums over samples or uniform outputs, bad_argument (tolerance), out_of_memory.
template <class Real>
WENGERT_API GradientCheck check_gradient(const Program<Real>& program, std::size_t samples,
                                         Samples<const std::type_identity_t<Real>> inputs, double tolerance = 0);

/// What check_custom found, function by function; those that the rule lacks have no entries.
struct CustomCheck {
  GradientCheck vjp;  ///< of the Jacobian
  GradientCheck jvp;  ///< of the Jacobian, input by input
  GradientCheck hvp;  ///< of the Jacobian's product with weights 1, 1/2, 1/3, ...: its derivatives

  /// Whether all agree.
  bool passed() const { return vjp.passed() && jvp.passed() && hvp.passed(); }
  /// As of GradientCheck, for each function.
  WENGERT_API std::string describe() const;
};

/// Compares the derivatives that a custom op gives with differences of what it computes, by check_gradient, at each sample. Throws
/// what the op throws.
template <class Real>
WENGERT_API CustomCheck check_custom(const CustomOp<Real>& op, std::size_t samples,
                                     Samples<const std::type_identity_t<Real>> inputs, double tolerance = 0);

/// The graph in Graphviz's language (https://graphviz.org/doc/info/lang.html): scopes are boxes around their ops.
template <class Real>
WENGERT_API std::string dot(const NaiveTape<Real>& tape);
/// Of a program: its inputs, constants, and the ops that its outputs depend on.
template <class Real>
WENGERT_API std::string dot(const Program<Real>& program);

inline bool GradientCheck::passed() const { return disagreeing() == 0; }
inline std::size_t GradientCheck::disagreeing() const {
  std::size_t count = 0;
  for (const Entry& entry : entries) count += !entry.agrees;
  return count;
}

extern template Diagnosis diagnose(const Program<double>&, std::size_t, Samples<const double>, std::span<const double>);
extern template Diagnosis diagnose(const Program<float>&, std::size_t, Samples<const float>, std::span<const float>);
extern template Diagnosis diagnose(const NaiveTape<double>&);
extern template Diagnosis diagnose(const NaiveTape<float>&);
extern template GradientCheck check_gradient(const Program<double>&, std::size_t, Samples<const double>, double);
extern template GradientCheck check_gradient(const Program<float>&, std::size_t, Samples<const float>, double);
extern template CustomCheck check_custom(const CustomOp<double>&, std::size_t, Samples<const double>, double);
extern template CustomCheck check_custom(const CustomOp<float>&, std::size_t, Samples<const float>, double);
extern template std::string dot(const NaiveTape<double>&);
extern template std::string dot(const NaiveTape<float>&);
extern template std::string dot(const Program<double>&);
extern template std::string dot(const Program<float>&);

}  // namespace wengert
