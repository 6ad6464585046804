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

#include <utility>

#include "kernels/catalogue.hpp"
#include "kernels/dual.hpp"
#include "kernels/instruction_table.hpp"
#include "kernels/sweeps.hpp"

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

/// f(0), f(1), ... with compile-time indices.
template <Count n, class F>
WENGERT_INLINE void unrolled(F f) {
  [&]<Count... i>(std::integer_sequence<Count, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<Count, i>()), ...);
  }(std::make_integer_sequence<Count, n>());
}

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

/// The words of an adjoint instruction: where each thing is.
template <class Row, unsigned active, unsigned assign>
struct AdjointWords {
  static constexpr unsigned used =
      (active & 1 ? Row::used[0] : 0) | (active & 2 ? Row::used[1] : 0) | (active & 4 ? Row::used[2] : 0);
  static constexpr int before(unsigned mask, unsigned bit) { return __builtin_popcount(mask & (bit - 1)); }
  static constexpr int adjoint = __builtin_popcount(active);
  static constexpr int values = adjoint + 1;  // A, B, C, Y: those used
  static constexpr int sources = values + __builtin_popcount(used & 15);
  static constexpr int tie = sources + __builtin_popcount(active & ~assign);
  static constexpr int count = tie + (used & uses::T ? 1 : 0);

  static constexpr int target(unsigned k) { return before(active, 1u << k); }
  static constexpr int source(unsigned k) { return sources + before(active & ~assign, 1u << k); }
  static constexpr int value(unsigned use) { return values + before(used & 15, use); }
};

/// One vector of the adjoint of a fixed-arity op. `careful`: by chain; else by plain products, and nothing is written if one
/// comes out NaN. Whether it is done.
template <class Row, unsigned active, unsigned assign, class V, bool careful>
struct Adjoint {
  using Real = typename V::Real;
  using Words = AdjointWords<Row, active, assign>;

  template <int k>
  static constexpr bool on = (active >> k & 1) != 0;

  template <int k>
  WENGERT_INLINE static V contribution(V g, V a, V b, V c, V y, V tie, bool ieee) {
    if constexpr (!on<k>) return g;
    else if constexpr (careful) return chain(g, rows::partial<Row, k>(a, b, c, y, tie), ieee);
    else return g * rows::partial<Row, k>(a, b, c, y, tie);
  }
  template <int k>
  WENGERT_INLINE static V with_source(V contribution, Real* const* at, std::size_t w) {
    if constexpr (on<k> && !(assign >> k & 1)) return V::load(at[Words::source(k)] + w) + contribution;
    else return contribution;
  }
  template <int k>
  WENGERT_INLINE static void write(V sum, Real* const* at, std::size_t w) {
    if constexpr (on<k>) sum.store(at[Words::target(k)] + w);
  }

  WENGERT_INLINE static bool run(Real* const* at, V tie, std::size_t w, bool ieee) {
    const V g = V::load(at[Words::adjoint] + w);
    V a(0), b(0), c(0), y(0);
    if constexpr (Words::used & uses::A) a = V::load(at[Words::value(uses::A)] + w);
    if constexpr (Words::used & uses::B) b = V::load(at[Words::value(uses::B)] + w);
    if constexpr (Words::used & uses::C) c = V::load(at[Words::value(uses::C)] + w);
    if constexpr (Words::used & uses::Y) y = V::load(at[Words::value(uses::Y)] + w);
    const V c0 = contribution<0>(g, a, b, c, y, tie, ieee), c1 = contribution<1>(g, a, b, c, y, tie, ieee),
            c2 = contribution<2>(g, a, b, c, y, tie, ieee);
    if constexpr (!careful) {
      auto bad = nan_in_either(on<0> ? c0 : on<1> ? c1 : c2, on<2> ? c2 : on<1> ? c1 : c0);
      if constexpr (active == 7) bad = bad | isnan(c1);
      if (any(bad)) [[unlikely]]
        return false;
    }
    const V s0 = with_source<0>(c0, at, w), s1 = with_source<1>(c1, at, w), s2 = with_source<2>(c2, at, w);
    write<0>(s0, at, w);
    write<1>(s1, at, w);
    write<2>(s2, at, w);
    return true;
  }
};

/// The addresses that an instruction's words name, and its tie.
template <class Row, unsigned active, unsigned assign, class V, bool single>
struct AdjointPlaces {
  using Words = AdjointWords<Row, active, assign>;
  typename V::Real* at[Words::tie];
  V tie;

  WENGERT_INLINE AdjointPlaces(const Slots<V, single>& slots, const std::uint32_t* code) : tie(0) {
    for (int k = 0; k < Words::tie; ++k) at[k] = slots[code[k]];
    if constexpr (Words::used & uses::T) tie = V(code[Words::tie] ? 0 : typename V::Real(0.5));
  }
};

