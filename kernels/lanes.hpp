// Lanes: the vector types that the op table and the elementary functions are written over.
//
//   Vec<Real, N>   N independent evaluations of one variable (N = 1: the scalar backend)
//   Mask<Real, N>  a truth value per lane;  Int<Real, N>  an integer per lane, as wide as Real
//
// A function over lanes is `template <Lane V> V f(V x)` and uses only what is here: arithmetic, fma, sqrt, comparison,
// select, rounding, constants and, in elementary functions alone, the bits of the exponent. No `if` on a value: use
// `select`, or `rare` where the other side is costly and seldom needed. So every instruction set, and one day a V whose
// operators append machine instructions, gives the same bits from the same text.
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/native.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <class Real_, int N>
struct Mask {
  using Ops = Native<Real_, N>;
  typename Ops::RawMask m;

  WENGERT_INLINE friend Mask operator&(Mask a, Mask b) { return {Ops::mask_and(a.m, b.m)}; }
  WENGERT_INLINE friend Mask operator|(Mask a, Mask b) { return {Ops::mask_or(a.m, b.m)}; }
  WENGERT_INLINE friend Mask operator^(Mask a, Mask b) { return {Ops::mask_xor(a.m, b.m)}; }
  WENGERT_INLINE friend Mask operator!(Mask a) { return {Ops::mask_not(a.m)}; }
};

template <class Real_, int N>
WENGERT_INLINE bool any(Mask<Real_, N> a) {
  return Native<Real_, N>::mask_bits(a.m) != 0;
}

template <class Real_, int N>
struct Int {
  using Ops = Native<Real_, N>;
  using Integer = typename Ops::Integer;
  using Mask = kernels::Mask<Real_, N>;
  typename Ops::RawInt v;

  Int() = default;
  WENGERT_INLINE Int(Integer x) : v(Ops::splat_int(x)) {}
  WENGERT_INLINE static Int of(typename Ops::RawInt x) {
    Int r;
    r.v = x;
    return r;
  }
  WENGERT_INLINE friend Int operator+(Int a, Int b) { return of(Ops::add_int(a.v, b.v)); }
  WENGERT_INLINE friend Int operator-(Int a, Int b) { return of(Ops::sub_int(a.v, b.v)); }
  WENGERT_INLINE friend Int operator&(Int a, Int b) { return of(a.v & b.v); }
  WENGERT_INLINE friend Int operator|(Int a, Int b) { return of(a.v | b.v); }
  WENGERT_INLINE friend Int operator^(Int a, Int b) { return of(a.v ^ b.v); }
  WENGERT_INLINE friend Mask operator<(Int a, Int b) { return {Ops::lt_int(a.v, b.v)}; }
  WENGERT_INLINE friend Mask operator>(Int a, Int b) { return {Ops::lt_int(b.v, a.v)}; }
  WENGERT_INLINE friend Mask operator==(Int a, Int b) { return {Ops::eq_int(a.v, b.v)}; }
};

template <class Real_, int N>
struct Vec {
  using Real = Real_;
  using Ops = Native<Real, N>;
  using Mask = kernels::Mask<Real, N>;
  using Int = kernels::Int<Real, N>;
  using Scalar = Vec<Real, 1>;  // one lane of it: what per_lane hands to its function
  static constexpr int lanes = N;
  static constexpr int step = N;  // numbers in memory
  typename Ops::Raw v;

  Vec() = default;
  WENGERT_INLINE Vec(Real x) : v(Ops::splat(x)) {}
  WENGERT_INLINE static Vec of(typename Ops::Raw x) {
    Vec r;
    r.v = x;
    return r;
  }
  WENGERT_INLINE static Vec load(const Real* p) { return of(Ops::load(p)); }
  WENGERT_INLINE void store(Real* p) const { Ops::store(p, v); }

