// The operations of one vector that compilers have no operator for, per element type and width.
// `Native<Real, N>` is the only place with intrinsics; everything above it is written once, over `Vec` (lanes.hpp).
// Every function here gives the same bits on every instruction set.
#pragma once

#include <cstdint>

#include "kernels/isa.hpp"

#if defined(WENGERT_ISA_AVX2) || defined(WENGERT_ISA_AVX512)
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12's own intrinsics start from "undefined" registers and warn of it where they are inlined.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <class Real>
struct IntOf;
template <>
struct IntOf<double> {
  using type = std::int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr int bias = 1023;
};
template <>
struct IntOf<float> {
  using type = std::int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr int bias = 127;
};

template <class Real, int N>
struct Native;

// One lane: plain scalars. The only width on architectures without a backend of their own.
template <class Real_>
struct Native<Real_, 1> {
  using Real = Real_;
  using Integer = typename IntOf<Real>::type;
  using Raw = Real;
  using RawInt = Integer;
  using RawMask = bool;

  static Raw splat(Real x) { return x; }
  static RawInt splat_int(Integer x) { return x; }
  static Raw load(const Real* p) { return *p; }
  static void store(Real* p, Raw x) { *p = x; }
  static Raw fma(Raw a, Raw b, Raw c) {
    if constexpr (sizeof(Real) == 8) return __builtin_fma(a, b, c);
    else return __builtin_fmaf(a, b, c);
  }
  static Raw sqrt(Raw a) {
    if constexpr (sizeof(Real) == 8) return __builtin_sqrt(a);
    else return __builtin_sqrtf(a);
  }
  static Raw rint(Raw a) {
    if constexpr (sizeof(Real) == 8) return __builtin_rint(a);
    else return __builtin_rintf(a);
  }
  static Raw floor(Raw a) {
    if constexpr (sizeof(Real) == 8) return __builtin_floor(a);
    else return __builtin_floorf(a);
  }
  static Raw ceil(Raw a) {
    if constexpr (sizeof(Real) == 8) return __builtin_ceil(a);
    else return __builtin_ceilf(a);
  }
  static Raw trunc(Raw a) {
    if constexpr (sizeof(Real) == 8) return __builtin_trunc(a);
    else return __builtin_truncf(a);
  }
  static Raw max(Raw a, Raw b) { return a > b ? a : b; }
  static Raw min(Raw a, Raw b) { return a < b ? a : b; }
  static RawMask lt(Raw a, Raw b) { return a < b; }
  static RawMask le(Raw a, Raw b) { return a <= b; }
  static RawMask eq(Raw a, Raw b) { return a == b; }
  static RawMask ne(Raw a, Raw b) { return a != b; }
  static RawMask unordered(Raw a, Raw b) { return __builtin_isunordered(a, b); }
  static RawMask lt_int(RawInt a, RawInt b) { return a < b; }
  static RawMask eq_int(RawInt a, RawInt b) { return a == b; }
  static RawMask mask_and(RawMask a, RawMask b) { return a & b; }
  static RawMask mask_or(RawMask a, RawMask b) { return a | b; }
  static RawMask mask_xor(RawMask a, RawMask b) { return a ^ b; }
  static RawMask mask_not(RawMask a) { return !a; }
  static RawMask mask_splat(bool a) { return a; }
  static unsigned mask_bits(RawMask a) { return a; }
  static Raw blend(RawMask m, Raw a, Raw b) { return m ? a : b; }
  static RawInt blend_int(RawMask m, RawInt a, RawInt b) { return m ? a : b; }
  static RawInt bits(Raw a) { return __builtin_bit_cast(RawInt, a); }
  static Raw from_bits(RawInt a) { return __builtin_bit_cast(Raw, a); }
  static RawInt to_int(Raw a) { return static_cast<RawInt>(a); }
  static Raw to_real(RawInt a) { return static_cast<Raw>(a); }
  template <int n>
  static RawInt shl(RawInt a) {
    using U = Unsigned;
    return static_cast<RawInt>(static_cast<U>(a) << n);
  }
  template <int n>
  static RawInt sra(RawInt a) {
    return a >> n;
  }
  template <int n>
  static RawInt srl(RawInt a) {
    using U = Unsigned;
    return static_cast<RawInt>(static_cast<U>(a) >> n);
  }
  static RawInt add_int(RawInt a, RawInt b) {
    using U = Unsigned;
    return static_cast<RawInt>(static_cast<U>(a) + static_cast<U>(b));
  }
  static RawInt sub_int(RawInt a, RawInt b) {
    using U = Unsigned;
    return static_cast<RawInt>(static_cast<U>(a) - static_cast<U>(b));
  }
  static Raw gather(const Real* t, RawInt i) { return t[i]; }
  static Raw lookup16(const Real* t, RawInt i) { return t[i & 15]; }

