// Programs that do the same step again and again: what machine code makes loops of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "tests/random.hpp"
#include "wengert/program.hpp"
#include "wengert/tape.hpp"

namespace wengert::test {

/// Blocks of steps, each the same operations: on what this step or one of the last few gave, on constants, on inputs and parameters,
/// on what earlier blocks gave, which go on by some numbers from step to step, forwards or backwards.
template <class Real>
class RandomSteps {
 public:
  /// `times`: how many times as many steps.
  RandomSteps(Random& random, bool parameters, std::size_t times = 1) : random_(random), times_(times) {
    for (std::size_t k = times_ * (20 + random.below(200)); k > 0; --k) inputs_.push_back(tape_.input(Real(0.4)));
    for (std::size_t k = parameters ? 1 + random.below(60) : 0; k > 0; --k)
      parameters_.push_back(tape_.parameter(Real(0.3)));
    for (const double x : {0.5, -0.5, 0.0, 1.0}) constants_.push_back(tape_.constant(static_cast<Real>(x)));
    for (std::size_t k = 1 + random.below(3); k > 0; --k) random.chance(0.15) ? ring() : block();
    for (const Series& series : given_)
      if (random.chance(0.4)) outputs_.push_back(series.back());
    outputs_.push_back(given_.back().back());
    if (parameters && random.chance(0.5)) outputs_.back() = tape_.sum_samples(outputs_.back());
  }
  Program<Real> program() const { return compile(tape_, std::span<const Id>(outputs_)); }

 private:
  using Series = std::vector<Id>;  // what an operation gives, step by step
  enum From { this_step, back, constant, input, parameter, earlier };
  struct Operand {
    From from;
    std::size_t which;                 ///< operation, constant, series
    std::ptrdiff_t first = 0, by = 0;  ///< how many steps back; where it begins and by how many it goes on
  };
  struct Operation {
    Op op;
    bool squashed;
    std::vector<Operand> operands;
  };

  Operand operand(std::size_t operation, std::size_t operations, std::size_t most_back) {
    static constexpr std::ptrdiff_t strides[] = {0, 1, 1, 1, -1, -1, 2, -2, 3};
    const std::ptrdiff_t by = strides[random_.below(std::size(strides))],
                         first = static_cast<std::ptrdiff_t>(random_.below(random_.chance(0.5) ? 4 : 100));
    for (;;) switch (static_cast<From>(random_.below(6))) {
        case this_step:
          if (operation == 0) break;
          return {this_step, random_.chance(0.5) ? operation - 1 : random_.below(operation)};
        case back: return {back, random_.below(operations), 1 + static_cast<std::ptrdiff_t>(random_.below(most_back))};
        case constant: return {constant, random_.below(constants_.size())};
        case input: return {input, 0, first, by};
        case parameter:
          if (parameters_.empty()) break;
          return {parameter, 0, first, by};
        case earlier:
          if (given_.empty()) break;
          return {earlier, random_.below(given_.size()), first, by};
      }
  }
  Operation operation(std::size_t k, std::size_t operations, std::size_t most_back, double dear) {
    static const std::vector<Op> cheap = {Op::add, Op::sub, Op::mul,    Op::fma, Op::max,   Op::min,
                                          Op::neg, Op::lt,  Op::select, Op::abs, Op::square},
                                 others = {Op::tanh, Op::sin, Op::sqrt, Op::exp, Op::softplus, Op::div, Op::erf};
    Operation made{random_.of(random_.chance(dear) ? others : cheap), random_.chance(0.5), {}};
    for (int i = 0; i < info(made.op).arity; ++i) made.operands.push_back(operand(k, operations, most_back));
    return made;
  }
  /// What follows stays small.
  Id record(const Operation& operation, std::span<const Id> operands) {
    const Id result = tape_.record(operation.op, operands);
    if (operation.op == Op::lt) return result;
    const Id half = tape_.mul(result, constants_[0]);
    return operation.squashed ? tape_.tanh(half) : half;
  }
  static Id at(const Series& series, std::ptrdiff_t k) {
    const auto size = static_cast<std::ptrdiff_t>(series.size());
    return series[static_cast<std::size_t>((k % size + size) % size)];
  }

  void block() {
    const std::size_t count = 1 + random_.below(random_.chance(0.2) ? 60 : 10), most_back = 1 + random_.below(6),
                      steps = times_ * std::min<std::size_t>(9 + random_.below(random_.chance(0.4) ? 290 : 40),
                                                             9 + 1500 / count);
    const double dear = random_.chance(0.5) ? 0.0 : 0.1;
    std::vector<Operation> operations;
    for (std::size_t k = 0; k < count; ++k) operations.push_back(operation(k, count, most_back, dear));
    const bool all_out = random_.chance(0.2);
    std::vector<Series> gives(count);
    std::vector<Id> operands;
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t k = 0; k < count; ++k) {
        operands.clear();
        for (const Operand& o : operations[k].operands) {
          const auto s = static_cast<std::ptrdiff_t>(step);
          switch (o.from) {
            case this_step: operands.push_back(gives[o.which][step]); break;
            case back:
              operands.push_back(s < o.first ? inputs_[o.which % inputs_.size()] : at(gives[o.which], s - o.first));
              break;
            case constant: operands.push_back(constants_[o.which]); break;
            case input: operands.push_back(at(inputs_, o.first + o.by * s)); break;
            case parameter: operands.push_back(at(parameters_, o.first + o.by * s)); break;
            case earlier: operands.push_back(at(given_[o.which], (o.by < 0 ? -1 : 0) - o.first + o.by * s)); break;
          }
        }
        gives[k].push_back(record(operations[k], operands));
      }
      if (all_out) outputs_.push_back(gives[0].back());
    }
    given_.insert(given_.end(), gives.begin(), gives.end());
  }
  /// States that take each other's place.
  void ring() {
    Series states(2 + random_.below(random_.chance(0.2) ? 60 : 10)), first;
    for (Id& state : states) state = random_.of(inputs_);
    const Operation operation = this->operation(1, 1, 1, 0.0);
    for (std::size_t step = 12 + random_.below(80); step > 0; --step) {
      const Id operands[] = {states.back(), states[0], states[states.size() / 2]};
      const Id next = record(operation, std::span(operands).first(operation.operands.size()));
      std::rotate(states.begin(), states.end() - 1, states.end());
      first.push_back(states[0] = next);
    }
    outputs_.insert(outputs_.end(), states.begin(), states.end());
    given_.push_back(first);
  }

  Random& random_;
  const std::size_t times_;
  NaiveTape<Real> tape_;
  Series inputs_, parameters_, constants_, outputs_;
  std::vector<Series> given_;
};

}  // namespace wengert::test
