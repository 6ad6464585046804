// What the ladder computes: one templated builder per workload, so that every level records the same graph, and inputs
// that are a function of seed, evaluation and input index alone.
//
// A Graph has the recording functions of NaiveTape (add, mul, sum(span), softmax(span), output(first, k), constant(x), ...)
// over its own handle of a variable: NaiveTape itself, the heap graph of v0, the pool of v1, the C tape, the reference.
// `n[-k]` below is the k-th last variable in recording order; the first ones are the inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wengert::bench {

/// A graph's handle of a variable.
template <class Graph>
using NodeOf = decltype(std::declval<Graph&>().constant(0));

enum class Output { last, sum };  ///< of the graph: its last variable, or the sum of all variables

struct WorkloadOptions {
  std::size_t ops = 10000;       ///< of west and dag; the others have their own number
  Output output = Output::last;  ///< of west; dag is always the sum, the others the last
  std::uint64_t seed = 42;
};

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

struct Workload {
  enum class Kind { expr, west, dag, black_scholes, heston };

  std::string name;
  Kind kind = Kind::expr;
  std::size_t ops = 0;  ///< as asked for; the sum at the end isn't counted
  Output output = Output::last;
  std::uint64_t seed = 42;

  std::size_t inputs = 0;
  std::vector<std::uint32_t> differentiated;  ///< indices of the inputs whose gradient is asked for, ascending
  std::size_t recorded_ops = 0;               ///< by `build`, the sum at the end counted
  std::size_t variables = 0;                  ///< after `build`: inputs, constants, outputs of ops

  RandomGraph random_graph;  ///< empty but for dag

  /// Input `index` of evaluation `evaluation`.
  double input(std::uint64_t evaluation, std::size_t index) const;

  /// Records the workload on `graph`, whose first variables are `inputs` (that many, in order). Returns the output.
  template <class Graph>
  NodeOf<Graph> build(Graph& graph, std::span<const NodeOf<Graph>> inputs) const;
};

/// A row of `wengert list`.
struct WorkloadInfo {
  std::string name;
  std::string description;
  bool has_ops = false;  ///< `WorkloadOptions::ops` applies
};
const std::vector<WorkloadInfo>& workloads();

/// Throws bad_argument for an unknown name or a number of ops that is 0 or more than ids can name.
Workload make_workload(std::string_view name, const WorkloadOptions& options = {});

/// The inverse of the normal distribution function, for 0 < p < 1. The library's own: the same bits on every machine.
double normal_quantile(double p);

// ---- the builders --------------------------------------------------------------------------------------------------

// One call to the graph per argument list at most: the order in which arguments are evaluated is the compiler's choice.
namespace builders {

/// softplus((x + y) * x): two variables used more than once, three ops.
template <class Graph, class Node = NodeOf<Graph>>
Node expr(Graph& g, std::span<const Node> in) {
  const Node x = in[0], y = in[1];
  return g.softplus(g.mul(g.add(x, y), x));
}

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

/// A European call: F. Black, M. Scholes, "The Pricing of Options and Corporate Liabilities", J. Polit. Econ. 81 (1973).
/// The normal distribution function through erfc: through erf a far out-of-the-money price has no digits left.
template <class Graph, class Node = NodeOf<Graph>>
Node black_scholes(Graph& g, std::span<const Node> in) {
  const Node spot = in[0], strike = in[1], rate = in[2], volatility = in[3], time = in[4];
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

/// The fixed side of the heston workload: one year in trading days.
struct Heston {
  static constexpr std::size_t steps = 252, parameters = 5, inputs = parameters + 2 * steps;
  static constexpr double spot = 100, strike = 100, rate = 0.03, time = 1, dt = time / steps,
                          root_dt = 0.06299407883487121,  // sqrt(dt)
      discount = 0.9704455335485082;                      // exp(-rate * time)
};

/// One path of S. L. Heston's model ("A Closed-Form Solution for Options with Stochastic Volatility", Rev. Financ. Stud. 6,
/// 1993), variance by full truncation Euler: R. Lord, R. Koekkoek, D. van Dijk, "A Comparison of Biased Simulation Schemes
/// for Stochastic Volatility Models", Quant. Finance 10 (2010). Discounted payoff of a call.
/// Inputs: kappa, theta, xi, rho, v0, then two independent normals a step.
template <class Graph, class Node = NodeOf<Graph>>
Node heston(Graph& g, std::span<const Node> in) {
  constexpr Heston model;
  const Node kappa = in[0], theta = in[1], xi = in[2], rho = in[3], v0 = in[4];
  const Node zero = g.constant(0), one = g.constant(1), dt = g.constant(model.dt), root_dt = g.constant(model.root_dt),
             minus_half_dt = g.constant(-0.5 * model.dt), rate_dt = g.constant(model.rate * model.dt);

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

template <class Graph>
NodeOf<Graph> Workload::build(Graph& graph, std::span<const NodeOf<Graph>> in) const {
  switch (kind) {
    case Kind::expr: return builders::expr(graph, in);
    case Kind::west: return builders::west(graph, in, ops, output);
    case Kind::dag: return builders::dag(graph, in, random_graph);
    case Kind::black_scholes: return builders::black_scholes(graph, in);
    case Kind::heston: break;
  }
  return builders::heston(graph, in);
}

}  // namespace wengert::bench
