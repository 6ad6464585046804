// Kernels of n-ary ops: in registers where n is small and known, else through memory.
#pragma once

#include "kernels/fixed_instructions.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace instructions {

/// The operands and outputs of an n-ary op, n known: in registers.
template <class V, Count count, Count outputs>
struct Registers {
  V x[count], y[outputs], g[outputs], contribution[count], scratch[count];
};

/// Dual numbers where values alone are asked for.
template <class D, class Io>
struct ValuesOf {
  using V = typename D::Inner;
  struct Place {
    decltype(std::declval<Io>().scratch(0)) place;
    WENGERT_INLINE operator V() const { return static_cast<D>(place).v; }
    WENGERT_INLINE void operator=(V v) { place = D(v, V(0)); }
  };
  Io io;

  WENGERT_INLINE constexpr Count n() const { return io.n(); }
  WENGERT_INLINE bool ieee() const { return io.ieee(); }
  WENGERT_INLINE V x(Count i) const { return static_cast<D>(io.x(i)).v; }
  WENGERT_INLINE V y(Count j) const { return static_cast<D>(io.y(j)).v; }
  WENGERT_INLINE void set(Count j, V v) const { io.set(j, D(v, V(0))); }
  WENGERT_INLINE Place scratch(Count i) const { return {io.scratch(i)}; }
};

/// The sum of tangents times slopes, as the adjoint has them.
template <class D, class Io>
struct TangentOf : ValuesOf<D, Io> {
  using V = typename D::Inner;
  V& sum;

  WENGERT_INLINE V g(Count) const { return V(1); }
  template <class P>
  WENGERT_INLINE void add(Count i, V g, P p) const {
    sum = sum + chain(static_cast<D>(this->io.x(i)).d, chain(g, p, this->ieee()), this->ieee());
  }
};

/// A Jacobian that is symmetric takes tangents as it takes adjoints.
template <class D, class Io>
struct TangentsOf : ValuesOf<D, Io> {
  using V = typename D::Inner;

  WENGERT_INLINE V g(Count j) const { return static_cast<D>(this->io.x(j)).d; }
  template <class P>
  WENGERT_INLINE void add(Count i, V g, P p) const {
    this->io.set(i, D(this->y(i), chain(g, p, this->ieee())));
  }
};

/// The values of an n-ary row. Tangents are by the slopes of its adjoint, which are right at special points and in tails,
/// and not by differentiating how the value is computed.
template <class Row, class V, class Io>
WENGERT_INLINE void nary_values(Io io) {
  if constexpr (!is_dual<V> || Row::op == Op::sincos) {
    Row::template forward<V>(io);
  } else {
    using Inner = typename V::Inner;
    const ValuesOf<V, Io> values{io};
    Row::template forward<Inner>(values);
    if constexpr (info(Row::op).many_outputs) {
      static_assert(Row::op == Op::softmax);
      Row::template backward<Inner>(TangentsOf<V, Io>{values});
    } else {
      Inner sum(typename V::Real(-0.0));
      Row::template backward<Inner>(TangentOf<V, Io>{values, sum});
      io.set(0, V(values.y(0), sum));
    }
  }
}

/// `N`: the number of operands, a constant or a variable.
template <class V, class N, Count most_in, Count most_out>
struct RegisterIo {
  Registers<V, most_in, most_out>& r;
  N count;
  bool plain;

  WENGERT_INLINE constexpr Count n() const { return count; }
  WENGERT_INLINE bool ieee() const { return plain; }
  WENGERT_INLINE V x(Count i) const { return r.x[i]; }
  WENGERT_INLINE V y(Count j) const { return r.y[j]; }
  WENGERT_INLINE V g(Count j) const { return r.g[j]; }
  WENGERT_INLINE void set(Count j, V v) const { r.y[j] = v; }
  template <class P>
  WENGERT_INLINE void add(Count i, V g, P p) const {
    r.contribution[i] = chain(g, p, plain);
  }
  WENGERT_INLINE V& scratch(Count i) const { return r.scratch[i]; }
};

