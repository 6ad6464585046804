// Workload black-scholes: the price of a European call.
#pragma once

#include "bench/workloads/graph.hpp"

namespace wengert::bench::builders {

/// A European call: F. Black, M. Scholes, "The Pricing of Options and Corporate Liabilities", J. Polit. Econ. 81 (1973).
/// The normal distribution function through erfc: through erf a far out-of-the-money price has no digits left.
template <class Graph, class Node = NodeOf<Graph>>
Node black_scholes(Graph& g, std::span<const Node> in) {
  const Node &spot = in[0], &strike = in[1], &rate = in[2], &volatility = in[3], &time = in[4];
  const Node half = g.constant(0.5), minus_sqrt_half = g.constant(-0.70710678118654752440);
  const auto normal_cdf = [&](const Node& x) { return g.mul(half, g.erfc(g.mul(x, minus_sqrt_half))); };

  const Node deviation = g.mul(volatility, g.sqrt(time));
  const Node drift = g.mul(g.fma(half, g.square(volatility), rate), time);
  const Node d1 = g.div(g.add(g.log(g.div(spot, strike)), drift), deviation);
  const Node d2 = g.sub(d1, deviation);
  const Node discounted = g.mul(strike, g.exp(g.neg(g.mul(rate, time))));
  const Node gained = g.mul(spot, normal_cdf(d1));
  return g.sub(gained, g.mul(discounted, normal_cdf(d2)));
}

}  // namespace wengert::bench::builders
