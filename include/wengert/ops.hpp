// wengert/ops.hpp: the ops by number and by name. What they compute is in ops.def, the one table.
//
//   for (std::size_t k = 0; k < wengert::op_count; ++k) {
//     const wengert::OpInfo& info = wengert::info(static_cast<wengert::Op>(k));
//     if (info.arity == 1) std::puts(info.name);
//   }
#pragma once

#include <cstddef>
#include <cstdint>

namespace wengert {

/// One enumerator per row of the op table, in its order.
enum class Op : std::uint8_t {
#define WENGERT_OP1(name, ...) name,
#define WENGERT_OP2(name, ...) name,
#define WENGERT_OP3(name, ...) name,
#define WENGERT_OPN(name, ...) name,
#include "wengert/ops.def"
};

/// A variable's place on its tape. 32 bits; `no_id` names nothing.
using Id = std::uint32_t;
inline constexpr Id no_id = 0xffffffffu;  ///< names no variable

/// One recorded op. Fixed-arity ops name their operands in place; n-ary ones (sum, prod, softmax, ...) have `a` as an
/// offset into the tape's operand array and `b` as their count. Outputs are consecutive from `out`.
struct OpRecord {
  Op op;                                            ///< which
  std::uint8_t constants;                           ///< bit k: operand k is a constant of the tape (fixed-arity ops)
  std::uint16_t reserved;                           ///< 0
  Id out;                                           ///< the first output
  Id a, /**< first operand */ b, /**< second */ c;  ///< third; repeats an earlier one where there are fewer
};
static_assert(sizeof(OpRecord) == 20);

/// How many ops there are.
inline constexpr std::size_t op_count = 0
#define WENGERT_OP1(...) +1
#define WENGERT_OP2(...) +1
#define WENGERT_OP3(...) +1
#define WENGERT_OPN(...) +1
#include "wengert/ops.def"
    ;

/// What a partial reads: operands by position, the result, and T, whether another operand is a constant (a tie).
namespace uses {
inline constexpr unsigned N = 0, X = 1, A = 1, B = 2, C = 4, Y = 8, T = 16;
}

/// A row of the op table, as data: for tests, documentation, fuzzers.
struct OpInfo {
  struct Range /** Where operands are drawn from. */ {
    double low, /**< from */ high;  ///< to
  };
  const char* name;                                  ///< as in ops.def
  int arity;                                         ///< 1, 2, 3; 0 for any number of operands
  bool many_outputs;                                 ///< more than one output (see `outputs`)
  const char* value;                                 ///< formula
  const char* partials[3];                           ///< formulas; n-ary ops: the first, for operand i
  unsigned uses[3];                                  ///< what each partial reads (uses::); n-ary ops: the first
  Range domain[3];                                   ///< where tests draw the operands from
  double ulp, /**< error bound */ ulp_partials;      ///< and those of partials, in units in the last place
  const char* note;                                  ///< special points
  std::uint32_t (*outputs)(std::uint32_t operands);  ///< number of outputs for so many operands
};

namespace detail {
/// Whether an n-ary op can have several outputs.
constexpr bool several(std::uint32_t (*outputs)(std::uint32_t)) { return outputs(1) > 1 || outputs(2) > 1; }

constexpr OpInfo::Range in(double low, double high) { return {low, high}; }

// clang-format off
inline constexpr OpInfo op_table[] = {
#define WENGERT_USES(u)       \
  [] {                        \
    using namespace uses;     \
    return static_cast<unsigned>(u); \
  }()
#define WENGERT_OP1(name, value, dx, uses_dx, in_x, ulp, ulp_d, note)                                           \
  OpInfo{#name, 1,   false, #value, {#dx, nullptr, nullptr}, {WENGERT_USES(uses_dx), 0, 0}, {in_x, {}, {}}, ulp, \
         ulp_d, note, [](std::uint32_t) -> std::uint32_t { return 1; }},
#define WENGERT_OP2(name, value, da, db, uses_da, uses_db, in_a, in_b, ulp, ulp_d, note)             \
  OpInfo{#name, 2, false, #value, {#da, #db, nullptr}, {WENGERT_USES(uses_da), WENGERT_USES(uses_db), 0}, \
         {in_a, in_b, {}}, ulp, ulp_d, note, [](std::uint32_t) -> std::uint32_t { return 1; }},
#define WENGERT_OP3(name, value, da, db, dc, uses_da, uses_db, uses_dc, in_a, in_b, in_c, ulp, ulp_d, note) \
  OpInfo{#name, 3, false, #value, {#da, #db, #dc},                                                        \
         {WENGERT_USES(uses_da), WENGERT_USES(uses_db), WENGERT_USES(uses_dc)}, {in_a, in_b, in_c}, ulp, ulp_d, note, \
         [](std::uint32_t) -> std::uint32_t { return 1; }},
#define WENGERT_OPN(name, outputs, forward, backward, uses_n, in_x, ulp, ulp_d, value_text, derivative_text, note)    \
  OpInfo{#name, 0, several([](std::uint32_t n) -> std::uint32_t { (void)n; return outputs; }), value_text,           \
         {derivative_text, nullptr, nullptr}, {WENGERT_USES(uses_n), 0, 0}, {in_x, {}, {}}, ulp, ulp_d, note,        \
         [](std::uint32_t n) -> std::uint32_t { (void)n; return outputs; }},
#include "wengert/ops.def"
#undef WENGERT_USES
};
// clang-format on
}  // namespace detail

/// The row of an op.
constexpr const OpInfo& info(Op op) { return detail::op_table[static_cast<std::size_t>(op)]; }

/// The op's name, as in ops.def.
constexpr const char* name(Op op) { return info(op).name; }

}  // namespace wengert
