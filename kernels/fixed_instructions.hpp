// Kernels of ops of fixed arity: values, and adjoints of one place for any set of operands. What they share with those of n-ary
// ops: Slots, Addresses.
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

}  // namespace instructions
}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
