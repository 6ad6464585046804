// The gamma function, its logarithm, and the derivatives of that: digamma, trigamma and polygamma2.
//
// Lane by lane, floats in double, since each has several ways to its result:
//   |x| below 11.5 (gamma) or 8: recurrence, x Gamma(x) = Gamma(x + 1) and its derivatives, to an interval of length 1 or
//     2 with a polynomial or a table of 16, or (trigamma and polygamma2) to where the next begins;
//   x > 0 beyond: the asymptotic series (Abramowitz and Stegun 6.1.41, 6.3.18, 6.4.11), fitted;
//   x < 0 beyond: reflection, A&S 6.1.17, 6.3.7, 6.4.7.
// Coefficients: weighted least squares at Chebyshev nodes, close to minimax, in 200 bits, rounded one after the other with
// those that follow fitted anew.
#pragma once

#include "kernels/math/erf.hpp"
#include "kernels/math/gamma_table.hpp"
#include "kernels/math/log.hpp"
#include "kernels/math/pow.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

namespace gamma_detail {

/// What this file computes with. It has one truth value, so `if` can choose a way.
using One = Vec<double, 1>;
WENGERT_INLINE bool is(One::Mask m) { return any(m); }

inline constexpr double inf = Format<double>::inf, nan = Format<double>::nan;
inline constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
inline constexpr double log2_e = 0x1.71547652b82fep0, log2_e_low = 0x1.777d0ffda0d24p-56;
inline constexpr double large = 8;  // from here on the asymptotic series below hold

WENGERT_INLINE Pair<One> times(Pair<One> a, One b) {
  const Pair<One> p = two_prod(a.hi, b);
  return fast_two_sum(p.hi, fma(a.lo, b, p.lo));
}
WENGERT_INLINE Pair<One> plus(Pair<One> a, Pair<One> b) {
  const Pair<One> s = two_sum(a.hi, b.hi);
  return fast_two_sum(s.hi, s.lo + (a.lo + b.lo));
}

/// An integer x.
WENGERT_INLINE bool is_whole(One x) { return is(rint(x) == x); }

/// sin(pi x) / pi for |x| <= 1/2.
WENGERT_INLINE One sine_near_0(One x) {
  const One x2 = x * x;
  const One p =
      paired(x2, x2 * x2, -0x1.a51a6625307d3p0, 0x1.9f9cb402bc429p-1, -0x1.86a8e4720a1dcp-3, 0x1.ac6805cc89aa3p-6,
             -0x1.33816997c038ep-9, 0x1.3746a186a9c3ap-13, -0x1.d3e6a46a41d46p-18, 0x1.0743806fee8eep-22);
  return fma(x, x2 * p, x);
}
/// sin(pi x) / pi.
WENGERT_INLINE One sine(One x) {
  const One whole = rint(x), half = whole * One(0.5), s = sine_near_0(x - whole);
  return select(half == rint(half), s, -s);
}
/// pi / sin(pi x) and cos(pi x), both or neither with their signs flipped.
struct SineAndCosine {
  One inverse_sine, cosine;
};
WENGERT_INLINE SineAndCosine sine_and_cosine(One x) {
  const One near = x - rint(x);
  return {One(1) / sine_near_0(near), One(0x1.921fb54442d18p1) * sine_near_0(One(0.5) - abs(near))};
}

// ---- gamma ---------------------------------------------------------------------------------------------------------

/// 1 / Gamma(1 + z) for |z| <= 1/2.
WENGERT_INLINE One inverse_gamma_near_1(One z) {
  const One q =
      paired(z, z * z, 0x1.2788cfc6fb619p-1, -0x1.4fcf4026afa2ep-1, -0x1.5815e8fa270cdp-5, 0x1.5512320b44009p-3,
             -0x1.59af103c323c3p-5, -0x1.3b4af2848dc82p-7, 0x1.d919c5268e5d8p-8, -0x1.317112c9214b5p-10,
             -0x1.c364fc1a907eap-13, 0x1.0c8a775dbf4c9p-13, -0x1.51cf176edefcbp-16, -0x1.4fa992c6d3c1dp-20,
             0x1.304ac245b3336p-20, -0x1.b9ec231a0f35p-23, 0x1.4e332913f06fcp-28, 0x1.666a9cec02516p-28);
  return fma(z, q, One(1));
}

/// log2 Gamma(x) for x >= `large`.
WENGERT_INLINE Pair<One> log2_gamma(One x) {
  const One inverse = One(1) / x;
  const One series =
      inverse * horner(inverse * inverse, 0x1.5555555555555p-4, -0x1.6c16c16c10957p-9, 0x1.a01a015d9dffep-11,
                       -0x1.381331ca859ap-11, 0x1.b920c2eb0207fp-11, -0x1.ee6911554dc7dp-10, 0x1.466275526a04fp-8);
  // (x - 1/2) log2 x - x log2 e + log2(2 pi)/2 + series log2 e
  Pair<One> linear = two_prod(-x, One(log2_e));
  linear.lo = fma(-x, One(log2_e_low), linear.lo);
  const Pair<One> constant = {One(0x1.536439a4c6efcp0), fma(series, One(log2_e), One(-0x1.49e49a361efebp-54))};
  return plus(plus(times(log2_pair(x), x - One(0.5)), linear), constant);
}

/// 2^(e.hi + e.lo) / divisor.
WENGERT_INLINE One exp2_over(Pair<One> e, One divisor) {
  const One whole = rint(e.hi), fraction = (e.hi - whole) + e.lo;
  return scale(rounded(exp_of_product(fraction, One(ln2))) / divisor, whole);
}

/// Gamma(x) for |x| < 12, not 0 nor a negative integer.
WENGERT_INLINE One gamma_by_recurrence(One x) {
  const One whole = rint(x), inverse = inverse_gamma_near_1(x - whole);
  Pair<One> factors = {One(1), One(0)};
  if (is(whole >= One(1))) {
    for (One k = One(1); is(k < whole); k = k + One(1)) factors = times(factors, x - k);
    return factors.hi / inverse;
  }
  for (One k = One(0); is(k >= whole); k = k - One(1)) factors = times(factors, x - k);
  return One(1) / (factors.hi * inverse);
}

WENGERT_NOINLINE inline One tgamma(One x) {
  if (is(x == One(0))) return copysign(One(inf), x);
  if (is(x < One(0)) && is_whole(x)) return One(nan);
  if (is(abs(x) < One(11.5))) return gamma_by_recurrence(x);
  if (is(x > One(0))) return is(x < One(172)) ? exp2_over(log2_gamma(x), One(1)) : x * One(inf);
  if (is(isnan(x))) return x;
  // Gamma(x) Gamma(-x) = -pi / (x sin(pi x))
  const One divisor = -x * sine(x);
  if (is(x < One(-190))) return copysign(One(0), divisor);
  const Pair<One> e = log2_gamma(-x);
  return exp2_over(Pair<One>{-e.hi, -e.lo}, divisor);
}

// ---- log |gamma| ---------------------------------------------------------------------------------------------------

/// lgamma(1 + z) for z from -1/2 to 3/2.
WENGERT_INLINE One lgamma_near_1(One z) {
  const One piece = floor((z + One(0.5)) * One(8)), d = z - fma(piece, One(0.125), One(-0.4375));
  return z * (z - One(1)) * rows_from<0>(lgamma_pieces, to_int(piece), d, d * d);
}
/// lgamma(x) for x >= 1/2.
WENGERT_INLINE One lgamma_of_positive(One x) {
  if (is(x < One(large))) {
    Pair<One> factors = {One(1), One(0)};
    for (; is(x >= One(2.5)); x = x - One(1)) factors = times(factors, x - One(1));
    return log(factors.hi) + (factors.lo / factors.hi + lgamma_near_1(x - One(1)));
  }
  if (is(x > One(0x1p60))) return x * (log(x) - One(1));
  const Pair<One> e = log2_gamma(x);
  return fma(e.hi, One(ln2), fma(e.hi, One(ln2_low), e.lo * One(ln2)));
}

WENGERT_NOINLINE inline One lgamma(One x) {
  const One size = abs(x);
  if (is(size < One(0.5))) return lgamma_near_1(x) - log(size);
  if (is(size == One(inf))) return size;
  if (is(x > One(0))) return lgamma_of_positive(x);
  if (is_whole(x)) return One(inf);
  if (is(isnan(x))) return x;
  return -log(size * abs(sine(x))) - lgamma_of_positive(size);
}

// ---- its derivatives -----------------------------------------------------------------------------------------------

/// digamma(1 + z) for z from 0 to 1.
WENGERT_INLINE One digamma_near_1(One z) {
  const One piece = floor(z * One(16)), d = z - fma(piece, One(0.0625), One(0.03125));
  const One from_zero = (z - One(0x1.d8b618d5af8fep-2)) - One(-0x1.1e563779a1f5bp-56);
  return from_zero * rows_from<0>(digamma_pieces, to_int(piece), d, d * d);
}
WENGERT_INLINE One digamma_of_positive(One x) {
  if (is(x < One(1))) return digamma_near_1(x) - One(1) / x;
  if (is(x < One(large))) {
    One sum = One(0);
    for (; is(x >= One(2)); x = x - One(1)) sum = sum + One(1) / (x - One(1));
    return sum + digamma_near_1(x - One(1));
  }
  const One inverse = One(1) / x, u = inverse * inverse;
  const One series = horner(u, 0x1.5555555555555p-4, -0x1.111111110a795p-7, 0x1.041040cacd439p-8, -0x1.1110b75f60feap-8,
                            0x1.f039a3733caafp-8, -0x1.5334c277c909ap-6, 0x1.050bcae5e07acp-4);
  return log(x) - fma(u, series, One(0.5) * inverse);
}

WENGERT_NOINLINE inline One digamma(One x) {
  if (is(x > One(0))) return digamma_of_positive(x);
  if (is(x == One(0))) return copysign(One(inf), -x);
  if (is_whole(x)) return One(nan);
  if (is(isnan(x))) return x;
  const SineAndCosine at = sine_and_cosine(x);
  return digamma_of_positive(One(1) - x) - at.inverse_sine * at.cosine;
}

WENGERT_INLINE One trigamma_of_positive(One x) {
  One sum = One(0);
  for (; is(x < One(large)); x = x + One(1)) sum = sum + (One(1) / x) * (One(1) / x);
  const One inverse = One(1) / x, u = inverse * inverse;
  const One series = horner(u, 0x1.5555555555555p-3, -0x1.111111110f971p-5, 0x1.86186178fe5ccp-6, -0x1.111104e30ae5fp-5,
                            0x1.3647c6fc57b5fp-4, -0x1.026ab1e3a7b3cp-2, 0x1.1b9f6e424b5d3p0, -0x1.233d97a2368d8p2);
  return sum + fma(u, fma(inverse, series, One(0.5)), inverse);
}

WENGERT_NOINLINE inline One trigamma(One x) {
  if (is(x > One(0))) return trigamma_of_positive(x);
  if (is(x == -One(inf)) || is(isnan(x))) return x + One(nan);
  if (is_whole(x)) return One(inf);
  const One s = sine_and_cosine(x).inverse_sine;
  return s * s - trigamma_of_positive(One(1) - x);
}

WENGERT_INLINE One polygamma2_of_positive(One x) {
  One sum = One(0);
  for (; is(x < One(large)); x = x + One(1)) sum = sum + (One(1) / x) * (One(1) / x) * (One(1) / x);
  const One inverse = One(1) / x, u = inverse * inverse;
  const One series = horner(u, 0x1.fffffffffffffp-2, -0x1.555555555104cp-3, 0x1.5555553e1d89fp-3, -0x1.33331b7981e24p-2,
                            0x1.aa9eb4eab40ep-1, -0x1.a38682d650c64p1, 0x1.07599f247dd79p4, -0x1.28dbef3cab6a7p6);
  return -fma(One(2), sum, fma(u * inverse, fma(inverse, series, One(1)), u));
}

WENGERT_NOINLINE inline One polygamma2(One x) {
  if (is(x > One(0))) return polygamma2_of_positive(x);
  if (is(x == One(0))) return copysign(One(inf), -x);
  if (is_whole(x)) return One(nan);
  if (is(isnan(x))) return x;
  const SineAndCosine at = sine_and_cosine(x);
  const One s = at.inverse_sine;
  return polygamma2_of_positive(One(1) - x) - One(2) * at.cosine * s * (s * s);
}

/// f lane by lane, in double.
template <Lane V, class F>
WENGERT_INLINE V in_double(F f, V x) {
  using Real = typename V::Real;
  return per_lane([f](auto lane) { return decltype(lane)(static_cast<Real>(f(One(static_cast<double>(lane.v))).v)); },
                  x);
}

}  // namespace gamma_detail

