// Level hand-simd: the hand-written adjoints over AVX-512 vectors, elementary functions from libmvec (glibc's, 4 ulp).
// Compiled as scalar.cpp is; empty where the CPU has no AVX-512 or glibc no such libmvec.
#include "bench/hand/all.hpp"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(HAVE_LIBMVEC)
#include <immintrin.h>

namespace wengert::bench {
namespace {

// The vector ABI's names of libm functions on 8 doubles and 16 floats.
#define LIBMVEC(name)                                           \
  extern "C" __m512d _ZGVeN8v_##name(__m512d);                  \
  extern "C" __m512 _ZGVeN16v_##name##f(__m512);                \
  inline __m512d name(__m512d x) { return _ZGVeN8v_##name(x); } \
  inline __m512 name(__m512 x) { return _ZGVeN16v_##name##f(x); }
LIBMVEC(exp)
LIBMVEC(expm1)
LIBMVEC(log)
LIBMVEC(log1p)
LIBMVEC(erfc)
#undef LIBMVEC

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

const HandCode HAND_SIMD_NAME = {HAND_COMPILER, true, true, hand_functions<Two<double>, double>,
                                 hand_functions<Two<float>, float>};

}  // namespace wengert::bench

#else

namespace wengert::bench {
const HandCode HAND_SIMD_NAME = {};
}  // namespace wengert::bench

#endif
