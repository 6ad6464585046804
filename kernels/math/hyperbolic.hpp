// Hyperbolic functions and their inverses.
#pragma once

#include "kernels/math/exp.hpp"
#include "kernels/math/log.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// tanh x for |x| <= 0.55, relative error 2^-55 (float: 2^-29) before rounding (Sollya's fpminimax).
template <Lane V>
WENGERT_INLINE V tanh_small(V x) {
  const V z = x * x;
  if constexpr (is_f64<V>) {
    const V q = paired(z, z * z, -0x1.555555555549cp-2, 0x1.11111111027b4p-3, -0x1.ba1ba1ad5ca64p-5,
                       0x1.664f45bf0cf4ep-6, -0x1.226ddce335714p-7, 0x1.d6c6111483602p-9, -0x1.7cf3410cc34cfp-10,
                       0x1.2f9fa534b331bp-11, -0x1.b8f6c7b004307p-13, 0x1.abcc637ea5d93p-15);
    return fma(x * z, q, x);
  } else {
    const V q = paired(z, z * z, -0x1.55554ap-2f, 0x1.110cfep-3f, -0x1.b922dap-5f, 0x1.5913c4p-6f, -0x1.9a5af2p-8f);
    return fma(x * z, q, x);
  }
}

/// tanh x = 1 - 2 / (1 + e^(2x)) away from zero.
template <Lane V>
WENGERT_INLINE V tanh(V x) {
  const V far(is_f64<V> ? 20 : 10), magnitude = abs(x);  // tanh is 1 from here on
  const V a = min(far, magnitude);                       // NaN if that is
  const ExpReduced<V> e = exp_reduce(a + a);
  const V power = exp_power<V>(e.index);
  const V large = V(1) - V(2) / (power + fma(power, exp_rest(e), V(1)));
  return copysign(select(magnitude < V(0.55), tanh_small(magnitude), large), x);
}

/// e^x / 2 for |x| <= ExpTable::ordinary. `exact`: as in exp_rest.
template <bool exact, Lane V>
WENGERT_INLINE V half_exp_ordinary(V x) {
  const ExpReduced<V> a = exp_reduce(x);
  const V power = exp_power<V>(a.index - typename V::Int(16));
  return fma(power, exp_rest<exact>(a), power);
}

/// cosh x = h + 1 / (4 h), h = e^|x| / 2.
template <Lane V>
WENGERT_INLINE V cosh(V x) {
  const V a = abs(x), h = half_exp_ordinary<false>(a);
  return rare(beyond(x, V(ExpTable<typename V::Real>::ordinary)), h + V(0.25) / h,
              [&] { return exp_everywhere(a, 1); });
}

/// sinh x for |x| <= 1, relative error 2^-61 (float: 2^-31) before rounding (Sollya's fpminimax).
template <Lane V>
WENGERT_INLINE V sinh_small(V x) {
  const V z = x * x;
  if constexpr (is_f64<V>) {
    const V q = paired(z, z * z, 0x1.5555555555556p-3, 0x1.111111111104p-7, 0x1.a01a01a0318ddp-13,
                       0x1.71de3a4055d6bp-19, 0x1.ae646b4e01c0ep-26, 0x1.6118df1e76a45p-33, 0x1.b52edc7c12a8bp-41);
    return fma(x * z, q, x);
  } else {
    const V q = paired(z, z * z, 0x1.555556p-3f, 0x1.1110eap-7f, 0x1.a01c2p-13f, 0x1.7677b8p-19f);
    return fma(x * z, q, x);
  }
}

/// sinh x = h - 1 / (4 h), h = e^|x| / 2, away from zero.
template <Lane V>
WENGERT_INLINE V sinh(V x) {
  const V a = abs(x), h = half_exp_ordinary<true>(a);
  const V y = select(a < V(1), sinh_small(a), h - V(0.25) / h);
  return copysign(rare(beyond(x, V(ExpTable<typename V::Real>::ordinary)), y, [&] { return exp_everywhere(a, 1); }), x);
}

/// log(2 a) for huge a, inf or NaN.
template <Lane V>
WENGERT_NOINLINE V log_twice(V a) {
  constexpr double log_8 = 0x1.0a2b23f3bab73p1;
  const V y = log_everywhere(a * V(0.25)) + V(static_cast<typename V::Real>(log_8));
  return select(a < V(FormatOf<V>::inf), y, a);
}
template <Lane V>
inline constexpr typename V::Real huge_square = is_f64<V> ? 0x1p500 : 0x1p60;  // has a square, and with room to spare

/// asinh x = log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))).
template <Lane V>
WENGERT_INLINE V asinh(V x) {
  const V a = abs(x);
  const Pair<V> t = fast_two_sum(a, a * a / (V(1) + sqrt(fma(a, a, V(1)))));
  const V y = log1p_of_pair(t, V(1) + t.hi);
  return copysign(rare(beyond(x, V(huge_square<V>)), y, [&] { return log_twice(a); }), x);
}

/// acosh x = log1p(d + sqrt(d^2 + 2 d)), d = x - 1.
template <Lane V>
WENGERT_INLINE V acosh(V x) {
  const V d = x - V(1);
  const Pair<V> t = two_sum(d, sqrt(fma(d, d, d + d)));
  return rare(outside(x, V(1), V(huge_square<V>)), log1p_of_pair(t, V(1) + t.hi),
              [&] { return select(x < V(1), V(FormatOf<V>::nan), log_twice(x)); });
}

/// atanh x = log1p(2 |x| / (1 - |x|)) / 2, the quotient to twice the precision.
template <Lane V>
WENGERT_INLINE V atanh(V x) {
  const V a = abs(x), twice = a + a;
  const Pair<V> rest = fast_two_sum(V(1), -a);
  const V q = twice / rest.hi;
  // (2 a - q (1 - a)) / (1 - a), and 1 / (1 - a) = 1 + q / 2.
  const V low = fma(-q, rest.lo, fma(-q, rest.hi, twice)) * fma(q, V(0.5), V(1));
  const V y = log1p_of_pair(Pair<V>{q, low}, V(1) + q) * V(0.5);
  return copysign(rare(!(a < V(1)), y, [&] { return select(a == V(1), V(FormatOf<V>::inf), V(FormatOf<V>::nan)); }), x);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
