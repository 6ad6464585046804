// Hyperbolic functions.
#pragma once

#include "kernels/math/exp.hpp"
#include "kernels/math/log.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// tanh x for |x| <= 0.55, relative error 2^-55 (float: 2^-29) before rounding (Sollya's fpminimax).
template <Lane V>
WENGERT_INLINE V tanh_small(V x) {
  const V z = x * x;
  if constexpr (is_f64<V>) {
    const V q = paired(z, z * z, -0x1.555555555549cp-2, 0x1.11111111027b4p-3, -0x1.ba1ba1ad5ca64p-5,
                       0x1.664f45bf0cf4ep-6, -0x1.226ddce335714p-7, 0x1.d6c6111483602p-9, -0x1.7cf3410cc34cfp-10,
                       0x1.2f9fa534b331bp-11, -0x1.b8f6c7b004307p-13, 0x1.abcc637ea5d93p-15);
    return fma(x * z, q, x);
  } else {
    const V q = paired(z, z * z, -0x1.55554ap-2f, 0x1.110cfep-3f, -0x1.b922dap-5f, 0x1.5913c4p-6f, -0x1.9a5af2p-8f);
    return fma(x * z, q, x);
  }
}

/// tanh x = 1 - 2 / (1 + e^(2x)) away from zero.
template <Lane V>
WENGERT_INLINE V tanh(V x) {
  const V far(is_f64<V> ? 20 : 10), magnitude = abs(x);  // tanh is 1 from here on
  const V a = select(magnitude > far, far, magnitude);
  const ExpReduced<V> e = exp_reduce(a + a);
  const V power = exp_power<V>(e.index);
  const V large = V(1) - V(2) / (power + fma(power, exp_rest(e), V(1)));
  return copysign(select(magnitude < V(0.55), tanh_small(magnitude), large), x);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
