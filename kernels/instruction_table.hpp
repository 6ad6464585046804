// What runs a program's instructions on one instruction set: the seam for the planner and replay.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/catalogue.hpp"

namespace wengert::kernels {

/// The workspace of one block: slots of `width` numbers each, [slot][width].
template <class Real>
struct Frame {
  Real* slots;
  std::size_t width;  ///< a multiple of the vectors' size
  Real* scratch;      ///< a vector for each operand of the longest list
  bool ieee;          ///< chain without its zero rule
};

/// Runs `count` instructions of one kind, whose words follow one another at `code`.
template <class Real>
using Instruction = void (*)(const Frame<Real>& frame, const std::uint32_t* code, std::size_t count);

/// One function per kind of the catalogue.
template <class Real>
struct InstructionTable {
  Instruction<Real> run[kind_count];
};

// Slots of one number, known at compile time, for single evaluations: in the scalar build that dispatch prefers.
#if defined(WENGERT_ISA_SCALAR_FMA) || (defined(WENGERT_ISA_SCALAR) && !defined(__x86_64__))
#define WENGERT_SINGLE_INSTRUCTIONS
#endif

// Defined by kernels/instructions.cpp and instructions_dual.cpp, compiled per instruction set as backend.cpp is.
extern const InstructionTable<double> scalar_instructions_f64, scalar_fma_instructions_f64, avx2_instructions_f64,
    avx512_instructions_f64, scalar_dual_instructions_f64, scalar_fma_dual_instructions_f64, avx2_dual_instructions_f64,
    avx512_dual_instructions_f64, scalar_single_instructions_f64, scalar_fma_single_instructions_f64;
extern const InstructionTable<float> scalar_instructions_f32, scalar_fma_instructions_f32, avx2_instructions_f32,
    avx512_instructions_f32, scalar_dual_instructions_f32, scalar_fma_dual_instructions_f32, avx2_dual_instructions_f32,
    avx512_dual_instructions_f32, scalar_single_instructions_f32, scalar_fma_single_instructions_f32;

}  // namespace wengert::kernels
