// What the formulas of the op table call besides the elementary functions: constants, and the slopes of kinks.
// The rules are those of docs/numerics.md.
#pragma once

#include "kernels/chain.hpp"
#include "kernels/math/math.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <class V>
WENGERT_INLINE V nan() {
  return V(Format<typename V::Real>::nan);
}
template <class V>
WENGERT_INLINE V inf() {
  return V(Format<typename V::Real>::inf);
}

/// The slope of what is constant piece by piece: 0, NaN at NaN.
template <Lane V>
WENGERT_INLINE V flat(V x) {
  return select(isnan(x), x, V(0));
}

/// -1, 0 or 1; zeros keep their sign, NaN stays.
template <Lane V>
WENGERT_INLINE V sign(V x) {
  return select(x > V(0), V(1), select(x < V(0), V(-1), x));
}

/// Slope of max in its first operand: 1 where a is larger, `tie` where both are equal.
template <Lane V>
WENGERT_INLINE V larger_slope(V a, V b, V tie) {
  return select(b < a, V(1), select(a < b, V(0), select(a == b, tie, nan<V>())));
}

/// d/da of pow(a, b): b * pow(a, b - 1), but 0 where b is 0, whatever a is.
template <Lane V>
WENGERT_INLINE V pow_slope(V a, V b) {
  return select(b == V(0), V(0), b * pow(a, b - V(1)));
}

/// d/db of pow(a, b): log(a) * pow(a, b). 0 where the power vanishes for a >= 0 (a = 0 < b among them), NaN at (0, 0) and
/// for a < 0.
template <Lane V>
WENGERT_INLINE V pow_log_slope(V a, V b, V y) {
  const V slope = select((y == V(0)) & (a >= V(0)), V(0), log(a) * y);
  return select((a == V(0)) & (b == V(0)), nan<V>(), slope);
}

/// 1 / cosh(x)^2.
template <Lane V>
WENGERT_INLINE V sech2(V x) {
  const V r = V(1) / cosh(x);
  return r * r;
}

/// The largest operand of an n-ary op, NaN if any is.
template <class V, class Io>
WENGERT_INLINE V largest(Io& io) {
  V m = io.x(0);
  for (std::uint32_t i = 1; i < io.n(); ++i) {
    const V x = io.x(i);
    m = select((m < x) | isnan(x), x, m);
  }
  return m;
}

/// x - m for the largest operand m: 0 for the largest itself, an infinite one too.
template <Lane V>
WENGERT_INLINE V shifted(V x, V m) {
  return select(x == m, V(0), x - m);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
