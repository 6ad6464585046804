// Ours, libmvec's and SLEEF's functions on a vector. Compiled once for each instruction set that has vectors, with the flags of
// its kernels and OF_ISA(x) for x_avx2 or x_avx512.
#include "bench/elementary/loop.hpp"
#include "kernels/math/math.hpp"
#include "kernels/widths.hpp"
#ifdef HAVE_SLEEF
#include <sleef.h>
#endif

namespace wengert::bench {

using V64 = kernels::Widest<double>;
using V32 = kernels::Widest<float>;

#ifdef HAVE_LIBMVEC
// The vector ABI's names of libm functions.
#ifdef WENGERT_ISA_AVX512
#define MVEC_F64(arguments, function) _ZGVeN8##arguments##_##function
#define MVEC_F32(arguments, function) _ZGVeN16##arguments##_##function##f
#else
#define MVEC_F64(arguments, function) _ZGVdN4##arguments##_##function
#define MVEC_F32(arguments, function) _ZGVdN8##arguments##_##function##f
#endif
using Raw64 = V64::Ops::Raw;
using Raw32 = V32::Ops::Raw;
#define MVEC(function)                                                       \
  extern "C" Raw64 MVEC_F64(v, function)(Raw64);                             \
  extern "C" Raw32 MVEC_F32(v, function)(Raw32);                             \
  static V64 function(V64 x) { return V64::of(MVEC_F64(v, function)(x.v)); } \
  static V32 function(V32 x) { return V32::of(MVEC_F32(v, function)(x.v)); }
namespace mvec {
MVEC(exp)
MVEC(log)
MVEC(log1p)
MVEC(tanh)
MVEC(sin)
MVEC(cos)
MVEC(erf)
MVEC(erfc)
extern "C" Raw64 MVEC_F64(vv, pow)(Raw64, Raw64);
extern "C" Raw32 MVEC_F32(vv, pow)(Raw32, Raw32);
static V64 pow(V64 x, V64 y) { return V64::of(MVEC_F64(vv, pow)(x.v, y.v)); }
static V32 pow(V32 x, V32 y) { return V32::of(MVEC_F32(vv, pow)(x.v, y.v)); }
}  // namespace mvec
#endif

#ifdef HAVE_SLEEF
// Its names end in its bounds, in tenths of a unit in the last place.
#ifdef WENGERT_ISA_AVX512
#define SLEEF_F64(function, bound) Sleef_##function##d8_##bound##avx512f
#define SLEEF_F32(function, bound) Sleef_##function##f16_##bound##avx512f
#else
#define SLEEF_F64(function, bound) Sleef_##function##d4_##bound##avx2
#define SLEEF_F32(function, bound) Sleef_##function##f8_##bound##avx2
#endif
#define SLEEF(function, bound)                                                    \
  static V64 function(V64 x) { return V64::of(SLEEF_F64(function, bound)(x.v)); } \
  static V32 function(V32 x) { return V32::of(SLEEF_F32(function, bound)(x.v)); }
namespace sleef_u10 {
SLEEF(exp, u10)
SLEEF(log, u10)
SLEEF(log1p, u10)
SLEEF(tanh, u10)
SLEEF(sin, u10)
SLEEF(cos, u10)
SLEEF(erf, u10)
SLEEF(erfc, u15)
static V64 pow(V64 x, V64 y) { return V64::of(SLEEF_F64(pow, u10)(x.v, y.v)); }
static V32 pow(V32 x, V32 y) { return V32::of(SLEEF_F32(pow, u10)(x.v, y.v)); }
}  // namespace sleef_u10
namespace sleef_u35 {
SLEEF(log, u35)
SLEEF(tanh, u35)
SLEEF(sin, u35)
SLEEF(cos, u35)
}  // namespace sleef_u35
#endif

#define ONE(library, space, function) contender<V>(#function, library, [](V x, V) { return space::function(x); })
#define TWO(library, space, function) contender<V>(#function, library, [](V x, V y) { return space::function(x, y); })
#define ALL(library, space)                                                                                    \
  ONE(library, space, exp), ONE(library, space, log), ONE(library, space, log1p), ONE(library, space, tanh),   \
      ONE(library, space, sin), ONE(library, space, cos), ONE(library, space, erf), ONE(library, space, erfc), \
      TWO(library, space, pow)

template <class V>
constexpr Contender<typename V::Real> our_rows[] = {ALL("ours", kernels)};
constexpr Library OF_ISA(ours) = {all(our_rows<V64>), all(our_rows<V32>)};

#ifdef HAVE_LIBMVEC
template <class V>
constexpr Contender<typename V::Real> libmvec_rows[] = {ALL("libmvec", mvec)};
constexpr Library OF_ISA(libmvec) = {all(libmvec_rows<V64>), all(libmvec_rows<V32>)};
#else
constexpr Library OF_ISA(libmvec) = {};
#endif

#ifdef HAVE_SLEEF
template <class V>
constexpr Contender<typename V::Real> sleef_rows[] = {
    ALL("SLEEF", sleef_u10), ONE("SLEEF u35", sleef_u35, log), ONE("SLEEF u35", sleef_u35, tanh),
    ONE("SLEEF u35", sleef_u35, sin), ONE("SLEEF u35", sleef_u35, cos)};
constexpr Library OF_ISA(sleef) = {all(sleef_rows<V64>), all(sleef_rows<V32>)};
#else
constexpr Library OF_ISA(sleef) = {};
#endif

}  // namespace wengert::bench
