// The ops of workload west on registers alone: what its arithmetic takes, without loads, stores and dispatch.
#pragma once

#include <cstddef>

namespace wengert::bench {

/// Four recorded ops (softplus, sum of 4, product, softmax of 4) on a vector, forward and backward, `groups` times:
/// values, slopes, products and those additions that a plan can't leave out, since an adjoint's first contribution is none.
struct WestOnRegisters {
  void (*f64)(std::size_t groups);
  void (*f32)(std::size_t groups);
  std::size_t vector_bytes;
};

// Those that the build has (registers.cpp is compiled once for each).
extern const WestOnRegisters west_on_registers_avx2, west_on_registers_avx512;

}  // namespace wengert::bench
