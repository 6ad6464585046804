// x^y = 2^(y log2 |x|), the logarithm to about 65 bits.
//
// log2 |x| = e + log2 c + log2(m / c): x = m 2^e, c = m rounded to 4 bits, so log2 c comes from a table of 16 and, with
// s = (2 / ln 2) (m - c) / (m + c), log2(m / c) = s + s^3 P(s^2) has |s| < 2^-4: the series needs no double-double
// arithmetic beyond its first term. (The atanh series for log: Abramowitz and Stegun 4.1.27; table-driven logarithms
// and powers: Tang, ACM TOMS 16(4), 1990; exact remainders of quotients and error-free sums: Muller et al., Handbook of
// Floating-Point Arithmetic, ch. 4.) 2^t likewise: t rounded to sixteenths, a table, a short polynomial.
// Minimax coefficients: computed with Sollya's fpminimax on the reduced ranges.
#pragma once

#include "kernels/math/poly.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <class Real>
struct PowTables;

template <>
struct PowTables<double> {
  // log2(j / 16) at j mod 16, j = 12..24, high part a multiple of 2^-41 so that adding the exponent is exact.
  alignas(64) static constexpr double log2_hi[16] = {0x0p+0,
                                                     0x1.663f6fac9p-4,
                                                     0x1.5c01a39fbcp-3,
                                                     0x1.fbc16b9028p-3,
                                                     0x1.49a784bcd2p-2,
                                                     0x1.91bba891f2p-2,
                                                     0x1.d6753e032ep-2,
                                                     0x1.0c10500d64p-1,
                                                     0x1.2b803473f8p-1,
                                                     0x0p+0,
                                                     0x0p+0,
                                                     0x0p+0,
                                                     -0x1.a8ff97181p-2,
                                                     -0x1.32bfee370ep-2,
                                                     -0x1.8a8980abfcp-3,
                                                     -0x1.7d60496cf8p-4};
  alignas(64) static constexpr double log2_lo[16] = {0x0p+0,
                                                     0x1.3167ccc538261p-44,
                                                     0x1.6879fa00b120ap-43,
                                                     -0x1.7f5dc57266758p-43,
                                                     -0x1.1d406db502403p-44,
                                                     -0x1.1ee969a95f529p-43,
                                                     0x1.41dfc7d7c3321p-43,
                                                     -0x1.5669df6a2b592p-43,
                                                     -0x1.4bc302ffa76fbp-43,
                                                     0x0p+0,
                                                     0x0p+0,
                                                     0x0p+0,
                                                     -0x1.4bc302ffa76fbp-43,
                                                     -0x1.cd0cb4492f1bcp-43,
                                                     0x1.66cccab240e9p-46,
                                                     -0x1.da6339da288fcp-43};
  // 2^(j / 16).
  alignas(64) static constexpr double exp2_hi[16] = {0x1p+0,
                                                     0x1.0b5586cf9890fp+0,
                                                     0x1.172b83c7d517bp+0,
                                                     0x1.2387a6e756238p+0,
                                                     0x1.306fe0a31b715p+0,
                                                     0x1.3dea64c123422p+0,
                                                     0x1.4bfdad5362a27p+0,
                                                     0x1.5ab07dd485429p+0,
                                                     0x1.6a09e667f3bcdp+0,
                                                     0x1.7a11473eb0187p+0,
                                                     0x1.8ace5422aa0dbp+0,
                                                     0x1.9c49182a3f09p+0,
                                                     0x1.ae89f995ad3adp+0,
                                                     0x1.c199bdd85529cp+0,
                                                     0x1.d5818dcfba487p+0,
                                                     0x1.ea4afa2a490dap+0};
  alignas(64) static constexpr double exp2_lo[16] = {0x0p+0,
                                                     0x1.8a62e4adc610bp-54,
                                                     -0x1.19041b9d78a76p-55,
                                                     0x1.9b07eb6c70573p-54,
                                                     0x1.6f46ad23182e4p-55,
                                                     0x1.ada0911f09ebcp-55,
                                                     0x1.d4397afec42e2p-56,
                                                     0x1.6324c054647adp-54,
                                                     -0x1.bdd3413b26456p-54,
                                                     -0x1.41577ee04992fp-55,
                                                     0x1.6e9f156864b27p-54,
                                                     0x1.c7c46b071f2bep-56,
                                                     0x1.7a1cd345dcc81p-54,
                                                     0x1.11065895048ddp-55,
                                                     0x1.2ed02d75b3707p-55,
                                                     -0x1.e9c23179c2893p-54};
};

