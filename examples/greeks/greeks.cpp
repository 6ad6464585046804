// Price and all first sensitivities of a call in Heston's model by Monte Carlo, on all cores, with standard errors,
// against the closed form.
//
//   greeks [PATHS]
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "wengert/wengert.hpp"

constexpr int steps = 64, sensitivities = 6;
constexpr double strike = 100, rate = 0.02, maturity = 0.5;
constexpr const char* names[] = {"spot", "v0", "kappa", "theta", "xi", "rho"};
constexpr double model[] = {100, 0.04, 1.5, 0.04, 0.3, -0.7};

/// The discounted payoff on one path: full truncation Euler (R. Lord, R. Koekkoek, D. van Dijk, "A Comparison of Biased
/// Simulation Schemes for Stochastic Volatility Models", Quant. Finance 10, 2010). `u`: two uniform numbers a step.
template <class T>
T payoff(const std::vector<T>& parameters, const std::vector<T>& u) {
  const T &spot = parameters[0], &v0 = parameters[1], &kappa = parameters[2], &theta = parameters[3],
          &xi = parameters[4], &rho = parameters[5];
  const double dt = maturity / steps;
  const T other = sqrt(1 - square(rho));
  T v = v0, x = log(spot / strike);
  for (int k = 0; k < steps; ++k) {
    const T z = normal_icdf(u[2 * k]) * std::sqrt(dt), w = normal_icdf(u[2 * k + 1]) * std::sqrt(dt);
    const T variance = relu(v), deviation = sqrt(variance);
    x += (rate - 0.5 * variance) * dt + deviation * z;
    v += kappa * (theta - variance) * dt + xi * deviation * (rho * z + other * w);
  }
  return std::exp(-rate * maturity) * strike * relu(exp(x) - 1);
}

/// The price by one integral of the characteristic function (A. Lewis, "Option Valuation under Stochastic Volatility",
/// 2000; the branch of H. Albrecher et al., "The Little Heston Trap", Wilmott 2007), by the trapezoidal rule.
double closed_form(const double* p) {
  using Complex = std::complex<double>;
  const double spot = p[0], v0 = p[1], kappa = p[2], theta = p[3], xi = p[4], rho = p[5];
  const Complex i(0, 1);
  const double money = std::log(spot / strike) + rate * maturity, h = 0.02;
  double integral = 0;
  for (int k = 0; k < 8000; ++k) {
    const Complex u(k * h, -0.5);
    const Complex b = kappa - rho * xi * u * i, d = std::sqrt(b * b + xi * xi * (u * i + u * u)), g = (b - d) / (b + d);
    const Complex e = std::exp(-d * maturity);
    const Complex C = kappa * theta / (xi * xi) * ((b - d) * maturity - 2.0 * std::log((1.0 - g * e) / (1.0 - g)));
    const Complex D = (b - d) / (xi * xi) * (1.0 - e) / (1.0 - g * e);
    const Complex term = std::exp(C + D * v0 + i * (k * h) * money) / (k * h * k * h + 0.25);
    integral += (k == 0 ? 0.5 : 1.0) * h * term.real();
  }
  return spot - std::sqrt(spot * strike) * std::exp(-rate * maturity / 2) / 3.141592653589793 * integral;
}

/// A number in (0, 1) that depends on the index alone: the finaliser of S. Vigna's splitmix64.
double uniform(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (static_cast<double>((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
}

int main(int argc, char** argv) {
  const std::size_t paths = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000, batch = 8192;
  if (paths < 2) return std::fputs("greeks: PATHS is a whole number from 2 on\n", stderr), 2;

  // Recorded once, at any point; uniform numbers are inputs that are not differentiated.
  wengert::NaiveTape<double> tape;
  std::vector<wengert::Var<double>> parameters, u;
  std::vector<wengert::Id> ids;
  for (double value : model) parameters.push_back(input(tape, value)), ids.push_back(parameters.back().id());
  for (int k = 0; k < 2 * steps; ++k) u.push_back(input(tape, 0.5));
  wengert::Replay<double> replay(compile(tape, payoff(parameters, u).id(), {.differentiated = ids}), {.threads = 0});

  // Columns: one per input, a row per path.
  const std::size_t inputs = sensitivities + 2 * steps;
  std::vector<double> in(inputs * batch), values(batch), gradients(sensitivities * batch);
  for (std::size_t k = 0; k < sensitivities; ++k)
    for (std::size_t e = 0; e < batch; ++e) in[k * batch + e] = model[k];
  double sum[1 + sensitivities] = {}, squares[1 + sensitivities] = {};
  for (std::size_t first = 0; first < paths; first += batch) {
    const std::size_t count = std::min(batch, paths - first);
    for (std::size_t k = sensitivities; k < inputs; ++k)
      for (std::size_t e = 0; e < count; ++e) in[k * batch + e] = uniform((first + e) * inputs + k);
    replay.gradient(count, wengert::columns(in.data(), batch), wengert::columns(values.data(), batch),
                    wengert::columns(gradients.data(), batch));
    for (int k = 0; k <= sensitivities; ++k)
      for (std::size_t e = 0; e < count; ++e) {
        const double x = k == 0 ? values[e] : gradients[(k - 1) * batch + e];
        sum[k] += x, squares[k] += x * x;
      }
  }

  bool right = true;
  std::printf("%-8s %12s %12s %12s\n", "", "Monte Carlo", "std. error", "closed form");
  for (int k = 0; k <= sensitivities; ++k) {
    double exact = closed_form(model);
    if (k > 0) {
      double up[sensitivities], down[sensitivities];
      std::copy(model, model + sensitivities, up), std::copy(model, model + sensitivities, down);
      const double h = 1e-4 * std::fabs(model[k - 1]);
      up[k - 1] += h, down[k - 1] -= h;
      exact = (closed_form(up) - closed_form(down)) / (2 * h);
    }
    const double n = static_cast<double>(paths), mean = sum[k] / n;
    const double error = std::sqrt((squares[k] / n - mean * mean) / (n - 1));
    std::printf("%-8s %12.5f %12.5f %12.5f\n", k == 0 ? "price" : names[k - 1], mean, error, exact);
    right &= std::fabs(mean - exact) <= 4 * error + 0.01 * std::fabs(exact);  // the time steps' bias: within 1%
  }
  return right ? 0 : 1;
}
