// One op at a time, one lane: what eager recording calls, and code that keeps its own graph. Bit for bit the sweeps.
#pragma once

#include "kernels/sweeps.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace eager {

template <class Real>
Real value(Op op, Real a, Real b, Real c) {
  using V = Vec<Real, 1>;
  switch (op) {
#define WENGERT_OP1(name, ...) \
  case Op::name: return rows::name##_::template value<V>(a, b, c).v;
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
    default: return Real(0);
  }
}

template <class V, class P>
WENGERT_INLINE typename V::Real as_real(P p) {
  if constexpr (__is_same(P, One)) return 1;
  else if constexpr (__is_same(P, MinusOne)) return -1;
  else if constexpr (__is_same(P, None)) return 0;
  else return p.v;
}

template <class Row, class V>
WENGERT_NOINLINE void row_partials(V a, V b, V c, V y, V tie, typename V::Real* d) {
  d[0] = as_real<V>(rows::partial<Row, 0>(a, b, c, y, tie));
  if constexpr (Row::arity > 1) d[1] = as_real<V>(rows::partial<Row, 1>(a, b, c, y, tie));
  if constexpr (Row::arity > 2) d[2] = as_real<V>(rows::partial<Row, 2>(a, b, c, y, tie));
}

template <class Real>
void partials(Op op, Real a, Real b, Real c, Real y, Real tie, Real* d) {
  using V = Vec<Real, 1>;
  switch (op) {
#define WENGERT_OP1(name, ...) \
  case Op::name: return row_partials<rows::name##_, V>(a, b, c, y, tie, d);
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
    default: return;
  }
}

/// An n-ary op's operands and outputs where a caller has them.
template <class Real>
struct EagerIo {
  using V = Vec<Real, 1>;
  std::size_t count;
  const Real* operands;
  Real* outputs;
  const Real* seeds;
  Real* contributions;
  Real* room;
  bool plain;

  WENGERT_INLINE rows::Count n() const { return static_cast<rows::Count>(count); }
  WENGERT_INLINE bool ieee() const { return plain; }
  WENGERT_INLINE V x(rows::Count i) const { return operands[i]; }
  WENGERT_INLINE V y(rows::Count j) const { return outputs[j]; }
  WENGERT_INLINE V g(rows::Count j) const { return seeds[j]; }
  WENGERT_INLINE void set(rows::Count j, V v) const { outputs[j] = v.v; }
  template <class P>
  WENGERT_INLINE void add(rows::Count i, V g, P p) const {
    if constexpr (!__is_same(P, None)) contributions[i] = chain(g, p, plain).v;
  }
  WENGERT_INLINE sweeps::Slot<V> scratch(rows::Count i) const { return {room + i}; }
};

template <class Row, class Real>
WENGERT_NOINLINE void row_forward(std::size_t n, const Real* x, Real* y) {
  using V = Vec<Real, 1>;
  if constexpr (Row::arity == 0) Row::template forward<V>(EagerIo<Real>{n, x, y, nullptr, nullptr, nullptr, false});
  else y[0] = Row::template value<V>(x[0], Row::arity > 1 ? x[1] : Real(0), Row::arity > 2 ? x[2] : Real(0)).v;
}

template <class Row, class Real>
WENGERT_NOINLINE void row_backward(std::size_t n, const Real* x, const Real* y, const Real* g, bool constant, bool ieee,
                                   Real* contributions, Real* scratch) {
  using V = Vec<Real, 1>;
  if constexpr (Row::arity == 0) {
    for (std::size_t i = 0; i < n; ++i) contributions[i] = Real(-0.0);
    Row::template backward<V>(EagerIo<Real>{n, x, const_cast<Real*>(y), g, contributions, scratch, ieee});
  } else {
    const V a(x[0]), b(Row::arity > 1 ? x[1] : Real(0)), c(Row::arity > 2 ? x[2] : Real(0)),
        tie(constant ? Real(0) : Real(0.5));
    const auto put = [&](int k, auto p) {
      if constexpr (__is_same(decltype(p), None)) contributions[k] = Real(-0.0);
      else contributions[k] = chain(V(g[0]), p, ieee).v;
    };
    put(0, rows::partial<Row, 0>(a, b, c, V(y[0]), tie));
    if constexpr (Row::arity > 1) put(1, rows::partial<Row, 1>(a, b, c, V(y[0]), tie));
    if constexpr (Row::arity > 2) put(2, rows::partial<Row, 2>(a, b, c, V(y[0]), tie));
  }
}

template <class Real>
void forward_op(Op op, std::size_t n, const Real* x, Real* y) {
  switch (op) {
#define WENGERT_OP1(name, ...) \
  case Op::name: return row_forward<rows::name##_>(n, x, y);
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
  }
}

template <class Real>
void backward_op(Op op, std::size_t n, const Real* x, const Real* y, const Real* g, bool constant_operand, bool ieee,
                 Real* contributions, Real* scratch) {
  switch (op) {
#define WENGERT_OP1(name, ...) \
  case Op::name: return row_backward<rows::name##_>(n, x, y, g, constant_operand, ieee, contributions, scratch);
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
  }
}

}  // namespace eager
}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
