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

#include "kernels/fixed_instructions.hpp"
#include "kernels/nary_instructions.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace instructions {

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
