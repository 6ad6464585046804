// A graph as machine code: registers, spills, bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// The code: a function as below, and what it reads. It computes `rounds` times, each time `vectors` of each input and
/// output, at addresses that grow from round to round. Whether every requirement was met; it stops at the first round that
/// doesn't meet them all.
using Function = int (*)(void* const* pointers, const void* uniforms, void* spills, const void* pool,
                         std::size_t rounds);
/// That of a point, which computes once: its arguments are the tables (Table) that inputs and outputs are in.
using PointFunction = int (*)(const void* inputs, void* uniforms, void* spills, const void* pool, void* values,
                              void* gradients);

struct Assembly {
  LargeVector<std::uint8_t> code;
  std::vector<std::uint8_t> pool;  ///< constants and tables, on a cache line
  std::size_t spill_bytes = 0;
  std::size_t reads_of_inputs = 0;  ///< by operations, once per vector
};

/// What `pool` and `spills` point past the beginning of their memory by, so that short offsets reach twice as far.
constexpr std::ptrdiff_t bias_of_numbers(std::size_t real_bytes) {
  return static_cast<std::ptrdiff_t>(128 * real_bytes);
}
inline constexpr std::ptrdiff_t spill_bias = 128 * 64;

/// Of code, that nodes hardly ever take more than.
inline constexpr std::size_t most_bytes_of_node = 13;
/// For the graph's target. Takes time linear in the graph.
Assembly assemble(const Graph& graph);

}  // namespace wengert::codegen