  WENGERT_INLINE friend Vec operator+(Vec a, Vec b) { return of(a.v + b.v); }
  WENGERT_INLINE friend Vec operator-(Vec a, Vec b) { return of(a.v - b.v); }
  WENGERT_INLINE friend Vec operator*(Vec a, Vec b) { return of(a.v * b.v); }
  WENGERT_INLINE friend Vec operator/(Vec a, Vec b) { return of(a.v / b.v); }
  WENGERT_INLINE friend Vec operator-(Vec a) { return of(-a.v); }
  WENGERT_INLINE friend Mask operator<(Vec a, Vec b) { return {Ops::lt(a.v, b.v)}; }
  WENGERT_INLINE friend Mask operator<=(Vec a, Vec b) { return {Ops::le(a.v, b.v)}; }
  WENGERT_INLINE friend Mask operator>(Vec a, Vec b) { return {Ops::lt(b.v, a.v)}; }
  WENGERT_INLINE friend Mask operator>=(Vec a, Vec b) { return {Ops::le(b.v, a.v)}; }
  WENGERT_INLINE friend Mask operator==(Vec a, Vec b) { return {Ops::eq(a.v, b.v)}; }
  WENGERT_INLINE friend Mask operator!=(Vec a, Vec b) { return {Ops::ne(a.v, b.v)}; }
};

template <class T>
struct IsVec {
  static constexpr bool value = false;
};
template <class Real, int N>
struct IsVec<Vec<Real, N>> {
  static constexpr bool value = true;
};
template <class V>
concept Lane = IsVec<V>::value;

/// Limits and layout of the floating-point type in a lane.
template <class Real>
struct Format;
template <>
struct Format<double> {
  static constexpr bool is_double = true;
  static constexpr int mantissa_bits = 52, bias = 1023;
  static constexpr double inf = __builtin_inf(), nan = __builtin_nan(""), max = 0x1.fffffffffffffp1023,
                          min_normal = 0x1p-1022, epsilon = 0x1p-52;
};
template <>
struct Format<float> {
  static constexpr bool is_double = false;
  static constexpr int mantissa_bits = 23, bias = 127;
  static constexpr float inf = __builtin_inff(), nan = __builtin_nanf(""), max = 0x1.fffffep127f,
                         min_normal = 0x1p-126f, epsilon = 0x1p-23f;
};
template <class V>
using FormatOf = Format<typename V::Real>;
template <class V>
inline constexpr bool is_f64 = FormatOf<V>::is_double;

// ---- operations with one rounding or none --------------------------------------------------------------------------

/// a * b + c, rounded once.
template <Lane V>
WENGERT_INLINE V fma(V a, V b, V c) {
  return V::of(V::Ops::fma(a.v, b.v, c.v));
}
template <Lane V>
WENGERT_INLINE V sqrt(V a) {
  return V::of(V::Ops::sqrt(a.v));
}
template <Lane V>
WENGERT_INLINE V rint(V a) {  // to nearest, ties to even
  return V::of(V::Ops::rint(a.v));
}
template <Lane V>
WENGERT_INLINE V floor(V a) {
  return V::of(V::Ops::floor(a.v));
}
template <Lane V>
WENGERT_INLINE V ceil(V a) {
  return V::of(V::Ops::ceil(a.v));
}
template <Lane V>
WENGERT_INLINE V trunc(V a) {
  return V::of(V::Ops::trunc(a.v));
}
/// a > b ? a : b, so b where either is NaN or both are zeros.
template <Lane V>
WENGERT_INLINE V max(V a, V b) {
  return V::of(V::Ops::max(a.v, b.v));
}
/// a < b ? a : b.
template <Lane V>
WENGERT_INLINE V min(V a, V b) {
  return V::of(V::Ops::min(a.v, b.v));
}
template <Lane V>
WENGERT_INLINE typename V::Mask isnan(V a) {
  return {V::Ops::unordered(a.v, a.v)};
}
/// isnan(a) | isnan(b), in one comparison.
template <Lane V>
WENGERT_INLINE typename V::Mask nan_in_either(V a, V b) {
  return {V::Ops::unordered(a.v, b.v)};
}
template <class Real, int N>
WENGERT_INLINE Vec<Real, N> select(Mask<Real, N> m, Vec<Real, N> yes, Vec<Real, N> no) {
  return Vec<Real, N>::of(Native<Real, N>::blend(m.m, yes.v, no.v));
}
template <class Real, int N>
WENGERT_INLINE Int<Real, N> select(Mask<Real, N> m, Int<Real, N> yes, Int<Real, N> no) {
  return Int<Real, N>::of(Native<Real, N>::blend_int(m.m, yes.v, no.v));
}

