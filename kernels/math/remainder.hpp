// fmod, remainder, round: exact.
//
// With q an integer near x / y, fma(-q, y, x) is exact: the result is a multiple of the lowest bit of x or y and no
// larger than y. A quotient that was rounded up to an integer shows as a negative remainder and is put right.
#pragma once

#include "kernels/math/poly.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// Quotients below this are rounded by less than 1/2.
template <Lane V>
inline constexpr typename V::Real largest_quotient = is_f64<V> ? typename V::Real(0x1p52) : typename V::Real(0x1p23);

/// x mod y for x >= 0, y > 0 and x / y < largest_quotient.
template <Lane V>
WENGERT_INLINE V near_fmod(V x, V y) {
  const V r = fma(-trunc(x / y), y, x);
  return select(x < y, x, select(r < V(0), r + y, r));
}

/// x mod y for any x, y >= 0: y times ever smaller powers of two, so that each step is a near one.
template <class Scalar>
WENGERT_NOINLINE Scalar far_fmod(Scalar x, Scalar y) {
  const Scalar step(is_f64<Scalar> ? 0x1p50 : 0x1p21);
  if (!any((y > Scalar(0)) & isfinite(x) & !isnan(y))) return Scalar(FormatOf<Scalar>::nan);
  while (any(y <= x)) {
    Scalar multiple = y;
    while (any(multiple * step <= x)) multiple = multiple * step;
    x = near_fmod(x, multiple);
  }
  return x;
}

template <Lane V>
WENGERT_INLINE V fmod_size(V x, V y) {
  return rare(!(x / y < V(largest_quotient<V>)), near_fmod(x, y),
              [=] { return per_lane([](auto a, auto b) { return far_fmod(a, b); }, x, y); });
}

/// x - n y with n = x / y cut off: the sign of x; NaN for y = 0 or x = +-inf, x for y = +-inf.
template <Lane V>
WENGERT_INLINE V fmod(V x, V y) {
  return flip_sign(fmod_size(abs(x), abs(y)), x);
}

/// x - n y with n = x / y rounded to nearest, ties to even; special values as in fmod.
template <Lane V>
WENGERT_INLINE V remainder(V x, V y) {
  const V b = abs(y), twice = b + b;
  const V a = rare(!(abs(x) / b < V(largest_quotient<V>)), abs(x),
                   [=] { return select(twice == V(FormatOf<V>::inf), abs(x), fmod_size(abs(x), twice)); });
  const V r = fma(-rint(a / b), b, a);
  const V size = abs(r);
  const V nearest = select(size > b - size, r - copysign(b, r), r);
  return flip_sign(select(b == V(FormatOf<V>::inf), select(a < b, a, nearest), nearest), x);
}

/// x to the nearest integer, halves away from zero.
template <Lane V>
WENGERT_INLINE V round(V x) {
  const V size = abs(x), whole = trunc(size);
  return copysign(whole + select(size - whole >= V(0.5), V(1), V(0)), x);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
