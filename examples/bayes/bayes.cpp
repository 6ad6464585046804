// Hierarchical logistic regression by Hamiltonian Monte Carlo: is a tumour malignant, given ten features? The whole log
// posterior, prior and sum over patients, is one program; its gradient in the parameters comes back summed.
//
//   bayes DATA.csv [DRAWS]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "wengert/wengert.hpp"

using Var = wengert::Var<double>;

constexpr std::size_t features = 10,
                      parameters = features + 2;  // log of the weights' scale, intercept, weights / scale

/// Rows of features, each brought to mean 0 and deviation 1, and the class, 1 or 0.
std::vector<double> read(const char* path) {
  std::ifstream file(path);
  std::vector<double> rows;
  std::string line, cell;
  for (std::getline(file, line); std::getline(file, line);)
    for (std::istringstream cells(line); std::getline(cells, cell, ',');)
      rows.push_back(std::strtod(cell.c_str(), nullptr));
  const std::size_t width = features + 1, n = rows.size() / width;
  for (std::size_t j = 0; j < features; ++j) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < n; ++i) mean += rows[i * width + j] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) square += std::pow(rows[i * width + j] - mean, 2) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) rows[i * width + j] = (rows[i * width + j] - mean) / std::sqrt(square);
  }
  return rows;
}

/// log p(parameters | data) up to a constant. Weights are scale * z, with z and log scale standard normal; the intercept has
/// deviation 5.
Var log_posterior(const std::vector<Var>& p, const std::vector<Var>& row) {
  const Var scale = exp(p[0]);
  std::vector<Var> weights, x(row.begin(), row.end() - 1);
  for (std::size_t j = 0; j < features; ++j) weights.push_back(scale * p[2 + j]);
  const Var score = dot(weights, x) + p[1], malignant = row.back();
  const Var likelihood = sum_samples(malignant * score - softplus(score));
  const std::vector<Var> z(p.begin() + 2, p.end());
  return likelihood - 0.5 * (sqnorm(z) + square(p[0]) + square(p[1] / 5));
}

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: bayes DATA.csv [DRAWS]\n", stderr), 2;
  const std::vector<double> data = read(argv[1]);
  const std::size_t patients = data.size() / (features + 1),
                    draws = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2000;
  if (patients == 0) return std::fprintf(stderr, "bayes: no rows in %s\n", argv[1]), 1;

  wengert::NaiveTape<double> tape;
  std::vector<Var> p, row;
  std::vector<wengert::Id> ids;
  for (std::size_t k = 0; k < parameters; ++k) p.push_back(parameter(tape)), ids.push_back(p.back().id());
  for (std::size_t k = 0; k <= features; ++k) row.push_back(input(tape));
  wengert::Replay<double> replay(compile(tape, log_posterior(p, row).id(), {.differentiated = ids}), {.threads = 0});

  std::vector<double> gradient(parameters);
  const auto density = [&](const std::vector<double>& q) {
    replay.set_parameters(q);
    replay.gradient(patients, wengert::rows(data.data(), features + 1), {}, {});
    gradient.assign(replay.parameter_gradients().begin(), replay.parameter_gradients().end());
    return replay.uniform_outputs()[0];
  };

  // Leapfrog steps of a length drawn for each draw: R. Neal, "MCMC Using Hamiltonian Dynamics", Handbook of Markov Chain
  // Monte Carlo (2011). The first half of the draws is thrown away.
  std::mt19937_64 random(1);
  const auto uniform = [&] { return (static_cast<double>(random() >> 12) + 0.5) * 0x1p-52; };
  const auto normal = [&] { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); };
  std::vector<double> q(parameters, 0.0), slope;
  double here = density(q), accepted = 0, stein = 0, stein_squares = 0, weight[features] = {};
  slope = gradient;
  std::size_t kept = 0;
  for (std::size_t draw = 0; draw < 2 * draws; ++draw) {
    std::vector<double> momentum(parameters), to = q, g = slope;
    double energy = -here;
    for (double& m : momentum) m = normal(), energy += m * m / 2;
    const double step = 0.08 * (0.5 + uniform());
    for (int leap = 0; leap < 16; ++leap) {
      for (std::size_t k = 0; k < parameters; ++k) to[k] += step * (momentum[k] += step / 2 * g[k]);
      const double there = density(to);
      g = gradient;
      for (std::size_t k = 0; k < parameters; ++k) momentum[k] += step / 2 * g[k];
      if (leap == 15) {
        double end = -there;
        for (double m : momentum) end += m * m / 2;
        if (std::log(uniform()) < energy - end) q = to, slope = g, here = there, ++accepted;
      }
    }
    if (draw < draws) continue;
    ++kept;
    double identity = 0;
    for (std::size_t k = 0; k < parameters; ++k) identity += q[k] * slope[k];
    stein += identity, stein_squares += identity * identity;
    for (std::size_t j = 0; j < features; ++j) weight[j] += std::exp(q[0]) * q[2 + j];
  }
  // C. Stein's identity: the mean of q . grad log p(q) over the posterior is minus the number of parameters.
  const double n = static_cast<double>(kept), mean = stein / n,
               error = std::sqrt((stein_squares / n - mean * mean) / n);
  const double rate = accepted / (2 * static_cast<double>(draws));
  std::printf("%zu patients, %zu draws, %.0f%% accepted\nmean weights:", patients, kept, 100 * rate);
  for (double w : weight) std::printf(" %.2f", w / n);
  std::printf("\nE[q . grad log p(q)] = %.3f +- %.3f; exactly %d\n", mean, error, -static_cast<int>(parameters));
  // Draws are correlated: 10 of the errors that independent ones would have.
  return rate > 0.6 && std::fabs(mean + static_cast<double>(parameters)) < 10 * error ? 0 : 1;
}
