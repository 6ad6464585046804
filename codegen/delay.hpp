// What a point's derivatives don't wait for, beside them.
#pragma once

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// A long sum is a chain of additions, each of which waits for the one before, and only its end is a value that goes out. Where
/// such a chain is the longest of a graph it is spread over all of it: other nodes have the processor's units meanwhile, those of
/// the backward sweep too, which don't wait for it. For graphs of a point without subroutines. Takes time linear in the graph. Whether it did.
bool delay(Graph& graph);

}  // namespace wengert::codegen
