// Logarithms: log, log2, log10, log1p.
//
// x = 2^e m, m from 47/64 to twice that; the next four bits of m - 47/64, taken from its binary form, choose an
// interval, one of them around 1, and c in it: log x = e ln2 + log c + log1p(r) with r = m / c - 1, |r| < 1/31 (Tang,
// "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16, 1990). Each
// 1/c is a number near the one wanted whose logarithm is, by luck that was searched for, a number of few bits up to an
// error far below the last place (Gal and Bachelis, "An accurate elementary mathematical library", ACM TOMS 17, 1991),
// so that e ln2 + log c is exact but for the small low part of ln2.
#pragma once

#include "kernels/math/poly.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

// 1/c and log c: c is near 3/4 + j/32 up to 1, and near 1/2 + j/16 above.
template <class Real>
struct LogTable;

template <>
struct LogTable<double> {
  alignas(64) static constexpr double inverse[16] = {0x1.5555aeecb5844p0, 0x1.47adbfadfbbcfp0,  0x1.3b137628bc5d9p0,
                                                     0x1.2f6833f7e98ddp0, 0x1.2491f2bba3ddp0,   0x1.1a7bf8d198f18p0,
                                                     0x1.11116535ee96dp0, 0x1.06c7be7bc2c4ap0,  1,
                                                     0x1.e1e201a42da5p-1, 0x1.c71c6bc14864bp-1, 0x1.af2872fa03b07p-1,
                                                     0x1.999a073566fep-1, 0x1.8618a8d9433c7p-1, 0x1.745d03fd78d5bp-1,
                                                     0x1.642c328da7ef6p-1};
  alignas(64) static constexpr double log_c[16] = {-0x1.26972dd94bp-2, -0x1.f98fb4ca5cp-3, -0x1.a93d53d152p-3,
                                                   -0x1.5bf3657ea6p-3, -0x1.11768b43ap-3,  -0x1.933b7db3c4p-4,
                                                   -0x1.085e79821cp-4, -0x1.ac49fe426p-6,  0,
                                                   0x1.f0a0f01a2p-5,   0x1.e270ad1724p-4,  0x1.5ff2e4e6e8p-3,
                                                   0x1.c8fd586efp-3,   0x1.16750f807bp-2,  0x1.4618f128bbp-2,
                                                   0x1.739e6e1496p-2};
  static constexpr double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;  // hi: a multiple of 2^-42
  static constexpr double first = 47. / 64;
};
template <>
struct LogTable<float> {
  alignas(64) static constexpr float inverse[16] = {0x1.536ffap0f,  0x1.49b86p0f,   0x1.39973cp0f,
                                                    0x1.303762p0f,  0x1.25d36ap0f,  0x1.1ad1dap0f,
                                                    0x1.126834p0f,  0x1.06cc34p0f,  1,
                                                    0x1.e30266p-1f, 0x1.c8d554p-1f, 0x1.b02f44p-1f,
                                                    0x1.98711ep-1f, 0x1.84ac04p-1f, 0x1.74c10cp-1f,
                                                    0x1.63439ap-1f};
  alignas(64) static constexpr float log_c[16] = {-0x1.20e2p-2f, -0x1.0324p-2f, -0x1.9f9p-3f,
                                                  -0x1.6168p-3f, -0x1.1a3cp-3f, -0x1.9818p-4f,
                                                  -0x1.1c68p-4f, -0x1.ad6p-6f,  0,
                                                  0x1.dd8p-5f,   0x1.d2f8p-4f,  0x1.5b14p-3f,
                                                  0x1.ceccp-3f,  0x1.1a34p-2f,  0x1.4506p-2f,
                                                  0x1.763cp-2f};
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;  // hi: a multiple of 2^-17
  static constexpr float first = 47.f / 64;
};

/// log1p(r) - r + more for -1/33 <= r <= 1/31, relative to r within 2^-56 (float: 2^-31) (Sollya's fpminimax).
template <Lane V>
WENGERT_INLINE V log1p_rest(V r, V more) {
  const V r2 = r * r;
  if constexpr (is_f64<V>) {
    const V q = paired(r, r2, -0x1.fffffffffffd4p-2, 0x1.5555555555d35p-2, -0x1.00000000a2224p-2, 0x1.9999997dbb0dap-3,
                       -0x1.555541f079b49p-3, 0x1.24932323fadc2p-3, -0x1.006d2bc5bb577p-3, 0x1.c36e965d53d0ep-4);
    return fma(r2, q, more);
  } else {
    return fma(r2, paired(r, r2, -0x1.fffffep-2f, 0x1.555582p-2f, -0x1.002dfap-2f, 0x1.97961cp-3f), more);
  }
}

