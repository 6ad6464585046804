// Where a sequence of nodes repeats itself.
#pragma once

#include <cstddef>
#include <vector>

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// Nodes from `first` to `end`, each of which does what the one `period` later does, as far as its operation tells; and in its middle
/// operands go on by the same number of nodes.
struct Repeat {
  Value first, end, period;
};

/// Those that have at least `least` nodes more than two periods, in their order; they don't overlap. Takes time linear in the nodes.
std::vector<Repeat> find_repeats(const LargeVector<Node>& nodes, std::size_t least);

}  // namespace wengert::codegen
