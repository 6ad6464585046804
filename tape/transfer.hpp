// Between a caller's memory and the slots of a block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "wengert/replay.hpp"

namespace wengert {

/// One item of `count` samples into a slot of `width` numbers. Lanes past `count` repeat the last sample, so that no lane takes
/// another path.
template <class Real>
void load_item(Samples<const Real> from, std::size_t first, std::size_t count, std::size_t item, Real* slot, std::size_t width) {
  const Real* const p = from.data + static_cast<std::ptrdiff_t>(first) * from.sample + static_cast<std::ptrdiff_t>(item) * from.item;
  if (from.sample == 1) std::memcpy(slot, p, count * sizeof(Real));
  else
    for (std::size_t e = 0; e < count; ++e) slot[e] = p[static_cast<std::ptrdiff_t>(e) * from.sample];
  std::fill(slot + count, slot + width, slot[count - 1]);
}

/// The first `count` lanes of a slot to where one item of those samples lies.
template <class Real>
void store_item(const Real* slot, Samples<Real> to, std::size_t first, std::size_t count, std::size_t item) {
  Real* const p = to.data + static_cast<std::ptrdiff_t>(first) * to.sample + static_cast<std::ptrdiff_t>(item) * to.item;
  if (to.sample == 1) std::memcpy(p, slot, count * sizeof(Real));
  else
    for (std::size_t e = 0; e < count; ++e) p[static_cast<std::ptrdiff_t>(e) * to.sample] = slot[e];
}

/// The same for an adjoint, which is reported with +0 added: a zero gradient is +0.
template <class Real>
void store_gradient(const Real* slot, Samples<Real> to, std::size_t first, std::size_t count, std::size_t item) {
  Real* const p = to.data + static_cast<std::ptrdiff_t>(first) * to.sample + static_cast<std::ptrdiff_t>(item) * to.item;
  if (to.sample == 1)
    for (std::size_t e = 0; e < count; ++e) p[e] = slot ? slot[e] + Real(0) : Real(0);
  else
    for (std::size_t e = 0; e < count; ++e) p[static_cast<std::ptrdiff_t>(e) * to.sample] = slot ? slot[e] + Real(0) : Real(0);
}

}  // namespace wengert
