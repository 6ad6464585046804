// The innermost part of a sum over samples: 64 of them, by halves. The same order on every instruction set.
#pragma once

#include "kernels/lanes.hpp"
#include "kernels/unrolled.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

inline constexpr std::size_t leaf_samples = 64;
template <Lane V>
inline constexpr std::size_t leaf_vectors = leaf_samples / V::lanes;

/// f(k) for each of n vectors, with compile-time indices where there are few: so they are in registers.
template <std::size_t n, class F>
WENGERT_INLINE void each_vector(F f) {
  if constexpr (n <= 16) unrolled<n>(f);
  else
    for (std::size_t k = 0; k < n; ++k) f(k);
}

/// (a0 + a32) + (a16 + a48) + ... : each half is added to the other until one number is left.
template <Lane V, std::size_t n>
WENGERT_INLINE typename V::Real sum_by_halves(V (&v)[n]) {
  if constexpr (n > 1) {
    V half[n / 2];
    each_vector<n / 2>([&](auto k) __attribute__((always_inline)) { half[k] = v[k] + v[k + n / 2]; });
    return sum_by_halves<V>(half);
  }
  typename V::Real lane[V::lanes];
  v[0].store(lane);
  for (std::size_t half = V::lanes / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) lane[k] = lane[k] + lane[k + half];
  return lane[0];
}
template <Lane V>
WENGERT_INLINE typename V::Real sum_of_leaf(V (&v)[leaf_vectors<V>]) {
  return sum_by_halves<V>(v);
}

/// The same of numbers in memory.
template <Lane V>
typename V::Real sum_of_leaf(const typename V::Real* a) {
  constexpr std::size_t half = leaf_vectors<V> / 2;
  V v[half];
  each_vector<half>([&](auto k) __attribute__((always_inline)) {
    v[k] = V::load(a + k * V::lanes) + V::load(a + (k + half) * V::lanes);
  });
  return sum_by_halves<V>(v);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