/// x = 2^e m for normal x > 0, with 1/c and log c for the c of the table that is next to m.
template <Lane V>
struct LogPoint {
  V m, e, inverse, log_c;
  typename V::Int exponent;  // e

  /// 1 / (2^e c), for e <= 1020 (float: 124).
  WENGERT_INLINE V scaled_inverse() const {
    return from_bits<V>(bits(inverse) - shl<FormatOf<V>::mantissa_bits>(exponent));
  }
  /// log(2^e c) + r + log1p_rest(r, more).
  WENGERT_INLINE V log_with(V r, V more) const {
    using T = LogTable<typename V::Real>;
    return fma(e, V(T::ln2_hi), log_c) + (r + log1p_rest(r, fma(e, V(T::ln2_lo), more)));
  }
};
template <Lane V>
WENGERT_INLINE LogPoint<V> log_point(V x) {
  using T = LogTable<typename V::Real>;
  constexpr int mantissa = FormatOf<V>::mantissa_bits;
  const auto over = bits(x) - bits(V(T::first));  // e, then the four bits of the interval
  const auto exponent = sra<mantissa>(over), index = srl<mantissa - 4>(over);
  const V m = from_bits<V>(bits(x) - shl<mantissa>(exponent));
  return {m, to_real<V>(exponent), lookup16<V>(T::inverse, index), lookup16<V>(T::log_c, index), exponent};
}

/// x < low, x >= high or NaN, for positive bounds: their bits, shifted to begin at the most negative integer, take one
/// comparison instead of two.
template <Lane V>
WENGERT_INLINE typename V::Mask outside(V x, V low, V high) {
  using Int = typename V::Int;
  const Int shift = Int(sign_bit<V>) - bits(low);
  return bits(x) + shift > bits(high) + shift - Int(1);
}
/// x isn't a normal positive number less than limit.
template <Lane V>
WENGERT_INLINE typename V::Mask not_normal_below(V x, V limit) {
  return outside(x, V(FormatOf<V>::min_normal), limit);
}
template <Lane V>
inline constexpr typename V::Real scaled_limit = is_f64<V> ? 0x1p1020 : 0x1p124;  // up to it, 1 / (2^e c) is normal

/// log(x.hi + x.lo) for hi between min_normal and scaled_limit.
template <Lane V>
WENGERT_INLINE V log_of_pair(Pair<V> x) {
  const LogPoint<V> a = log_point(x.hi);
  return a.log_with(fma(x.lo, a.scaled_inverse(), fma(a.m, a.inverse, V(-1))), V(0));
}

/// log(1 + t.hi + t.lo), where u is 1 + t.hi rounded and between min_normal and scaled_limit. 1 + t is not needed to
/// more than that: (1 + t) / (2^e c) - 1 comes from t and the inverse.
template <Lane V>
WENGERT_INLINE V log1p_of(V t, V u) {
  const LogPoint<V> a = log_point(u);
  const V inverse = a.scaled_inverse();
  return a.log_with(fma(t, inverse, inverse - V(1)), V(0));
}
template <Lane V>
WENGERT_INLINE V log1p_of_pair(Pair<V> t, V u) {
  const LogPoint<V> a = log_point(u);
  const V inverse = a.scaled_inverse();
  return a.log_with(fma(t.hi, inverse, inverse - V(1)), t.lo * inverse);
}

