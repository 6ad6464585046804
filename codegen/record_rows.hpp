// The op table instantiated over recorded lanes, of numbers or of dual numbers: one source file each. As the kernels of the baseline:
// nothing here computes with the numbers of a program.
#pragma once

#include <vector>

#include "codegen/record.hpp"
#include "codegen/recorded_lanes.hpp"
#include "kernels/nary_instructions.hpp"

namespace wengert::codegen {

using kernels::rows::Count;

/// What a number of the graph is as lanes, and the other way round.
template <class Real, class Number>
struct AsLanes;
template <class Real>
struct AsLanes<Real, Value> {
  using V = kernels::Recorded<Real>;
  static V of(Value x) { return V::of({x}); }
  static Value number(V x) { return x.v.id; }
};
template <class Real>
struct AsLanes<Real, DualValue> {
  using Inner = kernels::Recorded<Real>;
  using V = kernels::Dual<Inner>;
  static V of(DualValue x) { return {Inner::of({x.v}), Inner::of({x.d})}; }
  static DualValue number(V x) { return {x.v.v.id, x.d.v.id}; }
};

/// The operands of an n-ary row.
template <class As, class Number>
struct RecordedIo {
  using V = typename As::V;
  const Operands<Number>& operands;
  Number* results;        // written by a value's formula
  Number* contributions;  // by an adjoint's
  std::vector<V>& room;
  bool plain;

  Count n() const { return operands.n; }
  bool ieee() const { return plain; }
  V x(Count i) const { return As::of(operands.x[i]); }
  V y(Count j) const { return As::of(results ? results[j] : operands.y[j]); }
  V g(Count j) const { return As::of(operands.g[j]); }
  void set(Count j, V v) const { results[j] = As::number(v); }
  template <class P>
  void add(Count i, V g, P p) const {
    contributions[i] = As::number(chain(g, p, plain));
  }
  V& scratch(Count i) const { return room[i]; }
};

template <class Row, class As, class Number>
void value_of(const Operands<Number>& o, bool ieee, Number* y) {
  using V = typename As::V;
  if constexpr (Row::arity == 0) {
    std::vector<V> room(o.n);
    kernels::instructions::nary_values<Row, V>(RecordedIo<As, Number>{o, y, nullptr, room, ieee});
  } else {
    const V a = As::of(o.x[0]), b = As::of(o.x[Row::arity > 1 ? 1 : 0]), c = As::of(o.x[Row::arity > 2 ? 2 : 0]);
    y[0] = As::number(kernels::instructions::value_of<Row>(a, b, c, o.no_tie, ieee));
  }
}

template <class Row, int k, class As, class V, class Number>
void contribution_of(V a, V b, V c, V y, V g, V tie, bool ieee, Number* to) {
  if constexpr (k < Row::arity) {
    const auto p = kernels::rows::partial<Row, k>(a, b, c, y, tie);
    if constexpr (!__is_same(decltype(p), const kernels::None)) to[k] = As::number(chain(g, p, ieee));
  }
}

template <class Row, class As, class Number>
void adjoint_of(const Operands<Number>& o, bool ieee, unsigned wanted, Number* to) {
  using V = typename As::V;
  if constexpr (Row::arity == 0) {
    std::vector<V> room(o.n);
    Row::template backward<V>(RecordedIo<As, Number>{o, nullptr, to, room, ieee});
  } else {
    const V a = As::of(o.x[0]), b = As::of(o.x[1]), c = As::of(o.x[2]), y = As::of(o.y[0]), g = As::of(o.g[0]);
    const V tie(o.no_tie ? 0 : typename V::Real(0.5));
    if (wanted & 1) contribution_of<Row, 0, As>(a, b, c, y, g, tie, ieee, to);
    if (wanted & 2) contribution_of<Row, 1, As>(a, b, c, y, g, tie, ieee, to);
    if (wanted & 4) contribution_of<Row, 2, As>(a, b, c, y, g, tie, ieee, to);
  }
}

template <class Real, class Number>
void record_value(Graph& graph, Op op, const Operands<Number>& operands, Number* y) {
  const Recording recording(graph, operands.zero_rule);
  const bool ieee = graph.chain() == Chain::ieee;
  switch (op) {
#define WENGERT_OP1(name, ...) \
  case Op::name: return value_of<kernels::rows::name##_, AsLanes<Real, Number>>(operands, ieee, y);
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
  }
}

template <class Real, class Number>
void record_adjoint(Graph& graph, Op op, const Operands<Number>& operands, unsigned wanted, Number* contributions) {
  const Recording recording(graph, operands.zero_rule);
  const bool ieee = graph.chain() == Chain::ieee;
  switch (op) {
#define WENGERT_OP1(name, ...) \
  case Op::name:               \
    return adjoint_of<kernels::rows::name##_, AsLanes<Real, Number>>(operands, ieee, wanted, contributions);
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
  }
}

}  // namespace wengert::codegen