 private:
  template <int bytes, class = void>
  struct UnsignedOf {
    using type = std::uint64_t;
  };
  template <class D>
  struct UnsignedOf<4, D> {
    using type = std::uint32_t;
  };
  using Unsigned = typename UnsignedOf<sizeof(Real)>::type;
};

#if defined(WENGERT_ISA_AVX2)

template <>
struct Native<double, 4> {
  using Real = double;
  using Integer = std::int64_t;
  using Raw = __m256d;
  using RawInt = __m256i;
  using RawMask = __m256d;

  static Raw splat(Real x) { return _mm256_set1_pd(x); }
  static RawInt splat_int(Integer x) { return _mm256_set1_epi64x(x); }
  static Raw load(const Real* p) { return _mm256_loadu_pd(p); }
  static void store(Real* p, Raw x) { _mm256_storeu_pd(p, x); }
  static Raw fma(Raw a, Raw b, Raw c) { return _mm256_fmadd_pd(a, b, c); }
  static Raw sqrt(Raw a) { return _mm256_sqrt_pd(a); }
  static Raw rint(Raw a) { return _mm256_round_pd(a, _MM_FROUND_CUR_DIRECTION); }
  static Raw floor(Raw a) { return _mm256_floor_pd(a); }
  static Raw ceil(Raw a) { return _mm256_ceil_pd(a); }
  static Raw trunc(Raw a) { return _mm256_round_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
  static Raw max(Raw a, Raw b) { return _mm256_max_pd(a, b); }
  static Raw min(Raw a, Raw b) { return _mm256_min_pd(a, b); }
  static RawMask lt(Raw a, Raw b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
  static RawMask le(Raw a, Raw b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
  static RawMask eq(Raw a, Raw b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
  static RawMask ne(Raw a, Raw b) { return _mm256_cmp_pd(a, b, _CMP_NEQ_UQ); }
  static RawMask unordered(Raw a, Raw b) { return _mm256_cmp_pd(a, b, _CMP_UNORD_Q); }
  static RawMask lt_int(RawInt a, RawInt b) { return _mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a)); }
  static RawMask eq_int(RawInt a, RawInt b) { return _mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b)); }
  static RawMask mask_and(RawMask a, RawMask b) { return _mm256_and_pd(a, b); }
  static RawMask mask_or(RawMask a, RawMask b) { return _mm256_or_pd(a, b); }
  static RawMask mask_xor(RawMask a, RawMask b) { return _mm256_xor_pd(a, b); }
  static RawMask mask_not(RawMask a) { return _mm256_xor_pd(a, mask_splat(true)); }
  static RawMask mask_splat(bool a) { return _mm256_castsi256_pd(_mm256_set1_epi64x(a ? -1 : 0)); }
  static unsigned mask_bits(RawMask a) { return static_cast<unsigned>(_mm256_movemask_pd(a)); }
  static Raw blend(RawMask m, Raw a, Raw b) { return _mm256_blendv_pd(b, a, m); }
  static RawInt blend_int(RawMask m, RawInt a, RawInt b) {
    return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(b), _mm256_castsi256_pd(a), m));
  }
  static RawInt bits(Raw a) { return _mm256_castpd_si256(a); }
  static Raw from_bits(RawInt a) { return _mm256_castsi256_pd(a); }
  // Adding 1.5 * 2^52 leaves the integer in the low mantissa bits: exact for |a| < 2^51.
  static RawInt to_int(Raw a) {
    const __m256d magic = _mm256_set1_pd(6755399441055744.0);
    return _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(a, magic)), _mm256_castpd_si256(magic));
  }
  static Raw to_real(RawInt a) {
    const __m256d magic = _mm256_set1_pd(6755399441055744.0);
    return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(a, _mm256_castpd_si256(magic))), magic);
  }
  template <int n>
  static RawInt shl(RawInt a) {
    return _mm256_slli_epi64(a, n);
  }
  template <int n>
  static RawInt sra(RawInt a) {  // AVX2 has no 64-bit arithmetic shift: shift the halves and put them together
    const __m256i sign = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
    return _mm256_or_si256(_mm256_srli_epi64(a, n), _mm256_slli_epi64(sign, 64 - n));
  }
  template <int n>
  static RawInt srl(RawInt a) {
    return _mm256_srli_epi64(a, n);
  }
  static RawInt add_int(RawInt a, RawInt b) { return _mm256_add_epi64(a, b); }
  static RawInt sub_int(RawInt a, RawInt b) { return _mm256_sub_epi64(a, b); }
  static Raw gather(const Real* t, RawInt i) { return _mm256_i64gather_pd(t, i, 8); }
  // Four loads at indices that went to other registers, once for all lookups by the same i. Permutations of the table's quarters
  // take twice as long; so does a gather, which as compilers emit it also waits for the last use of its destination.
  static Raw lookup16(const Real* t, RawInt i) {
    const __m256i index = _mm256_and_si256(i, _mm256_set1_epi64x(15));
    const __m128i low = _mm256_castsi256_si128(index);
    const __m128i high = _mm256_extracti128_si256(index, 1);
    const auto two = [t](__m128i k) {
      return _mm_loadh_pd(_mm_load_sd(t + _mm_cvtsi128_si64(k)), t + _mm_extract_epi64(k, 1));
    };
    return _mm256_set_m128d(two(high), two(low));
  }
};

