// Level hand-simd: the hand-written adjoints over AVX-512 vectors, elementary functions from libmvec (glibc's, 4 ulp).
// Compiled as hand.cpp is; empty where the CPU has no AVX-512 or glibc no such libmvec.
#include "bench/hand_body.hpp"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(HAVE_LIBMVEC)
#include <immintrin.h>

// maskz forms below: g++ 12 warns of uninitialised values inside the others (in its own header).

// The vector ABI's names of libm functions on 8 doubles and 16 floats.
extern "C" {
__m512d _ZGVeN8v_exp(__m512d);
__m512d _ZGVeN8v_log(__m512d);
__m512d _ZGVeN8v_log1p(__m512d);
__m512d _ZGVeN8v_erfc(__m512d);
__m512 _ZGVeN16v_expf(__m512);
__m512 _ZGVeN16v_logf(__m512);
__m512 _ZGVeN16v_log1pf(__m512);
__m512 _ZGVeN16v_erfcf(__m512);
}

namespace wengert::bench {
namespace {

struct F64 {
  static constexpr std::size_t lanes = 8;
  __m512d v;

  explicit F64(double x) : v(_mm512_set1_pd(x)) {}
  F64(__m512d x) : v(x) {}
  static F64 load(const double* p) { return _mm512_loadu_pd(p); }
  void store(double* p) const { _mm512_storeu_pd(p, v); }

  friend F64 operator+(F64 a, F64 b) { return a.v + b.v; }
  friend F64 operator-(F64 a, F64 b) { return a.v - b.v; }
  friend F64 operator*(F64 a, F64 b) { return a.v * b.v; }
  friend F64 operator/(F64 a, F64 b) { return a.v / b.v; }
  friend F64 exp(F64 x) { return _ZGVeN8v_exp(x.v); }
  friend F64 log(F64 x) { return _ZGVeN8v_log(x.v); }
  friend F64 log1p(F64 x) { return _ZGVeN8v_log1p(x.v); }
  friend F64 erfc(F64 x) { return _ZGVeN8v_erfc(x.v); }
  friend F64 sqrt(F64 x) { return _mm512_maskz_sqrt_pd(0xff, x.v); }
  friend F64 abs(F64 x) { return _mm512_abs_pd(x.v); }
  friend F64 max(F64 a, F64 b) { return _mm512_maskz_max_pd(0xff, a.v, b.v); }
  friend F64 select_less(F64 a, F64 b, F64 yes, F64 no) {
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ), no.v, yes.v);
  }
};

struct F32 {
  static constexpr std::size_t lanes = 16;
  __m512 v;

  explicit F32(float x) : v(_mm512_set1_ps(x)) {}
  F32(__m512 x) : v(x) {}
  static F32 load(const float* p) { return _mm512_loadu_ps(p); }
  void store(float* p) const { _mm512_storeu_ps(p, v); }

  friend F32 operator+(F32 a, F32 b) { return a.v + b.v; }
  friend F32 operator-(F32 a, F32 b) { return a.v - b.v; }
  friend F32 operator*(F32 a, F32 b) { return a.v * b.v; }
  friend F32 operator/(F32 a, F32 b) { return a.v / b.v; }
  friend F32 exp(F32 x) { return _ZGVeN16v_expf(x.v); }
  friend F32 log(F32 x) { return _ZGVeN16v_logf(x.v); }
  friend F32 log1p(F32 x) { return _ZGVeN16v_log1pf(x.v); }
  friend F32 erfc(F32 x) { return _ZGVeN16v_erfcf(x.v); }
  friend F32 sqrt(F32 x) { return _mm512_maskz_sqrt_ps(0xffff, x.v); }
  friend F32 abs(F32 x) { return _mm512_abs_ps(x.v); }
  friend F32 max(F32 a, F32 b) { return _mm512_maskz_max_ps(0xffff, a.v, b.v); }
  friend F32 select_less(F32 a, F32 b, F32 yes, F32 no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), no.v, yes.v);
  }
};

}  // namespace

const HandCode HAND_SIMD_NAME = {
    HAND_COMPILER,
    true,
    true,
    8,
    16,
    {expr<F64>, west<F64>, dag<F64>, black_scholes<F64>, heston<F64>},
    {expr<F32>, west<F32>, dag<F32>, black_scholes<F32>, heston<F32>},
};

}  // namespace wengert::bench

#else

namespace wengert::bench {
const HandCode HAND_SIMD_NAME = {};
}  // namespace wengert::bench

#endif
