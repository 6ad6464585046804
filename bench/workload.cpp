#include "bench/workload.hpp"

#include <algorithm>
#include <numeric>

#include "bench/workloads/draw.hpp"
#include "kernels/dispatch.hpp"
#include "wengert/error.hpp"
#include "wengert/ops.hpp"

namespace wengert::bench {

namespace {

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

std::vector<std::uint32_t> first(std::uint32_t n) {
  std::vector<std::uint32_t> indices(n);
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

/// The sizes of a workload, as asked for or its own.
std::array<std::size_t, 2> sizes_of(const WorkloadInfo& info, const std::vector<std::size_t>& asked) {
  std::array<std::size_t, 2> sizes{};
  std::string wanted;
  for (const WorkloadInfo::Size& size : info.sizes) wanted += (wanted.empty() ? "" : ",") + size.name;
  if (!asked.empty() && asked.size() != info.sizes.size())
    throw Error(ErrorCode::bad_argument, info.sizes.empty()
                                             ? "workload " + info.name + " has no sizes to choose"
                                             : "workload " + info.name + " takes " + std::to_string(info.sizes.size()) +
                                                   " sizes (" + wanted + "), not " + std::to_string(asked.size()));
  for (std::size_t k = 0; k < info.sizes.size(); ++k) {
    const WorkloadInfo::Size& size = info.sizes[k];
    sizes[k] = asked.empty() ? size.usual : asked[k];
    if (sizes[k] < size.least || sizes[k] > size.most)
      throw Error(ErrorCode::bad_argument, "workload " + info.name + " with " + std::to_string(sizes[k]) + ' ' +
                                               size.name + "; choose " + std::to_string(size.least) + " to " +
                                               std::to_string(size.most));
  }
  return sizes;
}

const WorkloadInfo& find_workload(std::string_view name) {
  std::string known;
  for (const WorkloadInfo& info : workloads()) {
    if (info.name == name) return info;
    known += (known.empty() ? "" : ", ") + info.name;
  }
  throw Error(ErrorCode::bad_argument, "unknown workload '" + std::string(name) + "'; choose one of " + known);
}

}  // namespace

const std::vector<WorkloadInfo>& workloads() {
  using Kind = Workload::Kind;
  static const std::vector<WorkloadInfo> all = {
      {Kind::expr, "expr", "softplus((x + y) * x): 2 inputs, 3 ops"},
      {Kind::west, "west", "100 inputs, softplus, 4-term sum, product and softmax in turn", true},
      {Kind::dag, "dag", "50 inputs, random add, sub, mul, fma among the last 64 variables; the sum of all", true},
      {Kind::black_scholes, "black-scholes",
       "price of a European call; derivatives in spot, strike, rate, volatility, time"},
      {Kind::heston,
       "heston",
       "one path of full-truncation Euler steps, call payoff; derivatives in 5 parameters",
       false,
       {{"steps", 1, Heston::trading_days, 1'000'000}}},
      {Kind::gmm,
       "gmm",
       "log posterior of a Gaussian mixture, summed over points; derivatives in its parameters",
       false,
       {{"dimensions", 1, 10, 64}, {"components", 1, 25, 256}}},
      {Kind::logistic, "logistic",
       "loss of a logistic regression on real data, summed over rows; derivatives in 11 parameters"},
      {Kind::lstm_cell,
       "lstm-cell",
       "a step of an LSTM cell, summed over samples; derivatives in its weights",
       false,
       {{"hidden", 1, 16, 256}, {"inputs", 1, 8, 256}}},
      {Kind::rosenbrock, "rosenbrock", "Rosenbrock's function, chained", false, {{"dimensions", 2, 100, 1'000'000}}},
  };
  return all;
}

Workload make_workload(std::string_view name, const WorkloadOptions& options) {
  using Kind = Workload::Kind;
  const WorkloadInfo& info = find_workload(name);
  Workload w;
  w.name = name;
  w.kind = info.kind;
  w.seed = options.seed;
  w.samples = options.samples;
  w.size = sizes_of(info, options.size);
  switch (w.kind) {
    case Kind::expr: w.inputs = 2; break;
    case Kind::west:
      w.inputs = 100;
      w.output = options.output;
      break;
    case Kind::dag:
      w.inputs = 50;
      w.output = Output::sum;
      break;
    case Kind::black_scholes: w.inputs = 5; break;
    case Kind::heston: w.inputs = w.heston().inputs(); break;
    case Kind::gmm:
      w.parameters = w.gmm().parameters();
      w.inputs = w.parameters + w.gmm().dimensions;
      break;
    case Kind::logistic:
      w.parameters = Logistic::parameters;
      w.inputs = Logistic::inputs;
      break;
    case Kind::lstm_cell:
      w.parameters = w.lstm_cell().parameters();
      w.inputs = w.parameters + w.lstm_cell().varying();
      break;
    case Kind::rosenbrock: w.inputs = w.size[0]; break;
  }
  const std::size_t differentiated = w.summed() ? w.parameters : w.kind == Kind::heston ? Heston::parameters : w.inputs;
  w.differentiated = first(static_cast<std::uint32_t>(differentiated));

  if (info.has_ops) {
    constexpr std::size_t most = 2'000'000'000;  // 7/4 variables an op: ids go to 2^32 - 2
    if (options.ops == 0 || options.ops > most)
      throw Error(ErrorCode::bad_argument,
                  "a " + w.name + " of " + std::to_string(options.ops) + " ops; choose 1 to " + std::to_string(most));
    w.ops = options.ops;
  }
  if (w.kind == Kind::dag) w.random_graph = draw_random_graph(w.seed, w.inputs, w.ops);

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
  const bool parameter = index < parameters;
  const Draw draw =
      parameter ? Draw(seed, Stream::parameters, 0, index) : Draw(seed, Stream::inputs, evaluation, index);
  switch (kind) {
    case Kind::expr:
    case Kind::west:
    case Kind::dag: break;
    case Kind::black_scholes: {
      constexpr double range[5][2] = {{50, 150}, {50, 150}, {0, 0.1}, {0.1, 0.5}, {0.1, 2}};
      return draw.uniform(range[index][0], range[index][1]);
    }
    case Kind::heston: {
      constexpr double range[Heston::parameters][2] = {{1, 3}, {0.02, 0.08}, {0.2, 0.6}, {-0.9, -0.3}, {0.02, 0.08}};
      if (index < Heston::parameters) return draw.uniform(range[index][0], range[index][1]);
      return draw.normal();
    }
    case Kind::gmm:  // factors near enough to one another that every component has a say
      return index >= gmm().first_factor() && parameter ? draw.normal() / 4 : draw.normal();
    case Kind::logistic: {
      if (parameter) break;
      const auto rows = logistic_rows();
      return rows[evaluation % rows.size()][index - parameters];
    }
    case Kind::lstm_cell: break;
    case Kind::rosenbrock: return draw.uniform(-2, 2);
  }
  return draw.uniform(-1, 1);
}

double normal_quantile(double p) { return kernels::backend<double>(Isa::scalar).value(Op::normal_icdf, p, 0, 0); }

}  // namespace wengert::bench
