// Polynomials and error-free sums that the elementary functions share.
#pragma once

#include "kernels/lanes.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

// ---- polynomials ---------------------------------------------------------------------------------------------------

/// c0 + c1 x + c2 x^2 + ..., given x2 = x^2: a Horner chain in x2 of the pairs c0 + c1 x, so half the latency of one in
/// x and, where x2 is needed anyway, no operation more.
template <Lane V, class... More>
WENGERT_INLINE V paired(V x, V x2, typename V::Real c0, More... more) {
  if constexpr (sizeof...(more) == 0) return V(c0);
  else return paired_next(x, x2, c0, static_cast<typename V::Real>(more)...);
}
template <Lane V, class... More>
WENGERT_INLINE V paired_next(V x, V x2, typename V::Real c0, typename V::Real c1, More... more) {
  const V pair = fma(x, V(c1), V(c0));
  if constexpr (sizeof...(more) == 0) return pair;
  else return fma(x2, paired(x, x2, more...), pair);
}

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

// ---- double the precision ------------------------------------------------------------------------------------------

/// An unevaluated sum hi + lo with |lo| <= ulp(hi)/2.
template <Lane V>
struct Pair {
  V hi, lo;
};

/// a + b exactly (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B).
template <Lane V>
WENGERT_INLINE Pair<V> two_sum(V a, V b) {
  const V s = a + b, b_part = s - a;
  return {s, (a - (s - b_part)) + (b - b_part)};
}
/// a + b exactly for |a| >= |b| or a = 0 (Dekker 1971).
template <Lane V>
WENGERT_INLINE Pair<V> fast_two_sum(V a, V b) {
  const V s = a + b;
  return {s, b - (s - a)};
}
/// a * b exactly, unless it under- or overflows.
template <Lane V>
WENGERT_INLINE Pair<V> two_prod(V a, V b) {
  const V p = a * b;
  return {p, fma(a, b, -p)};
}

/// The bits of |a| above those of `limit` > 0: |a| > limit or NaN, in one comparison.
template <Lane V>
WENGERT_INLINE typename V::Mask beyond(V a, V limit) {
  return bits(abs(a)) > bits(limit);
}

/// -|a|.
template <Lane V>
WENGERT_INLINE V minus_abs(V a) {
  return from_bits<V>(bits(a) | typename V::Int(sign_bit<V>));
}
/// a < limit or NaN, for a <= -0 and limit < 0.
template <Lane V>
WENGERT_INLINE typename V::Mask below(V a, V limit) {
  return bits(a) > bits(limit);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
