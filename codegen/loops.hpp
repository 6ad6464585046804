// What repeats itself in a graph becomes a loop.
#pragma once

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// A path of many steps, a sum over many components, their adjoints: recorded, they are the same operations again and again, on
/// operands a fixed distance back, on inputs and parameters a fixed distance on. Written once, as a loop, they stay in the
/// instruction cache, where straight code of any length comes from further away each time, and cost less to make. Numbers that
/// what follows needs of each iteration - the adjoints of a path do - are streamed to memory, one iteration's behind another's, and
/// read from there, in either direction. The operations are those of before in their order, and so are the bits.
///
/// Of a stretch that repeats itself the first iteration stays as it is, in front of the loop. Does nothing where little would be
/// saved. Of batches alone: a point's code is put into an order of its own. Takes time linear in the graph.
void find_loops(Graph& graph);

}  // namespace wengert::codegen
