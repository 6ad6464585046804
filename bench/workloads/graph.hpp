// What the builders of the workloads record on.
//
// A Graph has the recording functions of NaiveTape (add, mul, sum(span), softmax(span), output(first, k), constant(x), ...)
// over its own handle of a variable: NaiveTape itself, the heap graph of v0, the pool of v1, the C tape, the reference.
//
// One call to the graph per argument list at most: the order in which arguments are evaluated is the compiler's choice.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace wengert::bench {

/// A graph's handle of a variable.
template <class Graph>
using NodeOf = decltype(std::declval<Graph&>().constant(0));

enum class Output { last, sum };  ///< of the graph: its last variable, or the sum of all variables

}  // namespace wengert::bench
