// asin, acos, atan, atan2.
//
// atan of a ratio n / d needs one division only: the difference of the bit patterns of n and d is log2(n / d) within a
// twelfth (Mitchell, IRE Trans. EC-11(4), 1962), enough to pick c from a table, half an octave apart, and
// atan(n / d) = atan(c) + atan((n - c d) / (d + c n)), whose last argument is at most 1/8.
// asin and acos are a polynomial in x^2 up to 1/2, and beyond asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
// Minimax coefficients: computed with Sollya's fpminimax.
#pragma once

#include "kernels/math/angle.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// c by half octaves k of n / d, at k mod 16 for k = -6..5 (below, c = 0; above, infinity), and hi + lo = atan(c).
template <class Real>
struct ArcTables;
template <>
struct ArcTables<double> {
  alignas(64) static constexpr double c[16] = {0x1.4p+0, 0x1.ap+0, 0x1.3p+1, 0x1.ap+1, 0x1.3p+2, 0x1.ap+2, 0, 0, 0, 0,
                                               0x1.4p-3, 0x1.bp-3, 0x1.4p-2, 0x1.bp-2, 0x1.4p-1, 0x1.ap-1};
  alignas(64) static constexpr double hi[16] = {0x1.cac7c57846f9ep-1,
                                                0x1.04e67277a01d7p+0,
                                                0x1.2c1a241d66dc3p+0,
                                                0x1.45b54837351ap+0,
                                                0x1.5d013c41adabdp+0,
                                                0x1.6b0bae830c07p+0,
                                                0x1.921fb54442d18p+0,
                                                0x1.921fb54442d18p+0,
                                                0,
                                                0,
                                                0x1.3d6eee8c6626cp-3,
                                                0x1.a9c231b403279p-3,
                                                0x1.362773707ebccp-2,
                                                0x1.98cd5454d6b18p-2,
                                                0x1.1e00babdefeb4p-1,
                                                0x1.5d58987169b18p-1};
  alignas(64) static constexpr double lo[16] = {0x1.0dae13ad18a6bp-55,
                                                0x1.7115496c13eb6p-57,
                                                0x1.82b2d58b6a8e9p-54,
                                                0x1.9e4a72eedacc4p-56,
                                                0x1.f82bba194dd5dp-54,
                                                -0x1.7d1ab82ffb70bp-54,
                                                0x1.1a62633145c07p-54,
                                                0x1.1a62633145c07p-54,
                                                0,
                                                0,
                                                0x1.61a3b0ce9281bp-57,
                                                0x1.0e8bbe89cca85p-57,
                                                -0x1.963a544b672d8p-57,
                                                0x1.9e6c988fd0a77p-56,
                                                -0x1.928df287a668fp-58,
                                                0x1.0028e4bc5e7cap-57};
};
template <>
struct ArcTables<float> {
  alignas(64) static constexpr float c[16] = {0x1.4p+0f, 0x1.ap+0f, 0x1.3p+1f, 0x1.ap+1f, 0x1.3p+2f, 0x1.ap+2f,
                                              0,         0,         0,         0,         0x1.4p-3f, 0x1.bp-3f,
                                              0x1.4p-2f, 0x1.bp-2f, 0x1.4p-1f, 0x1.ap-1f};
  alignas(64) static constexpr float hi[16] = {0x1.cac7c6p-1f,
                                               0x1.04e672p+0f,
                                               0x1.2c1a24p+0f,
                                               0x1.45b548p+0f,
                                               0x1.5d013cp+0f,
                                               0x1.6b0baep+0f,
                                               0x1.921fb6p+0f,
                                               0x1.921fb6p+0f,
                                               0,
                                               0,
                                               0x1.3d6eeep-3f,
                                               0x1.a9c232p-3f,
                                               0x1.362774p-2f,
                                               0x1.98cd54p-2f,
                                               0x1.1e00bap-1f,
                                               0x1.5d5898p-1f};
  alignas(64) static constexpr float lo[16] = {-0x1.0f720cp-26f,
                                               0x1.de8076p-26f,
                                               0x1.d66dc4p-28f,
                                               0x1.b9a8dp-27f,
                                               0x1.06b6bp-26f,
                                               0x1.06180ep-25f,
                                               -0x1.777a5cp-25f,
                                               -0x1.777a5cp-25f,
                                               0,
                                               0,
                                               0x1.18cc4ep-28f,
                                               -0x1.2ff362p-29f,
                                               -0x1.1f0286p-27f,
                                               0x1.535ac6p-28f,
                                               0x1.7bdfd6p-26f,
                                               0x1.c5a6c6p-27f};
};

/// atan(n / d) = (hi + u) + rest for n, d >= 0, not both 0 or inf; the largest may not over- or underflow by a factor 8.
template <Lane V>
struct Arc {
  V hi, u, rest;
};

template <Lane V>
WENGERT_INLINE Arc<V> arc(V n, V d) {
  using Int = typename V::Int;
  using Integer = typename Int::Integer;
  using T = ArcTables<typename V::Real>;
  constexpr int half_octave = FormatOf<V>::mantissa_bits - 1;
  const Int lowest(static_cast<Integer>(Integer(-7) * (Integer(1) << half_octave)));
  const Int highest(static_cast<Integer>(Integer(6) * (Integer(1) << half_octave)));
  const Int distance = bits(n) - bits(d);
  const auto gentle = distance < highest;
  const Int clamped = select(distance < lowest, lowest, select(gentle, distance, highest));
  const Int index = srl<half_octave>(clamped);
  const V c = lookup16<V>(T::c, index);
  const V u = select(gentle, fma(-c, d, n), -d) / select(gentle, fma(c, n, d), n);
  const V z = u * u;
  V p;
  if constexpr (is_f64<V>) {
    p = horner(z, -0x1.555555555554dp-2, 0x1.9999999986d6cp-3, -0x1.249248edf17edp-3, 0x1.c71bfd64fe763p-4,
               -0x1.7424f7ea9f36bp-4, 0x1.2e8ce67d6a913p-4);
  } else {
    p = horner(z, -0x1.555554p-2f, 0x1.9990cap-3f, -0x1.1f1d54p-3f);
  }
  return {lookup16<V>(T::hi, index), u, fma(u * z, p, lookup16<V>(T::lo, index))};
}

