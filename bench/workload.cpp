#include "bench/workload.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "bench/philox.hpp"
#include "kernels/dispatch.hpp"
#include "wengert/error.hpp"
#include "wengert/ops.hpp"

namespace wengert::bench {

namespace {

enum Stream : std::uint32_t { stream_inputs = 0, stream_dag = 1 };

/// Counts what a builder records.
struct CountingGraph {
  struct Node {};
  std::size_t ops = 0, variables = 0;

  Node constant(double) {
    ++variables;
    return {};
  }
  Node output(Node, std::size_t) { return {}; }
#define WENGERT_OP1(name, ...) \
  Node name(Node) { return count(Op::name, 1); }
#define WENGERT_OP2(name, ...) \
  Node name(Node, Node) { return count(Op::name, 2); }
#define WENGERT_OP3(name, ...) \
  Node name(Node, Node, Node) { return count(Op::name, 3); }
#define WENGERT_OPN(name, ...) \
  Node name(std::span<const Node> operands) { return count(Op::name, operands.size()); }
#include "wengert/ops.def"

 private:
  Node count(Op op, std::size_t operands) {
    ++ops;
    variables += info(op).outputs(static_cast<std::uint32_t>(operands));
    return {};
  }
};

/// Draws the graph of `dag`. Each result carries a bound on its size, from |inputs| <= 1: results above 1 are halved (or
/// quartered) before anything else uses them, so no value exceeds about 3 whatever the inputs and however long the graph.
/// Constants enter some of the fma, so that values don't shrink to nothing either.
RandomGraph draw_graph(std::uint64_t seed, std::size_t inputs, std::size_t ops) {
  constexpr std::uint32_t window = 64, scales = 2, offsets = 14;
  constexpr int tries = 8;  // at finding an operand of the size wanted
  RandomGraph graph;
  std::vector<double> bound;
  std::uint32_t draws = 0;
  std::uint64_t row = 0;
  const auto below = [&](std::uint32_t n) {
    return static_cast<std::uint32_t>((random_bits(seed, stream_dag, row, draws++) >> 32) * n >> 32);
  };

  graph.constants = {0.5, 0.25};
  for (std::uint32_t k = 0; k < offsets; ++k) {
    const double size = 0.25 + below(1u << 16) * 0x1p-17;  // [1/4, 3/4)
    graph.constants.push_back(k % 2 ? -size : size);
  }
  for (double c : graph.constants) bound.push_back(std::fabs(c));
  bound.insert(bound.end(), inputs, 1.0);

  try {
    graph.steps.reserve(ops);
    bound.reserve(bound.size() + ops);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "a dag of " + std::to_string(ops) + " ops takes " +
                                              std::to_string(ops * (sizeof(RandomGraph::Step) + sizeof(double))) +
                                              " bytes to draw, which can't be had; choose fewer ops");
  }
  while (graph.steps.size() < ops) {
    ++row;
    draws = 0;
    const auto places = static_cast<std::uint32_t>(bound.size());
    const std::uint32_t recent = std::min(window, places - scales - offsets);
    const auto any = [&] { return places - 1 - below(recent); };
    const auto small = [&](std::uint32_t except) {
      std::uint32_t place = any();
      for (int k = 0; k < tries && (bound[place] > 1 || place == except); ++k) place = any();
      return place;
    };
    RandomGraph::Step step{static_cast<RandomGraph::Kind>(below(4)), 0, 0, 0};
    if (step.kind == RandomGraph::mul) {
      step.a = any();
      for (int k = 0; k < tries && bound[step.a] <= 1; ++k) step.a = any();
      step.b = bound[step.a] > 2 ? 1 : bound[step.a] > 1 ? 0 : small(step.a);
    } else {
      step.a = small(no_id);
      step.b = small(step.a);  // a - a would be no use
      if (step.kind == RandomGraph::fma) step.c = below(4) == 0 ? scales + below(offsets) : small(no_id);
    }
    const double a = bound[step.a], b = bound[step.b];
    switch (step.kind) {
      case RandomGraph::add:
      case RandomGraph::sub: bound.push_back(a + b); break;
      case RandomGraph::mul: bound.push_back(a * b); break;
      case RandomGraph::fma: bound.push_back(a * b + bound[step.c]); break;
    }
    graph.steps.push_back(step);
  }
  return graph;
}

std::vector<std::uint32_t> first(std::uint32_t n) {
  std::vector<std::uint32_t> indices(n);
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

double between(double low, double high, double u) { return low + (high - low) * u; }

}  // namespace

const std::vector<WorkloadInfo>& workloads() {
  static const std::vector<WorkloadInfo> all = {
      {"expr", "softplus((x + y) * x): 2 inputs, 3 ops", false},
      {"west", "100 inputs, softplus, 4-term sum, product and softmax in turn", true},
      {"dag", "50 inputs, random add, sub, mul, fma among the last 64 variables; the sum of all", true},
      {"black-scholes", "price of a European call; derivatives in spot, strike, rate, volatility, time", false},
      {"heston", "one path of 252 full-truncation Euler steps, call payoff; derivatives in 5 parameters", false},
  };
  return all;
}

Workload make_workload(std::string_view name, const WorkloadOptions& options) {
  using Kind = Workload::Kind;
  Workload w;
  w.name = name;
  w.seed = options.seed;
  if (name == "expr") {
    w.kind = Kind::expr;
    w.inputs = 2;
  } else if (name == "west") {
    w.kind = Kind::west;
    w.inputs = 100;
    w.output = options.output;
  } else if (name == "dag") {
    w.kind = Kind::dag;
    w.inputs = 50;
    w.output = Output::sum;
  } else if (name == "black-scholes") {
    w.kind = Kind::black_scholes;
    w.inputs = 5;
  } else if (name == "heston") {
    w.kind = Kind::heston;
    w.inputs = builders::Heston::inputs;
  } else {
    std::string known;
    for (const WorkloadInfo& info : workloads()) known += (known.empty() ? "" : ", ") + info.name;
    throw Error(ErrorCode::bad_argument, "unknown workload '" + std::string(name) + "'; choose one of " + known);
  }
  w.differentiated =
      first(w.kind == Kind::heston ? builders::Heston::parameters : static_cast<std::uint32_t>(w.inputs));

  if (w.kind == Kind::west || w.kind == Kind::dag) {
    constexpr std::size_t most = 2'000'000'000;  // 7/4 variables an op: ids go to 2^32 - 2
    if (options.ops == 0 || options.ops > most)
      throw Error(ErrorCode::bad_argument,
                  "a " + w.name + " of " + std::to_string(options.ops) + " ops; choose 1 to " + std::to_string(most));
    w.ops = options.ops;
  }
  if (w.kind == Kind::dag) w.random_graph = draw_graph(w.seed, w.inputs, w.ops);

  // A long west is counted from a short one, at no cost in memory: 4 ops make 7 variables, again and again.
  Workload shorter = w;
  const std::size_t groups = w.kind == Kind::west ? w.ops / 4 : 0;
  shorter.ops -= 4 * groups;
  CountingGraph counted;
  const std::vector<CountingGraph::Node> inputs(w.inputs);
  shorter.build(counted, std::span<const CountingGraph::Node>(inputs));
  w.recorded_ops = counted.ops + 4 * groups;
  w.variables = w.inputs + counted.variables + 7 * groups;
  if (w.ops == 0) w.ops = counted.ops;
  return w;
}

double Workload::input(std::uint64_t evaluation, std::size_t index) const {
  const std::uint64_t bits = random_bits(seed, stream_inputs, evaluation, static_cast<std::uint32_t>(index));
  const double u = static_cast<double>(bits >> 11) * 0x1p-53;  // [0, 1)
  switch (kind) {
    case Kind::expr:
    case Kind::west:
    case Kind::dag: break;
    case Kind::black_scholes: {
      constexpr double range[5][2] = {{50, 150}, {50, 150}, {0, 0.1}, {0.1, 0.5}, {0.1, 2}};
      return between(range[index][0], range[index][1], u);
    }
    case Kind::heston: {
      constexpr double range[builders::Heston::parameters][2] = {
          {1, 3}, {0.02, 0.08}, {0.2, 0.6}, {-0.9, -0.3}, {0.02, 0.08}};
      if (index < builders::Heston::parameters) return between(range[index][0], range[index][1], u);
      return normal_quantile((static_cast<double>(bits >> 12) + 0.5) * 0x1p-52);  // of (0, 1), both ends left out
    }
  }
  return 2 * u - 1;
}

double normal_quantile(double p) { return kernels::backend<double>(Isa::scalar).value(Op::normal_icdf, p, 0, 0); }

}  // namespace wengert::bench
