// Workload dag: a random graph of cheap ops over the last 64 results.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/workloads/graph.hpp"

namespace wengert::bench {

/// The random graph of workload `dag`. An operand is a place in constants, then inputs, then results.
struct RandomGraph {
  enum Kind : std::uint32_t { add, sub, mul, fma };
  struct Step {
    Kind kind;
    std::uint32_t a, b, c;
  };
  std::vector<double> constants;
  std::vector<Step> steps;
};

/// Draws `ops` of them over `inputs` numbers of [-1, 1]. Throws out_of_memory.
RandomGraph draw_random_graph(std::uint64_t seed, std::size_t inputs, std::size_t ops);

namespace builders {

template <class Graph, class Node = NodeOf<Graph>>
Node dag(Graph& g, std::span<const Node> in, const RandomGraph& graph) {
  std::vector<Node> n;
  n.reserve(graph.constants.size() + in.size() + graph.steps.size());
  for (double c : graph.constants) n.push_back(g.constant(c));
  n.insert(n.end(), in.begin(), in.end());
  for (const RandomGraph::Step& step : graph.steps) switch (step.kind) {
      case RandomGraph::add: n.push_back(g.add(n[step.a], n[step.b])); break;
      case RandomGraph::sub: n.push_back(g.sub(n[step.a], n[step.b])); break;
      case RandomGraph::mul: n.push_back(g.mul(n[step.a], n[step.b])); break;
      case RandomGraph::fma: n.push_back(g.fma(n[step.a], n[step.b], n[step.c])); break;
    }
  return g.sum(std::span<const Node>(n).subspan(graph.constants.size()));
}

}  // namespace builders
}  // namespace wengert::bench