/// `select(m, slow(), fast)`, bit for bit, but `slow` runs only where some lane needs it.
template <Lane V, class Slow>
WENGERT_INLINE V rare(typename V::Mask m, V fast, Slow slow) {
  if (any(m)) [[unlikely]]
    return select(m, slow(), fast);
  return fast;
}

/// f lane by lane, f taking and returning V::Scalar: for functions whose vector form isn't worth its code.
template <class F, Lane V, class... More>
WENGERT_INLINE V per_lane(F f, V x, More... more) {
  if constexpr (V::lanes == 1) {
    return f(x, more...);
  } else {
    typename V::Real in[1 + sizeof...(more)][V::lanes], out[V::lanes];
    x.store(in[0]);
    [[maybe_unused]] int row = 1;
    (more.store(in[row++]), ...);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      for (int lane = 0; lane < V::lanes; ++lane) f(typename V::Scalar(in[i][lane])...).store(out + lane);
    }(std::make_index_sequence<1 + sizeof...(more)>());
    return V::load(out);
  }
}

// ---- bits ----------------------------------------------------------------------------------------------------------

template <Lane V>
WENGERT_INLINE typename V::Int bits(V a) {
  return V::Int::of(V::Ops::bits(a.v));
}
template <Lane V>
WENGERT_INLINE V from_bits(typename V::Int a) {
  return V::of(V::Ops::from_bits(a.v));
}
/// The integer a lane holds, |a| < 2^51 (float: 2^31); the lane must hold an integer.
template <Lane V>
WENGERT_INLINE typename V::Int to_int(V a) {
  return V::Int::of(V::Ops::to_int(a.v));
}
template <Lane V>
WENGERT_INLINE V to_real(typename V::Int a) {  // |a| < 2^51 (float: exact below 2^24)
  return V::of(V::Ops::to_real(a.v));
}
template <int n, class Real, int N>
WENGERT_INLINE Int<Real, N> shl(Int<Real, N> a) {
  return Int<Real, N>::of(Native<Real, N>::template shl<n>(a.v));
}
template <int n, class Real, int N>
WENGERT_INLINE Int<Real, N> sra(Int<Real, N> a) {  // keeps the sign
  return Int<Real, N>::of(Native<Real, N>::template sra<n>(a.v));
}
template <int n, class Real, int N>
WENGERT_INLINE Int<Real, N> srl(Int<Real, N> a) {  // fills with zeros
  return Int<Real, N>::of(Native<Real, N>::template srl<n>(a.v));
}
/// table[i] per lane.
template <Lane V>
WENGERT_INLINE V gather(const typename V::Real* table, typename V::Int i) {
  return V::of(V::Ops::gather(table, i.v));
}

/// table[i mod 16] per lane, from a table of 16: with AVX-512 a permutation of registers, as cheap as an addition.
template <Lane V>
WENGERT_INLINE V lookup16(const typename V::Real (&table)[16], typename V::Int i) {
  return V::of(V::Ops::lookup16(table, i.v));
}

template <Lane V>
inline constexpr typename V::Int::Integer sign_bit =
    static_cast<typename V::Int::Integer>(is_f64<V> ? INT64_MIN : INT32_MIN);

