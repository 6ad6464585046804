// The op table instantiated over recorded lanes. As the kernels of the baseline: nothing here computes with the numbers of
// a program.
#include "codegen/record.hpp"

#include <vector>

#include "codegen/recorded_lanes.hpp"
#include "kernels/table.hpp"

namespace wengert::codegen {

thread_local const Recording* Recording::current_ = nullptr;

namespace {

using kernels::Recorded;
using kernels::rows::Count;

template <class V>
V of(Value value) {
  return V::of({value});
}

/// The operands of an n-ary row.
template <class V>
struct RecordedIo {
  const Operands& operands;
  Value* results;        // written by a value's formula
  Value* contributions;  // by an adjoint's
  std::vector<V>& room;

  Count n() const { return operands.n; }
  bool ieee() const { return true; }
  V x(Count i) const { return of<V>(operands.x[i]); }
  V y(Count j) const { return of<V>(results ? results[j] : operands.y[j]); }
  V g(Count j) const { return of<V>(operands.g[j]); }
  void set(Count j, V v) const { results[j] = v.v.id; }
  template <class P>
  void add(Count i, V g, P p) const {
    contributions[i] = chain(g, p, true).v.id;
  }
  V& scratch(Count i) const { return room[i]; }
};

template <class Row, class V>
void value_of(const Operands& o, Value* y) {
  if constexpr (Row::arity == 0) {
    std::vector<V> room(o.n);
    Row::template forward<V>(RecordedIo<V>{o, y, nullptr, room});
  } else {
    const V a = of<V>(o.x[0]), b = of<V>(o.x[Row::arity > 1 ? 1 : 0]), c = of<V>(o.x[Row::arity > 2 ? 2 : 0]);
    y[0] = Row::value(a, b, c).v.id;
  }
}

template <class Row, int k, class V>
void contribution_of(V a, V b, V c, V y, V g, V tie, Value* to) {
  if constexpr (k < Row::arity) {
    const auto p = kernels::rows::partial<Row, k>(a, b, c, y, tie);
    if constexpr (!__is_same(decltype(p), const kernels::None)) to[k] = chain(g, p, true).v.id;
  }
}

template <class Row, class V>
void adjoint_of(const Operands& o, unsigned wanted, Value* to) {
  if constexpr (Row::arity == 0) {
    std::vector<V> room(o.n);
    Row::template backward<V>(RecordedIo<V>{o, nullptr, to, room});
  } else {
    const V a = of<V>(o.x[0]), b = of<V>(o.x[1]), c = of<V>(o.x[2]), y = of<V>(o.y[0]), g = of<V>(o.g[0]);
    const V tie(o.no_tie ? 0 : typename V::Real(0.5));
    if (wanted & 1) contribution_of<Row, 0>(a, b, c, y, g, tie, to);
    if (wanted & 2) contribution_of<Row, 1>(a, b, c, y, g, tie, to);
    if (wanted & 4) contribution_of<Row, 2>(a, b, c, y, g, tie, to);
  }
}

}  // namespace

template <class Real>
void record_value(Graph& graph, Op op, const Operands& operands, Value* y) {
  const Recording recording(graph);
  using V = Recorded<Real>;
  switch (op) {
#define WENGERT_OP1(name, ...) \
  case Op::name: return value_of<kernels::rows::name##_, V>(operands, y);
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
  }
}

template <class Real>
void record_adjoint(Graph& graph, Op op, const Operands& operands, unsigned wanted, Value* contributions) {
  const Recording recording(graph, operands.zero_rule);
  using V = Recorded<Real>;
  switch (op) {
#define WENGERT_OP1(name, ...) \
  case Op::name: return adjoint_of<kernels::rows::name##_, V>(operands, wanted, contributions);
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
  }
}

template void record_value<double>(Graph&, Op, const Operands&, Value*);
template void record_value<float>(Graph&, Op, const Operands&, Value*);
template void record_adjoint<double>(Graph&, Op, const Operands&, unsigned, Value*);
template void record_adjoint<float>(Graph&, Op, const Operands&, unsigned, Value*);

}  // namespace wengert::codegen
