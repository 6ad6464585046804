// Loops with compile-time indices.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/isa.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// f(0), f(1), ... f(n - 1).
template <std::uint32_t n, class F>
WENGERT_INLINE void unrolled(F f) {
  [&]<std::uint32_t... i>(std::integer_sequence<std::uint32_t, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<std::uint32_t, i>()), ...);
  }
  (std::make_integer_sequence<std::uint32_t, n>());
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
