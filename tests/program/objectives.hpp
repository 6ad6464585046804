// Objectives with parameters and sums over samples, for tests: as one program, and with every sample recorded.
#pragma once

#include <span>
#include <vector>

#include "tests/random.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {

inline constexpr std::size_t features = 3;

/// Loss of a logistic regression, with a prior: linear in its sum over samples.
inline Id logistic(NaiveTape<double>& tape, std::span<const Id> w, const std::vector<std::vector<Id>>& rows,
                   bool batch) {
  std::vector<Id> losses;
  for (const std::vector<Id>& row : rows) {
    std::vector<Id> operands(w.begin(), w.end());
    operands.insert(operands.end(), row.begin(), row.begin() + features);
    const Id score = tape.dot(operands);
    losses.push_back(tape.sub(tape.softplus(score), tape.mul(row[features], score)));
  }
  const Id loss = batch ? tape.sum_samples(losses[0]) : tape.sum(losses);
  return tape.fma(tape.constant(0.5), tape.sqnorm(w), loss);
}

/// Not linear in its sums, with work before and after, and terms that use a parameter in several places.
inline Id nonlinear(NaiveTape<double>& tape, std::span<const Id> w, const std::vector<std::vector<Id>>& rows,
                    bool batch) {
  const Id scale = tape.exp(w[0]), shift = tape.mul(scale, w[1]);
  std::vector<Id> first, second;
  for (const std::vector<Id>& row : rows) {
    const Id z = tape.fma(scale, row[0], tape.add(shift, row[1]));
    first.push_back(tape.softplus(tape.mul(z, w[2])));
    second.push_back(tape.square(tape.sub(row[2], tape.mul(w[0], z))));
  }
  const Id a = batch ? tape.sum_samples(first[0]) : tape.sum(first),
           b = batch ? tape.sum_samples(second[0]) : tape.sum(second);
  return tape.add(tape.mul(tape.log(tape.add(a, scale)), tape.sqrt(tape.add(b, tape.constant(1)))),
                  tape.mul(shift, w[2]));
}

using Objective = Id (*)(NaiveTape<double>&, std::span<const Id>, const std::vector<std::vector<Id>>&, bool);

struct Data {
  std::size_t samples;
  std::vector<double> x;  // in rows
  std::vector<double> w;

  explicit Data(std::size_t n) : samples(n), x(n * (features + 1)), w(features) {
    Random random(n + 5);
    for (double& number : x) number = random.in(-1, 1);
    for (double& number : w) number = random.in(-1, 1);
  }
  Samples<const double> inputs() const { return rows(x.data(), features + 1); }
};

inline Program<double> program_of(Objective objective) {
  NaiveTape<double> tape;
  std::vector<Id> w, row;
  for (std::size_t i = 0; i < features; ++i) w.push_back(tape.parameter());
  for (std::size_t i = 0; i <= features; ++i) row.push_back(tape.input());
  return compile(tape, objective(tape, w, {row}, true));
}

/// The same with every sample recorded: inputs are the parameters, then the data.
inline Id record_all(Objective objective, const Data& data, NaiveTape<double>& tape) {
  std::vector<Id> w;
  std::vector<std::vector<Id>> table(data.samples);
  for (double number : data.w) w.push_back(tape.input(number));
  for (std::size_t e = 0; e < data.samples; ++e)
    for (std::size_t i = 0; i <= features; ++i) table[e].push_back(tape.input(data.x[e * (features + 1) + i]));
  return objective(tape, w, table, false);
}

}  // namespace wengert::test
