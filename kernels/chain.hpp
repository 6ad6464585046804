// chain: the one function that multiplies an adjoint by a partial.
#pragma once

#include "kernels/lanes.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

// Partials that need no product. `none`: no derivative ever, so nothing is added.
struct One {};
struct MinusOne {};
struct None {};
inline constexpr One one;
inline constexpr MinusOne minus_one;
inline constexpr None none;

// Without the zero rule for scripts/chain_cost alone: what the rule costs is the time that is saved without it.
#ifdef WENGERT_PLAIN_CHAIN
inline constexpr bool zero_rule = false;
#else
inline constexpr bool zero_rule = true;
#endif

/// g * p, but exactly 0 where either is exactly 0, also against an infinity or a NaN: a branch not taken, a dead node or a
/// masked sample can't poison a gradient. `ieee` turns that off. The product is right unless it is NaN, so only then is
/// there anything to look at.
template <Lane V>
WENGERT_INLINE V chain(V g, V p, bool ieee) {
  const V product = g * p;
  if constexpr (!zero_rule) return product;
  return rare(isnan(product), product,
              [&] { return ieee ? product : select((g == V(0)) | (p == V(0)), V(0), product); });
}
template <class V>
WENGERT_INLINE V chain(V g, One, bool) {
  return g;
}
template <class V>
WENGERT_INLINE V chain(V g, MinusOne, bool) {
  return -g;
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
