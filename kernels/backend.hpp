// The functions of one instruction set, as the library above sees them: the seam between code compiled for the baseline
// and code compiled for more. Each translation unit of kernels/backend.cpp fills one such table per precision.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wengert/ops.hpp"

namespace wengert::kernels {

/// A tape and its workspace, as a sweep needs them. Slots of `width` lanes; `width` is a multiple of the backend's.
template <class Real>
struct Sweep {
  const OpRecord* ops;
  std::size_t op_count;
  const Id* operands;
  Real* values;    ///< [variable][width]
  Real* adjoints;  ///< [variable][width]; the caller fills in -0.0 and the seeds
  Real* scratch;   ///< as many slots as the longest operand list
  std::size_t width;
  bool ieee;                  ///< chain without its zero rule
  const std::uint8_t* visit;  ///< one flag per op, or null for all: what a backward sweep visits
};

/// What a block takes of a table whose items are columns: item i of its k-th sample is first[i * item + k].
template <class T>
struct BlockColumns {
  T* first;
  std::ptrdiff_t item;
  std::size_t count, width;  ///< samples, lanes of a slot
};

template <class Real>
struct InstructionTable;

template <class Real>
struct Backend {
  int lanes;  ///< of one vector

  const InstructionTable<Real>* instructions;  ///< of programs, over slots of any number of vectors
  const InstructionTable<Real>*
      dual_instructions;  ///< the same over dual numbers: a vector of values, one of tangents, ...
  const InstructionTable<Real>* single_instructions;  ///< over slots of one number; null where it has none

  Real (*sum_of_leaf)(const Real* samples);  ///< of 64 (kernels/leaf.hpp)

  // Columns into slots of a block and out of them (kernels/columns.hpp). Lanes past the samples repeat the last one.
  void (*load_columns)(const BlockColumns<const Real>&, const std::uint32_t* slots, std::size_t items, Real* block);
  void (*store_columns)(const BlockColumns<Real>&, const std::uint32_t* slots, std::size_t items, const Real* block);
  void (*store_derivatives)(const BlockColumns<Real>&, const std::uint32_t* slots, std::size_t items,
                            const Real* block);

  void (*forward)(const Sweep<Real>&);
  void (*backward)(const Sweep<Real>&);

  // One lane, for eager recording and for code that keeps its own graph; the same bits as the sweeps. Null in the
  // backends of more lanes: Isa::scalar has them.

  /// A fixed-arity op's value; operands it lacks are ignored.
  Real (*value)(Op op, Real a, Real b, Real c);
  /// Its partials. `tie` is 1/2, or 0 where another operand is a constant.
  void (*partials)(Op op, Real a, Real b, Real c, Real y, Real tie, Real* d);
  /// Any op on its operands: all outputs.
  void (*forward_op)(Op op, std::size_t n, const Real* x, Real* y);
  /// What any op adds to the adjoint of each operand, given values and the adjoints of its outputs; `scratch` has n places.
  void (*backward_op)(Op op, std::size_t n, const Real* x, const Real* y, const Real* g, bool constant_operand,
                      bool ieee, Real* contributions, Real* scratch);
};

// Defined by the translation unit of each instruction set; a build without one doesn't refer to it (dispatch.cpp).
extern const Backend<double> scalar_f64, scalar_fma_f64, avx2_f64, avx512_f64;
extern const Backend<float> scalar_f32, scalar_fma_f32, avx2_f32, avx512_f32;

}  // namespace wengert::kernels
