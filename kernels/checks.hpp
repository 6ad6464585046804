// Guards of a block's lanes: comparisons that came out as they did when recorded. Nothing is written where all do so again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/instruction_table.hpp"

namespace wengert::kernels {

/// The words of one check: [its guard's number] [question] [a slot: of each lane the first guard that came out otherwise, infinity
/// where none did] [slots that are compared].
inline constexpr std::size_t check_words = 5;

/// Which slot holds the same number in all lanes, so that one of it will do.
enum class Same : std::uint32_t { neither, first, second };

/// What is asked: by lt, le or eq, and how it came out.
constexpr std::uint32_t question(Op op, Same same, bool outcome) {
  return (static_cast<std::uint32_t>(op) * 3 + static_cast<std::uint32_t>(same)) * 2 + outcome;
}
constexpr Op op_asked(std::uint32_t question) { return static_cast<Op>(question / 6); }
constexpr Same same_of(std::uint32_t question) { return static_cast<Same>(question / 2 % 3); }
constexpr bool outcome_of(std::uint32_t question) { return question % 2 != 0; }
/// Whether an op is a question that checks ask themselves: with operands in the other order, or the opposite one.
constexpr bool asks(Op op) { return op >= Op::lt && op <= Op::ne; }
static_assert(asks(Op::le) && asks(Op::gt) && asks(Op::ge) && asks(Op::eq) && int(Op::ne) == int(Op::lt) + 5);

/// Makes `count` checks. Whether any lane came out otherwise. `dual`: vectors of tangents lie in between.
template <class Real>
using Check = bool (*)(const Frame<Real>& frame, bool dual, const std::uint32_t* code, std::size_t count);

// Defined by kernels/checks.cpp, compiled per instruction set as backend.cpp is.
extern const Check<double> scalar_check_f64, scalar_fma_check_f64, avx2_check_f64, avx512_check_f64;
extern const Check<float> scalar_check_f32, scalar_fma_check_f32, avx2_check_f32, avx512_check_f32;

}  // namespace wengert::kernels
