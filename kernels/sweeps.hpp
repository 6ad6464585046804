// What a sweep does at one op: its value, or what its backward adds to the adjoints of its operands, `width` evaluations at a
// time. One text for the scalar tape (width 1, known at compile time) and for blocks of lanes.
#pragma once

#include "kernels/backend.hpp"
#include "kernels/table.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace sweeps {

using rows::Count;

template <class V>
using Reals = Sweep<typename V::Real>;

/// The width as the loops see it: a constant 1 for the scalar tape.
template <class V, bool single>
WENGERT_INLINE std::size_t width(const Reals<V>& s) {
  if constexpr (single) return 1;
  else return s.width;
}

/// What a tie's slope is for this record: 1/2, but 0 against a constant.
template <class V>
WENGERT_INLINE V tie(const OpRecord& record) {
  return V(record.constants ? 0 : typename V::Real(0.5));
}

template <class Row, class V, bool single>
WENGERT_INLINE void forward_fixed(const Reals<V>& s, const OpRecord& r) {
  const std::size_t W = width<V, single>(s);
  typename V::Real* const y = s.values + r.out * W;
  const typename V::Real* const a = s.values + r.a * W;
  const typename V::Real* const b = Row::arity > 1 ? s.values + r.b * W : a;
  const typename V::Real* const c = Row::arity > 2 ? s.values + r.c * W : a;
  for (std::size_t w = 0; w < W; w += V::lanes) {
    const V x0 = V::load(a + w);
    V x1 = x0, x2 = x0;
    if constexpr (Row::arity > 1) x1 = V::load(b + w);
    if constexpr (Row::arity > 2) x2 = V::load(c + w);
    Row::value(x0, x1, x2).store(y + w);
  }
}

/// adjoint += chain(g, p), where there is a derivative at all.
template <class V, class P>
WENGERT_INLINE void contribute(typename V::Real* adjoint, V g, P p, bool ieee) {
  if constexpr (!__is_same(P, None)) (V::load(adjoint) + chain(g, p, ieee)).store(adjoint);
}

template <class Row, class V, bool single>
WENGERT_INLINE void backward_fixed(const Reals<V>& s, const OpRecord& r) {
  constexpr unsigned used = Row::used[0] | Row::used[1] | Row::used[2];
  using Real = typename V::Real;
  const std::size_t W = width<V, single>(s);
  // Places first: a vector store may alias anything, so inside the loop they would be computed again.
  const Real *const va = s.values + r.a * W, *const vb = s.values + r.b * W, *const vc = s.values + r.c * W,
                    *const vy = s.values + r.out * W, *const gy = s.adjoints + r.out * W;
  Real *const ga = s.adjoints + r.a * W, *const gb = s.adjoints + r.b * W, *const gc = s.adjoints + r.c * W;
  const bool ieee = s.ieee;
  const V half = tie<V>(r);
  for (std::size_t w = 0; w < W; w += V::lanes) {
    const V g = V::load(gy + w);
    V x0(0), x1(0), x2(0), y(0);
    if constexpr (used & uses::A) x0 = V::load(va + w);
    if constexpr (used & uses::B) x1 = V::load(vb + w);
    if constexpr (used & uses::C) x2 = V::load(vc + w);
    if constexpr (used & uses::Y) y = V::load(vy + w);
    const auto p0 = rows::partial<Row, 0>(x0, x1, x2, y, half);
    const auto p1 = rows::partial<Row, 1>(x0, x1, x2, y, half);
    const auto p2 = rows::partial<Row, 2>(x0, x1, x2, y, half);
    contribute(ga + w, g, p0, ieee);
    contribute(gb + w, g, p1, ieee);
    contribute(gc + w, g, p2, ieee);
  }
}

/// A slot that reads and writes like a V.
template <class V>
struct Slot {
  typename V::Real* p;
  WENGERT_INLINE operator V() const { return V::load(p); }
  WENGERT_INLINE void operator=(V v) const { v.store(p); }
};
template <class V>
WENGERT_INLINE V operator*(V a, Slot<V> b) {
  return a * static_cast<V>(b);
}

/// The operands and outputs of an n-ary op at one place of the block. By value, and with the number of operands known at
/// compile time where it is small (`fixed` > 0): then loops unroll and all places stay in registers.
template <class V, Count fixed>
struct NaryIo {
  using Real = typename V::Real;
  const Id* operands;
  Real *values, *adjoints, *room;  // at lane w of slot 0
  Count count;
  Id out;
  std::size_t W;
  bool plain;

  WENGERT_INLINE Count n() const {
    if constexpr (fixed > 0) return fixed;
    else return count;
  }
  WENGERT_INLINE bool ieee() const { return plain; }
  WENGERT_INLINE V x(Count i) const { return V::load(values + operands[i] * W); }
  WENGERT_INLINE V y(Count j) const { return V::load(values + (out + j) * W); }
  WENGERT_INLINE V g(Count j) const { return V::load(adjoints + (out + j) * W); }
  WENGERT_INLINE void set(Count j, V v) const { v.store(values + (out + j) * W); }
  template <class P>
  WENGERT_INLINE void add(Count i, V g, P p) const {
    contribute(adjoints + operands[i] * W, g, p, plain);
  }
  WENGERT_INLINE Slot<V> scratch(Count i) const { return {room + i * W}; }
};

template <class Row, class V, bool single, bool forward, Count fixed>
WENGERT_INLINE void nary_of(const Reals<V>& s, const OpRecord& r) {
  const std::size_t W = width<V, single>(s);
  Id ids[fixed > 0 ? fixed : 1];
  const Id* operands = s.operands + r.a;
  if constexpr (fixed > 0) {
    for (Count i = 0; i < fixed; ++i) ids[i] = operands[i];
    operands = ids;
  }
  for (std::size_t w = 0; w < W; w += V::lanes) {
    const NaryIo<V, fixed> io{operands, s.values + w, s.adjoints + w, s.scratch + w, r.b, r.out, W, s.ieee};
    if constexpr (forward) Row::template forward<V>(io);
    else Row::template backward<V>(io);
  }
}

template <class Row, class V, bool single, bool forward>
WENGERT_INLINE void nary(const Reals<V>& s, const OpRecord& r) {
  switch (r.b) {
    case 2: return nary_of<Row, V, single, forward, 2>(s, r);
    case 3: return nary_of<Row, V, single, forward, 3>(s, r);
    case 4: return nary_of<Row, V, single, forward, 4>(s, r);
    default: return nary_of<Row, V, single, forward, 0>(s, r);
  }
}

template <class Row, class V, bool single, bool forward>
WENGERT_INLINE void step(const Reals<V>& s, const OpRecord& r) {
  if constexpr (Row::arity == 0) nary<Row, V, single, forward>(s, r);
  else if constexpr (forward) forward_fixed<Row, V, single>(s, r);
  else backward_fixed<Row, V, single>(s, r);
}

}  // namespace sweeps
}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
