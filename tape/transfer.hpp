// Between a caller's memory and the slots of a block.
//
// A lane is a sample, or a sample with one of several seeds: lane v of a batch is sample v / seeds with seed v % seeds, so
// that a Jacobian or Hessian of a single point fills vectors too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tape/tables.hpp"
#include "wengert/replay.hpp"

namespace wengert {

/// The lanes of one block.
struct LaneRange {
  std::size_t first, count;  // of all lanes of the batch
  std::size_t seeds = 1;     // per sample

  std::size_t sample(std::size_t lane) const { return seeds == 1 ? first + lane : (first + lane) / seeds; }
  std::size_t seed(std::size_t lane) const { return (first + lane) % seeds; }
};

/// The numbers of one slot: `width` lanes, in pieces of `vector` that lie `step` apart (dual numbers have their tangents
/// in between).
template <class Real>
struct LaneSlot {
  Real* data;
  std::size_t width, vector, step;

  Real& operator[](std::size_t lane) const { return data[lane / vector * step + lane % vector]; }

  /// Calls piece(first lane, numbers, how many) for the pieces of lanes 0..count.
  template <class Piece>
  void each_piece(std::size_t count, Piece piece) const {
    for (std::size_t lane = 0, at = 0; lane < count; lane += vector, at += step)
      piece(lane, data + at, std::min(vector, count - lane));
  }
  void fill(Real value) const {
    each_piece(width, [&](std::size_t, Real* p, std::size_t n) { std::fill_n(p, n, value); });
  }
  /// Lanes past `count` repeat the last one, so that no lane takes another path.
  void pad(std::size_t count) const {
    if (count >= width) return;
    const Real last = (*this)[count - 1];
    each_piece(width, [&](std::size_t lane, Real* p, std::size_t n) {
      if (lane + n > count) std::fill(p + (std::max(lane, count) - lane), p + n, last);
    });
  }
};

/// Calls use(number, sample, seed) for the lanes of a block, one after the other.
template <class Real, class Use>
void each_lane(const LaneSlot<Real>& slot, const LaneRange& lanes, const Use& use) {
  std::size_t sample = lanes.sample(0), seed = lanes.seed(0);
  slot.each_piece(lanes.count, [&](std::size_t, Real* p, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      use(p[k], sample, seed);
      if (++seed == lanes.seeds) seed = 0, ++sample;
    }
  });
}

template <class T>
T* place(const Samples<T>& samples, std::size_t sample, std::size_t item) {
  return samples.data + static_cast<std::ptrdiff_t>(sample) * samples.sample +
         static_cast<std::ptrdiff_t>(item) * samples.item;
}

/// One item of a block's samples into a slot.
template <class Real>
void load_item(const Samples<const Real>& from, const LaneRange& lanes, std::size_t item, const LaneSlot<Real>& slot) {
  if (lanes.seeds != 1) {
    each_lane(slot, lanes, [&](Real& number, std::size_t sample, std::size_t) { number = *place(from, sample, item); });
  } else if (from.sample == 1) {
    slot.each_piece(lanes.count, [&](std::size_t e, Real* p, std::size_t n) {
      std::memcpy(p, place(from, lanes.first + e, item), n * sizeof(Real));
    });
  } else {
    slot.each_piece(lanes.count, [&](std::size_t e, Real* p, std::size_t n) {
      const Real* const q = place(from, lanes.first + e, item);
      for (std::size_t k = 0; k < n; ++k) p[k] = q[static_cast<std::ptrdiff_t>(k) * from.sample];
    });
  }
  slot.pad(lanes.count);
}

/// 1 in the lanes whose seed is `seed`, 0 in the others.
template <class Real>
void load_seed(const LaneRange& lanes, std::size_t seed, LaneSlot<Real> slot) {
  slot.fill(Real(0));
  if (seed >= lanes.seeds) return;
  for (std::size_t e = (seed + lanes.seeds - lanes.seed(0)) % lanes.seeds; e < lanes.count; e += lanes.seeds)
    slot[e] = 1;
  slot.pad(lanes.count);
}

/// A value: one item per sample.
template <class Real>
void store_item(const LaneSlot<Real>& slot, const LaneRange& lanes, const Samples<Real>& to, std::size_t item) {
  if (lanes.seeds != 1) {
    each_lane(slot, lanes, [&](const Real& number, std::size_t sample, std::size_t seed) {
      if (seed == 0) *place(to, sample, item) = number;
    });
    return;
  }
  slot.each_piece(lanes.count, [&](std::size_t e, const Real* p, std::size_t n) {
    Real* const q = place(to, lanes.first + e, item);
    if (to.sample == 1) std::memcpy(q, p, n * sizeof(Real));
    else
      for (std::size_t k = 0; k < n; ++k) q[static_cast<std::ptrdiff_t>(k) * to.sample] = p[k];
  });
}

inline constexpr std::size_t no_item = std::numeric_limits<std::size_t>::max();

/// A derivative, which is reported with +0 added: a zero one is +0. `item(seed)` says which it is for a seed, or no_item.
template <class Real, class Item>
void store_derivative(const LaneSlot<Real>& slot, const LaneRange& lanes, const Samples<Real>& to, Item item) {
  if (lanes.seeds != 1) {
    const auto store = [&](Real number, std::size_t sample, std::size_t seed) {
      if (const std::size_t i = item(seed); i != no_item) *place(to, sample, i) = number + Real(0);
    };
    if (slot.data) return each_lane(slot, lanes, store);
    for (std::size_t e = 0; e < lanes.count; ++e) store(0, lanes.sample(e), lanes.seed(e));
    return;
  }
  const std::size_t i = item(std::size_t(0));
  if (i == no_item) return;
  if (!slot.data) {
    Real* const q = place(to, lanes.first, i);
    if (to.sample == 1) std::fill_n(q, lanes.count, Real(0));
    else
      for (std::size_t e = 0; e < lanes.count; ++e) q[static_cast<std::ptrdiff_t>(e) * to.sample] = Real(0);
    return;
  }
  slot.each_piece(lanes.count, [&](std::size_t e, const Real* p, std::size_t n) {
    Real* const q = place(to, lanes.first + e, i);
    if (to.sample == 1)
      for (std::size_t k = 0; k < n; ++k) q[k] = p[k] + Real(0);
    else
      for (std::size_t k = 0; k < n; ++k) q[static_cast<std::ptrdiff_t>(k) * to.sample] = p[k] + Real(0);
  });
}

}  // namespace wengert
