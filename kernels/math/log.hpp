// Logarithms: log and log1p.
//
// x = 2^e m, m in [3/4, 3/2); c, the reciprocal of `inverse[i]`, is within 1/40 of m, so log x = e ln2 + log c + log1p(r)
// with r = m / c - 1 (Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic",
// ACM TOMS 16, 1990). Each `inverse` is a number near 20/j whose logarithm is, by luck that was searched for, a number of
// few bits up to an error far below the last place (Gal and Bachelis, "An accurate elementary mathematical library",
// ACM TOMS 17, 1991), so that e ln2 + log c is exact but for the small low part of ln2.
#pragma once

#include "kernels/math/poly.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <class Real>
struct LogTable;

template <>
struct LogTable<double> {
  // Entry j mod 16, c near j/20, for j = 15 ... 30.
  alignas(64) static constexpr double inverse[16] = {
      0x1.3fffdccdb60e3p0,  0x1.2d2d227819789p0,  0x1.1c71c4026b82dp0,  0x1.0d7988fbf6ad6p0,
      1,                    0x1.e79f24e5ea3fap-1, 0x1.d173ffc2df21ep-1, 0x1.bd37d2f44136p-1,
      0x1.aaab32a060346p-1, 0x1.999a073566fep-1,  0x1.89d886e0e91eap-1, 0x1.7b420b8eb4f3dp-1,
      0x1.6db70e113e1b9p-1, 0x1.611a78b12900fp-1, 0x1.555577b9c9e7dp-1, 0x1.5555aeecb5844p0};
  alignas(64) static constexpr double log_c[16] = {
      -0x1.c8fe9b37c4p-3, -0x1.4cd670aa1p-3, -0x1.af8e5566bp-4,  -0x1.a43a1a0dc8p-5, 0,
      0x1.8fa52b40f8p-5,  0x1.86672ce138p-4, 0x1.1e3ab7fa48p-3,  0x1.756274834ap-3,  0x1.c8fd586efp-3,
      0x1.0ca972a88cp-2,  0x1.334f7f1367p-2, 0x1.588b9fc75cp-2,  0x1.7c7b3091bp-2,   0x1.9f31d79ea1p-2,
      -0x1.26972dd94bp-2};
  static constexpr double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;  // hi: a multiple of 2^-42
};
template <>
struct LogTable<float> {
  alignas(64) static constexpr float inverse[16] = {
      0x1.402ef8p0f,  0x1.2d4c8cp0f, 0x1.1c483ap0f,  0x1.0deb82p0f, 1,              0x1.e83da6p-1f,
      0x1.d13e48p-1f, 0x1.bd7fbep-1f, 0x1.aa0102p-1f, 0x1.99bcb4p-1f, 0x1.8a223p-1f, 0x1.7ba99ep-1f,
      0x1.6deb14p-1f, 0x1.618d7p-1f,  0x1.5544cp-1f,  0x1.55774cp0f};
  alignas(64) static constexpr float log_c[16] = {
      -0x1.ca2cp-3f, -0x1.4dacp-3f, -0x1.ad38p-4f, -0x1.b1cp-5f,  0,             0x1.854p-5f,
      0x1.884p-4f,   0x1.1cfp-3f,   0x1.7894p-3f,  0x1.c85p-3f,   0x1.0beap-2f,  0x1.3238p-2f,
      0x1.57fap-2f,  0x1.7b2ep-2f,  0x1.9f64p-2f,  -0x1.26fcp-2f};
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;  // hi: a multiple of 2^-17
};

/// log1p(r) - r for |r| <= 1/29, relative to r within 2^-56 (float: 2^-31) (Sollya's fpminimax).
template <Lane V>
WENGERT_INLINE V log1p_rest(V r) {
  const V r2 = r * r;
  if constexpr (is_f64<V>) {
        return r2 * paired(
        r, r2, -0x1.fffffffffffeep-2, 0x1.5555555555f9ep-2, -0x1.0000000051d98p-2,
                         0x1.9999996e6b24bp-3, -0x1.5555493e6f994p-3, 0x1.2493de330ffcbp-3, -0x1.00558191d837dp-3,
                         0x1.be7612624e50dp-4);
  } else {
        return r2 * paired(
        r, r2, -0x1.fffffep-2f, 0x1.55559ap-2f, -0x1.0029cp-2f, 0x1.95cep-3f);
  }
}

