// Compiled once per instruction set, as backend.cpp: products with uniform factors.
#include "kernels/uniform_products.hpp"

#include "kernels/chain.hpp"
#include "kernels/leaf.hpp"
#include "kernels/unrolled.hpp"
#include "kernels/widths.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace uniform_products {

/// As many vectors as have sums in registers at a time.
inline constexpr std::size_t sums_at_once = 8;

/// So many vectors of one dot, from lane w on.
template <Lane V, std::size_t vectors>
WENGERT_INLINE void dot_part(const Frame<typename V::Real>& frame, const std::uint32_t* word, std::size_t terms,
                             std::size_t w) {
  const auto slot = [ base = frame.slots, width = frame.width ](std::uint32_t number) __attribute__((always_inline)) {
    return base + std::size_t(number) * width;
  };
  const auto uniform = [&](std::size_t term) __attribute__((always_inline)) { return V(*slot(word[1 + term])); };
  const auto factor = [&](std::size_t term) __attribute__((always_inline)) { return slot(word[1 + terms + term]) + w; };
  V sum[vectors];
  unrolled<vectors>([&](auto k)
                        __attribute__((always_inline)) { sum[k] = uniform(0) * V::load(factor(0) + k * V::lanes); });
  for (std::size_t term = 1; term < terms; ++term) {
    const V l = uniform(term);
    const typename V::Real* const x = factor(term);
    unrolled<vectors>([&](auto k)
                          __attribute__((always_inline)) { sum[k] = fma(l, V::load(x + k * V::lanes), sum[k]); });
  }
  typename V::Real* const to = slot(word[0]) + w;
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

/// f(k) for each vector of a leaf, with compile-time indices where there are few.
template <Lane V, class F>
WENGERT_INLINE void each_vector(F f) {
  if constexpr (leaf_vectors<V> <= 16) unrolled<leaf_vectors<V>>(f);
  else
    for (std::size_t k = 0; k < leaf_vectors<V>; ++k) f(k);
}

/// Products are what chain says unless they are NaN (kernels/instructions.hpp). A leaf of one term by chain: its share.
template <Lane V, bool both>
WENGERT_NOINLINE typename V::Real again(const typename V::Real* adjoint, const typename V::Real* x, V uniform,
                                        const typename V::Real* so_far, typename V::Real* target, bool ieee) {
  V share[leaf_vectors<V>];
  for (std::size_t k = 0; k < leaf_vectors<V>; ++k) {
    const std::size_t w = k * V::lanes;
    const V g = V::load(adjoint + w);
    share[k] = chain(g, V::load(x + w), ieee);
    if constexpr (both) (V::load(so_far + w) + chain(g, uniform, ieee)).store(target + w);
  }
  return sum_of_leaf<V>(share);
}

template <Lane V, bool both>
WENGERT_INLINE void run_leaves(const Frame<typename V::Real>& frame, const std::uint32_t* terms, std::size_t count,
                               typename V::Real* sums) {
  using Real = typename V::Real;
  const auto slot = [ base = frame.slots, width = frame.width ](std::uint32_t number) __attribute__((always_inline)) {
    return base + std::size_t(number) * width;
  };
  for (std::size_t leaf = 0; leaf < frame.width; leaf += leaf_samples) {
    const std::uint32_t* word = terms;
    const Real* const adjoint = slot(word[both ? 2 : 1]) + leaf;
    V g[leaf_vectors<V>];
    each_vector<V>([&](auto k) __attribute__((always_inline)) { g[k] = V::load(adjoint + k * V::lanes); });
    for (std::size_t term = 0; term < count; ++term, word += uniform_product_words(both)) {
      const Real* const x = slot(word[both ? 4 : 2]) + leaf;
      const V uniform = both ? V(*slot(word[both ? 3 : 0])) : V(0);
      const Real* const so_far = both ? slot(word[both ? 5 : 0]) + leaf : nullptr;
      Real* const target = both ? slot(word[both ? 1 : 0]) + leaf : nullptr;
      V share[leaf_vectors<V>];
      typename V::Mask bad = V(0) != V(0);
      each_vector<V>([&](auto k) __attribute__((always_inline)) {
        const std::size_t w = k * V::lanes;
        share[k] = g[k] * V::load(x + w);
        const V other = both ? g[k] * uniform : share[k];
        bad = bad | nan_in_either(share[k], other);
        if constexpr (both) (V::load(so_far + w) + other).store(target + w);
      });
      Real sum = sum_of_leaf<V>(share);
      if (zero_rule && any(bad)) [[unlikely]]
        sum = again<V, both>(adjoint, x, uniform, so_far, target, frame.ieee);  // nothing it reads was written
      sums[term] += sum;
    }
  }
}

template <Lane V>
void run(const Frame<typename V::Real>& frame, const std::uint32_t* terms, std::size_t count, bool both,
         typename V::Real* sums) {
  if (both) run_leaves<V, true>(frame, terms, count, sums);
  else run_leaves<V, false>(frame, terms, count, sums);
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