/// The same for any n, in memory.
template <class Row, class V, bool single>
WENGERT_NOINLINE void nary_value_any(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count,
                                     Count n) {
  const Count m = Row::outputs(n);
  const Slots<V, single> slots(frame);
  for (; count != 0; --count, code += m + n)
    for (std::size_t w = 0; w < slots.width; w += V::step) {
      Registers<V, most_operands, most_operands> r{};
      for (Count i = 0; i < n; ++i) r.x[i] = V::load(slots[code[m + i]] + w);
      nary_values<Row, V>(RegisterIo<V, Count, most_operands, most_operands>{r, n, frame.ieee});
      for (Count j = 0; j < m; ++j) r.y[j].store(slots[code[j]] + w);
    }
}

template <class Row, Count n, class V, bool single>
void nary_value(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  if constexpr (is_dual<V>) {
    nary_value_any<Row, V, single>(frame, code, count, n);
  } else {
    constexpr Count m = info(Row::op).outputs(n);
    const Slots<V, single> slots(frame);
    for (; count != 0; --count, code += m + n) {
      const Addresses<V, m + n> at(slots, code, m + n);
      for (std::size_t w = 0; w < slots.width; w += V::step) {
        Registers<V, n, m> r;
        unrolled<n>([&](auto i) __attribute__((always_inline)) { r.x[i] = at.load(m + i, w); });
        Row::template forward<V>(RegisterIo<V, std::integral_constant<Count, n>, n, m>{r, {}, true});
        unrolled<m>([&](auto j) __attribute__((always_inline)) { at.store(j, w, r.y[j]); });
      }
    }
  }
}

/// Where each thing is among the words of an n-ary op's adjoint.
struct NaryWords {
  Count n, m, adjoints, operands, results, sources, count;

  template <class Row>
  WENGERT_INLINE static constexpr NaryWords of(Count n, Count m) {
    const Count operands = n + m, results = operands + (Row::used[0] & uses::X ? n : 0),
                sources = results + (Row::used[0] & uses::Y ? m : 0);
    return {n, m, n, operands, results, sources, sources + n};
  }
};

/// By chain: the same for any n, in memory.
template <class Row, class V, bool single>
WENGERT_NOINLINE void nary_again(const Slots<V, single>& slots, const std::uint32_t* code, Count n, std::size_t w,
                                 bool ieee) {
  const NaryWords at = NaryWords::of<Row>(n, Row::outputs(n));
  Registers<V, most_operands, most_operands> r{};
  const auto get = [&](Count word) __attribute__((always_inline)) { return V::load(slots[code[word]] + w); };
  for (Count j = 0; j < at.m; ++j) r.g[j] = get(at.adjoints + j);
  if constexpr (Row::used[0] & uses::X)
    for (Count i = 0; i < n; ++i) r.x[i] = get(at.operands + i);
  if constexpr (Row::used[0] & uses::Y)
    for (Count j = 0; j < at.m; ++j) r.y[j] = get(at.results + j);
  Row::template backward<V>(RegisterIo<V, Count, most_operands, most_operands>{r, n, ieee});
  for (Count i = 0; i < n; ++i) r.contribution[i] = get(at.sources + i) + r.contribution[i];
  for (Count i = 0; i < n; ++i) r.contribution[i].store(slots[code[i]] + w);
}

