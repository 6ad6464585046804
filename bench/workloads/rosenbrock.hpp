// Workload rosenbrock: H. H. Rosenbrock, "An Automatic Method for Finding the Greatest or Least Value of a Function",
// Comput. J. 3 (1960), chained over n dimensions.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/workloads/graph.hpp"

namespace wengert::bench::builders {

/// Sum over neighbours of 100 (x[i + 1] - x[i]^2)^2 + (1 - x[i])^2.
template <class Graph, class Node = NodeOf<Graph>>
Node rosenbrock(Graph& g, std::span<const Node> in) {
  const Node one = g.constant(1), hundred = g.constant(100);
  std::vector<Node> terms;
  for (std::size_t i = 0; i + 1 < in.size(); ++i) {
    const Node off_valley = g.square(g.sub(in[i + 1], g.square(in[i])));
    const Node along = g.square(g.sub(one, in[i]));
    terms.push_back(g.fma(hundred, off_valley, along));
  }
  return g.sum(terms);
}

}  // namespace wengert::bench::builders