/// x = 2^e m for normal x > 0.
template <Lane V>
struct LogReduced {
  V m;
  typename V::Int e;
};
template <Lane V>
WENGERT_INLINE LogReduced<V> log_reduce(V x) {
  constexpr int mantissa = FormatOf<V>::mantissa_bits;
  const auto e = sra<mantissa>(bits(x) - bits(V(0.75)));
  return {from_bits<V>(bits(x) - shl<mantissa>(e)), e};
}

/// log(2^e (m + low)), |low| <= ulp(m).
template <Lane V, bool has_low>
WENGERT_INLINE V log_of_parts(V m, V e, V low) {
  using T = LogTable<typename V::Real>;
  const V round_to_1(is_f64<V> ? 0x1.8p52 : 0x1.8p23);  // numbers of this size are integers
  const auto index = bits(fma(m, V(20), round_to_1));
  const V inverse = lookup16<V>(T::inverse, index);
  V r = fma(m, inverse, V(-1));
  if constexpr (has_low) r = fma(low, inverse, r);
  const V hi = fma(e, V(T::ln2_hi), lookup16<V>(T::log_c, index));
  return hi + (r + fma(e, V(T::ln2_lo), log1p_rest(r)));
}

/// x < min_normal or x >= limit or NaN.
template <Lane V>
WENGERT_INLINE typename V::Mask not_normal_below(V x, V limit) {
  using Int = typename V::Int;
  // Bits from min_normal up, shifted to begin at the most negative integer: one comparison instead of two.
  const Int shift = Int(sign_bit<V>) - bits(V(FormatOf<V>::min_normal));
  return bits(x) + shift > bits(limit) + shift - Int(1);
}

template <Lane V>
WENGERT_INLINE V log_ordinary(V x) {
  const LogReduced<V> a = log_reduce(x);
  return log_of_parts<V, false>(a.m, to_real<V>(a.e), V(0));
}

template <Lane V>
WENGERT_NOINLINE V log_everywhere(V x) {
  using F = FormatOf<V>;
  const auto tiny = x < V(F::min_normal);
  const LogReduced<V> a = log_reduce(select(tiny, x * V(is_f64<V> ? 0x1p54 : 0x1p25), x));
  const V e = to_real<V>(a.e) - select(tiny, V(is_f64<V> ? 54 : 25), V(0));
  const V y = select(x == V(0), V(-F::inf), log_of_parts<V, false>(a.m, e, V(0)));
  return select(x < V(0), V(F::nan), select(isnan(x) | (x == V(F::inf)), x, y));
}

/// log x.
template <Lane V>
WENGERT_INLINE V log(V x) {
  return rare(not_normal_below(x, V(FormatOf<V>::inf)), log_ordinary(x), [&] { return log_everywhere(x); });
}

/// log(1 + x).
template <Lane V>
WENGERT_INLINE V log1p(V x) {
  using F = FormatOf<V>;
  const Pair<V> u = two_sum(V(1), x);
  const LogReduced<V> a = log_reduce(u.hi);
  const V unit = from_bits<V>(bits(V(1)) - shl<F::mantissa_bits>(a.e));  // 2^-e
  const V y = copysign(log_of_parts<V, true>(a.m, to_real<V>(a.e), u.lo * unit), x);  // the sign of -0
  return rare(not_normal_below(u.hi, V(is_f64<V> ? 0x1p1022 : 0x1p126)), y,  // above, 2^-e isn't normal
              [&] { return select(x < V(0), select(x == V(-1), V(-F::inf), V(F::nan)), log_everywhere(x)); });
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
