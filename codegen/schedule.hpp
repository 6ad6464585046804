// The order of a point's operations, for what waits longest.
#pragma once

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// A processor takes instructions in, in their order, until so many wait for others that there is no room: what the whole
/// evaluation waits for should be among the first. Where latencies are what a point takes its time for, nodes that are near each
/// other are put into an order halfway between that of the earliest cycle they can begin in and that of the latest that delays
/// nothing (priorities of list scheduling: P. B. Gibbons, S. S. Muchnick, "Efficient instruction scheduling for a pipelined
/// architecture", SIGPLAN 1986). Where there are few registers numbers of tables come as late as may be. Calls of subroutines
/// stay where they are, and their bodies are put into order too. Takes time linear in the graph.
void schedule(Graph& graph);

}  // namespace wengert::codegen
