// Guards of a block's lanes: comparisons that came out as they did when recorded. Nothing is written where all do so again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/instruction_table.hpp"

namespace wengert::kernels {

/// The words of one check: [its guard's number] [a slot: of each lane the first guard that came out otherwise, infinity
/// where none did] [slots that are compared].
inline constexpr std::size_t check_words = 4;

/// Which slot holds the same number in all lanes, so that one of it will do.
enum class Same : std::uint8_t { neither, first, second };

/// What is asked, and how it came out.
struct Question {
  Op op;  ///< lt, le or eq
  Same same;
  bool outcome;

  constexpr bool operator==(const Question&) const = default;
};

/// Whether an op is a question that checks ask themselves: with operands in the other order, or the opposite one.
constexpr bool asks(Op op) { return op >= Op::lt && op <= Op::ne; }
static_assert(asks(Op::le) && asks(Op::gt) && asks(Op::ge) && asks(Op::eq) && int(Op::ne) == int(Op::lt) + 5);

/// All questions, by number.
inline constexpr auto questions = [] {
  std::array<Question, 3 * 3 * 2> all{};
  std::size_t next = 0;
  for (const Op op : {Op::lt, Op::le, Op::eq})
    for (const Same same : {Same::neither, Same::first, Same::second})
      for (const bool outcome : {false, true}) all[next++] = {op, same, outcome};
  return all;
}();
constexpr std::uint16_t number_of(const Question& question) {
  std::uint16_t number = 0;
  while (!(questions[number] == question)) ++number;
  return number;
}

/// Makes `count` checks of one question. Whether any lane came out otherwise.
template <class Real>
using Check = bool (*)(const Frame<Real>& frame, const std::uint32_t* code, std::size_t count);

/// One function per question.
template <class Real>
using CheckTable = std::array<Check<Real>, questions.size()>;

// Defined by kernels/checks.cpp, compiled per instruction set as backend.cpp is. Dual: vectors of tangents lie in between.
extern const CheckTable<double> scalar_checks_f64, scalar_fma_checks_f64, avx2_checks_f64, avx512_checks_f64,
    scalar_dual_checks_f64, scalar_fma_dual_checks_f64, avx2_dual_checks_f64, avx512_dual_checks_f64;
extern const CheckTable<float> scalar_checks_f32, scalar_fma_checks_f32, avx2_checks_f32, avx512_checks_f32,
    scalar_dual_checks_f32, scalar_fma_dual_checks_f32, avx2_dual_checks_f32, avx512_dual_checks_f32;

}  // namespace wengert::kernels
