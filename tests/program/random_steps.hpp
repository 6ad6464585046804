// Programs that do the same step again and again: what machine code makes loops of.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tests/random.hpp"
#include "wengert/program.hpp"
#include "wengert/tape.hpp"

namespace wengert::test {

/// A step that is done again and again: state, and what is the same in all steps, and inputs and parameters of this step.
template <class Real>
struct Steps {
  enum From { state, invariant, of_step, before };
  struct Operand {
    From from;
    std::size_t number;
  };
  struct Operation {
    Op op;
    std::vector<Operand> operands;
  };
  std::size_t states, invariants, inputs_of_step, parameters_of_step;
  bool parameters;
  std::vector<Operation> operations;
  std::vector<std::size_t> next;  // operations that are the next states

  Steps(Random& random, bool with_parameters) : parameters(with_parameters) {
    states = 1 + random.below(random.chance(0.2) ? 24 : 6);
    invariants = random.below(4);
    inputs_of_step = random.below(4);
    parameters_of_step = with_parameters ? random.below(3) : 0;
    const std::size_t count = states + 3 + random.below(random.chance(0.2) ? 120 : 25);
    const std::vector<Op> cheap = {Op::add, Op::sub, Op::mul, Op::fma, Op::max, Op::min, Op::neg, Op::lt, Op::select},
                          others = {Op::tanh, Op::sin, Op::sqrt, Op::exp, Op::softplus, Op::div, Op::abs};
    const double dear = random.chance(0.5) ? 0.0 : 0.15;
    for (std::size_t k = 0; k < count; ++k) {
      const Op op = random.chance(dear) ? random.of(others) : random.of(cheap);
      Operation operation{op, {}};
      for (int i = 0; i < info(op).arity; ++i) operation.operands.push_back(operand(random, k));
      operations.push_back(operation);
    }
    for (std::size_t s = 0; s < states; ++s) next.push_back(count - 1 - s);
  }
  Operand operand(Random& random, std::size_t k) const {
    for (;;) {
      const auto from = static_cast<From>(random.below(4));
      const std::size_t numbers[] = {states, invariants, inputs_of_step + parameters_of_step, k};
      if (numbers[from] != 0) return {from, random.below(numbers[from])};
    }
  }

  Program<Real> program(Random& random, std::size_t steps) const {
    NaiveTape<Real> tape;
    std::vector<Id> now, constant, outputs;
    for (std::size_t k = 0; k < states; ++k) now.push_back(tape.input(Real(0.5)));
    for (std::size_t k = 0; k < invariants; ++k)
      constant.push_back(parameters && random.chance(0.5) ? tape.parameter(Real(0.3)) : tape.input(Real(0.4)));
    if (random.chance(0.3)) now[0] = tape.constant(Real(0));
    std::vector<std::vector<Id>> of_steps(steps);
    for (std::vector<Id>& inputs : of_steps) {
      for (std::size_t k = 0; k < inputs_of_step; ++k) inputs.push_back(tape.input(Real(0.6)));
      for (std::size_t k = 0; k < parameters_of_step; ++k) inputs.push_back(tape.parameter(Real(0.7)));
    }
    const bool all_out = random.chance(0.3), backwards = random.chance(0.3), again = random.chance(0.3);
    std::vector<std::vector<Id>> done(steps);
    for (std::size_t step = 0; step < steps; ++step) {
      for (const Operation& operation : operations) {
        std::vector<Id> operands;
        for (const Operand& from : operation.operands)
          operands.push_back((from.from == state       ? now
                              : from.from == invariant ? constant
                              : from.from == of_step   ? of_steps[step]
                                                       : done[step])[from.number]);
        // What follows stays small.
        const Id result = tape.record(operation.op, operands);
        done[step].push_back(operation.op == Op::lt ? result : tape.tanh(tape.mul(result, half(tape))));
      }
      for (std::size_t s = 0; s < states; ++s) now[s] = done[step][next[s]];
      if (all_out) outputs.push_back(now[0]);
    }
    // What the steps gave, once more, in this direction or the other.
    if (again) {
      Id sum = now[0];
      for (std::size_t step = 0; step < steps; ++step)
        for (const Id x : done[backwards ? steps - 1 - step : step]) sum = tape.fma(sum, half(tape), x);
      outputs.push_back(sum);
    }
    outputs.insert(outputs.end(), now.begin(), now.end());
    if (parameters && random.chance(0.5)) outputs.back() = tape.sum_samples(outputs.back());
    return compile(tape, std::span<const Id>(outputs));
  }
  static Id half(NaiveTape<Real>& tape) { return tape.constant(Real(0.5)); }
};

}  // namespace wengert::test
