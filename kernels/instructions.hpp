// The kernels of the catalogue over lanes: each runs a stretch of instructions of its kind, over all lanes of their slots.
//
// A kernel reads all that it needs of a place before it writes there, so a slot that it reads for the last time may be one
// that it writes.
//
// Products of adjoints and partials: a plain product is what chain says unless it is NaN. So a kernel multiplies, looks
// once whether any contribution came out NaN, and only then does that vector over with chain. An n-ary row's contributions
// must show a NaN inside: where a product of an adjoint in it is NaN, so is some contribution. Dual numbers go through chain
// at once.
#pragma once

#include "kernels/catalogue.hpp"
#include "kernels/dual.hpp"
#include "kernels/instruction_table.hpp"
#include "kernels/sweeps.hpp"
#include "kernels/unrolled.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace instructions {

using rows::Count;

/// The workspace as a kernel sees it. `single`: slots of one lane, known at compile time.
template <class V, bool single>
struct Slots {
  using Real = typename V::Real;
  Real* base;
  std::size_t width;

  WENGERT_INLINE explicit Slots(const Frame<Real>& frame) : base(frame.slots), width(single ? V::step : frame.width) {}
  WENGERT_INLINE Real* operator[](std::uint32_t slot) const { return base + std::size_t(slot) * width; }
};

/// The value of a fixed-arity row. Its tangent depends on ties.
template <class Row, class V>
WENGERT_INLINE V value_of(V a, V b, V c, [[maybe_unused]] bool no_tie, [[maybe_unused]] bool ieee) {
  if constexpr (is_dual<V>)
    return dual_value<Row>(a, b, c, typename V::Inner(no_tie ? 0 : typename V::Real(0.5)), ieee);
  else return Row::value(a, b, c);
}

// ---- fixed arity -----------------------------------------------------------------------------------------------------

template <class Row, class V, bool single>
void value(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  constexpr bool ties = ((Row::used[0] | Row::used[1] | Row::used[2]) & uses::T) != 0;
  const Slots<V, single> slots(frame);
  for (; count != 0; --count, code += 1 + Row::arity + ties) {
    auto* const y = slots[code[0]];
    const auto* const a = slots[code[1]];
    const auto* const b = Row::arity > 1 ? slots[code[Row::arity > 1 ? 2 : 1]] : a;
    const auto* const c = Row::arity > 2 ? slots[code[Row::arity > 2 ? 3 : 1]] : a;
    for (std::size_t w = 0; w < slots.width; w += V::step) {
      const V x0 = V::load(a + w);
      V x1 = x0, x2 = x0;
      if constexpr (Row::arity > 1) x1 = V::load(b + w);
      if constexpr (Row::arity > 2) x2 = V::load(c + w);
      value_of<Row>(x0, x1, x2, ties && code[1 + Row::arity] != 0, frame.ieee).store(y + w);
    }
  }
}

/// Where each thing is among the words of an adjoint instruction. Constants where the masks are.
template <class Row>
struct AdjointWords {
  unsigned active, assign;

  static constexpr int before(unsigned mask, unsigned bit) { return __builtin_popcount(mask & (bit - 1)); }
  constexpr unsigned used() const {
    return (active & 1 ? Row::used[0] : 0) | (active & 2 ? Row::used[1] : 0) | (active & 4 ? Row::used[2] : 0);
  }
  constexpr int target(unsigned k) const { return before(active, 1u << k); }
  constexpr int adjoint() const { return __builtin_popcount(active); }
  constexpr int value(unsigned use) const { return adjoint() + 1 + before(used() & 15, use); }
  constexpr int source(unsigned k) const {
    return adjoint() + 1 + __builtin_popcount(used() & 15) + before(active & ~assign, 1u << k);
  }
  constexpr int tie() const { return source(3); }
  constexpr int count() const { return tie() + (used() & uses::T ? 1 : 0); }
};

/// The addresses that an instruction's words name. `most`: how many words can be.
template <class V, int most>
struct Addresses {
  typename V::Real* p[most];

  template <bool single>
  WENGERT_INLINE Addresses(const Slots<V, single>& slots, const std::uint32_t* code, int words) {
    for (int k = 0; k < words; ++k) p[k] = slots[code[k]];
  }
  WENGERT_INLINE V load(int word, std::size_t w) const { return V::load(p[word] + w); }
  WENGERT_INLINE void store(int word, std::size_t w, V v) const { v.store(p[word] + w); }
};
inline constexpr int most_words = 3 + 1 + 4 + 3;

/// What the adjoint of one place is made of.
template <class V>
struct AdjointOperands {
  V g, a, b, c, y, tie;
};

template <class Row, class V, int most>
WENGERT_INLINE AdjointOperands<V> load_operands(AdjointWords<Row> words, const Addresses<V, most>& at, V tie,
                                                std::size_t w) {
  constexpr unsigned all = Row::used[0] | Row::used[1] | Row::used[2];
  AdjointOperands<V> x{at.load(words.adjoint(), w), V(0), V(0), V(0), V(0), tie};
  const unsigned used = words.used();
  if ((all & uses::A) && (used & uses::A)) x.a = at.load(words.value(uses::A), w);
  if ((all & uses::B) && (used & uses::B)) x.b = at.load(words.value(uses::B), w);
  if ((all & uses::C) && (used & uses::C)) x.c = at.load(words.value(uses::C), w);
  if ((all & uses::Y) && (used & uses::Y)) x.y = at.load(words.value(uses::Y), w);
  return x;
}

