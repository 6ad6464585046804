// Values that are computed again instead of waiting in memory.
#pragma once

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// Where more values wait for their next use than the first cache holds, cheap ones are computed once more right there, from
/// what is at hand or needed there anyway: a few operations take less time than a vector on its way to the second cache and back
/// (P. Briggs, K. D. Cooper, L. Torczon, "Rematerialization", PLDI 1992). Takes time linear in the graph.
void rematerialize(Graph& graph);

}  // namespace wengert::codegen
