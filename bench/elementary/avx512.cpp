// Ours, libmvec's and SLEEF's functions on 8 doubles and 16 floats. Compiled with the flags of the AVX-512 kernels.
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
#define MVEC(function)                                                     \
  extern "C" __m512d _ZGVeN8v_##function(__m512d);                         \
  extern "C" __m512 _ZGVeN16v_##function##f(__m512);                       \
  static V64 function(V64 x) { return V64::of(_ZGVeN8v_##function(x.v)); } \
  static V32 function(V32 x) { return V32::of(_ZGVeN16v_##function##f(x.v)); }
namespace mvec {
MVEC(exp)
MVEC(log)
MVEC(log1p)
MVEC(tanh)
MVEC(sin)
MVEC(cos)
MVEC(erf)
MVEC(erfc)
extern "C" __m512d _ZGVeN8vv_pow(__m512d, __m512d);
extern "C" __m512 _ZGVeN16vv_powf(__m512, __m512);
static V64 pow(V64 x, V64 y) { return V64::of(_ZGVeN8vv_pow(x.v, y.v)); }
static V32 pow(V32 x, V32 y) { return V32::of(_ZGVeN16vv_powf(x.v, y.v)); }
}  // namespace mvec
#endif

#ifdef HAVE_SLEEF
// Its names end in its bounds, in tenths of a unit in the last place.
#define SLEEF(function, bound)                                                               \
  static V64 function(V64 x) { return V64::of(Sleef_##function##d8_##bound##avx512f(x.v)); } \
  static V32 function(V32 x) { return V32::of(Sleef_##function##f16_##bound##avx512f(x.v)); }
namespace sleef_u10 {
SLEEF(exp, u10)
SLEEF(log, u10)
SLEEF(log1p, u10)
SLEEF(tanh, u10)
SLEEF(sin, u10)
SLEEF(cos, u10)
SLEEF(erf, u10)
SLEEF(erfc, u15)
static V64 pow(V64 x, V64 y) { return V64::of(Sleef_powd8_u10avx512f(x.v, y.v)); }
static V32 pow(V32 x, V32 y) { return V32::of(Sleef_powf16_u10avx512f(x.v, y.v)); }
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

template <class Real>
Contenders<Real> ours() {
  using V = kernels::Widest<Real>;
  static constexpr Contender<Real> rows[] = {ALL("ours", kernels)};
  return all(rows);
}
template Contenders<double> ours();
template Contenders<float> ours();

template <class Real>
Contenders<Real> libmvec() {
#ifdef HAVE_LIBMVEC
  using V = kernels::Widest<Real>;
  static constexpr Contender<Real> rows[] = {ALL("libmvec", mvec)};
  return all(rows);
#else
  return {};
#endif
}
template Contenders<double> libmvec();
template Contenders<float> libmvec();

template <class Real>
Contenders<Real> sleef() {
#ifdef HAVE_SLEEF
  using V = kernels::Widest<Real>;
  static constexpr Contender<Real> rows[] = {ALL("SLEEF", sleef_u10), ONE("SLEEF u35", sleef_u35, log),
                                             ONE("SLEEF u35", sleef_u35, tanh), ONE("SLEEF u35", sleef_u35, sin),
                                             ONE("SLEEF u35", sleef_u35, cos)};
  return all(rows);
#else
  return {};
#endif
}
template Contenders<double> sleef();
template Contenders<float> sleef();

}  // namespace wengert::bench