template <class Row, unsigned active, unsigned assign, class V, bool single>
WENGERT_NOINLINE void adjoint_again(const Slots<V, single>& slots, const std::uint32_t* code, std::size_t w, bool ieee) {
  const AdjointPlaces<Row, active, assign, V, single> places(slots, code);
  Adjoint<Row, active, assign, V, true>::run(places.at, places.tie, w, ieee);
}

template <class Row, unsigned active, unsigned assign, class V, bool single>
void adjoint(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  const Slots<V, single> slots(frame);
  for (; count != 0; --count, code += AdjointWords<Row, active, assign>::count) {
    const AdjointPlaces<Row, active, assign, V, single> places(slots, code);
    for (std::size_t w = 0; w < slots.width; w += V::step) {
      if constexpr (is_dual<V>) Adjoint<Row, active, assign, V, true>::run(places.at, places.tie, w, frame.ieee);
      else if (!Adjoint<Row, active, assign, V, false>::run(places.at, places.tie, w, false)) [[unlikely]]
        adjoint_again<Row, active, assign, V, single>(slots, code, w, frame.ieee);
    }
  }
}

// ---- n operands ------------------------------------------------------------------------------------------------------

/// The operands and outputs of an n-ary op, n known: in registers.
template <class V, Count count, Count outputs>
struct Registers {
  V x[count], y[outputs], g[outputs], contribution[count], scratch[count];
};

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

template <class Row, Count n, class V, bool single>
void nary_value(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  constexpr Count m = info(Row::op).outputs(n);
  const Slots<V, single> slots(frame);
  for (; count != 0; --count, code += m + n)
    for (std::size_t w = 0; w < slots.width; w += V::step) {
      Registers<V, n, m> r;
      unrolled<n>([&](auto i) __attribute__((always_inline)) { r.x[i] = V::load(slots[code[m + i]] + w); });
      Row::template forward<V>(RegisterIo<V, std::integral_constant<Count, n>, n, m>{r, {}, true});
      unrolled<m>([&](auto j) __attribute__((always_inline)) { r.y[j].store(slots[code[j]] + w); });
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
WENGERT_NOINLINE void nary_again(const Slots<V, single>& slots, const std::uint32_t* code, Count n, std::size_t w, bool ieee) {
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
template <class Row, Count n, class V, bool single>
WENGERT_INLINE bool nary_part(const Slots<V, single>& slots, const std::uint32_t* code, std::size_t w) {
  constexpr Count m = info(Row::op).outputs(n);
  constexpr NaryWords at = NaryWords::of<Row>(n, m);
  Registers<V, n, m> r;
  const auto get = [&](Count word) __attribute__((always_inline)) { return V::load(slots[code[word]] + w); };
  unrolled<m>([&](auto j) __attribute__((always_inline)) { r.g[j] = get(at.adjoints + j); });
  if constexpr (Row::used[0] & uses::X) unrolled<n>([&](auto i) __attribute__((always_inline)) { r.x[i] = get(at.operands + i); });
  if constexpr (Row::used[0] & uses::Y) unrolled<m>([&](auto j) __attribute__((always_inline)) { r.y[j] = get(at.results + j); });
  Row::template backward<V>(RegisterIo<V, std::integral_constant<Count, n>, n, m>{r, {}, true});
  typename V::Mask bad = nan_in_either(r.contribution[0], r.contribution[n - 1]);
  unrolled<(n - 1) / 2>([&](auto i) __attribute__((always_inline)) {
    bad = bad | nan_in_either(r.contribution[2 * i + 1], r.contribution[2 * i + 2 < n ? 2 * i + 2 : n - 1]);
  });
  if (any(bad)) [[unlikely]]
    return false;
  unrolled<n>([&](auto i) __attribute__((always_inline)) { r.contribution[i] = get(at.sources + i) + r.contribution[i]; });
  unrolled<n>([&](auto i) __attribute__((always_inline)) { r.contribution[i].store(slots[code[i]] + w); });
  return true;
}

template <class Row, Count n, class V, bool single>
void nary_adjoint(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  constexpr NaryWords words = NaryWords::of<Row>(n, info(Row::op).outputs(n));
  const Slots<V, single> slots(frame);
  for (; count != 0; --count, code += words.count)
    for (std::size_t w = 0; w < slots.width; w += V::step) {
      if constexpr (is_dual<V>) nary_again<Row, V, single>(slots, code, n, w, frame.ieee);
      else if (!nary_part<Row, n, V, single>(slots, code, w)) [[unlikely]]
        nary_again<Row, V, single>(slots, code, n, w, frame.ieee);
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
      Row::template forward<V>(ListIo<V, single>{slots, frame.scratch, n, frame.ieee, code + m, code, nullptr, nullptr, nullptr, w});
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
#define WENGERT_OP1(name, ...)     \
  template <>                      \
  struct RowOf<Op::name> {         \
    using type = rows::name##_;    \
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
