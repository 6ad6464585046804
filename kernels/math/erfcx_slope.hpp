// The derivative of erfcx. The textbook's 2 x erfcx(x) - 2/sqrt(pi) loses all its digits as x grows.
#pragma once

#include "kernels/math/normal.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// The continued fraction K1 = x + 1/(x + (3/2)/(x + 2/(x + ...))) for one lane, x > 0.4. With K = x + (1/2)/K1 it is
/// erfcx(x) = 1/(sqrt(pi) K) (Abramowitz and Stegun 7.1.14), so erfcx' = -erfcx/K1. It converges as
/// exp(-2 x sqrt(2 n)) in n terms, which sets how many.
template <Lane S>
inline S erfcx_fraction(S x) {
  using Real = typename S::Real;
  const Real at = x.v;
  const Real digits = is_f64<S> ? Real(190) : Real(50);
  const int terms = at > Real(40) ? 8 : static_cast<int>(digits / (at * at)) + 20;
  S k = x;
  for (int n = terms; n >= 2; --n) k = x + S(Real(n) * Real(0.5)) / k;
  return k;
}

/// d/dx erfcx(x).
template <Lane V>
WENGERT_INLINE V erfcx_slope(V x) {
  using S = typename V::Scalar;
  const V y = erfcx(x);
  const V near = fma(V(2) * x, y, V(static_cast<typename V::Real>(-1.1283791670955126)));
  return rare(x > V(static_cast<typename V::Real>(0.4)), near, [&] {
    return -y / per_lane([](S s) { return s.v > typename S::Real(0.4) ? erfcx_fraction(s) : S(1); }, x);
  });
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
