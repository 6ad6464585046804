// Exponentials: exp, exp2 and expm1.
//
// e^x = 2^k * 2^(i/16) * e^r with n = k + i/16 = x / ln 2 rounded to a multiple of 1/16, so |r| <= ln2/32: a table of
// 16 and a short polynomial (Tang, "Table-driven implementation of the exponential function in IEEE floating-point
// arithmetic", ACM TOMS 15, 1989). The polynomials have the least error among those whose coefficients are doubles
// (floats) and whose first two are exact (Sollya's fpminimax; Brisebarre and Chevillard, "Efficient polynomial
// L-infinity approximations", ARITH 2007).
#pragma once

#include "kernels/math/poly.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <class Real>
struct ExpTable;

// `power[i]`: 2^(i/16) with i/16 subtracted from its exponent field (so, moved by i/16 of a binade), so that adding the
// bits of n, in sixteenths, to that field gives 2^n. `rest[i]`: what rounding took from 2^(i/16), relative to it.
template <>
struct ExpTable<double> {
  alignas(64) static constexpr double power[16] = {1,
                                                   0x1.fb5586cf9890fp-1,
                                                   0x1.f72b83c7d517bp-1,
                                                   0x1.f387a6e756238p-1,
                                                   0x1.f06fe0a31b715p-1,
                                                   0x1.edea64c123422p-1,
                                                   0x1.ebfdad5362a27p-1,
                                                   0x1.eab07dd485429p-1,
                                                   0x1.ea09e667f3bcdp-1,
                                                   0x1.ea11473eb0187p-1,
                                                   0x1.eace5422aa0dbp-1,
                                                   0x1.ec49182a3f09p-1,
                                                   0x1.ee89f995ad3adp-1,
                                                   0x1.f199bdd85529cp-1,
                                                   0x1.f5818dcfba487p-1,
                                                   0x1.fa4afa2a490dap-1};
  alignas(64) static constexpr double rest[16] = {0,
                                                  0x1.79aa65d837b6dp-54,
                                                  -0x1.01b15eaa59348p-55,
                                                  0x1.68efde3a8a894p-54,
                                                  0x1.34d754db0abb6p-55,
                                                  0x1.59f48a72a4c6dp-55,
                                                  0x1.690cebb7aafbp-56,
                                                  0x1.063e1e21c5409p-54,
                                                  -0x1.3b3efbf5e2228p-54,
                                                  -0x1.b32dcb94da51dp-56,
                                                  0x1.db72fc1f0eab4p-55,
                                                  0x1.1affc2b91ce27p-56,
                                                  0x1.c1a7792cb3387p-55,
                                                  0x1.36eae30af0cb3p-56,
                                                  0x1.4a385a63d07a7p-56,
                                                  -0x1.ff7128fd391fp-55};
  static constexpr double inv_ln2 = 0x1.71547652b82fep0, ln2_hi = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
  static constexpr double ordinary = 708;                // e^x and every step towards it are normal for |x| up to this
  static constexpr double lowest = -746, highest = 711;  // e^x is 0 below, e^x / 2 infinite above
};
template <>
struct ExpTable<float> {
  alignas(64) static constexpr float power[16] = {1,
                                                  0x1.fb5586p-1f,
                                                  0x1.f72b84p-1f,
                                                  0x1.f387a6p-1f,
                                                  0x1.f06fep-1f,
                                                  0x1.edea64p-1f,
                                                  0x1.ebfdaep-1f,
                                                  0x1.eab07ep-1f,
                                                  0x1.ea09e6p-1f,
                                                  0x1.ea1148p-1f,
                                                  0x1.eace54p-1f,
                                                  0x1.ec4918p-1f,
                                                  0x1.ee89fap-1f,
                                                  0x1.f199bep-1f,
                                                  0x1.f5818ep-1f,
                                                  0x1.fa4afap-1f};
  alignas(64) static constexpr float rest[16] = {0,
                                                 0x1.8d96d4p-25f,
                                                 -0x1.9c0c22p-27f,
                                                 0x1.964904p-25f,
                                                 0x1.125002p-25f,
                                                 0x1.370be4p-25f,
                                                 -0x1.0a355p-25f,
                                                 -0x1.00d8acp-27f,
                                                 0x1.26055cp-26f,
                                                 -0x1.05cb44p-25f,
                                                 0x1.67a1cap-28f,
                                                 0x1.a3b5e4p-28f,
                                                 -0x1.f9c304p-27f,
                                                 -0x1.6961b4p-28f,
                                                 -0x1.a5217cp-28f,
                                                 0x1.61428ep-28f};
  static constexpr float inv_ln2 = 0x1.715476p0f, ln2_hi = 0x1.62e43p-1f, ln2_lo = -0x1.05c61p-29f;
  static constexpr float ordinary = 87, lowest = -104, highest = 90;
};