template <>
struct Native<float, 8> {
  using Real = float;
  using Integer = std::int32_t;
  using Raw = __m256;
  using RawInt = __m256i;
  using RawMask = __m256;

  static Raw splat(Real x) { return _mm256_set1_ps(x); }
  static RawInt splat_int(Integer x) { return _mm256_set1_epi32(x); }
  static Raw load(const Real* p) { return _mm256_loadu_ps(p); }
  static void store(Real* p, Raw x) { _mm256_storeu_ps(p, x); }
  static Raw fma(Raw a, Raw b, Raw c) { return _mm256_fmadd_ps(a, b, c); }
  static Raw sqrt(Raw a) { return _mm256_sqrt_ps(a); }
  static Raw rint(Raw a) { return _mm256_round_ps(a, _MM_FROUND_CUR_DIRECTION); }
  static Raw floor(Raw a) { return _mm256_floor_ps(a); }
  static Raw ceil(Raw a) { return _mm256_ceil_ps(a); }
  static Raw trunc(Raw a) { return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
  static Raw max(Raw a, Raw b) { return _mm256_max_ps(a, b); }
  static Raw min(Raw a, Raw b) { return _mm256_min_ps(a, b); }
  static RawMask lt(Raw a, Raw b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
  static RawMask le(Raw a, Raw b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
  static RawMask eq(Raw a, Raw b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
  static RawMask ne(Raw a, Raw b) { return _mm256_cmp_ps(a, b, _CMP_NEQ_UQ); }
  static RawMask unordered(Raw a, Raw b) { return _mm256_cmp_ps(a, b, _CMP_UNORD_Q); }
  static RawMask lt_int(RawInt a, RawInt b) { return _mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a)); }
  static RawMask eq_int(RawInt a, RawInt b) { return _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)); }
  static RawMask mask_and(RawMask a, RawMask b) { return _mm256_and_ps(a, b); }
  static RawMask mask_or(RawMask a, RawMask b) { return _mm256_or_ps(a, b); }
  static RawMask mask_xor(RawMask a, RawMask b) { return _mm256_xor_ps(a, b); }
  static RawMask mask_not(RawMask a) { return _mm256_xor_ps(a, mask_splat(true)); }
  static RawMask mask_splat(bool a) { return _mm256_castsi256_ps(_mm256_set1_epi32(a ? -1 : 0)); }
  static unsigned mask_bits(RawMask a) { return static_cast<unsigned>(_mm256_movemask_ps(a)); }
  static Raw blend(RawMask m, Raw a, Raw b) { return _mm256_blendv_ps(b, a, m); }
  static RawInt blend_int(RawMask m, RawInt a, RawInt b) {
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(b), _mm256_castsi256_ps(a), m));
  }
  static RawInt bits(Raw a) { return _mm256_castps_si256(a); }
  static Raw from_bits(RawInt a) { return _mm256_castsi256_ps(a); }
  static RawInt to_int(Raw a) { return _mm256_cvttps_epi32(a); }
  static Raw to_real(RawInt a) { return _mm256_cvtepi32_ps(a); }
  template <int n>
  static RawInt shl(RawInt a) {
    return _mm256_slli_epi32(a, n);
  }
  template <int n>
  static RawInt sra(RawInt a) {
    return _mm256_srai_epi32(a, n);
  }
  template <int n>
  static RawInt srl(RawInt a) {
    return _mm256_srli_epi32(a, n);
  }
  static RawInt add_int(RawInt a, RawInt b) { return _mm256_add_epi32(a, b); }
  static RawInt sub_int(RawInt a, RawInt b) { return _mm256_sub_epi32(a, b); }
  static Raw gather(const Real* t, RawInt i) { return _mm256_i32gather_ps(t, i, 4); }
  static Raw lookup16(const Real* t, RawInt i) {
    const Raw low = _mm256_permutevar8x32_ps(load(t), i), high = _mm256_permutevar8x32_ps(load(t + 8), i);
    return _mm256_blendv_ps(low, high, from_bits(shl<28>(i)));
  }
};

