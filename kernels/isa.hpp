// The instruction set this translation unit is compiled for.
//
// Everything under kernels/ is one body that is compiled several times, each time with the flags of one instruction
// set and inside an inline namespace of its own: a template instantiated under two sets of flags must not be one
// symbol, or the linker would keep either and a CPU would meet instructions that it lacks. For the same reason nothing
// here may instantiate a template of the standard library that is not always inlined.
//
// Exactly one of these is defined by the build:
//   WENGERT_ISA_SCALAR      baseline of the architecture, fused multiply-add by library call where the CPU has none
//   WENGERT_ISA_SCALAR_FMA  one lane, compiled for x86-64 with AVX2 and FMA (software fma costs 10x)
//   WENGERT_ISA_AVX2        4 doubles or 8 floats, with FMA
//   WENGERT_ISA_AVX512      8 doubles or 16 floats (F, DQ, VL, BW)
#pragma once

#ifdef __FAST_MATH__
#error "wengert promises results bit for bit; -ffast-math breaks that. Compile without it."
#endif

#if defined(WENGERT_ISA_SCALAR)
#define WENGERT_ISA scalar
#elif defined(WENGERT_ISA_SCALAR_FMA)
#define WENGERT_ISA scalar_fma
#elif defined(WENGERT_ISA_AVX2)
#define WENGERT_ISA avx2
#elif defined(WENGERT_ISA_AVX512)
#define WENGERT_ISA avx512
#else
#error "define one of WENGERT_ISA_SCALAR, WENGERT_ISA_SCALAR_FMA, WENGERT_ISA_AVX2, WENGERT_ISA_AVX512"
#endif

#define WENGERT_INLINE [[gnu::always_inline]] inline
#define WENGERT_NOINLINE [[gnu::noinline]]

namespace wengert::kernels {
inline namespace WENGERT_ISA {}
}  // namespace wengert::kernels
