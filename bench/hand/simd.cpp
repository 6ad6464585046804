// Level hand-simd: the hand-written adjoints over AVX-512 or AVX2 vectors, elementary functions from libmvec (glibc's, 4 ulp).
// Compiled as scalar.cpp is; empty where the CPU has neither or glibc no such libmvec.
#include "bench/hand/all.hpp"

#if defined(HAVE_LIBMVEC) && defined(__AVX2__) && defined(__FMA__)
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define HAND_AVX512
#endif
#include <immintrin.h>

namespace wengert::bench {
namespace {

// The vector ABI's names of libm functions on a vector of doubles and on one of floats.
#ifdef HAND_AVX512
using Doubles = __m512d;
using Floats = __m512;
#define OF_DOUBLES(name) _ZGVeN8v_##name
#define OF_FLOATS(name) _ZGVeN16v_##name##f
#else
using Doubles = __m256d;
using Floats = __m256;
#define OF_DOUBLES(name) _ZGVdN4v_##name
#define OF_FLOATS(name) _ZGVdN8v_##name##f
#endif
#define LIBMVEC(name)                                            \
  extern "C" Doubles OF_DOUBLES(name)(Doubles);                  \
  extern "C" Floats OF_FLOATS(name)(Floats);                     \
  inline Doubles name(Doubles x) { return OF_DOUBLES(name)(x); } \
  inline Floats name(Floats x) { return OF_FLOATS(name)(x); }
LIBMVEC(exp)
LIBMVEC(expm1)
LIBMVEC(log)
LIBMVEC(log1p)
LIBMVEC(erfc)
#undef LIBMVEC
#undef OF_FLOATS
#undef OF_DOUBLES

#ifdef HAND_AVX512
// The maskz forms: g++ 12 warns of uninitialised values inside the others (in its own header).
inline __m512d broadcast(double x) { return _mm512_set1_pd(x); }
inline __m512 broadcast(float x) { return _mm512_set1_ps(x); }
inline __m512d loaded(const double* p) { return _mm512_loadu_pd(p); }
inline __m512 loaded(const float* p) { return _mm512_loadu_ps(p); }
inline void stored(double* p, __m512d x) { _mm512_storeu_pd(p, x); }
inline void stored(float* p, __m512 x) { _mm512_storeu_ps(p, x); }
inline __m512d sqrt(__m512d x) { return _mm512_maskz_sqrt_pd(0xff, x); }
inline __m512 sqrt(__m512 x) { return _mm512_maskz_sqrt_ps(0xffff, x); }
inline __m512d abs(__m512d x) { return _mm512_abs_pd(x); }
inline __m512 abs(__m512 x) { return _mm512_abs_ps(x); }
inline __m512d max(__m512d a, __m512d b) { return _mm512_maskz_max_pd(0xff, a, b); }
inline __m512 max(__m512 a, __m512 b) { return _mm512_maskz_max_ps(0xffff, a, b); }
inline __m512d select_less(__m512d a, __m512d b, __m512d yes, __m512d no) {
  return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), no, yes);
}
inline __m512 select_less(__m512 a, __m512 b, __m512 yes, __m512 no) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
}
constexpr bool avx512 = true;
#else
inline __m256d broadcast(double x) { return _mm256_set1_pd(x); }
inline __m256 broadcast(float x) { return _mm256_set1_ps(x); }
inline __m256d loaded(const double* p) { return _mm256_loadu_pd(p); }
inline __m256 loaded(const float* p) { return _mm256_loadu_ps(p); }
inline void stored(double* p, __m256d x) { _mm256_storeu_pd(p, x); }
inline void stored(float* p, __m256 x) { _mm256_storeu_ps(p, x); }
inline __m256d sqrt(__m256d x) { return _mm256_sqrt_pd(x); }
inline __m256 sqrt(__m256 x) { return _mm256_sqrt_ps(x); }
inline __m256d abs(__m256d x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
inline __m256 abs(__m256 x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
inline __m256d max(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
inline __m256 max(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
inline __m256d select_less(__m256d a, __m256d b, __m256d yes, __m256d no) {
  return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(a, b, _CMP_LT_OQ));
}
inline __m256 select_less(__m256 a, __m256 b, __m256 yes, __m256 no) {
  return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
constexpr bool avx512 = false;
#endif

/// Two vectors at once: the adjoints wait for latencies more than for units (1.2 times faster on west, 1.5 on heston).
template <class Real>
struct Two {
  using Vector = decltype(broadcast(Real()));
  static constexpr std::size_t half = sizeof(Vector) / sizeof(Real), lanes = 2 * half;
  Vector a, b;

  explicit Two(Real x) : a(broadcast(x)), b(a) {}
  Two(Vector first, Vector second) : a(first), b(second) {}
  static Two load(const Real* p) { return {loaded(p), loaded(p + half)}; }
  void store(Real* p) const {
    stored(p, a);
    stored(p + half, b);
  }

  friend Two operator+(Two x, Two y) { return {x.a + y.a, x.b + y.b}; }
  friend Two operator-(Two x, Two y) { return {x.a - y.a, x.b - y.b}; }
  friend Two operator*(Two x, Two y) { return {x.a * y.a, x.b * y.b}; }
  friend Two operator/(Two x, Two y) { return {x.a / y.a, x.b / y.b}; }
  friend Two exp(Two x) { return {exp(x.a), exp(x.b)}; }
  friend Two expm1(Two x) { return {expm1(x.a), expm1(x.b)}; }
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

}  // namespace

const HandCode HAND_SIMD_NAME = {HAND_COMPILER, true, avx512, hand_functions<Two<double>, double>,
                                 hand_functions<Two<float>, float>};

}  // namespace wengert::bench

#else

namespace wengert::bench {
const HandCode HAND_SIMD_NAME = {};
}  // namespace wengert::bench

#endif
