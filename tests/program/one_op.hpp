// Programs of one op, for what has to hold of each of them as machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "wengert/program.hpp"

namespace wengert::test {

/// Ops whose formulas loop until a lane is done.
inline bool has_no_vector_form(Op op) { return op == Op::tgamma || op == Op::lgamma || op == Op::digamma; }
/// Ops whose slopes take a closer look at many ordinary points.
inline bool looks_closer(Op op) { return op == Op::pow || op == Op::erfcx; }

/// So many products make code so long that ops which take many operations are subroutines.
inline constexpr std::size_t for_subroutines = 3000;

/// An op of `n` operands, `times` times, of other inputs each time; after them a chain of `products` of one more input.
template <class Real>
Program<Real> program_of(Op op, std::size_t n, std::size_t times = 1, std::size_t products = 0) {
  NaiveTape<Real> tape;
  std::vector<Id> inputs, outputs;
  for (std::size_t i = 0; i < n * times; ++i) inputs.push_back(tape.input(Real(1)));
  for (std::size_t t = 0; t < times; ++t) {
    const Id first = tape.record(op, std::span<const Id>(inputs).subspan(t * n, n));
    for (Id j = 0; j < info(op).outputs(static_cast<std::uint32_t>(n)); ++j) outputs.push_back(first + j);
  }
  if (products != 0) {
    const Id one = tape.input(Real(1));
    Id product = one;
    for (std::size_t k = 0; k < products; ++k) product = tape.mul(product, one);
    outputs.push_back(product);
  }
  return compile(tape, std::span<const Id>(outputs));
}

/// Calls f(n) for those numbers of operands that the op takes: its own, or of `some`.
template <class F>
void each_count(Op op, std::initializer_list<std::uint32_t> some, const F& f) {
  if (op == Op::sum_samples) return;
  if (info(op).arity != 0) return f(static_cast<std::size_t>(info(op).arity));
  for (const std::uint32_t n : some)
    if (info(op).outputs(n) != 0) f(std::size_t(n));
}

}  // namespace wengert::test
