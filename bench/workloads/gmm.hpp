// Workload gmm: log posterior of a Gaussian mixture with a Wishart prior, as in the benchmark ADBench: F. Srajer,
// Z. Kukelova, A. Fitzgibbon, "A Benchmark of Selected Algorithmic Differentiation Tools on Some Problems in Computer
// Vision and Machine Learning", Optim. Methods Softw. 33 (2018). The prior's gamma is 1 and its m 0, as in ADBench's data.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/workloads/graph.hpp"

namespace wengert::bench {

/// Parameters, K components of dimension d one after the other in each group: logarithms of the weights up to a constant;
/// means; factors Q of the inverse covariances Q'Q, lower triangular: d logarithms of the diagonal, then the d (d - 1) / 2 below
/// it, column by column.
struct Gmm {
  std::size_t dimensions = 10, components = 25;

  std::size_t factor_size() const { return dimensions * (dimensions + 1) / 2; }
  std::size_t first_mean() const { return components; }
  std::size_t first_factor() const { return first_mean() + components * dimensions; }
  std::size_t parameters() const { return first_factor() + components * factor_size(); }
  /// Where a factor's element below the diagonal is.
  std::size_t below_diagonal(std::size_t row, std::size_t column) const {
    return dimensions + column * (2 * dimensions - column - 1) / 2 + row - column - 1;
  }
};

/// What doesn't depend on the parameters in the share of one of `samples` points.
double gmm_constant(const Gmm& gmm, std::size_t samples);

namespace builders {

/// The share of one of `samples` points. Its coordinates follow the parameters among the inputs.
template <class Graph, class Node = NodeOf<Graph>>
Node gmm(Graph& g, std::span<const Node> in, const Gmm& gmm, std::size_t samples) {
  const std::size_t d = gmm.dimensions, components = gmm.components;
  const std::span<const Node> point = in.subspan(gmm.parameters(), d);
  const Node minus_half = g.constant(-0.5);

  std::vector<Node> exponents, deviation, scaled, products, square_norms;
  for (std::size_t k = 0; k < components; ++k) {
    const std::span<const Node> mean = in.subspan(gmm.first_mean() + k * d, d);
    const std::span<const Node> factor = in.subspan(gmm.first_factor() + k * gmm.factor_size(), gmm.factor_size());
    std::vector<Node> elements;  // of Q, the diagonal first
    for (const Node& logarithm : factor.first(d)) elements.push_back(g.exp(logarithm));
    elements.insert(elements.end(), factor.begin() + static_cast<std::ptrdiff_t>(d), factor.end());
    const Node offset = g.add(in[k], g.sum(factor.first(d)));
    square_norms.push_back(g.sqnorm(elements));

    deviation.clear();
    scaled.clear();
    for (std::size_t j = 0; j < d; ++j) deviation.push_back(g.sub(point[j], mean[j]));
    for (std::size_t row = 0; row < d; ++row) {
      products.clear();
      for (std::size_t j = 0; j < row; ++j) products.push_back(elements[gmm.below_diagonal(row, j)]);
      products.push_back(elements[row]);
      products.insert(products.end(), deviation.begin(), deviation.begin() + static_cast<std::ptrdiff_t>(row) + 1);
      scaled.push_back(g.dot(products));
    }
    exponents.push_back(g.fma(minus_half, g.sqnorm(scaled), offset));
  }
  const Node prior = g.sum(square_norms);
  const Node share = g.constant(0.5 / static_cast<double>(samples));
  const Node shared = g.fma(prior, share, g.constant(gmm_constant(gmm, samples)));
  const Node uniform = g.sub(shared, g.logsumexp(in.first(components)));
  return g.add(g.logsumexp(exponents), uniform);
}

}  // namespace builders
}  // namespace wengert::bench
