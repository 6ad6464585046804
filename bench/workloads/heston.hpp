// Workload heston: one path of a stochastic volatility model, and a call on it.
#pragma once

#include <cmath>
#include <cstddef>

#include "bench/workloads/graph.hpp"

namespace wengert::bench {

/// The fixed side of the heston workload: one year, in trading days or finer.
struct Heston {
  static constexpr std::size_t trading_days = 252, parameters = 5;
  static constexpr double spot = 100, strike = 100, rate = 0.03, time = 1,
                          discount = 0.9704455335485082;  // exp(-rate * time)

  std::size_t steps = trading_days;

  std::size_t inputs() const { return parameters + 2 * steps; }
  double dt() const { return time / static_cast<double>(steps); }
};

namespace builders {

/// One path of S. L. Heston's model ("A Closed-Form Solution for Options with Stochastic Volatility", Rev. Financ. Stud. 6,
/// 1993), variance by full truncation Euler: R. Lord, R. Koekkoek, D. van Dijk, "A Comparison of Biased Simulation Schemes
/// for Stochastic Volatility Models", Quant. Finance 10 (2010). Discounted payoff of a call.
/// Inputs: kappa, theta, xi, rho, v0, then two independent normals a step.
template <class Graph, class Node = NodeOf<Graph>>
Node heston(Graph& g, std::span<const Node> in, const Heston& model) {
  const Node &kappa = in[0], &theta = in[1], &xi = in[2], &rho = in[3], &v0 = in[4];
  const Node zero = g.constant(0), one = g.constant(1), dt = g.constant(model.dt()),
             root_dt = g.constant(std::sqrt(model.dt())), minus_half_dt = g.constant(-0.5 * model.dt()),
             rate_dt = g.constant(model.rate * model.dt());

  const Node kappa_dt = g.mul(kappa, dt);
  const Node rho_bar = g.sqrt(g.sub(one, g.square(rho)));
  Node v = v0, x = g.constant(0);  // x = log(spot / initial spot)
  for (std::size_t step = 0; step < model.steps; ++step) {
    const Node w1 = g.mul(in[model.parameters + 2 * step], root_dt);
    const Node w2 = g.mul(in[model.parameters + 2 * step + 1], root_dt);
    const Node v_plus = g.max(v, zero);
    const Node deviation = g.sqrt(v_plus);
    x = g.fma(deviation, w1, g.add(x, g.fma(v_plus, minus_half_dt, rate_dt)));
    const Node w = g.fma(rho, w1, g.mul(rho_bar, w2));
    const Node reverted = g.fma(kappa_dt, g.sub(theta, v_plus), v);
    v = g.fma(g.mul(xi, deviation), w, reverted);
  }
  const Node spot = g.mul(g.exp(x), g.constant(model.spot));
  const Node payoff = g.max(g.sub(spot, g.constant(model.strike)), zero);
  return g.mul(payoff, g.constant(model.discount));
}

}  // namespace builders
}  // namespace wengert::bench
