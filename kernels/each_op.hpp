// The sweeps: every op of a tape forward, or backward. For the scalar tape ops are inlined and each goes on to the next by itself;
// for blocks of lanes there is a function for each op, called through a table: its cost is shared by the lanes.
#pragma once

#include "kernels/sweeps.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace sweeps {

template <class Row, class V, bool single, bool forward>
WENGERT_NOINLINE void step_call(const Reals<V>& s, const OpRecord& r) {
  step<Row, V, single, forward>(s, r);
}

/// All ops, of a block of lanes: a step is a call.
template <class V, bool is_forward>
void each_call(const Reals<V>& s) {
  using Step = void (*)(const Reals<V>&, const OpRecord&);
  static constexpr Step steps[] = {
#define WENGERT_OP1(name, ...) step_call<rows::name##_, V, false, is_forward>,
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
  };
  const auto step_of = [&](const OpRecord& r) { steps[static_cast<std::size_t>(r.op)](s, r); };
  if constexpr (is_forward)
    for (std::size_t k = 0; k < s.op_count; ++k) step_of(s.ops[k]);
  else
    for (std::size_t k = s.op_count; k-- > 0;)
      if (!s.visit || s.visit[k]) step_of(s.ops[k]);
}

/// All ops, none left out, of the scalar tape, which inlines what costs a few cycles and calls the rest. Each op's code goes on to the next
/// one's by a jump of its own, which processors foresee better than one that all of them share (M. A. Ertl, D. Gregg, "The
/// Structure and Performance of Efficient Interpreters", Journal of Instruction-Level Parallelism 5, 2003). Addresses of labels
/// are an extension that GCC and Clang have.
template <class V, bool is_forward>
void each_inlined(const Reals<V>& sweep) {
  static const void* const code[] = {
#define WENGERT_OP1(name, ...) &&name,
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
  };
  const Reals<V> s = sweep;  // whose address nobody has, so that it can be in registers
  const OpRecord *const end = is_forward ? s.ops + s.op_count : s.ops, *next = is_forward ? s.ops : s.ops + s.op_count;
  const OpRecord* r;
#define WENGERT_GO_ON()             \
  if (next == end) return;          \
  r = is_forward ? next++ : --next; \
  goto* code[static_cast<std::size_t>(r->op)]
  WENGERT_GO_ON();
#define WENGERT_OP1(name, ...)                                                   \
  name:                                                                          \
  if constexpr (info(Op::name).ulp <= 0.5 && info(Op::name).ulp_partials <= 1.5) \
    step<rows::name##_, V, true, is_forward>(s, *r);                             \
  else step_call<rows::name##_, V, true, is_forward>(sweep, *r);                 \
  WENGERT_GO_ON();
#define WENGERT_OP2(name, ...) WENGERT_OP1(name)
#define WENGERT_OP3(name, ...) WENGERT_OP1(name)
#define WENGERT_OPN(name, ...) WENGERT_OP1(name)
#include "wengert/ops.def"
#undef WENGERT_GO_ON
}

template <class V, bool single, bool is_forward>
void each_op(const Reals<V>& s) {
  if constexpr (single) {
    if (!s.visit) return each_inlined<V, is_forward>(s);
  }
  each_call<V, is_forward>(s);
}

}  // namespace sweeps
}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
