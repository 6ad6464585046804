// The ops of workload west on registers alone: what its arithmetic takes, without loads, stores and dispatch.
#pragma once

#include <cstddef>

namespace wengert::bench {

/// Four recorded ops (softplus, sum of 4, product, softmax of 4) on a vector of AVX-512, forward and backward, `groups` times:
/// values, slopes, products and those additions that a plan can't leave out, since an adjoint's first contribution is none.
template <class Real>
void west_on_registers(std::size_t groups);

/// Numbers in a vector.
template <class Real>
inline constexpr std::size_t register_lanes = 64 / sizeof(Real);

}  // namespace wengert::bench
