#include "tape/block_lanes.hpp"

#include <unistd.h>

#include <algorithm>

namespace wengert {
namespace {

constexpr std::size_t kb = 1024, mb = 1024 * kb;

/// A row is a slot's numbers. Halves rows of `most` bytes down to `fewest` until all of them are within `bytes`.
std::size_t row_within(std::size_t bytes, std::size_t most, std::size_t fewest, std::size_t slots) {
  std::size_t row = most;
  while (row > fewest && slots * row > bytes) row /= 2;
  return row;
}

/// Two vectors are enough to have one computed while another is waited for.
std::size_t shortest_row(const BlockNeeds& needs) { return 2 * std::max<std::size_t>(needs.vector_bytes, 32); }

}  // namespace

std::size_t second_cache_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) return static_cast<std::size_t>(bytes);
#endif
  return mb;
}

// Of a third cache, which others use too, a core can count on some multiple of the second.

std::size_t tape_lanes(const BlockNeeds& needs) {
  const std::size_t caches = std::min(12 * mb, 12 * needs.second_cache), least = shortest_row(needs);
  return row_within(caches, 4 * least, least, needs.slots) / needs.real_bytes;
}

std::size_t program_lanes(const BlockNeeds& needs) {
  const std::size_t caches = std::min(8 * mb, 8 * needs.second_cache);
  const std::size_t least = std::max(shortest_row(needs), needs.leaf * needs.real_bytes);
  std::size_t row = row_within(caches, 512, least, needs.slots);
  // Longer rows share the cost of an instruction, as long as all slots stay next to the first cache.
  while (row < 2 * kb && 2 * needs.slots * row <= 256 * kb) row *= 2;
  return row / needs.real_bytes;
}

std::size_t native_lanes(const BlockNeeds& needs) {
  return row_within(256 * kb, 4 * kb, needs.real_bytes, needs.slots) / needs.real_bytes;
}

}  // namespace wengert