template <class Row, int k, class V>
WENGERT_INLINE auto partial_of(const AdjointOperands<V>& x) {
  return rows::partial<Row, k>(x.a, x.b, x.c, x.y, x.tie);
}

/// Operand k's adjoint so far, if there is one, and a contribution.
template <int k, class Row, class V, int most>
WENGERT_INLINE V with_source(AdjointWords<Row> words, const Addresses<V, most>& at, std::size_t w, V contribution) {
  if ((words.active & ~words.assign) >> k & 1) return at.load(words.source(k), w) + contribution;
  return contribution;
}

/// One vector by chain, for any masks.
template <class Row, class V, int most>
WENGERT_INLINE void adjoint_by_chain(AdjointWords<Row> words, const Addresses<V, most>& at, V tie, std::size_t w,
                                     bool ieee) {
  const AdjointOperands<V> x = load_operands(words, at, tie, w);
  V sum[3] = {x.g, x.g, x.g};
  unrolled<Row::arity>([&](auto k) __attribute__((always_inline)) {
    if (!(words.active >> k & 1)) return;
    const auto p = partial_of<Row, k>(x);
    if constexpr (!__is_same(decltype(p), const None)) sum[k] = with_source<k>(words, at, w, chain(x.g, p, ieee));
  });
  unrolled<Row::arity>([&](auto k) __attribute__((always_inline)) {
    if (words.active >> k & 1) at.store(words.target(k), w, sum[k]);
  });
}

template <class Row, class V>
WENGERT_INLINE V tie_of(AdjointWords<Row> words, const std::uint32_t* code) {
  constexpr unsigned all = Row::used[0] | Row::used[1] | Row::used[2];
  if ((all & uses::T) && (words.used() & uses::T)) return V(code[words.tie()] ? 0 : typename V::Real(0.5));
  return V(0);
}

/// One vector over again.
template <class Row, class V, bool single>
WENGERT_NOINLINE void adjoint_again(AdjointWords<Row> words, const Slots<V, single>& slots, const std::uint32_t* code,
                                    std::size_t w, bool ieee) {
  const Addresses<V, most_words> at(slots, code, words.tie());
  adjoint_by_chain(words, at, tie_of<Row, V>(words, code), w, ieee);
}

/// One function for all masks: for what isn't cheap, and for dual numbers.
template <class Row, class V, bool single>
WENGERT_NOINLINE void adjoint_masked(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count,
                                     AdjointWords<Row> words) {
  const Slots<V, single> slots(frame);
  const auto step = static_cast<std::size_t>(words.count());
  for (; count != 0; --count, code += step) {
    const Addresses<V, most_words> at(slots, code, words.tie());
    const V tie = tie_of<Row, V>(words, code);
    for (std::size_t w = 0; w < slots.width; w += V::step) adjoint_by_chain(words, at, tie, w, frame.ieee);
  }
}

template <class Row, unsigned active, unsigned assign, class V, bool single>
void adjoint(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  constexpr AdjointWords<Row> words{active, assign};
  if constexpr (is_dual<V> || !assigns(Row::op)) {
    adjoint_masked<Row, V, single>(frame, code, count, words);
  } else {
    static_assert(!(active & 4));
    const Slots<V, single> slots(frame);
    for (; count != 0; --count, code += words.count()) {
      const Addresses<V, words.tie()> at(slots, code, words.tie());
      const V tie = tie_of<Row, V>(words, code);
      for (std::size_t w = 0; w < slots.width; w += V::step) {
        const AdjointOperands<V> x = load_operands(words, at, tie, w);
        V c0 = x.g, c1 = x.g;
        if constexpr (active & 1) c0 = x.g * partial_of<Row, 0>(x);
        if constexpr (active & 2) c1 = x.g * partial_of<Row, 1>(x);
        if (any(nan_in_either(active & 1 ? c0 : c1, active & 2 ? c1 : c0))) [[unlikely]] {
          adjoint_again(words, slots, code, w, frame.ieee);
          continue;
        }
        c0 = with_source<0>(words, at, w, c0);
        c1 = with_source<1>(words, at, w, c1);
        if constexpr (active & 1) at.store(words.target(0), w, c0);
        if constexpr (active & 2) at.store(words.target(1), w, c1);
      }
    }
  }
}

// ---- n operands ------------------------------------------------------------------------------------------------------

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

// ---- the table -------------------------------------------------------------------------------------------------------

template <Op op>
struct RowOf;
#define WENGERT_OP1(name, ...)  \
  template <>                   \
  struct RowOf<Op::name> {      \
    using type = rows::name##_; \
  };
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"

template <class V, bool single, std::size_t number>
constexpr Instruction<typename V::Real> instruction() {
  constexpr Kind kind = catalogue[number];
  using Row = typename RowOf<kind.op>::type;
  if constexpr (Row::arity != 0) {
    if constexpr (kind.adjoint) return adjoint<Row, kind.active, kind.assign, V, single>;
    else return value<Row, V, single>;
  } else if constexpr (kind.n == 0) {
    if constexpr (kind.adjoint) return list_adjoint<Row, V, single>;
    else return list_value<Row, V, single>;
  } else {
    if constexpr (kind.adjoint) return nary_adjoint<Row, kind.n, V, single>;
    else return nary_value<Row, kind.n, V, single>;
  }
}

template <class V, bool single>
constexpr InstructionTable<typename V::Real> make_table() {
  return [&]<std::size_t... number>(std::index_sequence<number...>) {
    return InstructionTable<typename V::Real>{{instruction<V, single, number>()...}};
  }(std::make_index_sequence<kind_count>());
}

}  // namespace instructions
}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
