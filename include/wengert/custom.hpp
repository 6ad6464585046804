// wengert/custom.hpp: a function that the op table doesn't have, as an op of a tape: its values and derivatives given as code.
//
//   #include <cmath>
//   const wengert::CustomOp<double> norm({
//       .name = "norm",
//       .inputs = 2,
//       .outputs = 1,
//       .values = [](std::size_t n, wengert::Samples<const double> x, wengert::Samples<double> y) {
//         for (std::size_t e = 0; e < n; ++e) y(e, 0) = std::sqrt(x(e, 0) * x(e, 0) + x(e, 1) * x(e, 1));
//       },
//       .vjp = [](std::size_t n, wengert::Samples<const double> x, wengert::Samples<const double> y,
//                 wengert::Samples<const double> weights, wengert::Samples<double> gradients) {
//         for (std::size_t e = 0; e < n; ++e)
//           for (std::size_t i = 0; i < 2; ++i) gradients(e, i) = weights(e, 0) * x(e, i) / y(e, 0);
//       },
//   });
//   wengert::NaiveTape<double> tape;
//   wengert::Var<double> a = wengert::input(tape, 3.0), b = wengert::input(tape, 4.0);
//   wengert::Var<double> f = exp(-0.1 * norm(a, b)[0]);
//   backward(f);
//   std::printf("f = %g, df/da = %g\n", value(f), grad(a));
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/ranges.hpp"
#include "wengert/samples.hpp"
#include "wengert/tape.hpp"

namespace wengert {

/// A function of `inputs` numbers with `outputs` results, and its derivatives, on `samples` samples at a time. Tables have a line
/// per sample: item i of sample e is x(e, i); an item's numbers follow one another, so x.sample is 1.
///
/// Whatever calls them (a tape, a Replay on any instruction set, threads and lanes) hands samples over in blocks of its own
/// choosing, so what a sample's results are may depend on that sample's numbers alone; then they have the same bits everywhere.
/// A Replay with threads calls the functions on several of them at once, and so do Replays that share a Program: they must
/// stand that, as functions without a state do. They may not touch the tape that is being recorded. What they throw comes out of
/// the call that was made on the tape or Replay, which is as good as before.
template <class Real>
struct CustomRule {
  std::string name;         ///< in messages and drawings
  std::size_t inputs = 0;   ///< numbers that it takes
  std::size_t outputs = 0;  ///< numbers that it gives
  /// Numbers that `values` writes behind the outputs, for the derivatives to read: what was costly to find.
  std::size_t kept = 0;

  /// y: `outputs + kept` numbers per sample.
  std::function<void(std::size_t samples, Samples<const Real> x, Samples<Real> y)> values = {};
  /// The adjoint product: gradient i is the sum over the outputs j of weight j times dy_j/dx_i. Where all weights of a sample are
  /// zero its gradients are taken for zero, whatever comes out here (docs/numerics.md).
  std::function<void(std::size_t samples, Samples<const Real> x, Samples<const Real> y, Samples<const Real> weights,
                     Samples<Real> gradients)>
      vjp = {};
  /// The tangent product, for forward mode: tangent j is the sum over the inputs i of dy_j/dx_i times direction i. Without,
  /// Replay::jvp refuses the program.
  std::function<void(std::size_t samples, Samples<const Real> x, Samples<const Real> y, Samples<const Real> directions,
                     Samples<Real> tangents)>
      jvp = {};
  /// For second derivatives, besides jvp: the Hessian of the outputs' sum weighted by `weights`, times `directions`. Without,
  /// Replay::hvp and Replay::hessian refuse the program.
  std::function<void(std::size_t samples, Samples<const Real> x, Samples<const Real> y, Samples<const Real> weights,
                     Samples<const Real> directions, Samples<Real> products)>
      hvp = {};
};

/// An op made of a rule. Copies share it; it may go before the tapes and programs that it is on.
template <class Real>
class WENGERT_API CustomOp {
 public:
  /// Throws bad_argument where the rule has no name, inputs, outputs, `values` or `vjp`, or more numbers than a tape can have.
  explicit CustomOp(CustomRule<Real> rule);
  /// @{
  /// Copies, also where it could move: what was moved from is what it was.
  CustomOp(const CustomOp&) noexcept = default;
  CustomOp& operator=(const CustomOp&) noexcept = default;
  /// @}

  /// What it is made of.
  const CustomRule<Real>& rule() const { return *rule_; }

  /// Records the op on Vars; all its outputs. Of constants alone it is computed and not recorded. Throws as NaiveTape::call,
  /// mixed_tapes.
  template <detail::VarRange Operands>
  std::vector<Var<Real>> operator()(const Operands& operands) const;
  /// The same on operands one by one.
  template <class... Operands>
    requires(sizeof...(Operands) > 0 && (std::convertible_to<const Operands&, Var<Real>> && ...))
  std::vector<Var<Real>> operator()(const Operands&... operands) const {
    const Var<Real> all[] = {operands...};
    return (*this)(std::span<const Var<Real>>(all));
  }
  /// Records it on variables of a tape; the first output, which the others follow.
  Id record(NaiveTape<Real>& tape, std::span<const Id> operands) const { return tape.call(rule_, operands); }
  /// The outputs at one point. Throws bad_size, and what the rule throws.
  std::vector<Real> values(std::span<const Real> point) const;

 private:
  std::shared_ptr<const CustomRule<Real>> rule_;
};

template <class Real>
template <detail::VarRange Operands>
std::vector<Var<Real>> CustomOp<Real>::operator()(const Operands& operands) const {
  NaiveTape<Real>* tape = nullptr;
  for (const Var<Real>& x : operands) tape = tape ? tape : x.tape();
  std::vector<Var<Real>> outputs;
  if (!tape) {
    std::vector<Real> point;
    for (const Var<Real>& x : operands) point.push_back(x.value());
    for (const Real y : values(point)) outputs.emplace_back(y);
    return outputs;
  }
  detail::Attempt<Real> attempt(tape);
  outputs.reserve(rule_->outputs);
  std::vector<Id> ids;
  for (const Var<Real>& x : operands) ids.push_back(x.place(*tape));
  const Id first = record(*tape, ids);
  for (std::size_t j = 0; j < rule_->outputs; ++j) outputs.emplace_back(*tape, first + static_cast<Id>(j));
  attempt.keep();
  return outputs;
}

extern template class CustomOp<double>;
extern template class CustomOp<float>;

}  // namespace wengert
