// Workload logistic: loss of a logistic regression on real data (bench/data/README.md), with a normal prior.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "bench/workloads/graph.hpp"

namespace wengert::bench {

struct Logistic {
  static constexpr std::size_t features = 10;
  static constexpr std::size_t parameters = features + 1;           // weights, then the offset
  static constexpr std::size_t inputs = parameters + features + 1;  // and a row: features, then the class, 0 or 1
  static constexpr double precision = 1;                            // of the prior of the weights
  using Row = std::array<double, features + 1>;
};

/// The data, each feature at mean 0 and variance 1.
std::span<const Logistic::Row> logistic_rows();

namespace builders {

/// The share of one of `samples` rows.
template <class Graph, class Node = NodeOf<Graph>>
Node logistic(Graph& g, std::span<const Node> in, std::size_t samples) {
  constexpr std::size_t features = Logistic::features;
  const std::span<const Node> weights = in.first(features), row = in.subspan(Logistic::parameters);
  const Node share = g.constant(Logistic::precision / 2 / static_cast<double>(samples));
  const Node prior = g.mul(g.sqnorm(weights), share);
  std::vector<Node> products(weights.begin(), weights.end());
  products.insert(products.end(), row.begin(), row.begin() + features);
  const Node score = g.add(g.dot(products), in[features]);
  const Node taken = g.mul(row[features], score);
  return g.add(g.sub(g.softplus(score), taken), prior);
}

}  // namespace builders
}  // namespace wengert::bench
