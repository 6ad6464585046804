// Where a sequence repeats itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// What a loop saves at least, in members of the sequence, and how many iterations it has.
inline constexpr std::size_t least_saved = 256;
inline constexpr Value least_iterations = 8;

/// What a member of a sequence does, about: alike, the same; different, something else.
using Sign = std::uint8_t;

/// Members from `first` to `end`, each of which does what the one `period` later does.
struct Repeat {
  Value first, end, period;

  /// How many members more than two periods.
  std::int64_t saved() const { return std::int64_t(end) - first - 2 * std::int64_t(period); }
};

/// Those that save `least_saved` or more and are `regular`, in their order; they don't overlap. Takes time linear in the members.
std::vector<Repeat> find_repeats(const LargeVector<Sign>& signs, const std::function<bool(const Repeat&)>& regular);

/// Of nodes, as far as their operations tell; and in the middle of each repeat operands go on by the same number of nodes.
std::vector<Repeat> find_repeats(const LargeVector<Node>& nodes);

}  // namespace wengert::codegen
