// How many evaluations a block has, where nobody says: many share the cost of an instruction, few keep what the backward sweep
// reads in the caches.
#pragma once

#include <cstddef>

namespace wengert {

/// What a choice depends on.
struct BlockNeeds {
  std::size_t slots;         ///< numbers of one evaluation that are kept
  std::size_t real_bytes;    ///< of one of them
  std::size_t vector_bytes;  ///< of the instruction set; of a number where it has none
  std::size_t second_cache;  ///< bytes
  std::size_t leaf = 1;  ///< samples that a sum over them takes at once, if there are sums: less of them cost much more
};

/// Bytes of a core's second cache; 1 MB where the system doesn't tell.
std::size_t second_cache_bytes();

/// Of a tape's replay.
std::size_t tape_lanes(const BlockNeeds& needs);
/// Of a program's, by the interpreter.
std::size_t program_lanes(const BlockNeeds& needs);
/// Machine code works on few samples at a time, whatever the block: so more of them share the cost of a block, as long as
/// the interpreter too, where it has to help out, finds its slots in the second cache.
std::size_t native_lanes(const BlockNeeds& needs);

}  // namespace wengert
