// The standard normal distribution: density, distribution function and its inverse; and erfcx(x) = e^(x^2) erfc(x).
//
// The distribution function is as erfc, e^(-x^2/2) times 16 polynomials (normal_table.hpp). So is its inverse: q F(w),
// q = p - 1/2 and w = -log(4p(1-p)); F is smooth from the middle, where w = 0, to the end of both tails. (This variable:
// Giles, "Approximating the erfinv function", GPU Computing Gems, Jade edition, 2011.)
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

/// e^(x^2/2) times the probability beyond x, for 0 <= x <= NormalRange::nothing.
template <Lane V>
WENGERT_INLINE Grown<V> normal_tail(V x) {
  using T = NormalTable<typename V::Real>;
  const auto piece = piece_of<2>(x + V(T::tail_shift));
  return grown_from(T::tail, piece, x - lookup16<V>(T::tail_middle, piece));
}

template <Lane V>
WENGERT_NOINLINE V normal_cdf_everywhere(V x) {
  const V a = clamped_abs(x, V(NormalRange<typename V::Real>::nothing));
  const V tail = exp_of_product_scaled(a * V(-0.5), a, normal_tail(a));
  return select(isnan(x), x, select(x < V(0), tail, V(1) - tail));
}

/// The probability of a standard normal variable below x.
template <Lane V>
WENGERT_INLINE V normal_cdf(V x) {
  const V tail = product(exp_of_product(x * V(-0.5), x), normal_tail(abs(x)));
  return rare(beyond(x, V(NormalRange<typename V::Real>::ordinary)), select(x < V(0), tail, V(1) - tail),
              [&] { return normal_cdf_everywhere(x); });
}

// ---- its inverse ---------------------------------------------------------------------------------------------------

/// The x that a standard normal variable is below with probability p: -inf at 0, inf at 1, NaN outside.
template <Lane V>
WENGERT_INLINE V normal_icdf(V p) {
  using T = NormalTable<typename V::Real>;
  using F = FormatOf<V>;
  const V q = p - V(0.5), q_low = p - (q + V(0.5));
  const V w = -log((p * V(4)) * (V(1) - p));
  const auto piece = piece_of<T::icdf_bits>(w + V(T::icdf_shift));
  const Grown<V> f = grown_from(T::icdf, piece, w - lookup16<V>(T::icdf_middle, piece));
  const Pair<V> head = two_prod(q, f.head);
  const V x = head.hi + fma(head.hi, f.rest, fma(q_low, f.head, head.lo));
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