/// By plain products. Writes nothing if a contribution comes out NaN. Whether it is done.
template <class Row, Count n, class V, int most>
WENGERT_INLINE bool nary_part(const Addresses<V, most>& at, std::size_t w) {
  constexpr Count m = info(Row::op).outputs(n);
  constexpr NaryWords words = NaryWords::of<Row>(n, m);
  Registers<V, n, m> r;
  unrolled<m>([&](auto j) __attribute__((always_inline)) { r.g[j] = at.load(words.adjoints + j, w); });
  if constexpr (Row::used[0] & uses::X)
    unrolled<n>([&](auto i) __attribute__((always_inline)) { r.x[i] = at.load(words.operands + i, w); });
  if constexpr (Row::used[0] & uses::Y)
    unrolled<m>([&](auto j) __attribute__((always_inline)) { r.y[j] = at.load(words.results + j, w); });
  Row::template backward<V>(RegisterIo<V, std::integral_constant<Count, n>, n, m>{r, {}, true});
  typename V::Mask bad = nan_in_either(r.contribution[0], r.contribution[n - 1]);
  unrolled<(n - 1) / 2>([&](auto i) __attribute__((always_inline)) {
    bad = bad | nan_in_either(r.contribution[2 * i + 1], r.contribution[2 * i + 2 < n ? 2 * i + 2 : n - 1]);
  });
  if (zero_rule && any(bad)) [[unlikely]]
    return false;
  unrolled<n>([&](auto i) __attribute__((always_inline)) {
    r.contribution[i] = at.load(words.sources + i, w) + r.contribution[i];
  });
  unrolled<n>([&](auto i) __attribute__((always_inline)) { at.store(i, w, r.contribution[i]); });
  return true;
}

template <class Row, Count n, class V, bool single>
void nary_adjoint(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  constexpr NaryWords words = NaryWords::of<Row>(n, info(Row::op).outputs(n));
  const Slots<V, single> slots(frame);
  for (; count != 0; --count, code += words.count) {
    if constexpr (is_dual<V>) {
      for (std::size_t w = 0; w < slots.width; w += V::step) nary_again<Row, V, single>(slots, code, n, w, frame.ieee);
    } else {
      const Addresses<V, words.count> at(slots, code, words.count);
      for (std::size_t w = 0; w < slots.width; w += V::step)
        if (!nary_part<Row, n, V>(at, w)) [[unlikely]]
          nary_again<Row, V, single>(slots, code, n, w, frame.ieee);
    }
  }
}

/// Any number of operands: lists of slots.
template <class V, bool single>
struct ListIo {
  const Slots<V, single>& slots;
  typename V::Real* room;  // slots of one vector
  Count count;
  bool plain;
  const std::uint32_t *operands, *outputs, *adjoints, *targets, *sources;
  std::size_t w;

  WENGERT_INLINE Count n() const { return count; }
  WENGERT_INLINE bool ieee() const { return plain; }
  WENGERT_INLINE V x(Count i) const { return V::load(slots[operands[i]] + w); }
  WENGERT_INLINE V y(Count j) const { return V::load(slots[outputs[j]] + w); }
  WENGERT_INLINE V g(Count j) const { return V::load(slots[adjoints[j]] + w); }
  WENGERT_INLINE void set(Count j, V v) const { v.store(slots[outputs[j]] + w); }
  template <class P>
  WENGERT_INLINE void add(Count i, V g, P p) const {
    (V::load(slots[sources[i]] + w) + chain(g, p, plain)).store(slots[targets[i]] + w);
  }
  WENGERT_INLINE sweeps::Slot<V> scratch(Count i) const { return {room + std::size_t(i) * V::step}; }
};

template <class Row, class V, bool single>
void list_value(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  const Slots<V, single> slots(frame);
  for (; count != 0; --count) {
    const Count n = *code++, m = Row::outputs(n);
    for (std::size_t w = 0; w < slots.width; w += V::step)
      nary_values<Row, V>(
          ListIo<V, single>{slots, frame.scratch, n, frame.ieee, code + m, code, nullptr, nullptr, nullptr, w});
    code += m + n;
  }
}

template <class Row, class V, bool single>
void list_adjoint(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  const Slots<V, single> slots(frame);
  for (; count != 0; --count) {
    const Count n = *code++, m = Row::outputs(n);
    const NaryWords at = NaryWords::of<Row>(n, m);
    for (std::size_t w = 0; w < slots.width; w += V::step)
      Row::template backward<V>(ListIo<V, single>{slots, frame.scratch, n, frame.ieee, code + at.operands,
                                                  code + at.results, code + at.adjoints, code, code + at.sources, w});
    code += at.count;
  }
}

}  // namespace instructions
}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
