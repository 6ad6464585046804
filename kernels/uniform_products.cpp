// Compiled once per instruction set, as backend.cpp: products with uniform factors.
#include "kernels/uniform_products.hpp"

#include "kernels/chain.hpp"
#include "kernels/leaf.hpp"
#include "kernels/unrolled.hpp"
#include "kernels/widths.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace uniform_products {

template <class Real>
WENGERT_INLINE Real* slot_of(const Frame<Real>& frame, std::uint32_t slot) {
  return frame.slots + std::size_t(slot) * frame.width;
}

/// As many vectors as have sums in registers at a time.
inline constexpr std::size_t sums_at_once = 8;

/// So many vectors of one dot, from lane w on.
template <Lane V, std::size_t vectors>
WENGERT_INLINE void dot_part(const Frame<typename V::Real>& frame, const std::uint32_t* word, std::size_t terms,
                             std::size_t w) {
  const auto uniform = [&](std::size_t term) __attribute__((always_inline)) {
    return V(*slot_of(frame, word[1 + term]));
  };
  const auto factor = [&](std::size_t term) __attribute__((always_inline)) {
    return slot_of(frame, word[1 + terms + term]) + w;
  };
  V sum[vectors];
  unrolled<vectors>([&](auto k)
                        __attribute__((always_inline)) { sum[k] = uniform(0) * V::load(factor(0) + k * V::lanes); });
  for (std::size_t term = 1; term < terms; ++term) {
    const V l = uniform(term);
    const typename V::Real* const x = factor(term);
    unrolled<vectors>([&](auto k)
                          __attribute__((always_inline)) { sum[k] = fma(l, V::load(x + k * V::lanes), sum[k]); });
  }
  typename V::Real* const to = slot_of(frame, word[0]) + w;
  unrolled<vectors>([&](auto k) __attribute__((always_inline)) { sum[k].store(to + k * V::lanes); });
}

template <Lane V>
void dots(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  constexpr std::size_t part = sums_at_once * V::lanes;
  for (; count != 0; --count) {
    const std::size_t operands = *code++;
    std::size_t w = 0;
    for (; w + part <= frame.width; w += part) dot_part<V, sums_at_once>(frame, code, operands / 2, w);
    for (; w < frame.width; w += V::lanes) dot_part<V, 1>(frame, code, operands / 2, w);
    code += 1 + operands;
  }
}

/// Products are what chain says unless they are NaN (kernels/instructions.hpp). So many lanes of a leaf by chain, of which the first
/// `samples` count: their share.
template <Lane V, bool both>
WENGERT_NOINLINE typename V::Real by_chain(const typename V::Real* adjoint, const typename V::Real* x, V uniform,
                                           const typename V::Real* so_far, typename V::Real* target, bool ieee,
                                           std::size_t lanes, std::size_t samples) {
  typename V::Real shares[leaf_samples];
  for (std::size_t w = 0; w < lanes; w += V::lanes) {
    const V g = V::load(adjoint + w);
    chain(g, V::load(x + w), ieee).store(shares + w);
    if constexpr (both) (V::load(so_far + w) + chain(g, uniform, ieee)).store(target + w);
  }
  for (std::size_t k = samples; k < leaf_samples; ++k) shares[k] = typename V::Real(-0.0);
  return sum_of_leaf<V>(shares);
}

/// Where the numbers of a term lie, from lane `leaf` on.
template <class V, bool both>
struct Term {
  using Real = typename V::Real;
  const Real *adjoint, *x, *so_far;
  Real* target;
  V uniform;

  WENGERT_INLINE Term(const Frame<Real>& frame, const std::uint32_t* word, std::size_t leaf)
      : adjoint(slot_of(frame, word[both ? 2 : 1]) + leaf),
        x(slot_of(frame, word[both ? 4 : 2]) + leaf),
        so_far(both ? slot_of(frame, word[both ? 5 : 0]) + leaf : nullptr),
        target(both ? slot_of(frame, word[both ? 1 : 0]) + leaf : nullptr),
        uniform(both ? V(*slot_of(frame, word[both ? 3 : 0])) : V(0)) {}
  WENGERT_INLINE Real by_chain(bool ieee, std::size_t lanes, std::size_t samples) const {
    return uniform_products::by_chain<V, both>(adjoint, x, uniform, so_far, target, ieee, lanes, samples);
  }
};

