// Workload expr: the smallest with a variable used twice.
#pragma once

#include "bench/workloads/graph.hpp"

namespace wengert::bench::builders {

/// softplus((x + y) * x): two variables used more than once, three ops.
template <class Graph, class Node = NodeOf<Graph>>
Node expr(Graph& g, std::span<const Node> in) {
  const Node &x = in[0], &y = in[1];
  return g.softplus(g.mul(g.add(x, y), x));
}

}  // namespace wengert::bench::builders
