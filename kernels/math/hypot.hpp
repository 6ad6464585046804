// hypot of two and of three, cbrt.
#pragma once

#include "kernels/math/poly.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <Lane V>
WENGERT_INLINE V larger_of(V a, V b) {
  return select(a < b, b, a);
}

/// Largest sizes between which squares neither over- nor underflow, and a power of two that brings others there.
template <Lane V>
struct SquareRange {
  using Real = typename V::Real;
  static constexpr Real low = is_f64<V> ? Real(0x1p-450) : Real(0x1p-50);
  static constexpr Real high = is_f64<V> ? Real(0x1p500) : Real(0x1p60);
  static constexpr Real up = is_f64<V> ? Real(0x1p600) : Real(0x1p90);
  static constexpr Real down = is_f64<V> ? Real(0x1p-600) : Real(0x1p-90);
};

/// norm(size...), whose sizes it may square: again with scaled sizes where the largest is out of range.
template <Lane V, class Norm, class... Size>
WENGERT_INLINE V scaled_norm(Norm norm, V largest, Size... size) {
  using R = SquareRange<V>;
  return rare(!((V(R::low) <= largest) & (largest <= V(R::high))), norm(size...), [=] {
    const auto small = largest < V(1);
    const V unit = select(small, V(R::up), V(R::down)), back = select(small, V(R::down), V(R::up));
    const V inf(FormatOf<V>::inf);
    return select(((size == inf) | ...), inf, norm((size * unit)...) * back);
  });
}

/// sqrt(x^2 + y^2) without over- or underflow on the way; inf where either is, even if the other is NaN.
template <Lane V>
WENGERT_INLINE V hypot(V x, V y) {
  const auto norm = [](V a, V b) { return sqrt(fma(a, a, b * b)); };
  const V a = abs(x), b = abs(y);
  return scaled_norm(norm, larger_of(a, b), a, b);
}

/// sqrt(x^2 + y^2 + z^2), likewise.
template <Lane V>
WENGERT_INLINE V hypot(V x, V y, V z) {
  const auto norm = [](V a, V b, V c) { return sqrt(fma(a, a, fma(b, b, c * c))); };
  const V a = abs(x), b = abs(y), c = abs(z);
  return scaled_norm(norm, larger_of(larger_of(a, b), c), a, b, c);
}

/// The cube root of x.
///
/// x = m 8^k with m in [3/8, 3): a polynomial for r = m^(-1/3), c = m r^2 (1 - e)^(-2/3) to two terms with
/// e = 1 - m r^3, then one step of Newton's method whose residual is all that is rounded at full precision.
template <Lane V>
WENGERT_INLINE V cbrt(V x) {
  using Real = typename V::Real;
  const V size = abs(x);
  V m, e;
  split(size, m, e);
  V r;  // minimax for m^(-1/3) on [3/4, 3/2], by Sollya's fpminimax
  if constexpr (is_f64<V>) {
    r = horner(m, 0x1.d68c6df428787p0, -0x1.b8a2782978fc4p0, 0x1.5c60a0d940e9ap0, -0x1.2786011b60ff8p-1,
               0x1.975f30ea56e7bp-4);
  } else {
    r = horner(m, 0x1.87222p0f, -0x1.6b27b2p-1f, 0x1.764678p-3f);
  }
  const V k = rint(e * V(Real(1.0 / 3))), j = fma(V(-3), k, e);
  const auto below = j<V(0), above = j> V(0);
  m = m * select(below, V(0.5), select(above, V(2), V(1)));
  r = r * select(below, V(Real(0x1.428a2f98d728bp+0)), select(above, V(Real(0x1.965fea53d6e3dp-1)), V(1)));
  const V r2 = r * r, a = m * r2, error = fma(-a, r, V(1));
  const V c = fma(a, error * fma(error, V(Real(5.0 / 9)), V(Real(2.0 / 3))), a);
  const V root = fma(fma(-(c * c), c, m), r2 * V(Real(1.0 / 3)), c);
  const V y = flip_sign(root * exp2_int(k), x);
  return select((V(0) < size) & (size < V(FormatOf<V>::inf)), y, x);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