template <Lane V, bool both>
WENGERT_INLINE void whole_leaf(const Frame<typename V::Real>& frame, const std::uint32_t* word, std::size_t count,
                               typename V::Real* sums, std::size_t leaf) {
  using Real = typename V::Real;
  const Real* const adjoint = Term<V, both>(frame, word, leaf).adjoint;
  V g[leaf_vectors<V>];
  each_vector<leaf_vectors<V>>([&](auto k) __attribute__((always_inline)) { g[k] = V::load(adjoint + k * V::lanes); });
  for (std::size_t term = 0; term < count; ++term, word += uniform_product_words(both)) {
    const Term<V, both> at(frame, word, leaf);
    V share[leaf_vectors<V>];
    typename V::Mask bad = V(0) != V(0);
    each_vector<leaf_vectors<V>>([&](auto k) __attribute__((always_inline)) {
      const std::size_t w = k * V::lanes;
      share[k] = g[k] * V::load(at.x + w);
      const V other = both ? g[k] * at.uniform : share[k];
      bad = bad | nan_in_either(share[k], other);
      if constexpr (both) (V::load(at.so_far + w) + other).store(at.target + w);
    });
    Real sum = sum_of_leaf<V>(share);
    if (zero_rule && any(bad)) [[unlikely]]
      sum = at.by_chain(frame.ieee, leaf_samples, leaf_samples);  // nothing that it reads was written
    if (sums) sums[term] += sum;
  }
}

template <Lane V, bool both>
WENGERT_INLINE void run_leaves(const Frame<typename V::Real>& frame, const std::uint32_t* terms, std::size_t count,
                               typename V::Real* sums, std::size_t samples) {
  std::size_t leaf = 0;
  for (; leaf + leaf_samples <= samples; leaf += leaf_samples) whole_leaf<V, both>(frame, terms, count, sums, leaf);
  for (; leaf < frame.width; leaf += leaf_samples) {
    const std::size_t here = frame.width - leaf, lanes = here < leaf_samples ? here : leaf_samples;
    const std::uint32_t* word = terms;
    for (std::size_t term = 0; term < count; ++term, word += uniform_product_words(both)) {
      const typename V::Real sum =
          Term<V, both>(frame, word, leaf).by_chain(frame.ieee, lanes, samples > leaf ? samples - leaf : 0);
      if (sums) sums[term] += sum;
    }
  }
}

template <Lane V>
void run(const Frame<typename V::Real>& frame, const std::uint32_t* terms, std::size_t count, bool both,
         typename V::Real* sums, std::size_t samples) {
  if (both) run_leaves<V, true>(frame, terms, count, sums, samples);
  else run_leaves<V, false>(frame, terms, count, sums, samples);
}

}  // namespace uniform_products
}  // namespace WENGERT_ISA

#define WENGERT_JOIN_(a, b) a##b
#define WENGERT_JOIN(a, b) WENGERT_JOIN_(a, b)

const UniformDots<double> WENGERT_JOIN(WENGERT_ISA, _uniform_dots_f64) = uniform_products::dots<Widest<double>>;
const UniformDots<float> WENGERT_JOIN(WENGERT_ISA, _uniform_dots_f32) = uniform_products::dots<Widest<float>>;
const UniformProducts<double> WENGERT_JOIN(WENGERT_ISA, _uniform_products_f64) = uniform_products::run<Widest<double>>;
const UniformProducts<float> WENGERT_JOIN(WENGERT_ISA, _uniform_products_f32) = uniform_products::run<Widest<float>>;

}  // namespace wengert::kernels
