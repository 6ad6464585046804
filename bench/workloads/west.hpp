// Workload west: 100 inputs; op k by k mod 4 a softplus, a sum of 4, a product, a softmax of 4.
#pragma once

#include <vector>

#include "bench/workloads/graph.hpp"

namespace wengert::bench::builders {

template <class Graph, class Node = NodeOf<Graph>>
Node west(Graph& g, std::span<const Node> in, std::size_t ops, Output output) {
  std::vector<Node> n(in.begin(), in.end());
  n.reserve(in.size() + ops / 4 * 7 + 7);
  const auto last = [&](std::size_t k) -> const Node& { return n[n.size() - k]; };
  for (std::size_t op = 0; op < ops; ++op) {
    switch (op % 4) {
      case 0: n.push_back(g.softplus(last(10))); break;
      case 1: {
        const Node terms[] = {last(30), last(25), last(20), last(15)};
        n.push_back(g.sum(terms));
        break;
      }
      case 2: n.push_back(g.mul(last(20), last(10))); break;
      case 3: {
        const Node first = g.softmax(std::span<const Node>(n).last(4));
        for (std::size_t k = 0; k < 4; ++k) n.push_back(g.output(first, k));
        break;
      }
    }
  }
  return output == Output::sum ? g.sum(n) : n.back();
}

}  // namespace wengert::bench::builders