/// atan(x).
template <Lane V>
WENGERT_INLINE V atan(V x) {
  const Arc<V> a = arc(abs(x), V(1));
  return flip_sign(a.hi + (a.u + a.rest), x);
}

/// The angle of (x, y), |y| and |x| given, in the half plane that the sign of x says.
template <Lane V>
WENGERT_INLINE V arc_in_half_plane(V y, V x, typename V::Mask left) {
  using Real = typename V::Real;
  const Arc<V> a = arc(y, x);
  const V sign = select(left, V(-0.0), V(0));
  const Pair<V> sum = fast_two_sum(select(left, V(2 * half_pi<Real>[0]), V(0)), flip_sign(a.hi, sign));
  const V rest = flip_sign(a.rest, sign) + (sum.lo + select(left, V(2 * half_pi<Real>[1]), V(0)));
  return sum.hi + (flip_sign(a.u, sign) + rest);
}

/// The angle of the point (x, y), in [-pi, pi]; zeros and infinities as in C99 Annex F.
template <Lane V>
WENGERT_INLINE V atan2(V y, V x) {
  using Real = typename V::Real;
  const V n = abs(y), d = abs(x), larger = select(n < d, d, n);
  const V low(is_f64<V> ? Real(0x1p-900) : Real(0x1p-96)), high(is_f64<V> ? Real(0x1p1000) : Real(0x1p120));
  const auto left = signbit(x);
  const V angle = rare(!((low < larger) & (larger < high)), arc_in_half_plane(n, d, left), [&] {
    const V inf(FormatOf<V>::inf), zero(0), one(1);
    const V unit = select(larger < one, V(is_f64<V> ? Real(0x1p200) : Real(0x1p50)),
                          V(is_f64<V> ? Real(0x1p-200) : Real(0x1p-50)));
    const auto infinite = larger == inf, nowhere = larger == zero;
    V n1 = select(infinite, select(n == inf, one, zero), n * unit);
    V d1 = select(infinite, select(d == inf, one, zero), d * unit);
    d1 = select(nowhere, one, d1);
    const V r = arc_in_half_plane(n1, d1, left);
    return select(isnan(x) | isnan(y), x + y, r);
  });
  return flip_sign(angle, y);
}

/// (asin(s) / s - 1) / s^2 by powers of s^2 <= 1/4.
template <Lane V>
WENGERT_INLINE V asin_rest(V z) {
  if constexpr (is_f64<V>) {
    return horner(z, 0x1.555555555554ep-3, 0x1.333333333746dp-4, 0x1.6db6db67c1797p-5, 0x1.f1c71fd904adp-6,
                  0x1.6e8b22b1a5094p-6, 0x1.1c59dc98793ecp-6, 0x1.c863c930d601fp-7, 0x1.859067cc4deebp-7,
                  0x1.fb41503db8364p-8, 0x1.09cd5f1de4c8cp-6, -0x1.6a9bf3e757f2cp-7, 0x1.d14ec2a31173cp-6);
  } else {
    return horner(z, 0x1.55555ep-3f, 0x1.332638p-4f, 0x1.70ce26p-5f, 0x1.b1164ap-6f, 0x1.39fbbcp-5f);
  }
}

/// s + rest = asin(size) where size <= 1/2, (pi / 2 - asin(size)) / 2 beyond.
template <Lane V>
struct ArcSine {
  V s, rest;
  typename V::Mask inner;
};
template <Lane V>
WENGERT_INLINE ArcSine<V> arc_sine(V size) {
  const auto inner = size <= V(0.5);
  const V z = select(inner, size * size, fma(V(-0.5), size, V(0.5)));
  const V s = select(inner, size, sqrt(z));
  return {s, s * z * asin_rest(z), inner};
}

/// asin(x); NaN outside [-1, 1].
template <Lane V>
WENGERT_INLINE V asin(V x) {
  using Real = typename V::Real;
  const ArcSine<V> a = arc_sine(abs(x));
  const V factor = select(a.inner, V(1), V(-2)), none(0);
  const Pair<V> sum = fast_two_sum(select(a.inner, none, V(half_pi<Real>[0])), factor * a.s);
  const V rest = sum.lo + select(a.inner, none, V(half_pi<Real>[1]));
  return flip_sign(sum.hi + fma(factor, a.rest, rest), x);
}

/// acos(x); NaN outside [-1, 1].
template <Lane V>
WENGERT_INLINE V acos(V x) {
  using Real = typename V::Real;
  const ArcSine<V> a = arc_sine(abs(x));
  const auto negative = x < V(0);
  const V factor = flip_sign(select(a.inner, V(-1), V(2)), x);
  const V base = select(a.inner, V(1), select(negative, V(2), V(0)));  // quarter turns
  const Pair<V> sum = fast_two_sum(base * V(half_pi<Real>[0]), factor * a.s);
  return sum.hi + fma(factor, a.rest, fma(base, V(half_pi<Real>[1]), sum.lo));
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
