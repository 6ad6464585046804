// Random tapes for the tests of programs: any ops of the table on any variables, and inputs with special numbers among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tape/records.hpp"
#include "tests/program/random_op.hpp"
#include "tests/program/some_number.hpp"
#include "wengert/tape.hpp"

namespace wengert::test {

template <class Real>
struct RandomTape {
  NaiveTape<Real> tape;
  std::vector<Id> inputs, parameters, outputs;
};

/// `random`: a Random, or what has its functions. `size`: how many ops. `special`: how often a constant is an edge. `custom`: how
/// often an op is a custom one.
template <class Real, class Source>
RandomTape<Real> random_tape(Source& random, std::size_t size, double special = 0.3, bool with_parameters = false,
                             double custom = 0) {
  RandomTape<Real> r;
  NaiveTape<Real>& tape = r.tape;
  std::vector<Id> variables;
  const std::size_t inputs = 1 + random.below(6), constants = random.below(4);
  for (std::size_t i = 0; i < inputs; ++i) variables.push_back(tape.input(some_number<Real>(random, 0)));
  r.inputs = variables;
  for (std::size_t i = with_parameters ? random.below(4) : 0; i > 0; --i)
    r.parameters.push_back(tape.parameter(some_number<Real>(random, special)));
  variables.insert(variables.end(), r.parameters.begin(), r.parameters.end());
  for (std::size_t i = 0; i < constants; ++i) variables.push_back(tape.constant(some_number<Real>(random, special)));
  const bool nearby = random.chance(0.5);  // a long graph, or a bushy one
  const auto pick = [&] {
    const std::size_t n = variables.size();
    return nearby && n > 8 && random.chance(0.9) ? variables[n - 1 - random.below(8)] : variables[random.below(n)];
  };
  const bool cheap = random.chance(0.3);  // additions and products, whose values stay tame
  const std::vector<Op> plain = {Op::add, Op::sub, Op::mul, Op::fma, Op::neg, Op::sum, Op::square, Op::max};
  std::vector<CustomOp<Real>> known;
  for (std::size_t k = 0; k < size; ++k) {
    if (custom != 0 && random.chance(custom)) {
      if (known.empty() || random.chance(0.5)) known.push_back(random_op<Real>(random));
      const CustomOp<Real>& op = known[random.below(known.size())];
      std::vector<Id> operands(op.rule().inputs);
      for (Id& id : operands) id = pick();
      const Id first = op.record(tape, operands);
      for (std::size_t j = 0; j < op.rule().outputs; ++j) variables.push_back(first + static_cast<Id>(j));
      continue;
    }
    const Op op = cheap && random.chance(0.95) ? random.of(plain) : static_cast<Op>(random.below(op_count));
    if (op == Op::sum_samples) continue;  // tests/program/uniform.cpp
    std::vector<Id> operands(static_cast<std::size_t>(info(op).arity));
    if (info(op).arity == 0) {
      do operands.resize(random.chance(0.05) ? 20 + random.below(40) : random.below(12));
      while (info(op).outputs(static_cast<std::uint32_t>(operands.size())) == 0);
    }
    for (Id& id : operands) id = pick();
    if (random.chance(0.1) && !operands.empty()) std::fill(operands.begin(), operands.end(), operands[0]);
    const Id first = tape.record(op, operands);
    const std::uint32_t results = info(op).outputs(static_cast<std::uint32_t>(operands.size()));
    for (std::uint32_t j = 0; j < results; ++j) variables.push_back(first + j);
  }
  for (std::size_t k = 1 + random.below(4); k > 0; --k)
    r.outputs.push_back(random.chance(0.7) ? variables.back() : variables[random.below(variables.size())]);
  return r;
}

/// What a variable depends on: nothing, parameters alone, inputs.
enum class Kind : std::uint8_t { constant, uniform, varying };

/// Of each variable.
template <class Real>
std::vector<Kind> kinds(const RandomTape<Real>& graph) {
  const TapeView<Real> tape = graph.tape.view();
  std::vector<Kind> kind(tape.values.size(), Kind::constant);
  for (Id id : graph.parameters) kind[id] = Kind::uniform;
  for (Id id : graph.inputs) kind[id] = Kind::varying;
  for (const OpRecord& record : tape.ops)
    for (std::uint32_t j = 0; j < outputs_of(tape, record); ++j)
      for (Id id : operands_of(tape, record)) kind[record.out + j] = std::max(kind[record.out + j], kind[id]);
  return kind;
}

/// Outputs that some input has a part in, or that are constant. The others are uniform.
template <class Real>
std::vector<Id> varying_outputs(const RandomTape<Real>& graph) {
  const std::vector<Kind> kind = kinds(graph);
  std::vector<Id> varying;
  for (Id id : graph.outputs)
    if (kind[id] != Kind::uniform) varying.push_back(id);
  return varying;
}

}  // namespace wengert::test
