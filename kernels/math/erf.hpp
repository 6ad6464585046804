// The Gauss function e^(-x^2), the error function and its complements.
//
// erfc(x) = e^(-x^2) erfcx(x) for x >= 0, and 2 - erfc(-x) below. The square's rounding error is carried into the
// exponential; erfcx, which falls from 1 like 1/(x sqrt(pi)), comes from 16 polynomials, picked by the bits of x + shift
// (erf_table.hpp). erf, from 16 of its own around multiples of one width, is 1 past the last of them.
#pragma once

#include "kernels/math/erf_table.hpp"
#include "kernels/math/exp.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

// ---- products of parts ---------------------------------------------------------------------------------------------

/// head (1 + rest), |rest| below 1/2.
template <Lane V>
struct Grown {
  V head, rest;
};
template <Lane V>
WENGERT_INLINE V rounded(Grown<V> a) {
  return fma(a.head, a.rest, a.head);
}
/// a b, having lost what rounding twice may lose; a float, whose parts know less of what follows its last place, once.
template <Lane V>
WENGERT_INLINE V product(Grown<V> a, Grown<V> b) {
  const V rest = fma(a.rest, b.rest, a.rest) + b.rest;
  if constexpr (is_f64<V>) return rounded(Grown<V>{a.head * b.head, rest});
  const Pair<V> head = two_prod(a.head, b.head);
  return head.hi + fma(head.hi, rest, head.lo);
}

// ---- e^(-x^2) ------------------------------------------------------------------------------------------------------

/// e^(a b) = 2^k (grown): the steps of exp, with the product's rounding error and what rounding took from the table's power
/// of two put back. k is 0 if `ordinary`, which |a b| <= ExpTable::ordinary must be, and else n rounded down.
template <Lane V>
struct ExpOfProduct {
  Grown<V> grown;
  V n;
};
template <Lane V, bool ordinary>
WENGERT_INLINE ExpOfProduct<V> exp_of_product_parts(V a, V b) {
  using Int = typename V::Int;
  const Pair<V> x = two_prod(a, b);
  ExpReduced<V> reduced = exp_reduce(x.hi);
  reduced.r = reduced.r + x.lo;
  const V power = exp_power<V>(ordinary ? reduced.index : reduced.index & Int(15));
  return {{power, exp_rest<true>(reduced)}, reduced.n};
}
/// e^(a b) for |a b| <= ExpTable::ordinary.
template <Lane V>
WENGERT_INLINE Grown<V> exp_of_product(V a, V b) {
  return exp_of_product_parts<V, true>(a, b).grown;
}
/// factor e^(a b) for |a b| < 800 (float: 128), rounded once more where the result is subnormal.
template <Lane V>
WENGERT_INLINE V exp_of_product_scaled(V a, V b, Grown<V> factor) {
  const ExpOfProduct<V> e = exp_of_product_parts<V, false>(a, b);
  return scale_floor(product(e.grown, factor), e.n);
}

/// Bounds on |x|: up to `ordinary`, e^(-x^2) is normal; from `nothing` on, e^(-x^2) and erfc(x) are less than half of the
/// smallest subnormal number.
template <class Real>
struct GaussRange;
template <>
struct GaussRange<double> {
  static constexpr double ordinary = 26.5, nothing = 27.3;
};
template <>
struct GaussRange<float> {
  static constexpr float ordinary = 9.25f, nothing = 10.25f;
};

/// |x|, at most `limit`; `limit` for NaN.
template <Lane V>
WENGERT_INLINE V clamped_abs(V x, V limit) {
  const V a = abs(x);
  return select(a < limit, a, limit);
}

template <Lane V>
WENGERT_NOINLINE V gauss_everywhere(V x) {
  const V a = clamped_abs(x, V(GaussRange<typename V::Real>::nothing));
  return select(isnan(x), x, exp_of_product_scaled(-a, a, Grown<V>{V(1), V(0)}));
}

/// e^(-x^2).
template <Lane V>
WENGERT_INLINE V gauss(V x) {
  return rare(beyond(x, V(GaussRange<typename V::Real>::ordinary)), rounded(exp_of_product(-x, x)),
              [&] { return gauss_everywhere(x); });
}

// ---- erfc ----------------------------------------------------------------------------------------------------------

/// The number, mod 16, of the piece that y falls into if octaves have 2^per_octave_bits of them.
template <int per_octave_bits, Lane V>
WENGERT_INLINE typename V::Int piece_of(V y) {
  return srl<FormatOf<V>::mantissa_bits - per_octave_bits>(bits(y));
}
/// c0 (1 + c1 d + c2 d^2 + ...) from the rows of a table.
template <Lane V, int n>
WENGERT_INLINE Grown<V> grown_from(const typename V::Real (&rows)[n][16], typename V::Int piece, V d) {
  return {lookup16<V>(rows[0], piece), d * rows_from<1>(rows, piece, d, d * d)};
}

/// erfcx(x) for 0 <= x < GaussRange::nothing.
template <Lane V>
WENGERT_INLINE Grown<V> erfcx_of_positive(V x) {
  using T = ErfTable<typename V::Real>;
  const auto piece = piece_of<2>(x + V(T::shift));
  return grown_from(T::erfcx, piece, x - lookup16<V>(T::erfcx_middle, piece));
}

template <Lane V>
WENGERT_NOINLINE V erfc_everywhere(V x) {
  const V a = clamped_abs(x, V(GaussRange<typename V::Real>::nothing));
  const V y = exp_of_product_scaled(-a, a, erfcx_of_positive(a));
  return select(isnan(x), x, select(x < V(0), V(2) - y, y));
}

/// erfc x = 1 - erf x.
template <Lane V>
WENGERT_INLINE V erfc(V x) {
  const V y = product(exp_of_product(-x, x), erfcx_of_positive(abs(x)));
  return rare(beyond(x, V(GaussRange<typename V::Real>::ordinary)), select(x < V(0), V(2) - y, y),
              [&] { return erfc_everywhere(x); });
}

// ---- erf -----------------------------------------------------------------------------------------------------------

/// erf x = 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
template <Lane V>
WENGERT_INLINE V erf(V x) {
  using T = ErfTable<typename V::Real>;
  const V round_to_1(is_f64<V> ? 0x1.8p52 : 0x1.8p23);  // numbers of this size are integers
  const V a = abs(x), rounded = fma(a, V(T::inv_erf_width), round_to_1);
  const V d = fma(rounded - round_to_1, V(-T::erf_width), a);
  const auto piece = bits(rounded);
  const V most = fma(d, rows_from<1>(T::erf, piece, d, d * d), lookup16<V>(T::erf[0], piece));
  const V y = select(a < V(T::erf_whole), most + a, most);
  return flip_sign(select(a > V(T::erf_last), V(1), y), x);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
