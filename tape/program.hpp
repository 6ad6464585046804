// What a Program holds: instructions in the order they run, and where everything lies in a block's slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/checks.hpp"
#include "tape/source.hpp"
#include "wengert/program.hpp"

namespace wengert::plan {

using Slot = std::uint32_t;
inline constexpr Slot no_slot = 0xffffffffu;

/// What a block computes with.
enum class Numbers { plain, dual };

/// A kind of evaluation: of values, or of adjoints too; of dual numbers with tangents of either.
struct Evaluation {
  bool gradient;
  Numbers numbers = Numbers::plain;
  bool uniform_tangents = false;  ///< of dual numbers: of what is the same for all samples, and of the sums over them

  constexpr Evaluation(bool gradient_, Numbers numbers_ = Numbers::plain, bool uniform_tangents_ = false)
      : gradient(gradient_), numbers(numbers_), uniform_tangents(uniform_tangents_) {}
  constexpr bool dual() const { return numbers == Numbers::dual; }
  /// Whether the samples' shares of the sums over them are computed.
  constexpr bool has_sums() const { return !dual() || uniform_tangents; }
  static constexpr std::size_t count = 6;
  constexpr std::size_t number() const { return 2 * (dual() + uniform_tangents) + gradient; }
};

/// Kinds of instructions past those of the catalogue (kernels/catalogue.hpp).
///
/// A custom op's values, and its adjoint. Their words: the rule's number, how many of the slots read are adjoints of outputs, how
/// many slots are written, how many are read, the slots. The adjoint writes what is to be added to the operands' adjoints; it
/// reads adjoints of outputs, operands, results.
///
/// A block's share of a sum over the samples, taken as soon as it is there, whose slot is then free. Its words: which sum (those of
/// sum_samples, then adjoints of uniform variables), the slot.
///
/// A dot whose terms each have a factor that is the same for all samples, with the words of one of any length; and the adjoint of
/// products with uniform factors that get no other contribution: a block's shares of their sums are taken at once
/// (kernels/uniform_products.hpp).
///
/// A guard: a comparison that has to come out as recorded; one kind for each question (kernels/checks.hpp tells its words).
inline constexpr std::uint16_t call_values = kernels::kind_count, call_adjoint = call_values + 1,
                               take_sum = call_adjoint + 1, uniform_dots = take_sum + 1,
                               uniform_products = uniform_dots + 1, first_check = uniform_products + 1,
                               kind_count = first_check + kernels::questions.size();
inline constexpr std::size_t call_words = 4;  ///< before the slots
constexpr bool is_call(std::uint16_t kind) { return kind == call_values || kind == call_adjoint; }
constexpr bool is_check(std::uint16_t kind) { return kind >= first_check; }
constexpr bool in_catalogue(std::uint16_t kind) { return kind < call_values; }

/// A stretch of instructions of one kind.
struct Run {
  std::uint16_t kind;
  std::uint32_t count;
};

/// Instructions, as kernels read them: words of all runs, one after another.
struct Code {
  std::vector<Run> runs;
  std::vector<std::size_t> first_word;  ///< of each run
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> recorded;  ///< each instruction's position in the order of the tape
  std::size_t instructions = 0;
};

template <class Real>
struct Constant {
  Slot slot;
  Real value;
};

/// A uniform value that the samples' code reads: copied into all lanes of a slot, or, where it is read as a factor of uniform_dots and
/// uniform_products alone, into the first.
struct Import {
  Slot slot, uniform;
  bool factor;
};

/// Everything that one kind of evaluation needs. Slots: first constants and values that a backward sweep reads, then
/// `working` ones that are written again and again.
template <class Real>
struct Layout {
  std::size_t slots = 0, kept = 0;
  std::vector<Constant<Real>> constants;
  std::vector<Import> imports;
  std::vector<Slot> inputs;   ///< per input that isn't a parameter; no_slot where nothing depends on it
  std::vector<Slot> outputs;  ///< per output that isn't uniform
  Slot failed =
      no_slot;  ///< of each lane the first guard that came out otherwise, infinity where none did; if there are guards
};

/// What is computed once per batch, one lane wide, before the samples and after them.
template <class Real>
struct Uniform {
  bool any = false;
  /// The sums' adjoints don't depend on what follows from the sums: so one pass over the samples is enough for gradients.
  bool linear = true;
  Layout<Real> layout;     ///< inputs: parameters; outputs: the uniform ones
  std::vector<Slot> sums;  ///< where the sums over the samples go
  Code prologue, epilogue, epilogue_backward, prologue_backward;
  std::vector<Slot> seeds;                         ///< per uniform output
  std::vector<Slot> sum_adjoints;                  ///< of the sums that have one, as in ProgramData::sum_seeds
  std::vector<Slot> totals;                        ///< where the sums of the samples' adjoints of uniform variables go
  std::vector<std::uint32_t> differentiated;       ///< places among the parameters
  std::vector<Slot> gradients;                     ///< per differentiated parameter; no_slot: zero
  std::vector<Real> initial;                       ///< the parameters' values when compiled
  std::string call_without_jvp, call_without_hvp;  ///< as in ProgramData, of what runs once per batch
};

template <class Real>
struct ProgramData {
  ProgramStatistics statistics;
  ZeroRule zero_rule = ZeroRule::exact;
  std::size_t longest_list = 0;  ///< operands of an instruction that loops over them
  std::size_t call_room = 0;     ///< numbers that custom ops need for each lane
  /// Custom ops that samples run, or the first of those that are differentiated and don't know how to in that way.
  std::string call, call_without_jvp, call_without_hvp;

  std::vector<std::uint32_t> differentiated;  ///< places among the inputs that aren't parameters

  Layout<Real> values;  ///< of evaluations that want values alone
  Code values_code;

  Layout<Real> gradient;  ///< of evaluations that want adjoints too
  Code forward, backward;
  std::vector<Slot>
      seeds;  ///< per output that isn't uniform: where its weight goes; no_slot where it has no derivative
  std::vector<Slot> gradients;  ///< per differentiated input; no_slot: zero
  std::vector<Slot> sum_seeds;  ///< where the adjoint of a sum goes, the same for all samples

  Uniform<Real> uniform;

  Source<Real> source;
  std::vector<std::shared_ptr<const CustomRule<Real>>> rules;  ///< of custom ops, as instructions count them
};

}  // namespace wengert::plan
