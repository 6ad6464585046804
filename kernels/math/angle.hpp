// Any x as q (pi / 2) + r with |r| <= pi / 4.
//
// Near arguments: pi / 2 in three parts and fused multiply-adds (Cody and Waite, Software Manual for the Elementary
// Functions, 1980; with fma the first step is exact whatever q is). Far ones: the bits of 2 / pi that matter (Payne and
// Hanek, SIGNUM Newsletter 18(1), 1983).
#pragma once

#include "kernels/math/poly.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// An angle q (pi / 2) + r + r_lo: q in the low bits of `turns`, |r| <= pi / 4 (barely more where x is large).
template <Lane V>
struct Angle {
  V r, r_lo;
  typename V::Int turns;
};

/// Largest |x| that `near_angle` takes. Beyond, and for inf and NaN, use `far_lanes`.
template <Lane V>
inline constexpr typename V::Real near_limit = is_f64<V> ? typename V::Real(1e9) : typename V::Real(1e5);

/// pi / 2 in parts of 53 bits (float: 24).
template <class Real>
inline constexpr Real half_pi[3] = {};
template <>
inline constexpr double half_pi<double>[3] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
template <>
inline constexpr float half_pi<float>[3] = {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};

/// x >= 0 as an angle without r_lo, q counted from `shift` on.
template <int shift, Lane V>
WENGERT_INLINE Angle<V> near_angle(V x) {
  using Real = typename V::Real;
  const V magic((is_f64<V> ? Real(0x1.8p52) : Real(0x1.8p23)) + Real(shift));  // adding it rounds to an integer
  const V shifted = fma(x, V(Real(0x1.45f306dc9c883p-1)), magic);
  const V q = shifted - magic;
  const V r1 = fma(-q, V(half_pi<Real>[0]), x);  // exact: a multiple of an ulp of x or of pi / 2, and small
  const V r2 = fma(-q, V(half_pi<Real>[1]), r1);
  return {fma(-q, V(half_pi<Real>[2]), r2), V(0), bits(shifted)};
}

/// The same with r_lo.
template <Lane V>
WENGERT_INLINE Angle<V> near_angle_pair(V x) {
  using Real = typename V::Real;
  const V magic(is_f64<V> ? Real(0x1.8p52) : Real(0x1.8p23));
  const V shifted = fma(x, V(Real(0x1.45f306dc9c883p-1)), magic);
  const V q = magic - shifted;
  const V r1 = fma(q, V(half_pi<Real>[0]), x);
  const Pair<V> product = two_prod(q, V(half_pi<Real>[1]));
  const Pair<V> r2 = fast_two_sum(r1, product.hi);  // exact even where r1 is the smaller: it has no lower bits
  const Pair<V> r3 = fast_two_sum(r2.hi, fma(q, V(half_pi<Real>[2]), r2.lo + product.lo));
  return {r3.hi, r3.lo, bits(shifted)};
}

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

/// Any finite x >= 2^16 as an angle. With x = M 2^e, M of 53 bits, the bits of 2 / pi up to 2^(2-e) give whole turns
/// and drop out; the product of M and the 192 bits from there on is x / (pi / 2) mod 4, to 137 bits behind the point.
WENGERT_NOINLINE inline Angle<Vec<double, 1>> far_angle(Vec<double, 1> x) {
  using D = Vec<double, 1>;
  using Word = std::uint64_t;
  __extension__ using Wide = unsigned __int128;
  const Word x_bits = __builtin_bit_cast(Word, x.v);
  const Word m = (x_bits & 0xfffffffffffff) | 0x10000000000000;
  const int e = static_cast<int>(x_bits >> 52 & 0x7ff) - 1023 - 52;
  const int start = e - 2 + 64, word = start >> 6, bit = start & 63;
  const auto chunk = [&](int i) {
    const Word high = two_over_pi[word + i], low = two_over_pi[word + i + 1];
    return bit == 0 ? high : high << bit | low >> (64 - bit);
  };
  const Wide low = Wide(m) * chunk(2), middle = Wide(m) * chunk(1) + (low >> 64);
  const Word high = m * chunk(0) + static_cast<Word>(middle >> 64);  // 2 bits of q, then the fraction
  const Word q = (high >> 62) + (high >> 61 & 1);                    // to nearest
  Wide fraction = Wide(high) << 66 | Wide(static_cast<Word>(middle)) << 2 | static_cast<Word>(low) >> 62;
  const bool negative = fraction >> 127 != 0;
  if (negative) fraction = -fraction;
  const int zeros = fraction >> 64 != 0 ? __builtin_clzll(static_cast<Word>(fraction >> 64))
                                        : 64 + __builtin_clzll(static_cast<Word>(fraction) | 1);
  fraction <<= zeros;
  const D top(static_cast<double>(static_cast<Word>(fraction >> 75)));
  const D next(static_cast<double>(static_cast<Word>(fraction >> 22) & 0x1fffffffffffff) * 0x1p-53);
  const D unit = exp2_int(D(static_cast<double>(-53 - zeros)));
  const Pair<D> product = two_prod(top, D(half_pi<double>[0]));
  const D rest = product.lo + fma(next, D(half_pi<double>[0]), top * D(half_pi<double>[1]));
  const Pair<D> r = fast_two_sum(product.hi, rest);
  const D sign = D(negative ? -1.0 : 1.0) * unit;
  return {r.hi * sign, r.lo * sign, D::Int(static_cast<std::int64_t>(q))};
}

/// f(x, angle of x) lane by lane, in double, for x beyond `near_limit`; elsewhere NaN.
template <Lane V, class F>
WENGERT_INLINE V far_lanes(V x, F f) {
  using D = Vec<double, 1>;
  return per_lane(
      [f](typename V::Scalar lane) {
        using Scalar = typename V::Scalar;
        if (!any((lane >= Scalar(0x1p16)) & isfinite(lane))) return Scalar(FormatOf<V>::nan);
        const D wide(static_cast<double>(lane.v));
        return Scalar(static_cast<typename V::Real>(f(wide, far_angle(wide)).v));
      },
      x);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
