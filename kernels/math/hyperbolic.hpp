// Hyperbolic functions.
#pragma once

#include "kernels/math/exp.hpp"
#include "kernels/math/log.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// tanh x, from t = e^(-2|x|) and t - 1: (1 - t) / (1 + t) near zero, 1 - 2 t / (1 + t) further out, one division.
template <Lane V>
WENGERT_INLINE V tanh(V x) {
  const V far(is_f64<V> ? 20 : 10);  // tanh is 1 from here on
  const V a = select(abs(x) > far, far, abs(x));
  V t, t_1;
  exp_and_expm1(a * V(-2), t, t_1);
  const auto large = a > V(0.55);
  const V q = select(large, t + t, -t_1) / (V(2) + t_1);
  return copysign(select(large, V(1) - q, q), x);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
