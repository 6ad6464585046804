// Random programs with parameters and sums over the samples, and the parts of them that run for each sample and once per batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/program/random_op.hpp"
#include "tests/program/some_number.hpp"
#include "wengert/tape.hpp"

namespace wengert::test {

/// What one seed stands for, as a program, and in the parts of which the eager tape makes the same.
enum class Part {
  whole,   ///< of parameters, inputs and sums
  sample,  ///< what runs for each sample: what is uniform comes in as inputs
  batch    ///< what runs once: sums come in as inputs, and what samples give to the adjoint of a uniform variable
};

/// Records ops, each with some operand of `these`, to which it adds its results; products mostly have their other factor from `others`.
template <class Real>
void record_ops(NaiveTape<Real>& tape, Random random, std::size_t count, std::vector<Id> others,
                std::vector<Id>& these) {
  for (std::size_t k = random.below(3); k > 0; --k) others.push_back(tape.constant(some_number<Real>(random, 0.2)));
  std::size_t next = 0;
  const auto other = [&] { return random.chance(0.7) ? others[next++ % others.size()] : random.of(others); };
  const auto of_these = [&] {
    return random.chance(0.5) ? these[these.size() - 1 - random.below(std::min<std::size_t>(these.size(), 6))]
                              : random.of(these);
  };
  const auto any = [&] { return random.chance(0.5) && !others.empty() ? random.of(others) : of_these(); };
  const double custom = random.chance(0.1) ? 0.1 : 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (custom != 0 && random.chance(custom)) {
      const CustomOp<Real> op = random_op<Real>(random);
      std::vector<Id> operands(op.rule().inputs);
      for (Id& id : operands) id = any();
      operands[random.below(operands.size())] = of_these();
      const Id first = op.record(tape, operands);
      for (Id j = 0; j < op.rule().outputs; ++j) these.push_back(first + j);
      continue;
    }
    Op op = static_cast<Op>(random.below(op_count));
    std::vector<Id> operands;
    if (!others.empty() && random.chance(0.5)) {
      op = random.of(std::vector{Op::dot, Op::dot, Op::mul, Op::fma});
      const std::size_t half = op == Op::dot ? 1 + random.below(random.chance(0.05) ? 40 : 6) : 1;
      operands.resize(2 * half);
      const bool other_first = random.chance(0.5), mixed = random.chance(0.3);
      for (std::size_t i = 0; i < half; ++i) {
        const bool swap = other_first != (mixed && random.chance(0.5));
        operands[swap ? half + i : i] = of_these();
        operands[swap ? i : half + i] = random.chance(0.95) ? other() : any();
      }
      if (op == Op::fma) operands.push_back(any());
    } else {
      if (random.chance(0.3)) op = random.of(std::vector{Op::sum, Op::sqnorm, Op::logsumexp, Op::add, Op::sub});
      if (op == Op::sum_samples) continue;
      operands.resize(static_cast<std::size_t>(info(op).arity));
      if (info(op).arity == 0) operands.resize(1 + random.below(8));
      if (info(op).outputs(static_cast<std::uint32_t>(operands.size())) == 0) continue;  // it doesn't take so many
      for (Id& id : operands) id = any();
      operands[random.below(operands.size())] = of_these();
      if (random.chance(0.1)) std::fill(operands.begin(), operands.end(), of_these());
    }
    const Id first = tape.record(op, operands);
    for (Id j = 0; j < info(op).outputs(static_cast<std::uint32_t>(operands.size())); ++j) these.push_back(first + j);
  }
}

template <class Real>
struct Recorded {
  NaiveTape<Real> tape;
  std::vector<Id> parameters, uniforms, inputs, outputs, terms, sums, uniform_outputs;
  // Of a batch, for each of `uniforms`: what the samples give to its adjoint, and the product of both, which brings it there.
  std::vector<Id> totals, taps;
  bool plain;  // uniform outputs are parameters and sums, and no functions of these
};

