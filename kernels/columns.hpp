// Between columns of a caller's memory and the slots of a block: whole vectors where there are some, and no function call for a few
// numbers. `slots`: per column its slot, or no_slot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.hpp"
#include "kernels/lanes.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

namespace columns {

inline constexpr std::uint32_t no_slot = 0xffffffffu;

/// Copies `count` numbers; with +0 added, which makes a zero +0, if so wanted.
template <class V, bool plus_zero>
WENGERT_INLINE void each(const typename V::Real* from, typename V::Real* to, std::size_t count) {
  using Real = typename V::Real;
  std::size_t k = 0;
  for (; k + V::step <= count; k += V::step) {
    const V x = V::load(from + k);
    (plus_zero ? x + V(0) : x).store(to + k);
  }
  for (; k < count; ++k) to[k] = plus_zero ? from[k] + Real(0) : from[k];
}

template <Lane V>
void load(const BlockColumns<const typename V::Real>& columns, const std::uint32_t* slots, std::size_t items,
          typename V::Real* block) {
  const auto [first, item, count, width] = columns;
  for (std::size_t i = 0; i < items; ++i) {
    if (slots[i] == no_slot) continue;
    const typename V::Real* const from = first + static_cast<std::ptrdiff_t>(i) * item;
    typename V::Real* const to = block + std::size_t(slots[i]) * width;
    each<V, false>(from, to, count);
    for (std::size_t lane = count; lane < width; ++lane) to[lane] = from[count - 1];
  }
}

/// `derivatives`: reported with +0 added, and 0 where there is no slot.
template <Lane V, bool derivatives>
void store(const BlockColumns<typename V::Real>& columns, const std::uint32_t* slots, std::size_t items,
           const typename V::Real* block) {
  const auto [first, item, count, width] = columns;
  for (std::size_t i = 0; i < items; ++i) {
    typename V::Real* const to = first + static_cast<std::ptrdiff_t>(i) * item;
    if (derivatives && slots[i] == no_slot) {
      for (std::size_t k = 0; k < count; ++k) to[k] = 0;
      continue;
    }
    each<V, derivatives>(block + std::size_t(slots[i]) * width, to, count);
  }
}

}  // namespace columns

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
