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

struct Vector64 {
  static constexpr std::size_t lanes = 8;
  using Real = double;
  __m512d v;

  explicit Vector64(double x) : v(_mm512_set1_pd(x)) {}
  Vector64(__m512d x) : v(x) {}
  static Vector64 load(const double* p) { return _mm512_loadu_pd(p); }
  void store(double* p) const { _mm512_storeu_pd(p, v); }

  friend Vector64 operator+(Vector64 a, Vector64 b) { return a.v + b.v; }
  friend Vector64 operator-(Vector64 a, Vector64 b) { return a.v - b.v; }
  friend Vector64 operator*(Vector64 a, Vector64 b) { return a.v * b.v; }
  friend Vector64 operator/(Vector64 a, Vector64 b) { return a.v / b.v; }
  friend Vector64 exp(Vector64 x) { return _ZGVeN8v_exp(x.v); }
  friend Vector64 log(Vector64 x) { return _ZGVeN8v_log(x.v); }
  friend Vector64 log1p(Vector64 x) { return _ZGVeN8v_log1p(x.v); }
  friend Vector64 erfc(Vector64 x) { return _ZGVeN8v_erfc(x.v); }
  friend Vector64 sqrt(Vector64 x) { return _mm512_maskz_sqrt_pd(0xff, x.v); }
  friend Vector64 abs(Vector64 x) { return _mm512_abs_pd(x.v); }
  friend Vector64 max(Vector64 a, Vector64 b) { return _mm512_maskz_max_pd(0xff, a.v, b.v); }
  friend Vector64 select_less(Vector64 a, Vector64 b, Vector64 yes, Vector64 no) {
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ), no.v, yes.v);
  }
};

struct Vector32 {
  static constexpr std::size_t lanes = 16;
  using Real = float;
  __m512 v;

  explicit Vector32(float x) : v(_mm512_set1_ps(x)) {}
  Vector32(__m512 x) : v(x) {}
  static Vector32 load(const float* p) { return _mm512_loadu_ps(p); }
  void store(float* p) const { _mm512_storeu_ps(p, v); }

  friend Vector32 operator+(Vector32 a, Vector32 b) { return a.v + b.v; }
  friend Vector32 operator-(Vector32 a, Vector32 b) { return a.v - b.v; }
  friend Vector32 operator*(Vector32 a, Vector32 b) { return a.v * b.v; }
  friend Vector32 operator/(Vector32 a, Vector32 b) { return a.v / b.v; }
  friend Vector32 exp(Vector32 x) { return _ZGVeN16v_expf(x.v); }
  friend Vector32 log(Vector32 x) { return _ZGVeN16v_logf(x.v); }
  friend Vector32 log1p(Vector32 x) { return _ZGVeN16v_log1pf(x.v); }
  friend Vector32 erfc(Vector32 x) { return _ZGVeN16v_erfcf(x.v); }
  friend Vector32 sqrt(Vector32 x) { return _mm512_maskz_sqrt_ps(0xffff, x.v); }
  friend Vector32 abs(Vector32 x) { return _mm512_abs_ps(x.v); }
  friend Vector32 max(Vector32 a, Vector32 b) { return _mm512_maskz_max_ps(0xffff, a.v, b.v); }
  friend Vector32 select_less(Vector32 a, Vector32 b, Vector32 yes, Vector32 no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), no.v, yes.v);
  }
};

/// Two vectors at once: the adjoints wait for latencies more than for units (1.2 times faster on west, 1.5 on heston).
template <class V>
struct Two {
  static constexpr std::size_t lanes = 2 * V::lanes;
  using Real = typename V::Real;
  V a, b;

  explicit Two(Real x) : a(x), b(x) {}
  Two(V first, V second) : a(first), b(second) {}
  static Two load(const Real* p) { return {V::load(p), V::load(p + V::lanes)}; }
  void store(Real* p) const {
    a.store(p);
    b.store(p + V::lanes);
  }

  friend Two operator+(Two x, Two y) { return {x.a + y.a, x.b + y.b}; }
  friend Two operator-(Two x, Two y) { return {x.a - y.a, x.b - y.b}; }
  friend Two operator*(Two x, Two y) { return {x.a * y.a, x.b * y.b}; }
  friend Two operator/(Two x, Two y) { return {x.a / y.a, x.b / y.b}; }
  friend Two exp(Two x) { return {exp(x.a), exp(x.b)}; }
  friend Two log(Two x) { return {log(x.a), log(x.b)}; }
  friend Two log1p(Two x) { return {log1p(x.a), log1p(x.b)}; }
  friend Two erfc(Two x) { return {erfc(x.a), erfc(x.b)}; }
  friend Two sqrt(Two x) { return {sqrt(x.a), sqrt(x.b)}; }
  friend Two abs(Two x) { return {abs(x.a), abs(x.b)}; }
  friend Two max(Two x, Two y) { return {max(x.a, y.a), max(x.b, y.b)}; }
  friend Two select_less(Two x, Two y, Two yes, Two no) {
    return {select_less(x.a, y.a, yes.a, no.a), select_less(x.b, y.b, yes.b, no.b)};
  }
};
using F64 = Two<Vector64>;
using F32 = Two<Vector32>;

}  // namespace

const HandCode HAND_SIMD_NAME = {
    HAND_COMPILER,
    true,
    true,
    F64::lanes,
    F32::lanes,
    {expr<F64>, west<F64>, dag<F64>, black_scholes<F64>, heston<F64>},
    {expr<F32>, west<F32>, dag<F32>, black_scholes<F32>, heston<F32>},
};

}  // namespace wengert::bench

#else

namespace wengert::bench {
const HandCode HAND_SIMD_NAME = {};
}  // namespace wengert::bench

#endif