template <class Real>
struct Log2Table;  // 1 / ln 2 = hi + lo
template <>
struct Log2Table<double> {
  static constexpr double hi = 0x1.71547652b82fep0, lo = 0x1.777d0ffda0d24p-56;
};
template <>
struct Log2Table<float> {
  static constexpr float hi = 0x1.715476p0f, lo = 0x1.4ae0cp-26f;
};
template <class Real>
struct Log10Table;  // 1 / ln 10 = hi + lo, log10 2 = two_hi + two_lo with two_hi a multiple of 2^-42 (float: 2^-17)
template <>
struct Log10Table<double> {
  static constexpr double hi = 0x1.bcb7b1526e50ep-2, lo = 0x1.95355baaafad3p-57;
  static constexpr double two_hi = 0x1.34413509f8p-2, two_lo = -0x1.80433b83b532ap-44;
};
template <>
struct Log10Table<float> {
  static constexpr float hi = 0x1.bcb7b2p-2f, lo = -0x1.5b235ep-27f;
  static constexpr float two_hi = 0x1.3442p-2f, two_lo = -0x1.95ec1p-19f;
};

/// log(m) / log(base), as a sum.
template <class Base, Lane V>
WENGERT_INLINE Pair<V> log_in_base(const LogPoint<V>& a) {
  const V r = fma(a.m, a.inverse, V(-1));
  const Pair<V> top = fast_two_sum(a.log_c, r);
  const V low = log1p_rest(r, top.lo);
  const Pair<V> product = two_prod(top.hi, V(Base::hi));
  return {product.hi, fma(low, V(Base::hi), fma(top.hi, V(Base::lo), product.lo))};
}

/// The logarithms of 2^e m, given its point.
template <Lane V>
WENGERT_INLINE V log_at(LogPoint<V> a) {
  return a.log_with(fma(a.m, a.inverse, V(-1)), V(0));
}
template <Lane V>
WENGERT_INLINE V log2_at(LogPoint<V> a) {
  const Pair<V> y = log_in_base<Log2Table<typename V::Real>>(a);
  const Pair<V> sum = fast_two_sum(a.e, y.hi);
  return sum.hi + (sum.lo + y.lo);
}
template <Lane V>
WENGERT_INLINE V log10_at(LogPoint<V> a) {
  using Base = Log10Table<typename V::Real>;
  const Pair<V> y = log_in_base<Base>(a);
  const Pair<V> sum = fast_two_sum(a.e * V(Base::two_hi), y.hi);
  return sum.hi + (sum.lo + fma(a.e, V(Base::two_lo), y.lo));
}

/// f of the point of x for every x > 0, and what a logarithm is elsewhere.
template <class F, Lane V>
WENGERT_INLINE V log_extended(F f, V x) {
  using Format = FormatOf<V>;
  const auto tiny = x < V(Format::min_normal);
  LogPoint<V> a = log_point(select(tiny, x * V(is_f64<V> ? 0x1p54 : 0x1p25), x));
  a.e = a.e - select(tiny, V(is_f64<V> ? 54 : 25), V(0));
  const V y = select(x == V(0), V(-Format::inf), f(a));
  return select(x < V(0), V(Format::nan), select(isnan(x) | (x == V(Format::inf)), x, y));
}
template <Lane V>
WENGERT_NOINLINE V log_everywhere(V x) {
  return log_extended([](LogPoint<V> a) { return log_at(a); }, x);
}
template <Lane V>
WENGERT_NOINLINE V log2_everywhere(V x) {
  return log_extended([](LogPoint<V> a) { return log2_at(a); }, x);
}
template <Lane V>
WENGERT_NOINLINE V log10_everywhere(V x) {
  return log_extended([](LogPoint<V> a) { return log10_at(a); }, x);
}

/// log x.
template <Lane V>
WENGERT_INLINE V log(V x) {
  return rare(not_normal_below(x, V(FormatOf<V>::inf)), log_at(log_point(x)), [&] { return log_everywhere(x); });
}
/// log x / log 2.
template <Lane V>
WENGERT_INLINE V log2(V x) {
  return rare(not_normal_below(x, V(FormatOf<V>::inf)), log2_at(log_point(x)), [&] { return log2_everywhere(x); });
}
/// log x / log 10.
template <Lane V>
WENGERT_INLINE V log10(V x) {
  return rare(not_normal_below(x, V(FormatOf<V>::inf)), log10_at(log_point(x)), [&] { return log10_everywhere(x); });
}

/// log(1 + x).
template <Lane V>
WENGERT_INLINE V log1p(V x) {
  const V u = V(1) + x;
  return rare(not_normal_below(u, V(scaled_limit<V>)), copysign(log1p_of(x, u), x),  // the sign of -0
              [&] { return log_everywhere(u); });
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
