// Where a sequence repeats itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// What a member of a sequence does, about: alike, the same; different, something else.
using Sign = std::uint8_t;

/// Members from `first` to `end`, each of which does what the one `period` later does.
struct Repeat {
  Value first, end, period;

  /// How many members more than two periods.
  std::int64_t saved() const { return std::int64_t(end) - first - 2 * std::int64_t(period); }
};

/// Those that save at least `least` and are `regular`, in their order; they don't overlap. Takes time linear in the members.
std::vector<Repeat> find_repeats(const LargeVector<Sign>& signs, std::size_t least,
                                 const std::function<bool(const Repeat&)>& regular);

/// Of nodes, as far as their operations tell; and in the middle of each repeat operands go on by the same number of nodes.
std::vector<Repeat> find_repeats(const LargeVector<Node>& nodes, std::size_t least);

}  // namespace wengert::codegen