template <>
struct PowTables<float> {
  alignas(64) static constexpr float log2_hi[16] = {
      // multiples of 2^-15
      0x0p+0f,     0x1.664p-4f, 0x1.5cp-3f, 0x1.fbcp-3f, 0x1.49a8p-2f, 0x1.91b8p-2f, 0x1.d678p-2f, 0x1.0c1p-1f,
      0x1.2b8p-1f, 0x0p+0f,     0x0p+0f,    0x0p+0f,     -0x1.a9p-2f,  -0x1.32cp-2f, -0x1.8a9p-3f, -0x1.7d6p-4f};
  alignas(64) static constexpr float log2_lo[16] = {
      0x0p+0f,          -0x1.20a6dep-21f, 0x1.a39fbep-19f, 0x1.6b9026p-19f, -0x1.ed0cbap-20f, 0x1.d448f8p-17f,
      -0x1.60fe68p-17f, 0x1.40358ep-19f,  0x1.a39fbep-20f, 0x0p+0f,         0x0p+0f,          0x0p+0f,
      0x1.a39fbep-20f,  0x1.1c8f12p-22f,  0x1.9fd502p-17f, -0x1.25b3eep-22f};
  alignas(64) static constexpr float exp2_hi[16] = {0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                                    0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                                    0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                                    0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
  alignas(64) static constexpr float exp2_lo[16] = {
      0x0p+0f,          0x1.9f3122p-25f,  -0x1.c15742p-27f, 0x1.ceac48p-25f, 0x1.4636e2p-25f, 0x1.824684p-25f,
      -0x1.593abcp-25f, -0x1.5bd5ecp-27f, 0x1.9fcef4p-26f,  -0x1.829fdp-25f, 0x1.15506ep-27f, 0x1.51f848p-27f,
      -0x1.a94b14p-26f, -0x1.3d56b2p-27f, -0x1.822dbcp-27f, 0x1.52486cp-27f};
};

/// log2(x), relative error below 2^-63 (float: 2^-34), for finite x > 0, subnormal too.
template <Lane V>
WENGERT_INLINE Pair<V> log2_pair(V x) {
  using Real = typename V::Real;
  using T = PowTables<Real>;
  V m, e;
  split(x, m, e);
  const V magic(is_f64<V> ? Real(0x1.8p48) : Real(0x1.8p19));  // adding it rounds to sixteenths
  const V rounded = m + magic;
  const V c = rounded - magic;
  const V c_hi = lookup16<V>(T::log2_hi, bits(rounded)), c_lo = lookup16<V>(T::log2_lo, bits(rounded));

  // s + s_lo = (2 / ln 2) (m - c) / (m + c)
  const V numerator = m - c, denominator = m + c, denominator_lo = m - (denominator - c);
  const V inverse = V(1) / denominator;
  const V factor(is_f64<V> ? Real(0x1.71547652b82fep+1) : Real(0x1.715476p+1));
  const V factor_lo(is_f64<V> ? Real(0x1.777d0ffda0d24p-55) : Real(0x1.4ae0cp-25));
  const Pair<V> scaled = two_prod(numerator, factor);
  const V s = scaled.hi * inverse;
  const V remainder = fma(-s, denominator_lo, fma(numerator, factor_lo, scaled.lo)) + fma(-s, denominator, scaled.hi);

  const V s2 = s * s;
  V p;
  if constexpr (is_f64<V>) {
    p = horner(s2, 0x1.47fd3ffac83b4p-5, 0x1.7a3341fad6603p-9, 0x1.0394fecbe8eb6p-12, 0x1.844b5eab95319p-16);
  } else {
    p = horner(s2, 0x1.47fd4p-5f, 0x1.7a4ce8p-9f);
  }
  const V tail = fma(s * s2, p, fma(remainder, inverse, c_lo));
  const Pair<V> sum = fast_two_sum(e + c_hi, s);  // e + c_hi is exact; 0 or larger than |s|
  return fast_two_sum(sum.hi, sum.lo + tail);
}

/// The cases of pow that the logarithm of |x| doesn't cover; `power` is |x|^y where that is right.
template <Lane V>
WENGERT_INLINE V pow_special(V x, V y, V exponent, V power) {
  const V inf(FormatOf<V>::inf), zero(0), one(1);
  const V size = abs(x), half = y * V(0.5);
  const auto is_integer = rint(y) == y;
  const auto is_odd = is_integer & (rint(half) != half);
  const auto unbounded = !(abs(exponent) < V(is_f64<V> ? 1500 : 250));
  V r = select(unbounded, select(exponent > zero, inf, zero), power);
  r = select(size == zero, select(y < zero, inf, zero), r);
  r = select(size == inf, select(y < zero, zero, inf), r);
  r = select(signbit(x) & is_odd, -r, r);
  r = select((x < zero) & (x != -inf) & !is_integer, V(FormatOf<V>::nan), r);
  r = select(isnan(x) | isnan(y), x + y, r);
  return select((y == zero) | (x == one) | ((x == V(-1)) & isinf(y)), one, r);
}

/// x^y. Special values as in C99 Annex F: pow(x, +-0) = pow(1, y) = 1 even for NaN.
template <Lane V>
WENGERT_INLINE V pow(V x, V y) {
  using Real = typename V::Real;
  using T = PowTables<Real>;
  const Pair<V> exponent = log2_pair(abs(x)), product = two_prod(y, exponent.hi);
  const V t = product.hi, t_lo = fma(y, exponent.lo, product.lo);

  const V magic(is_f64<V> ? Real(0x1.8p48) : Real(0x1.8p19));
  const V rounded = t + magic;
  const V n = rounded - magic;  // t in sixteenths
  const V f = (t - n) + t_lo;
  V p;
  if constexpr (is_f64<V>) {
    const V f2 = f * f;
    const V p01 = fma(f, V(0x1.ebfbdff82c597p-3), V(0x1.62e42fefa39f3p-1));
    const V p23 = fma(f, V(0x1.3b2ab6fad137ep-7), V(0x1.c6b08d6f2b088p-5));
    const V p45 = fma(f, V(0x1.430a76d5e7dacp-13), V(0x1.5d897ef15069dp-10));
    p = fma(fma(p45, f2, p23), f2, p01);
  } else {
    p = horner(f, 0x1.62e43p-1f, 0x1.ebff98p-3f, 0x1.c6ada6p-5f);
  }
  const V base = lookup16<V>(T::exp2_hi, bits(rounded));
  const V rest = fma(base * f, p, lookup16<V>(T::exp2_lo, bits(rounded)));
  const V power = scale_floor(base + rest, n);
  const auto ordinary = (x > V(0)) & (x < V(FormatOf<V>::inf)) & (abs(t) < V(is_f64<V> ? 1500 : 250));
  return rare(!ordinary, power, [&] { return pow_special(x, y, t, power); });
}

/// x^n for an integer n: pow is right for a negative x too.
template <Lane V>
WENGERT_INLINE V powi(V x, V n) {
  return pow(x, n);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