template <Lane V>
WENGERT_INLINE V abs(V a) {
  return from_bits<V>(bits(a) & typename V::Int(static_cast<typename V::Int::Integer>(~sign_bit<V>)));
}
template <Lane V>
WENGERT_INLINE V sign_of(V a) {  // +0 or -0: only the sign bit
  return from_bits<V>(bits(a) & typename V::Int(sign_bit<V>));
}
template <Lane V>
WENGERT_INLINE V copysign(V magnitude, V sign) {
  return from_bits<V>(bits(abs(magnitude)) | bits(sign_of(sign)));
}
/// a with its sign flipped where s is negative (-0 too).
template <Lane V>
WENGERT_INLINE V flip_sign(V a, V s) {
  return from_bits<V>(bits(a) ^ bits(sign_of(s)));
}
template <Lane V>
WENGERT_INLINE typename V::Mask signbit(V a) {
  return bits(a) < typename V::Int(0);
}
template <Lane V>
WENGERT_INLINE typename V::Mask isinf(V a) {
  return abs(a) == V(FormatOf<V>::inf);
}
template <Lane V>
WENGERT_INLINE typename V::Mask isfinite(V a) {
  return abs(a) < V(FormatOf<V>::inf);
}

/// 2^n for an integer n in the normal range.
template <Lane V>
WENGERT_INLINE V exp2_int(V n) {
  constexpr int m = FormatOf<V>::mantissa_bits;
  return from_bits<V>(shl<m>(to_int(n) + typename V::Int(FormatOf<V>::bias)));
}

/// x * 2^n, rounded once, for |x| in [1/4, 4] (or 0, inf, NaN) and integer |n| <= 2040 (float: 250).
/// Over- and underflow are right: the first factor keeps the product normal, the second rounds.
template <Lane V>
WENGERT_INLINE V scale(V x, V n) {
#if defined(WENGERT_ISA_AVX512)
  if constexpr (V::lanes == 8) return V::of(_mm512_maskz_scalef_pd(0xff, x.v, n.v));
  if constexpr (V::lanes == 16) return V::of(_mm512_maskz_scalef_ps(0xffff, x.v, n.v));
#endif
  const V half = rint(n * V(0.5));
  return x * exp2_int(half) * exp2_int(n - half);
}

/// x * 2^floor(n): the rest as in scale.
template <Lane V>
WENGERT_INLINE V scale_floor(V x, V n) {
#if defined(WENGERT_ISA_AVX512)
  if constexpr (V::lanes == 8 || V::lanes == 16) return scale(x, n);  // the instruction rounds n down itself
#endif
  return scale(x, floor(n));
}

/// x = m * 2^e with m in [0.75, 1.5) and integer e, for finite x > 0, subnormal too. Elsewhere unspecified but the
/// same on every instruction set is not promised: mask such lanes.
template <Lane V>
WENGERT_INLINE void split(V x, V& m, V& e) {
#if defined(WENGERT_ISA_AVX512)
  if constexpr (V::lanes == 8) {
    m = V::of(_mm512_maskz_getmant_pd(0xff, x.v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src));
    e = V::of(_mm512_maskz_getexp_pd(0xff, x.v)) - V::of(_mm512_maskz_getexp_pd(0xff, m.v));
    return;
  }
  if constexpr (V::lanes == 16) {
    m = V::of(_mm512_maskz_getmant_ps(0xffff, x.v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src));
    e = V::of(_mm512_maskz_getexp_ps(0xffff, x.v)) - V::of(_mm512_maskz_getexp_ps(0xffff, m.v));
    return;
  }
#endif
  using I = typename V::Int;
  using F = FormatOf<V>;
  constexpr int mb = F::mantissa_bits;
  const auto tiny = x < V(F::min_normal);
  const V normal = select(tiny, x * V(is_f64<V> ? 0x1p54 : 0x1p25), x);
  const V shift = select(tiny, V(is_f64<V> ? -54 : -25), V(0));
  const I over = bits(normal) - bits(V(0.75));
  const I exponent = sra<mb>(over);
  m = from_bits<V>(bits(normal) - shl<mb>(exponent));
  e = to_real<V>(exponent) + shift;
}

// ---- polynomials ---------------------------------------------------------------------------------------------------

/// c0 + x*(c1 + x*(c2 + ...)): fewest operations, longest chain.
template <Lane V, class C>
WENGERT_INLINE V horner(V, C c0) {
  return V(static_cast<typename V::Real>(c0));
}
template <Lane V, class C, class... More>
WENGERT_INLINE V horner(V x, C c0, More... more) {
  return fma(horner(x, more...), x, V(static_cast<typename V::Real>(c0)));
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
