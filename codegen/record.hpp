// Ops as vector operations: the rows of the op table, instantiated over lanes that are recorded.
#pragma once

#include <cstdint>

#include "codegen/graph.hpp"
#include "wengert/ops.hpp"

namespace wengert::codegen {

/// A number and its tangent (kernels/dual.hpp).
struct DualValue {
  Value v = no_value, d = no_value;
};

/// The operands of one op, as values of a graph: what value and adjoint need of them. `Number`: Value or DualValue.
template <class Number>
struct Operands {
  std::uint32_t n;  ///< how many
  const Number* x;  ///< [n]
  const Number* y;  ///< its results
  const Number* g;  ///< the adjoints of its results
  bool no_tie;      ///< a tie's slope is 0
  bool zero_rule;   ///< at products with partials
};

/// Records an op's results into y. `Real`: of the graph.
template <class Real, class Number>
void record_value(Graph& graph, Op op, const Operands<Number>& operands, Number* y);

/// Records what its adjoints give to that of each operand: contribution k for the operands in `wanted` of a fixed-arity op,
/// for all of an n-ary one. Places of x and y that those partials don't read are ignored.
template <class Real, class Number>
void record_adjoint(Graph& graph, Op op, const Operands<Number>& operands, unsigned wanted, Number* contributions);

}  // namespace wengert::codegen
