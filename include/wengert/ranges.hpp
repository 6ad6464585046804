// wengert/ranges.hpp: the ops of many operands as functions of ranges of Vars: sum, dot, logsumexp, softmax and their like.
//
//   wengert::NaiveTape<double> tape;
//   std::vector<wengert::Var<double>> x = {input(tape, 1.0), input(tape, 2.0)}, w = {input(tape, 0.5), input(tape, -1.0)};
//   wengert::Var<double> f = logsumexp(x) + dot(w, x);
//   backward(f);
//   std::printf("f = %g, df/dx0 = %g\n", value(f), grad(x[0]));
#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/ops.hpp"
#include "wengert/tape.hpp"
#include "wengert/var.hpp"

namespace wengert {

namespace detail {

// As `value` of a fixed number of operands, for all outputs.
WENGERT_API std::vector<double> values(Op op, std::span<const double> operands);
WENGERT_API std::vector<float> values(Op op, std::span<const float> operands);

[[noreturn]] WENGERT_API void unequal_lists(Op op);

template <class R>
concept VarRange = std::ranges::input_range<R> && IsVar<std::remove_cvref_t<std::ranges::range_reference_t<R>>>::value;
template <class R>
using RangeReal = typename std::remove_cvref_t<std::ranges::range_reference_t<R>>::value_type;

/// Calls f(x) for each Var of the lists, in order.
template <class F, class... Lists>
void each(F&& f, const Lists&... lists) {
  const auto of = [&](const auto& list) {
    for (const auto& x : list) f(x);
  };
  (of(lists), ...);
}

/// Records an n-ary op on all of `lists`, in order; its first output, and their number. Null where all are constants.
template <class Real, class... Lists>
std::pair<Var<Real>, Id> recorded(Op op, const Lists&... lists) {
  const std::size_t lengths[] = {static_cast<std::size_t>(std::ranges::distance(lists))...};
  std::size_t n = 0;
  for (std::size_t length : lengths) {
    if (length != lengths[0]) unequal_lists(op);
    n += length;
  }
  NaiveTape<Real>* tape = nullptr;
  bool constants = false;
  each([&](const Var<Real>& x) { tape = tape ? tape : x.tape(), constants |= !x.tape(); }, lists...);
  if (!tape) return {Var<Real>(), 0};
  NaiveTape<Real>::check_lives(tape);
  Attempt<Real> attempt(constants ? tape : nullptr);
  Id* room = tape->operand_room(op, n);
  each([&](const Var<Real>& x) { *room++ = x.place(*tape); }, lists...);
  if (op == Op::sum) {  // no more work than to look up how it is done
    Real s = 0;
    std::size_t i = 0;
    each([&](const Var<Real>& x) { s = i++ == 0 ? x.value() : s + x.value(); }, lists...);
    const Id first = tape->append_n(op, static_cast<Id>(n), s);
    attempt.keep();
    return {Var<Real>(*tape, first), 1};
  }
  const Id first = tape->append_n(op, static_cast<Id>(n));
  attempt.keep();
  return {Var<Real>(*tape, first), info(op).outputs(static_cast<Id>(n))};
}

/// The op's outputs on constants alone: computed, not recorded.
template <class Real, class... Lists>
std::vector<Real> folded(Op op, const Lists&... lists) {
  std::vector<Real> x;
  each([&](const Var<Real>& v) { x.push_back(v.value()); }, lists...);
  return values(op, std::span<const Real>(x));
}

template <class Real, class... Lists>
Var<Real> one_output(Op op, const Lists&... lists) {
  const auto [first, count] = recorded<Real>(op, lists...);
  return count ? first : Var<Real>(folded<Real>(op, lists...)[0]);
}

template <class Real, class... Lists>
std::vector<Var<Real>> all_outputs(Op op, const Lists&... lists) {
  const std::size_t operands = (static_cast<std::size_t>(std::ranges::distance(lists)) + ...);
  std::vector<Var<Real>> outputs(info(op).outputs(static_cast<Id>(operands)));  // before anything is recorded
  const auto [first, count] = recorded<Real>(op, lists...);
  if (count == 0) std::ranges::copy(folded<Real>(op, lists...), outputs.begin());
  for (Id j = 0; j < count; ++j) outputs[j] = Var<Real>(*first.tape(), first.id() + j);
  return outputs;
}

}  // namespace detail

// Every n-ary row of the op table, on ranges of Vars: sum(xs), dot(xs, ys), softmax(xs) (a vector of all outputs). Throws
// bad_size for a number of operands that the op doesn't take, or lists of different lengths.
#define WENGERT_OPN(name, ...)                                                                            \
  template <detail::VarRange R, detail::VarRange... More>                                                 \
  auto name(const R& list, const More&... more) {                                                         \
    using Real = detail::RangeReal<R>;                                                                    \
    if constexpr (info(Op::name).many_outputs) return detail::all_outputs<Real>(Op::name, list, more...); \
    else return detail::one_output<Real>(Op::name, list, more...);                                        \
  }
#include "wengert/ops.def"

/// Sine and cosine of one angle, by one op.
template <class Real>
std::pair<Var<Real>, Var<Real>> sincos(const Var<Real>& x) {
  const auto outputs = detail::all_outputs<Real>(Op::sincos, std::span(&x, 1));
  return {outputs[0], outputs[1]};
}

}  // namespace wengert