/// Gamma(x): NaN at negative integers and -inf, +-inf at +-0.
template <Lane V>
WENGERT_INLINE V tgamma(V x) {
  return gamma_detail::in_double([](gamma_detail::One a) { return gamma_detail::tgamma(a); }, x);
}
/// log |Gamma(x)|: +inf at 0, at negative integers and at +-inf.
template <Lane V>
WENGERT_INLINE V lgamma(V x) {
  return gamma_detail::in_double([](gamma_detail::One a) { return gamma_detail::lgamma(a); }, x);
}
/// The derivative of lgamma: NaN at negative integers, -+inf at +-0.
template <Lane V>
WENGERT_INLINE V digamma(V x) {
  return gamma_detail::in_double([](gamma_detail::One a) { return gamma_detail::digamma(a); }, x);
}
/// The derivative of digamma: +inf at 0 and at negative integers.
template <Lane V>
WENGERT_INLINE V trigamma(V x) {
  return gamma_detail::in_double([](gamma_detail::One a) { return gamma_detail::trigamma(a); }, x);
}
/// The derivative of trigamma: NaN at negative integers, -+inf at +-0.
template <Lane V>
WENGERT_INLINE V polygamma2(V x) {
  return gamma_detail::in_double([](gamma_detail::One a) { return gamma_detail::polygamma2(a); }, x);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
