// sin, cos, both together, tan.
//
// x = q (pi / 2) + r with |r| <= pi / 4, then a polynomial in r^2 for the sine or the cosine of r, as q says.
// Reduction: pi / 2 in three parts and fused multiply-adds (Cody and Waite, Software Manual for the Elementary
// Functions, 1980; with fma the first step is exact whatever q is), far arguments with the bits of 2 / pi that matter
// (Payne and Hanek, SIGNUM Newsletter 18(1), 1983). Minimax coefficients: computed with Sollya's fpminimax.
#pragma once

#include "kernels/math/poly.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// An angle q (pi / 2) + r: q in the low bits of `turns`, |r| <= pi / 4 (barely more where x is large).
template <Lane V>
struct Angle {
  V r;
  typename V::Int turns;
};

/// Largest |x| that `reduce` takes; beyond (and for NaN) see `far_sine`.
template <Lane V>
inline constexpr typename V::Real near_limit = is_f64<V> ? typename V::Real(1e9) : typename V::Real(1e5);

/// x >= 0 as an angle, `shift` quarter turns added to q (but not to x).
template <int shift, Lane V>
WENGERT_INLINE Angle<V> reduce(V x) {
  using Real = typename V::Real;
  const V magic((is_f64<V> ? Real(0x1.8p52) : Real(0x1.8p23)) + Real(shift));  // adding it rounds to an integer
  const V shifted = fma(x, V(Real(0x1.45f306dc9c883p-1)), magic);
  const V q = shifted - magic;
  V r;
  if constexpr (is_f64<V>) {
    r = fma(q, V(-0x1.921fb54442d18p+0), x);
    r = fma(q, V(-0x1.1a62633145c07p-54), r);
    r = fma(q, V(0x1.f1976b7ed8fbcp-110), r);
  } else {
    r = fma(q, V(-0x1.921fb6p+0f), x);
    r = fma(q, V(0x1.777a5cp-25f), r);
    r = fma(q, V(0x1.ee59dap-50f), r);
  }
  return {r, bits(shifted)};
}

/// (sin(r) / r - 1) / r^2 by powers of r^2, and (cos(r) - 1) / r^2.
template <class Real>
struct Sine;
template <>
struct Sine<double> {
  static constexpr int terms = 7;
  static constexpr double sin[terms] = {-0x1.5555555555555p-3, 0x1.111111111101ep-7,   -0x1.a01a019fe8844p-13,
                                        0x1.71de3a103127ap-19, -0x1.ae63f7f22236ep-26, 0x1.60e5c000b3a86p-33,
                                        -0x1.8d49f2c4d1c56p-41};
  static constexpr double cos[terms] = {-0x1p-1,
                                        0x1.5555555555552p-5,
                                        -0x1.6c16c16c15f4cp-10,
                                        0x1.a01a019e08c8ap-16,
                                        -0x1.27e4f8fef5943p-22,
                                        0x1.1eea9007737c6p-29,
                                        -0x1.90022e8f2c749p-37};
};
template <>
struct Sine<float> {
  static constexpr int terms = 4;
  static constexpr float sin[terms] = {-0x1.555556p-3f, 0x1.111198p-7f, -0x1.a0826ep-13f, 0x1.871d1ep-19f};
  static constexpr float cos[terms] = {-0x1p-1f, 0x1.55554ep-5f, -0x1.6c0e58p-10f, 0x1.9a78acp-16f};
};

/// sin of an angle: the sine or the cosine polynomial by parity, then the sign.
template <Lane V>
WENGERT_INLINE V sine(Angle<V> a) {
  using Int = typename V::Int;
  using C = Sine<typename V::Real>;
  const auto even = (a.turns & Int(1)) == Int(0);
  const V z = a.r * a.r;
  V p = select(even, V(C::sin[C::terms - 1]), V(C::cos[C::terms - 1]));
  for (int i = C::terms - 2; i >= 0; --i) p = fma(p, z, select(even, V(C::sin[i]), V(C::cos[i])));
  const V first = select(even, a.r, V(1));
  const V size = fma(first * z, p, first);
  return flip_sign(size, from_bits<V>(shl<(is_f64<V> ? 62 : 30)>(a.turns)));
}

// ---- far arguments -------------------------------------------------------------------------------------------------

