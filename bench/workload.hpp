// What the ladder computes: one templated builder per workload (bench/workloads/), so that every level records the same
// graph, and inputs that are a function of seed, evaluation and input index alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/workloads/black_scholes.hpp"
#include "bench/workloads/dag.hpp"
#include "bench/workloads/expr.hpp"
#include "bench/workloads/gmm.hpp"
#include "bench/workloads/graph.hpp"
#include "bench/workloads/heston.hpp"
#include "bench/workloads/logistic.hpp"
#include "bench/workloads/lstm_cell.hpp"
#include "bench/workloads/rosenbrock.hpp"
#include "bench/workloads/west.hpp"

namespace wengert::bench {

struct WorkloadOptions {
  std::size_t ops = 10000;       ///< of west and dag; the others have their own number
  Output output = Output::last;  ///< of west; dag is always the sum, the others the last
  std::uint64_t seed = 42;
  std::vector<std::size_t> size =
      {};                      ///< a number for each of WorkloadInfo::sizes; empty: what these have by themselves
  std::size_t samples = 1000;  ///< of gmm and logistic: evaluations that are one objective, which share its prior
};

struct Workload {
  enum class Kind { expr, west, dag, black_scholes, heston, gmm, logistic, lstm_cell, rosenbrock };

  std::string name;
  Kind kind = Kind::expr;
  std::size_t ops = 0;  ///< as asked for; the sum at the end isn't counted
  Output output = Output::last;
  std::uint64_t seed = 42;
  std::array<std::size_t, 2> size{};  ///< of those that have one
  std::size_t samples = 1;

  std::size_t inputs = 0;
  /// How many of the inputs, the first, are parameters: the same in all evaluations of a batch. Where there are any, the
  /// batch as a whole is one function: the sum of the output over the evaluations, differentiated in the parameters.
  std::size_t parameters = 0;
  std::vector<std::uint32_t> differentiated;  ///< indices of the inputs whose gradient is asked for, ascending
  std::size_t recorded_ops = 0;               ///< by `build`, the sum at the end counted
  std::size_t variables = 0;                  ///< after `build`: inputs, constants, outputs of ops

  RandomGraph random_graph;  ///< empty but for dag

  bool summed() const { return parameters != 0; }
  Heston heston() const { return {size[0]}; }
  Gmm gmm() const { return {size[0], size[1]}; }
  LstmCell lstm_cell() const { return {size[0], size[1]}; }

  /// Input `index` of evaluation `evaluation`.
  double input(std::uint64_t evaluation, std::size_t index) const;

  /// Records the workload on `graph`, whose first variables are `inputs` (that many, in order). Returns the output.
  template <class Graph>
  NodeOf<Graph> build(Graph& graph, std::span<const NodeOf<Graph>> inputs) const;
};

/// A row of `wengert list`.
struct WorkloadInfo {
  /// A number that `WorkloadOptions::size` gives.
  struct Size {
    std::string name;
    std::size_t least, usual, most;
  };

  Workload::Kind kind;
  std::string name;
  std::string description;
  bool has_ops = false;  ///< `WorkloadOptions::ops` applies
  std::vector<Size> sizes = {};
};
const std::vector<WorkloadInfo>& workloads();

/// Throws bad_argument for an unknown name, a number of ops that is 0 or more than ids can name, a size that the workload hasn't.
Workload make_workload(std::string_view name, const WorkloadOptions& options = {});

template <class Graph>
NodeOf<Graph> Workload::build(Graph& graph, std::span<const NodeOf<Graph>> in) const {
  switch (kind) {
    case Kind::expr: return builders::expr(graph, in);
    case Kind::west: return builders::west(graph, in, ops, output);
    case Kind::dag: return builders::dag(graph, in, random_graph);
    case Kind::black_scholes: return builders::black_scholes(graph, in);
    case Kind::heston: return builders::heston(graph, in, heston());
    case Kind::gmm: return builders::gmm(graph, in, gmm(), samples);
    case Kind::logistic: return builders::logistic(graph, in, samples);
    case Kind::lstm_cell: return builders::lstm_cell(graph, in, lstm_cell());
    case Kind::rosenbrock: break;
  }
  return builders::rosenbrock(graph, in);
}

}  // namespace wengert::bench
