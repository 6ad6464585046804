// Workload lstm-cell: one step of a long short-term memory cell with a forget gate: S. Hochreiter, J. Schmidhuber, "Long
// Short-Term Memory", Neural Comput. 9 (1997); F. A. Gers, J. Schmidhuber, F. Cummins, "Learning to Forget", Neural Comput. 12
// (2000).
#pragma once

#include <cstddef>
#include <vector>

#include "bench/workloads/graph.hpp"

namespace wengert::bench {

/// Parameters: for each of the gates input, forget, candidate and output, and each hidden unit, weights of the inputs, weights of
/// the hidden state, an offset. After them the inputs, the hidden state and the cell state before the step.
struct LstmCell {
  std::size_t hidden = 16, inputs = 8;

  std::size_t row() const { return inputs + hidden + 1; }
  std::size_t parameters() const { return 4 * hidden * row(); }
  std::size_t varying() const { return inputs + 2 * hidden; }
};

namespace builders {

/// The squared length of the hidden state after the step.
template <class Graph, class Node = NodeOf<Graph>>
Node lstm_cell(Graph& g, std::span<const Node> in, const LstmCell& cell) {
  const std::size_t hidden = cell.hidden, seen = cell.inputs + hidden;
  const std::span<const Node> before = in.subspan(cell.parameters());  // inputs, hidden state, cell state
  std::vector<Node> products, after;
  const auto score = [&](std::size_t gate, std::size_t unit) {
    const std::span<const Node> row = in.subspan((gate * hidden + unit) * cell.row(), cell.row());
    products.assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(seen));
    products.insert(products.end(), before.begin(), before.begin() + static_cast<std::ptrdiff_t>(seen));
    return g.add(g.dot(products), row[seen]);
  };
  for (std::size_t unit = 0; unit < hidden; ++unit) {
    const Node input_gate = g.sigmoid(score(0, unit));
    const Node forget_gate = g.sigmoid(score(1, unit));
    const Node candidate = g.tanh(score(2, unit));
    const Node output_gate = g.sigmoid(score(3, unit));
    const Node state = g.fma(forget_gate, before[seen + unit], g.mul(input_gate, candidate));
    after.push_back(g.mul(output_gate, g.tanh(state)));
  }
  return g.sqnorm(after);
}

}  // namespace builders
}  // namespace wengert::bench
