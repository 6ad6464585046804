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

/// head (1 + rest), |rest| below 1/2: a product of such pairs, rounded at its end, has lost little more than one rounding.
template <Lane V>
struct Grown {
  V head, rest;

  WENGERT_INLINE friend Grown operator*(Grown a, Grown b) {
    return {a.head * b.head, fma(a.rest, b.rest, a.rest) + b.rest};
  }
  WENGERT_INLINE V rounded() const { return fma(head, rest, head); }
};

/// c_k + c_(k+1) d + ... over the rows k, k+1, ... of a table, in the column `piece` mod 16: a Horner chain of pairs.
template <int k, Lane V, int n>
WENGERT_INLINE V rows_from(const typename V::Real (&table)[n][16], typename V::Int piece, V d, V d2) {
  const V c = lookup16<V>(table[k], piece);
  if constexpr (k + 1 == n) return c;
  else {
    const V pair = fma(d, lookup16<V>(table[k + 1], piece), c);
    if constexpr (k + 2 == n) return pair;
    else return fma(d2, rows_from<k + 2>(table, piece, d, d2), pair);
  }
}

// ---- e^(-x^2) ------------------------------------------------------------------------------------------------------

/// e^(x + low) = 2^k (grown), |low| <= ulp(x): the steps of exp with a low part of the argument, and what rounding took
/// from the table's power of two put back. k is 0 where x is `ordinary`.
template <Lane V>
struct ExpOfSum {
  Grown<V> grown;
  V n;
};
template <Lane V, bool ordinary>
WENGERT_INLINE ExpOfSum<V> exp_of_sum(V x, V low) {
  using Int = typename V::Int;
  ExpReduced<V> a = exp_reduce(x);
  a.r = a.r + low;
  return {{exp_power<V>(ordinary ? a.index : a.index & Int(15)), exp_rest<true>(a)}, a.n};
}
/// e^(-x^2) for |x| <= GaussRange::ordinary.
template <Lane V>
WENGERT_INLINE Grown<V> gauss_ordinary(V x) {
  const Pair<V> square = two_prod(x, x);
  return exp_of_sum<V, true>(-square.hi, -square.lo).grown;
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

/// factor * e^(-x^2) for |x| <= GaussRange::nothing, rounded once more where the result is subnormal.
template <Lane V>
WENGERT_INLINE V gauss_scaled(V x, Grown<V> factor) {
  const Pair<V> square = two_prod(x, x);
  const ExpOfSum<V> e = exp_of_sum<V, false>(-square.hi, -square.lo);
  return scale_floor((e.grown * factor).rounded(), e.n);
}
/// |x|, at most `limit`; `limit` for NaN.
template <Lane V>
WENGERT_INLINE V clamped_abs(V x, V limit) {
  const V a = abs(x);
  return select(a < limit, a, limit);
}

template <Lane V>
WENGERT_NOINLINE V gauss_everywhere(V x) {
  const V a = clamped_abs(x, V(GaussRange<typename V::Real>::nothing));
  return select(isnan(x), x, gauss_scaled(a, Grown<V>{V(1), V(0)}));
}

/// e^(-x^2).
template <Lane V>
WENGERT_INLINE V gauss(V x) {
  return rare(beyond(x, V(GaussRange<typename V::Real>::ordinary)), gauss_ordinary(x).rounded(),
              [&] { return gauss_everywhere(x); });
}

// ---- erfc ----------------------------------------------------------------------------------------------------------

/// erfcx(x) for 0 <= x < GaussRange::nothing.
template <Lane V>
WENGERT_INLINE Grown<V> erfcx_of_positive(V x) {
  using T = ErfTable<typename V::Real>;
  const auto piece = srl<FormatOf<V>::mantissa_bits - 2>(bits(x + V(T::shift)));
  const V d = x - lookup16<V>(T::erfcx_middle, piece);
  return {lookup16<V>(T::erfcx[0], piece), d * rows_from<1>(T::erfcx, piece, d, d * d)};
}

template <Lane V>
WENGERT_NOINLINE V erfc_everywhere(V x) {
  const V a = clamped_abs(x, V(GaussRange<typename V::Real>::nothing));
  const V y = gauss_scaled(a, erfcx_of_positive(a));
  return select(isnan(x), x, select(x < V(0), V(2) - y, y));
}

/// erfc x = 1 - erf x.
template <Lane V>
WENGERT_INLINE V erfc(V x) {
  const V y = (gauss_ordinary(x) * erfcx_of_positive(abs(x))).rounded();
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
