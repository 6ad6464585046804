// wengert/checkpoint.hpp: a stretch of code as one op of a tape, which computes it again in the backward sweep and so keeps nothing
// but its inputs and outputs.
//
//   wengert::NaiveTape<double> tape;
//   const wengert::Var<double> x = wengert::input(tape, 0.5);
//   const wengert::Var<double> inputs[] = {x};
//   const std::vector<wengert::Var<double>> y = wengert::checkpoint(
//       [](std::span<const wengert::Var<double>> in) {
//         wengert::Var<double> z = in[0];
//         for (int k = 0; k < 1000; ++k) z += 1e-3 * sin(z);
//         return z;
//       },
//       inputs);
//   backward(y[0]);  // tape.statistics().ops is 1
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/custom.hpp"
#include "wengert/function.hpp"

namespace wengert {

namespace detail {

/// Makes a Function of one thread; called for each thread that needs one at a time.
template <class Real>
using MakeFunction = std::function<Function<Real>()>;

/// `code` is called by one thread at a time, whichever of the Functions it is for.
template <class Real, class Code>
MakeFunction<Real> function_maker(std::size_t inputs, Code code, ZeroRule zero_rule) {
  struct Shared {
    Code code;
    std::recursive_mutex mutex;  // so that code which comes to its own op doesn't wait for itself
    explicit Shared(Code from) : code(std::move(from)) {}
  };
  return [inputs, zero_rule, shared = std::make_shared<Shared>(std::move(code))] {
    FunctionOptions options;
    options.zero_rule = zero_rule;
    return Function<Real>(
        inputs,
        [shared](std::span<const Var<Real>> x) {
          const std::lock_guard lock(shared->mutex);
          return shared->code(x);
        },
        options);
  };
}

/// The op of a segment; outputs are counted at `point`.
template <class Real>
WENGERT_API CustomOp<Real> checkpoint_op(std::span<const Real> point, MakeFunction<Real> make);

/// The tape that one of the operands is on, or null.
template <class Operands>
auto tape_of(const Operands& operands) {
  NaiveTape<RangeReal<Operands>>* tape = nullptr;
  for (const auto& x : operands) tape = tape ? tape : x.tape();
  return tape;
}
template <class Operands>
std::vector<RangeReal<Operands>> values_of(const Operands& operands) {
  std::vector<RangeReal<Operands>> values;
  for (const auto& x : operands) values.push_back(x.value());
  return values;
}

}  // namespace detail

/// What `segment` makes of `inputs`, by one op. The segment is code as of Function (wengert/function.hpp), with branches if need be:
/// it takes the inputs as one std::span<const Var<Real>> and returns a Var or a range of them, of the same length for all inputs. It is
/// recorded on tapes of its own, so it may use no Vars of others, and called now and whenever a sample takes a path of its own, by one
/// thread at a time but maybe another than this one. Values and tangents have the bits of the same code recorded here; the
/// contributions to an input's adjoint are added up inside the segment first, and the last bits of gradients may differ for that.
///
/// Code may come to its own op, as recursion does, or to one whose code comes to it: what it recorded is then kept for as long as
/// the outermost call runs, and recorded again in the next one. Ops that come to each other are for one thread at a time.
///
/// Each call makes an op; where one segment is applied often, make_checkpoint makes it once. Second derivatives, and
/// programs of programs, work. Throws mixed_tapes, stale_id, and what the segment throws.
template <class Segment, detail::VarRange Inputs>
  requires std::invocable<Segment&, std::span<const Var<detail::RangeReal<Inputs>>>>
std::vector<Var<detail::RangeReal<Inputs>>> checkpoint(Segment segment, const Inputs& inputs) {
  using Real = detail::RangeReal<Inputs>;
  const NaiveTape<Real>* const tape = detail::tape_of(inputs);
  const std::vector<Real> point = detail::values_of(inputs);
  const CustomOp<Real> op = detail::checkpoint_op<Real>(
      point,
      detail::function_maker<Real>(point.size(), std::move(segment), tape ? tape->zero_rule() : ZeroRule::exact));
  return op(inputs);
}
/// The same with a program for a segment, one without parameters and sums that is differentiated in all its inputs. At inputs
/// where a guard of it comes out otherwise than recorded, other_path is thrown.
template <class Real, detail::VarRange Inputs>
std::vector<Var<Real>> checkpoint(const Program<Real>& segment, const Inputs& inputs) {
  return make_checkpoint(segment)(inputs);
}

/// The op by itself, to be applied more than once: op(inputs). `point`: inputs to count the outputs at.
template <class Real, class Segment>
  requires std::invocable<Segment&, std::span<const Var<Real>>>
CustomOp<Real> make_checkpoint(std::span<const Real> point, Segment segment, ZeroRule zero_rule = ZeroRule::exact) {
  return detail::checkpoint_op<Real>(point, detail::function_maker<Real>(point.size(), std::move(segment), zero_rule));
}
/// Throws bad_argument where the program isn't one of those.
template <class Real>
WENGERT_API CustomOp<Real> make_checkpoint(const Program<Real>& segment);

extern template CustomOp<double> detail::checkpoint_op(std::span<const double>, MakeFunction<double>);
extern template CustomOp<float> detail::checkpoint_op(std::span<const float>, MakeFunction<float>);
extern template CustomOp<double> make_checkpoint(const Program<double>&);
extern template CustomOp<float> make_checkpoint(const Program<float>&);

}  // namespace wengert