template <class Real>
Recorded<Real> record(std::uint64_t seed, Part part) {
  Recorded<Real> r;
  Random random(seed);
  const auto some = [&](const std::vector<Id>& of, std::size_t count) {
    std::vector<Id> ids;
    while (count-- > 0) ids.push_back(random.chance(0.5) ? of.back() : random.of(of));
    return ids;
  };
  const auto inputs = [&](std::size_t count) {
    std::vector<Id> ids;
    while (count-- > 0) ids.push_back(r.tape.input(0));
    return ids;
  };
  r.plain = random.chance(0.5);
  r.tape.set_zero_rule(r.plain && random.chance(0.3) ? ZeroRule::ieee : ZeroRule::exact);
  const std::size_t parameters = 1 + random.below(random.chance(0.2) ? 40 : 8),
                    variables = 1 + random.below(random.chance(0.1) ? 30 : 6),
                    functions = r.plain ? 0 : random.below(5), outputs = random.chance(0.5) ? 0 : 1 + random.below(3),
                    terms = 1 + random.below(4),
                    uniform_outputs = random.chance(0.5) ? 1
                                      : outputs == 0     ? 1 + random.below(4)
                                                         : random.below(4),
                    length = random.chance(0.1) ? 300 : 1 + random.below(40), before = random.below(8),
                    after = random.below(8);

  if (part == Part::sample) {
    r.uniforms = inputs(parameters + functions);
    for (std::size_t k = 2 * functions; k > 0; --k) random.bits();
  }
  if (part == Part::whole)
    for (std::size_t k = 0; k < parameters; ++k) r.parameters.push_back(r.tape.parameter(0));
  if (part == Part::batch) r.parameters = inputs(parameters);
  if (part != Part::sample) {
    std::vector<Id> these = r.uniforms = r.parameters;
    if (functions != 0) record_ops(r.tape, Random(seed + 1), before, {}, these);
    for (std::size_t k = 0; k < functions; ++k) {
      const std::uint64_t draws[] = {random.bits(), random.bits()};
      const Id of = draws[0] % 2 ? these.back() : these[draws[1] % these.size()];
      r.uniforms.push_back(
          r.tape.record(std::vector{Op::sum, Op::neg, Op::tanh}[draws[0] % 3], std::span<const Id>(&of, 1)));
    }
  }
  std::vector<std::uint64_t> draws;
  for (std::size_t k = 0; k < outputs + terms; ++k) draws.push_back(random.bits());
  const auto drawn = [&](const std::vector<Id>& these, std::size_t k) {
    return draws[k] % 3 ? these.back() : these[draws[k] / 3 % these.size()];
  };
  if (part != Part::batch) {
    std::vector<Id> these = r.inputs = inputs(variables);
    record_ops(r.tape, Random(seed + 2), length, r.uniforms, these);
    for (std::size_t k = 0; k < outputs; ++k) r.outputs.push_back(drawn(these, k));
    for (std::size_t k = 0; k < terms; ++k)
      r.terms.push_back(draws[outputs + k] % 16 == 0 ? r.uniforms[0] : drawn(these, outputs + k));
    if (part == Part::whole)
      for (const Id id : r.terms) r.sums.push_back(r.tape.sum_samples(id));
  } else {
    r.totals = inputs(r.uniforms.size());
    for (std::size_t k = 0; k < r.totals.size(); ++k) r.taps.push_back(r.tape.mul(r.uniforms[k], r.totals[k]));
    r.sums = inputs(terms);
  }
  if (part == Part::sample) return r;
  std::vector<Id> these = r.sums;
  if (!r.plain) record_ops(r.tape, Random(seed + 3), after, r.uniforms, these);
  r.uniform_outputs = some(these, uniform_outputs);
  if (uniform_outputs != 0 && random.chance(0.2)) r.uniform_outputs[0] = random.of(r.uniforms);
  return r;
}

}  // namespace wengert::test
