// Compiled once per instruction set (kernels/meson.build); each fills its table of functions.
#include "kernels/backend.hpp"

#include "kernels/columns.hpp"
#include "kernels/each_op.hpp"
#include "kernels/eager.hpp"
#include "kernels/instruction_table.hpp"
#include "kernels/leaf.hpp"
#include "kernels/widths.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// The one-lane backends serve the eager tape too: a sweep of width 1 has a loop of its own.
template <class Real, bool forward>
void sweep(const Sweep<Real>& s) {
  using V = Widest<Real>;
  if constexpr (V::lanes == 1) {
    if (s.width == 1) return sweeps::each_op<V, true, forward>(s);
  }
  sweeps::each_op<V, false, forward>(s);
}

template <class Real>
constexpr Backend<Real> make_backend() {
  Backend<Real> b{};
  b.lanes = Widest<Real>::lanes;
  b.sum_of_leaf = sum_of_leaf<Widest<Real>>;
  b.load_columns = columns::load<Widest<Real>>;
  b.store_columns = columns::store<Widest<Real>, false>;
  b.store_derivatives = columns::store<Widest<Real>, true>;
  b.forward = sweep<Real, true>;
  b.backward = sweep<Real, false>;
  if constexpr (Widest<Real>::lanes == 1) {
    b.value = eager::value<Real>;
    b.partials = eager::partials<Real>;
    b.forward_op = eager::forward_op<Real>;
    b.backward_op = eager::backward_op<Real>;
  }
  return b;
}

}  // namespace WENGERT_ISA

#define WENGERT_JOIN_(a, b) a##b
#define WENGERT_JOIN(a, b) WENGERT_JOIN_(a, b)

template <class Real>
constexpr Backend<Real> with_instructions(const InstructionTable<Real>& many, const InstructionTable<Real>& dual,
                                          const InstructionTable<Real>* single) {
  Backend<Real> b = make_backend<Real>();
  b.instructions = &many;
  b.dual_instructions = &dual;
  b.single_instructions = single;
  return b;
}

#ifdef WENGERT_SINGLE_INSTRUCTIONS
#define WENGERT_SINGLE(real) &WENGERT_JOIN(WENGERT_ISA, _single_instructions_##real)
#else
#define WENGERT_SINGLE(real) nullptr
#endif
const Backend<double> WENGERT_JOIN(WENGERT_ISA,
                                   _f64) = with_instructions<double>(WENGERT_JOIN(WENGERT_ISA, _instructions_f64),
                                                                     WENGERT_JOIN(WENGERT_ISA, _dual_instructions_f64),
                                                                     WENGERT_SINGLE(f64));
const Backend<float> WENGERT_JOIN(WENGERT_ISA,
                                  _f32) = with_instructions<float>(WENGERT_JOIN(WENGERT_ISA, _instructions_f32),
                                                                   WENGERT_JOIN(WENGERT_ISA, _dual_instructions_f32),
                                                                   WENGERT_SINGLE(f32));

}  // namespace wengert::kernels
