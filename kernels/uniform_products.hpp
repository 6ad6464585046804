// Products with a factor that is the same for all samples: their sums, and their adjoints where that factor gets no other
// contribution, which are summed over the samples while they are in registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/instruction_table.hpp"

namespace wengert::kernels {

/// Dots of which one factor of each term is the same number in all lanes. Their words are those of the kernel for dots of any length, that
/// factor first. Slots are not of dual numbers.
template <class Real>
using UniformDots = Instruction<Real>;
inline constexpr std::uint16_t uniform_dot_kernel = value_kernel(Op::dot);

/// Adjoints. The words of one instruction: [number of its first sum] [terms] [kernel], then for each term those of that kernel, which is one of
/// the two adjoints of mul below; all of them read the same adjoint. The first operand is the uniform one.
inline constexpr std::size_t uniform_products_header = 3;

/// Whether the other factor wants its contribution too.
constexpr std::uint16_t uniform_product_kernel(bool both) { return adjoint_kernel(Op::mul, both ? 3 : 1, 1); }
/// Words of one term: [share] [new adjoint] [adjoint] [uniform] [other] [adjoint so far], or [share] [adjoint] [other].
constexpr std::size_t uniform_product_words(bool both) { return both ? 6 : 3; }

/// Adds the share of `samples` lanes in the uniform factor of term k to sums[k], leaf by leaf (kernels/leaf.hpp), unless `sums` is
/// null, and leaves alone the slots for shares. The last leaf may be part of one, where the samples end.
template <class Real>
using UniformProducts = void (*)(const Frame<Real>& frame, const std::uint32_t* terms, std::size_t count, bool both,
                                 Real* sums, std::size_t samples);

// Defined by kernels/uniform_products.cpp, compiled per instruction set as backend.cpp is.
extern const UniformDots<double> scalar_uniform_dots_f64, scalar_fma_uniform_dots_f64, avx2_uniform_dots_f64,
    avx512_uniform_dots_f64;
extern const UniformDots<float> scalar_uniform_dots_f32, scalar_fma_uniform_dots_f32, avx2_uniform_dots_f32,
    avx512_uniform_dots_f32;
extern const UniformProducts<double> scalar_uniform_products_f64, scalar_fma_uniform_products_f64,
    avx2_uniform_products_f64, avx512_uniform_products_f64;
extern const UniformProducts<float> scalar_uniform_products_f32, scalar_fma_uniform_products_f32,
    avx2_uniform_products_f32, avx512_uniform_products_f32;

}  // namespace wengert::kernels
