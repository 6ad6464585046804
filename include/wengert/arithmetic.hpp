// wengert/arithmetic.hpp: what takes an instruction or two, with the same bits under any flags of whoever includes it.
//
//   const double product = wengert::detail::rounded(0.1 * 10.0);  // stays a product
//   const double root = wengert::detail::sqrt(2.0), sum = wengert::detail::fma(root, root, -2.0);
#pragma once

namespace wengert::detail {

/// Keeps a product from being fused into a later sum: compilers contract header code under the flags of whoever includes
/// it (-march=native is enough), and the bits would depend on them.
template <class Real>
inline Real rounded(Real product) {
#if defined(__x86_64__)
  __asm__("" : "+x"(product));
#elif defined(__aarch64__)
  __asm__("" : "+w"(product));
#else
  __asm__("" : "+m"(product));
#endif
  return product;
}

// Rounded correctly by whatever computes them.
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
// Code that is compiled without FMA asks the CPU: a call of the C library's would make all that is in registers leave them.
#if defined(__x86_64__) && !defined(__FMA__)
#define WENGERT_FMA(instruction, otherwise)                        \
  if (__builtin_cpu_supports("fma")) [[likely]] {                  \
    __asm__(instruction " %2, %1, %0" : "+x"(c) : "x"(a), "x"(b)); \
    return c;                                                      \
  }                                                                \
  return otherwise(a, b, c)
#else
#define WENGERT_FMA(instruction, otherwise) return otherwise(a, b, c)
#endif
inline double fma(double a, double b, double c) { WENGERT_FMA("vfmadd231sd", __builtin_fma); }
inline float fma(float a, float b, float c) { WENGERT_FMA("vfmadd231ss", __builtin_fmaf); }
#undef WENGERT_FMA

}  // namespace wengert::detail
