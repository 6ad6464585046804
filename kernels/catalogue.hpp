// The catalogue of kernels that a program's instructions name: for each row of the op table its value, and its adjoint
// once per set of operands that want one. Numbers are the same on every instruction set; what stands behind them is in
// kernels/instructions.hpp.
//
// The words of one instruction: [n, if any number of operands] [slots it writes] [slots it reads] [has_tie: 1 if its slope is 0].
//   value     writes the outputs, reads the operands
//   adjoint   writes the new adjoint of each operand that wants one; reads the adjoints of the outputs, the operands and
//             outputs that the partials read, and the adjoint so far of each operand where it isn't the first contribution
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wengert/ops.hpp"

namespace wengert::kernels {

/// What becomes of an adjoint on its way to one operand.
enum class Slope : std::uint8_t {
  none,       ///< nothing: no derivative ever
  one,        ///< it is the contribution
  minus_one,  ///< its negative is
  product,    ///< times a partial
};

constexpr Slope slope(Op op, int operand) {
  const std::string_view text = info(op).partials[operand];
  if (text == "none") return Slope::none;
  if (text == "one") return Slope::one;
  if (text == "minus_one") return Slope::minus_one;
  return Slope::product;
}

namespace detail {

template <class T>
using PerOp = std::array<T, op_count>;

inline constexpr PerOp<std::uint8_t> product_masks = [] {
  PerOp<std::uint8_t> masks{};
  for (std::size_t op = 0; op < op_count; ++op)
    for (int k = 0; k < wengert::detail::op_table[op].arity; ++k)
      if (slope(static_cast<Op>(op), k) == Slope::product) masks[op] |= static_cast<std::uint8_t>(1 << k);
  return masks;
}();

/// Whether the products of two fixed-arity ops are the same formulas of the same operands.
constexpr bool same_products(std::size_t a, std::size_t b) {
  const OpInfo &one = wengert::detail::op_table[a], &two = wengert::detail::op_table[b];
  if (product_masks[a] != product_masks[b] || one.arity == 0 || two.arity == 0) return false;
  for (int k = 0; k < 3; ++k)
    if (product_masks[a] >> k & 1 &&
        (one.uses[k] != two.uses[k] || std::string_view(one.partials[k]) != two.partials[k]))
      return false;
  return true;
}

inline constexpr PerOp<Op> adjoint_rows = [] {
  PerOp<Op> rows{};
  for (std::size_t op = 0; op < op_count; ++op) {
    std::size_t first = 0;
    while (first < op && !same_products(first, op)) ++first;
    rows[op] = static_cast<Op>(first);
  }
  return rows;
}();

}  // namespace detail

/// The operands of a fixed-arity op whose contribution is a product: bit k for operand k.
constexpr unsigned products(Op op) { return detail::product_masks[static_cast<std::size_t>(op)]; }

/// The row whose adjoint kernels serve `op`: the first with the same products, as fma has those of mul.
constexpr Op adjoint_row(Op op) { return detail::adjoint_rows[static_cast<std::size_t>(op)]; }

/// What the partials of the operands in `mask` read (uses::).
constexpr unsigned used(Op op, unsigned mask) {
  unsigned bits = 0;
  for (int k = 0; k < 3; ++k)
    if (mask >> k & 1) bits |= info(op).uses[k];
  return bits;
}

/// Whether an instruction says what a tie's slope is. Values do for their tangents' sake.
constexpr bool has_tie(Op op, unsigned mask) { return info(op).arity != 0 && (used(op, mask) & uses::T) != 0; }

/// Whether an op's adjoint has kernels of its own for each set of operands and for first contributions: where a load or a
/// branch counts. The others share one function; there the adjoint so far of a first contribution is a slot that holds -0.
constexpr bool assigns(Op op) {
  return op == Op::mul || op == Op::div || op == Op::square || op == Op::sqrt || op == Op::exp || op == Op::max ||
         op == Op::min;
}

/// Most operands of an n-ary op that any kernel has written out.
inline constexpr std::uint32_t most_operands = 8;
/// Most operands that the kernels of `op` have written out; from there on they loop over a list. A loop costs little where
/// each operand takes an exponential.
constexpr std::uint32_t written_out(Op op) { return info(op).ulp <= 1 ? most_operands : 4; }

struct Kind {
  Op op = Op::add;
  bool adjoint = false;
  std::uint8_t n = 0;       ///< n-ary ops: how many operands, 0: any number
  std::uint8_t active = 0;  ///< adjoint of a fixed-arity op: the operands that get a contribution
  std::uint8_t assign = 0;  ///< those of them for which it is the first
};

namespace detail {

/// Calls put(Kind) for each kernel of the catalogue, in order.
template <class Put>
constexpr void each_kind(Put put) {
  for (std::size_t k = 0; k < op_count; ++k) {
    const Op op = static_cast<Op>(k);
    if (info(op).arity != 0) {
      put(Kind{op, false, 0, 0, 0});
      if (adjoint_row(op) != op) continue;
      for (unsigned active = 1; active < 8; ++active) {
        if (active & ~products(op)) continue;
        for (unsigned assign = 0; assign <= (assigns(op) ? active : 0); ++assign)
          if (!(assign & ~active))
            put(Kind{op, true, 0, static_cast<std::uint8_t>(active), static_cast<std::uint8_t>(assign)});
      }
    } else {
      for (std::uint8_t n = 0; n <= written_out(op); ++n)
        if (n == 0 || info(op).outputs(n) != 0) put(Kind{op, false, n, 0, 0});
      // The planner takes these apart: a sum's adjoint is that of additions, the others' are those of products.
      if (op == Op::sum || op == Op::dot || op == Op::sqnorm) continue;
      for (std::uint8_t n = 0; n <= written_out(op); ++n)
        if (n == 0 || info(op).outputs(n) != 0) put(Kind{op, true, n, 0, 0});
    }
  }
}

}  // namespace detail

inline constexpr std::size_t kind_count = [] {
  std::size_t count = 0;
  detail::each_kind([&](Kind) { ++count; });
  return count;
}();

inline constexpr std::array<Kind, kind_count> catalogue = [] {
  std::array<Kind, kind_count> all{};
  std::size_t next = 0;
  detail::each_kind([&](Kind kind) { all[next++] = kind; });
  return all;
}();

namespace detail {

struct Numbers {
  std::uint16_t value[op_count][most_operands + 1] = {};
  std::uint16_t fixed_adjoint[op_count][8][8] = {};
  std::uint16_t nary_adjoint[op_count][most_operands + 1] = {};
};

inline constexpr Numbers numbers = [] {
  Numbers all;
  for (std::size_t k = 0; k < kind_count; ++k) {
    const Kind& kind = catalogue[k];
    const std::size_t op = static_cast<std::size_t>(kind.op);
    const std::uint16_t number = static_cast<std::uint16_t>(k);
    if (!kind.adjoint) all.value[op][kind.n] = number;
    else if (info(kind.op).arity == 0) all.nary_adjoint[op][kind.n] = number;
    else all.fixed_adjoint[op][kind.active][kind.assign] = number;
  }
  return all;
}();

}  // namespace detail

/// The kernel for the values of an op; `n` operands for an n-ary one.
constexpr std::uint16_t value_kernel(Op op, std::uint32_t n = 0) {
  return detail::numbers.value[static_cast<std::size_t>(op)][info(op).arity == 0 && n <= written_out(op) ? n : 0];
}
/// The kernel for the products in the adjoint of a fixed-arity op.
constexpr std::uint16_t adjoint_kernel(Op op, unsigned active, unsigned assign) {
  return detail::numbers.fixed_adjoint[static_cast<std::size_t>(adjoint_row(op))][active][assign];
}
/// The kernel for the adjoint of an n-ary op.
constexpr std::uint16_t nary_adjoint_kernel(Op op, std::uint32_t n) {
  return detail::numbers.nary_adjoint[static_cast<std::size_t>(op)][n <= written_out(op) ? n : 0];
}

}  // namespace wengert::kernels