/// Adding it rounds to a multiple of 1/16: numbers of its size are.
template <Lane V>
inline constexpr typename V::Real round_to_16th = is_f64<V> ? 0x1.8p48 : 0x1.8p19;

/// x = n ln2_hi + r exactly: where n isn't zero both terms are multiples of ulp(ln2/32)/2, and r is small.
template <Lane V>
struct ExpReduced {
  V n, r;
  typename V::Int index;  // the lowest four bits are i, those above k, and the highest, to be shifted out, mean nothing
};

template <Lane V>
WENGERT_INLINE ExpReduced<V> exp_reduce(V x) {
  using T = ExpTable<typename V::Real>;
  const V rounded = fma(x, V(T::inv_ln2), V(round_to_16th<V>));
  const V n = rounded - V(round_to_16th<V>);
  return {n, fma(n, V(-T::ln2_hi), x), bits(rounded)};
}

/// 2^n rounded, if normal.
template <Lane V>
WENGERT_INLINE V exp_power(typename V::Int index) {
  constexpr int shift = FormatOf<V>::mantissa_bits - 4;
  return from_bits<V>(bits(lookup16<V>(ExpTable<typename V::Real>::power, index)) + shl<shift>(index));
}

/// e^x / 2^n - 1, absolute error 2^-56 (float: 2^-28). `exact`: and what exp_power took from 2^n in rounding.
template <bool exact = false, Lane V>
WENGERT_INLINE V exp_rest(const ExpReduced<V>& a) {
  using T = ExpTable<typename V::Real>;
  const V r = fma(a.n, V(-T::ln2_lo), a.r), r2 = r * r;
  V linear = r;
  if constexpr (exact) linear = r + lookup16<V>(T::rest, a.index);
  if constexpr (is_f64<V>) {
    const V q = paired(r, r2, 0x1.000000000000dp-1, 0x1.555555548ef01p-3, 0x1.5555555336913p-5, 0x1.11123b2105554p-7,
                       0x1.6c19769147e2dp-10);
    return fma(r2, q, linear);
  } else {
    return fma(r2, paired(r, r2, 0x1.0001ecp-1f, 0x1.5556ap-3f), linear);
  }
}

/// e^x / exp_power - 1: makes up for the rounding of exp_power. Relative error 2^-59 (float: 2^-30) before its one
/// rounding.
template <Lane V>
WENGERT_INLINE V expm1_rest(const ExpReduced<V>& a) {
  using T = ExpTable<typename V::Real>;
  const V low = a.n * V(-T::ln2_lo), r = a.r + low, r2 = r * r;
  const V rest = lookup16<V>(T::rest, a.index), tail = fma(rest, r, rest) + low;
  if constexpr (is_f64<V>) {
    const V q = paired(r, r2, 0x1.0000000000003p-1, 0x1.5555555555555p-3, 0x1.55555554a05edp-5, 0x1.11111110d2eb5p-7,
                       0x1.6c1828fc085e5p-10, 0x1.a01b4a7d469fdp-13);
    return a.r + fma(r2, q, tail);
  } else {
    return a.r + fma(r2, paired(r, r2, 0x1p-1f, 0x1.555708p-3f, 0x1.55569ap-5f), tail);
  }
}

/// e^x for |x| <= ExpTable::ordinary; anything elsewhere.
template <Lane V>
WENGERT_INLINE V exp_ordinary(V x) {
  const ExpReduced<V> a = exp_reduce(x);
  const V power = exp_power<V>(a.index);
  return fma(power, exp_rest(a), power);
}

/// x within [low, high]; low for NaN, as an index must be an index.
template <Lane V>
WENGERT_INLINE V within(V x, V low, V high) {
  return min(max(x, low), high);
}

/// 2^-halvings e^x for every x, rounding once where the result is subnormal.
template <Lane V>
WENGERT_NOINLINE V exp_everywhere(V x, int halvings = 0) {
  using T = ExpTable<typename V::Real>;
  const ExpReduced<V> a = exp_reduce(within(x, V(T::lowest), V(T::highest)));
  const V power = exp_power<V>(a.index & typename V::Int(15));
  const V halved = a.n - V(static_cast<typename V::Real>(halvings));
  return select(isnan(x), x, scale_floor(fma(power, exp_rest(a), power), halved));
}

