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

/// f(V) of `count` numbers, and f of single ones where they don't fill a vector.
template <class V, class F>
WENGERT_INLINE void each(const typename V::Real* from, typename V::Real* to, std::size_t count, F f) {
  using One = Vec<typename V::Real, 1>;
  std::size_t k = 0;
  for (; k + V::step <= count; k += V::step) f(V::load(from + k)).store(to + k);
  for (; k < count; ++k) f(One::load(from + k)).store(to + k);
}

template <Lane V>
void load(const BlockColumns<const typename V::Real>& columns, const std::uint32_t* slots, std::size_t items,
          typename V::Real* block) {
  const auto [first, item, count, width] = columns;
  for (std::size_t i = 0; i < items; ++i) {
    if (slots[i] == no_slot) continue;
    const typename V::Real* const from = first + static_cast<std::ptrdiff_t>(i) * item;
    typename V::Real* const to = block + std::size_t(slots[i]) * width;
    each<V>(
        from, to, count, [](auto x) __attribute__((always_inline)) { return x; });
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
    each<V>(
        block + std::size_t(slots[i]) * width, to, count, [](auto x) __attribute__((always_inline)) {
          if constexpr (derivatives) return x + decltype(x)(0);
          else return x;
        });
  }
}

}  // namespace columns

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