/// 2 / pi after 64 zero bits.
inline constexpr std::uint64_t two_over_pi[] = {0,
                                                0xa2f9836e4e441529,
                                                0xfc2757d1f534ddc0,
                                                0xdb6295993c439041,
                                                0xfe5163abdebbc561,
                                                0xb7246e3a424dd2e0,
                                                0x06492eea09d1921c,
                                                0xfe1deb1cb129a73e,
                                                0xe88235f52ebb4484,
                                                0xe99c7026b45f7e41,
                                                0x3991d639835339f4,
                                                0x9c845f8bbdf9283b,
                                                0x1ff897ffde05980f,
                                                0xef2f118b5a0a6d1f,
                                                0x6d367ecf27cb09b7,
                                                0x4f463f669e5fea2d,
                                                0x7527bac7ebe5f17b,
                                                0x3d0739f78a5292ea,
                                                0x6bfb5fb11f8d5d08,
                                                0x56033046fc7b6bab,
                                                0xf0cfbc209af4361d};

/// Any finite x >= 2^16 as an angle. With x = M 2^e, M of 53 bits, the bits of 2 / pi up to 2^(1-e) give whole turns
/// and drop out; the product of M and the 192 bits from there on is x / (pi / 2) mod 4, to 137 bits behind the point.
WENGERT_NOINLINE inline Angle<Vec<double, 1>> far_angle(double x) {
  using D = Vec<double, 1>;
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t x_bits = __builtin_bit_cast(std::uint64_t, x);
  const std::uint64_t m = (x_bits & 0xfffffffffffff) | 0x10000000000000;
  const int e = static_cast<int>(x_bits >> 52 & 0x7ff) - 1023 - 52;
  const int start = e - 2 + 64, word = start >> 6, bit = start & 63;
  const auto chunk = [&](int i) {
    const std::uint64_t high = two_over_pi[word + i], low = two_over_pi[word + i + 1];
    return bit == 0 ? high : high << bit | low >> (64 - bit);
  };
  const Wide low = Wide(m) * chunk(2), middle = Wide(m) * chunk(1) + (low >> 64);
  const std::uint64_t high = m * chunk(0) + static_cast<std::uint64_t>(middle >> 64);
  Wide fraction = Wide(high) << 64 | static_cast<std::uint64_t>(middle);  // 2 bits of q, then the fraction
  const std::uint64_t q = (high >> 62) + (high >> 61 & 1);                // rounded to nearest
  fraction = fraction << 2 | (static_cast<std::uint64_t>(low) >> 62);
  const bool negative = static_cast<std::uint64_t>(fraction >> 127) != 0;
  if (negative) fraction = -fraction;
  const int zeros = fraction >> 64 != 0 ? __builtin_clzll(static_cast<std::uint64_t>(fraction >> 64))
                                        : 64 + __builtin_clzll(static_cast<std::uint64_t>(fraction) | 1);
  fraction <<= zeros;
  const auto top = static_cast<std::uint64_t>(fraction >> 75), next = static_cast<std::uint64_t>(fraction >> 22);
  const D hi = D(static_cast<double>(top)), lo = D(static_cast<double>(next & 0x1fffffffffffff) * 0x1p-53);
  const D half_pi(0x1.921fb54442d18p+0), product = hi * half_pi;
  const D rest = fma(hi, half_pi, -product) + fma(lo, half_pi, hi * D(0x1.1a62633145c07p-54));
  const D r = (product + rest) * exp2_int(D(static_cast<double>(-53 - zeros)));
  return {negative ? -r : r, Vec<double, 1>::Int(static_cast<std::int64_t>(q))};
}

/// sin(x + quarters pi / 2) for x >= 2^16, inf or NaN.
template <Lane V>
WENGERT_INLINE V far_sine(V x, int quarters) {
  return per_lane(
      [quarters](typename V::Scalar lane) {
        using Scalar = typename V::Scalar;
        if (!any(isfinite(lane)) || any(lane < Scalar(0x1p16))) return Scalar(FormatOf<V>::nan);
        Angle<Vec<double, 1>> a = far_angle(static_cast<double>(lane.v));
        a.turns = a.turns + Vec<double, 1>::Int(quarters);
        return Scalar(static_cast<typename V::Real>(sine(a).v));
      },
      x);
}

// ---- the functions -------------------------------------------------------------------------------------------------

/// sin(x); NaN at +-inf.
template <Lane V>
WENGERT_INLINE V sin(V x) {
  const V size = abs(x);
  const V y = rare(beyond(size, V(near_limit<V>)), sine(reduce<0>(size)), [&] { return far_sine(size, 0); });
  return flip_sign(y, x);
}

/// cos(x); NaN at +-inf.
template <Lane V>
WENGERT_INLINE V cos(V x) {
  const V size = abs(x);
  return rare(beyond(size, V(near_limit<V>)), sine(reduce<1>(size)), [&] { return far_sine(size, 1); });
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
