// The standard normal distribution: density, distribution function and its inverse; and erfcx(x) = e^(x^2) erfc(x).
//
// The lower tail of the distribution function is e^(-x^2/2) erfcx(-x/sqrt2)/2, from erfc's table. Its inverse is
// q F(w), q = p - 1/2 and w = -log(4p(1-p)): F is smooth from the middle, where w = 0, to the end of both tails, so 16
// polynomials do (normal_table.hpp). (This variable: Giles, "Approximating the erfinv function", GPU Computing Gems,
// Jade edition, 2011.)
#pragma once

#include "kernels/math/erf.hpp"
#include "kernels/math/log.hpp"
#include "kernels/math/normal_table.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// Bounds on |x|: up to `ordinary`, e^(-x^2/2)/2 is normal; from `nothing` on, the lower tail and the density are less than
/// half of the smallest subnormal number.
template <class Real>
struct NormalRange;
template <>
struct NormalRange<double> {
  static constexpr double ordinary = 37.5, nothing = 38.6;
};
template <>
struct NormalRange<float> {
  static constexpr float ordinary = 13, nothing = 14.5f;
};

// ---- density -------------------------------------------------------------------------------------------------------

/// 1/sqrt(2 pi).
template <Lane V>
WENGERT_INLINE Grown<V> normal_pdf_at_0() {
  if constexpr (is_f64<V>) return {V(0x1.9884533d43651p-2), V(-0x1.201b8c07f2c3fp-54)};
  else return {V(0x1.988454p-2f), V(-0x1.e821f2p-26f)};
}

template <Lane V>
WENGERT_NOINLINE V normal_pdf_everywhere(V x) {
  const V a = clamped_abs(x, V(NormalRange<typename V::Real>::nothing));
  return select(isnan(x), x, exp_of_product_scaled(a * V(-0.5), a, normal_pdf_at_0<V>()));
}

/// e^(-x^2/2) / sqrt(2 pi).
template <Lane V>
WENGERT_INLINE V normal_pdf(V x) {
  const V y = product(exp_of_product(x * V(-0.5), x), normal_pdf_at_0<V>());
  return rare(beyond(x, V(NormalRange<typename V::Real>::ordinary)), y, [&] { return normal_pdf_everywhere(x); });
}

// ---- distribution function -----------------------------------------------------------------------------------------

/// erfcx(x / sqrt2) for 0 <= x <= NormalRange::nothing.
template <Lane V>
WENGERT_INLINE Grown<V> erfcx_of_scaled(V x) {
  using T = ErfTable<typename V::Real>;
  const V hi(is_f64<V> ? 0x1.6a09e667f3bcdp-1 : 0x1.6a09e6p-1), lo(is_f64<V> ? -0x1.bdd3413b26456p-55 : 0x1.9fcef4p-27);
  const auto piece = erfcx_piece(fma(x, hi, V(T::shift)));
  return erfcx_near(piece, fma(x, lo, fma(x, hi, -lookup16<V>(T::erfcx_middle, piece))));
}

template <Lane V>
WENGERT_NOINLINE V normal_cdf_everywhere(V x) {
  const V a = clamped_abs(x, V(NormalRange<typename V::Real>::nothing));
  Grown<V> factor = erfcx_of_scaled(a);
  factor.head = factor.head * V(0.5);
  const V tail = exp_of_product_scaled(a * V(-0.5), a, factor);
  return select(isnan(x), x, select(x < V(0), tail, V(1) - tail));
}

/// The probability of a standard normal variable below x.
template <Lane V>
WENGERT_INLINE V normal_cdf(V x) {
  const V two_tails = product(exp_of_product(x * V(-0.5), x), erfcx_of_scaled(abs(x)));
  const V y = select(x < V(0), two_tails * V(0.5), fma(two_tails, V(-0.5), V(1)));
  return rare(beyond(x, V(NormalRange<typename V::Real>::ordinary)), y, [&] { return normal_cdf_everywhere(x); });
}

// ---- its inverse ---------------------------------------------------------------------------------------------------

/// The x that a standard normal variable is below with probability p: -inf at 0, inf at 1, NaN outside.
template <Lane V>
WENGERT_INLINE V normal_icdf(V p) {
  using T = NormalTable<typename V::Real>;
  using F = FormatOf<V>;
  const V q = p - V(0.5), q_low = p - (q + V(0.5));
  const V w = -log((p * V(4)) * (V(1) - p));
  const auto piece = srl<F::mantissa_bits - T::octave_bits>(bits(w + V(T::shift)));
  const V d = w - lookup16<V>(T::icdf_middle, piece);
  const V c0 = lookup16<V>(T::icdf[0], piece), rest = d * rows_from<1>(T::icdf, piece, d, d * d);
  const Pair<V> head = two_prod(q, c0);
  const V x = head.hi + fma(head.hi, rest, fma(q_low, c0, head.lo));
  return rare(!((p > V(0)) & (p < V(1))), x,
              [&] { return select(p == V(0), V(-F::inf), select(p == V(1), V(F::inf), V(F::nan))); });
}

// ---- erfcx ---------------------------------------------------------------------------------------------------------

/// erfcx where |x| > GaussRange::ordinary: the asymptotic series (Abramowitz and Stegun 7.1.23); below, 2 e^(x^2).
template <Lane V>
WENGERT_NOINLINE V erfcx_everywhere(V x) {
  const V lowest(-GaussRange<typename V::Real>::nothing), above = select(x > lowest, x, lowest);
  const V below = exp_of_product_scaled(above, above, Grown<V>{V(2), V(0)});
  const V inverse = V(1) / x, u = inverse * inverse;
  const V series = u * horner(u, -0.5, 0.75, -1.875, 6.5625, -29.53125, 162.421875, -1055.7421875);
  const V inv_sqrt_pi(is_f64<V> ? 0x1.20dd750429b6dp-1 : 0x1.20dd76p-1);
  return select(isnan(x), x, select(x < V(0), below, fma(inv_sqrt_pi, series, inv_sqrt_pi) / x));
}

/// e^(x^2) erfc(x).
template <Lane V>
WENGERT_INLINE V erfcx(V x) {
  const V a = abs(x), y = rounded(erfcx_of_positive(a));
  const V twice = rounded(exp_of_product(x, x)) * V(2);
  return rare(beyond(x, V(GaussRange<typename V::Real>::ordinary)), select(x < V(0), twice - y, y),
              [&] { return erfcx_everywhere(x); });
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
