// The innermost part of a sum over samples: 64 of them, by halves. The same order on every instruction set.
#pragma once

#include "kernels/lanes.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

inline constexpr std::size_t leaf_samples = 64;
template <Lane V>
inline constexpr std::size_t leaf_vectors = leaf_samples / V::lanes;

/// (a0 + a32) + (a16 + a48) + ... : each half is added to the other until one number is left.
template <Lane V>
WENGERT_INLINE typename V::Real sum_of_leaf(V (&v)[leaf_vectors<V>]) {
  for (std::size_t half = leaf_vectors<V> / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) v[k] = v[k] + v[k + half];
  typename V::Real lane[V::lanes];
  v[0].store(lane);
  for (std::size_t half = V::lanes / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) lane[k] = lane[k] + lane[k + half];
  return lane[0];
}

/// The same of numbers in memory.
template <Lane V>
typename V::Real sum_of_leaf(const typename V::Real* a) {
  V v[leaf_vectors<V>];
  for (std::size_t k = 0; k < leaf_vectors<V>; ++k) v[k] = V::load(a + k * V::lanes);
  return sum_of_leaf<V>(v);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