#elif defined(WENGERT_ISA_AVX512)

template <>
struct Native<double, 8> {
  using Real = double;
  using Integer = std::int64_t;
  using Raw = __m512d;
  using RawInt = __m512i;
  using RawMask = __mmask8;

  static Raw splat(Real x) { return _mm512_set1_pd(x); }
  static RawInt splat_int(Integer x) { return _mm512_set1_epi64(x); }
  static Raw load(const Real* p) { return _mm512_loadu_pd(p); }
  static void store(Real* p, Raw x) { _mm512_storeu_pd(p, x); }
  static Raw fma(Raw a, Raw b, Raw c) { return _mm512_fmadd_pd(a, b, c); }
  static Raw sqrt(Raw a) { return _mm512_sqrt_pd(a); }
  static Raw rint(Raw a) { return _mm512_maskz_roundscale_pd(0xff, a, _MM_FROUND_CUR_DIRECTION); }
  static Raw floor(Raw a) { return _mm512_maskz_roundscale_pd(0xff, a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
  static Raw ceil(Raw a) { return _mm512_maskz_roundscale_pd(0xff, a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
  static Raw trunc(Raw a) { return _mm512_maskz_roundscale_pd(0xff, a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
  static Raw max(Raw a, Raw b) { return _mm512_max_pd(a, b); }
  static Raw min(Raw a, Raw b) { return _mm512_min_pd(a, b); }
  static RawMask lt(Raw a, Raw b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  static RawMask le(Raw a, Raw b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
  static RawMask eq(Raw a, Raw b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
  static RawMask ne(Raw a, Raw b) { return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ); }
  static RawMask unordered(Raw a, Raw b) { return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q); }
  static RawMask lt_int(RawInt a, RawInt b) { return _mm512_cmplt_epi64_mask(a, b); }
  static RawMask eq_int(RawInt a, RawInt b) { return _mm512_cmpeq_epi64_mask(a, b); }
  static RawMask mask_and(RawMask a, RawMask b) { return _kand_mask8(a, b); }
  static RawMask mask_or(RawMask a, RawMask b) { return _kor_mask8(a, b); }
  static RawMask mask_xor(RawMask a, RawMask b) { return _kxor_mask8(a, b); }
  static RawMask mask_not(RawMask a) { return _knot_mask8(a); }
  static RawMask mask_splat(bool a) { return static_cast<RawMask>(a ? 0xff : 0); }
  static unsigned mask_bits(RawMask a) { return a; }
  static Raw blend(RawMask m, Raw a, Raw b) { return _mm512_mask_blend_pd(m, b, a); }
  static RawInt blend_int(RawMask m, RawInt a, RawInt b) { return _mm512_mask_blend_epi64(m, b, a); }
  static RawInt bits(Raw a) { return _mm512_castpd_si512(a); }
  static Raw from_bits(RawInt a) { return _mm512_castsi512_pd(a); }
  static RawInt to_int(Raw a) { return _mm512_cvttpd_epi64(a); }
  static Raw to_real(RawInt a) { return _mm512_cvtepi64_pd(a); }
  template <int n>
  static RawInt shl(RawInt a) {
    return _mm512_slli_epi64(a, n);
  }
  template <int n>
  static RawInt sra(RawInt a) {
    return _mm512_srai_epi64(a, n);
  }
  template <int n>
  static RawInt srl(RawInt a) {
    return _mm512_srli_epi64(a, n);
  }
  static RawInt add_int(RawInt a, RawInt b) { return _mm512_add_epi64(a, b); }
  static RawInt sub_int(RawInt a, RawInt b) { return _mm512_sub_epi64(a, b); }
  static Raw gather(const Real* t, RawInt i) { return _mm512_i64gather_pd(i, t, 8); }
  static Raw lookup16(const Real* t, RawInt i) { return _mm512_permutex2var_pd(load(t), i, load(t + 8)); }
};

template <>
struct Native<float, 16> {
  using Real = float;
  using Integer = std::int32_t;
  using Raw = __m512;
  using RawInt = __m512i;
  using RawMask = __mmask16;

  static Raw splat(Real x) { return _mm512_set1_ps(x); }
  static RawInt splat_int(Integer x) { return _mm512_set1_epi32(x); }
  static Raw load(const Real* p) { return _mm512_loadu_ps(p); }
  static void store(Real* p, Raw x) { _mm512_storeu_ps(p, x); }
  static Raw fma(Raw a, Raw b, Raw c) { return _mm512_fmadd_ps(a, b, c); }
  static Raw sqrt(Raw a) { return _mm512_sqrt_ps(a); }
  static Raw rint(Raw a) { return _mm512_maskz_roundscale_ps(0xffff, a, _MM_FROUND_CUR_DIRECTION); }
  static Raw floor(Raw a) { return _mm512_maskz_roundscale_ps(0xffff, a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
  static Raw ceil(Raw a) { return _mm512_maskz_roundscale_ps(0xffff, a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
  static Raw trunc(Raw a) { return _mm512_maskz_roundscale_ps(0xffff, a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
  static Raw max(Raw a, Raw b) { return _mm512_max_ps(a, b); }
  static Raw min(Raw a, Raw b) { return _mm512_min_ps(a, b); }
  static RawMask lt(Raw a, Raw b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  static RawMask le(Raw a, Raw b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
  static RawMask eq(Raw a, Raw b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  static RawMask ne(Raw a, Raw b) { return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ); }
  static RawMask unordered(Raw a, Raw b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
  static RawMask lt_int(RawInt a, RawInt b) { return _mm512_cmplt_epi32_mask(a, b); }
  static RawMask eq_int(RawInt a, RawInt b) { return _mm512_cmpeq_epi32_mask(a, b); }
  static RawMask mask_and(RawMask a, RawMask b) { return _kand_mask16(a, b); }
  static RawMask mask_or(RawMask a, RawMask b) { return _kor_mask16(a, b); }
  static RawMask mask_xor(RawMask a, RawMask b) { return _kxor_mask16(a, b); }
  static RawMask mask_not(RawMask a) { return _knot_mask16(a); }
  static RawMask mask_splat(bool a) { return static_cast<RawMask>(a ? 0xffff : 0); }
  static unsigned mask_bits(RawMask a) { return a; }
  static Raw blend(RawMask m, Raw a, Raw b) { return _mm512_mask_blend_ps(m, b, a); }
  static RawInt blend_int(RawMask m, RawInt a, RawInt b) { return _mm512_mask_blend_epi32(m, b, a); }
  static RawInt bits(Raw a) { return _mm512_castps_si512(a); }
  static Raw from_bits(RawInt a) { return _mm512_castsi512_ps(a); }
  static RawInt to_int(Raw a) { return _mm512_cvttps_epi32(a); }
  static Raw to_real(RawInt a) { return _mm512_cvtepi32_ps(a); }
  template <int n>
  static RawInt shl(RawInt a) {
    return _mm512_slli_epi32(a, n);
  }
  template <int n>
  static RawInt sra(RawInt a) {
    return _mm512_srai_epi32(a, n);
  }
  template <int n>
  static RawInt srl(RawInt a) {
    return _mm512_srli_epi32(a, n);
  }
  static RawInt add_int(RawInt a, RawInt b) { return _mm512_add_epi32(a, b); }
  static RawInt sub_int(RawInt a, RawInt b) { return _mm512_sub_epi32(a, b); }
  static Raw gather(const Real* t, RawInt i) { return _mm512_i32gather_ps(i, t, 4); }
  static Raw lookup16(const Real* t, RawInt i) { return _mm512_maskz_permutexvar_ps(0xffff, i, load(t)); }
};

#endif

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
