// The widest vector of the instruction set this translation unit is compiled for.
#pragma once

#include "kernels/lanes.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

#if defined(WENGERT_ISA_AVX512)
inline constexpr int vector_bytes = 64;
#elif defined(WENGERT_ISA_AVX2)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 0;  // one lane
#endif

template <class Real>
using Widest = Vec<Real, vector_bytes == 0 ? 1 : vector_bytes / static_cast<int>(sizeof(Real))>;

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