/// e^x.
template <Lane V>
WENGERT_INLINE V exp(V x) {
  return rare(beyond(x, V(ExpTable<typename V::Real>::ordinary)), exp_ordinary(x), [&] { return exp_everywhere(x); });
}

/// The common scale of the terms e^x of a sum, whose largest exponent is `top`: 2^-n for top's n. Unlike the difference
/// x - top it takes no rounding. For other exponents than those in [low, top], and a top that is far out: shifted_exp_far.
template <Lane V>
struct ExpShift {
  V top, low;
  typename V::Int index;
};

/// Exponents up to this are reduced without loss; where the largest is beyond it, x - top is exact for all terms that count.
template <Lane V>
inline constexpr typename V::Real shift_limit = is_f64<V> ? 0x1p20 : 0x1p10;

template <Lane V>
WENGERT_INLINE ExpShift<V> exp_shift(V top) {
  const V low = top - V(ExpTable<typename V::Real>::ordinary);
  return {top, select(beyond(top, V(shift_limit<V>)), V(FormatOf<V>::nan), low), exp_reduce(top).index};
}

/// Any x and top: 1 for an infinite x that equals top, but NaN where all are -inf.
template <Lane V>
WENGERT_NOINLINE V shifted_exp_far(V x, V top) {
  const auto far = beyond(top, V(shift_limit<V>));
  const V near_top = select(far, V(0), top), base = select(far, top, V(0));
  const V down = select(x == base, V(0), x - base);
  const ExpReduced<V> t = exp_reduce(near_top);
  const ExpReduced<V> a = exp_reduce(within(down, near_top - V(is_f64<V> ? 800 : 110), near_top));
  const V power = exp_power<V>((a.index - t.index) & typename V::Int(15));
  const auto none = isnan(down) | (top == V(-FormatOf<V>::inf));
  return select(none, V(FormatOf<V>::nan), scale_floor(fma(power, exp_rest(a), power), a.n - t.n));
}

/// e^x times the scale.
template <Lane V>
WENGERT_INLINE V shifted_exp(V x, ExpShift<V> shift) {
  const ExpReduced<V> a = exp_reduce(x);
  const V power = exp_power<V>(a.index - shift.index);
  return rare(!(x >= shift.low), fma(power, exp_rest(a), power), [&] { return shifted_exp_far(x, shift.top); });
}

/// e^x - 1.
template <Lane V>
WENGERT_INLINE V expm1(V x) {
  const ExpReduced<V> a = exp_reduce(x);
  const V power = exp_power<V>(a.index);
  const V y = copysign(fma(power, expm1_rest(a), power - V(1)), x);  // the sign of -0
  return rare(beyond(x, V(ExpTable<typename V::Real>::ordinary)), y,
              [&] { return select(x < V(0), V(-1), exp_everywhere(x)); });
}

/// 2^r - 1 for |r| <= 1/32, absolute error 2^-56 (float: 2^-28).
template <Lane V>
WENGERT_INLINE V exp2_rest(V r) {
  if constexpr (is_f64<V>) {
    return r * paired(r, r * r, 0x1.62e42fefa39f3p-1, 0x1.ebfbdff82c584p-3, 0x1.c6b08d6f2ce63p-5, 0x1.3b2ab6fbd0314p-7,
                      0x1.5d897d74c8d8bp-10, 0x1.4309d26ac54eep-13);
  } else {
    return r * paired(r, r * r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6ad62p-5f, 0x1.3b28b8p-7f);
  }
}

template <Lane V>
WENGERT_NOINLINE V exp2_everywhere(V x) {
  const V a = within(x, V(is_f64<V> ? -1080 : -155), V(is_f64<V> ? 1030 : 133));
  const V rounded = a + V(round_to_16th<V>), n = rounded - V(round_to_16th<V>);
  const V power = exp_power<V>(bits(rounded) & typename V::Int(15));
  return select(isnan(x), x, scale_floor(fma(power, exp2_rest(a - n), power), n));
}

/// 2^x.
template <Lane V>
WENGERT_INLINE V exp2(V x) {
  const V rounded = x + V(round_to_16th<V>);
  const V power = exp_power<V>(bits(rounded));
  const V y = fma(power, exp2_rest(x - (rounded - V(round_to_16th<V>))), power);
  return rare(beyond(x, V(is_f64<V> ? 1021 : 125)), y, [&] { return exp2_everywhere(x); });
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
