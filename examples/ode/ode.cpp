// Rates of a predator-prey system (A. Lotka, V. Volterra) from observed populations: Gauss-Newton, derivatives through a
// Runge-Kutta solver that chooses its own steps. The steps depend on the data, so each choice of steps is a path of its own.
// Then what the rates do in the long run, by TimeLoop: no tape of all steps.
//
//   ode
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "wengert/wengert.hpp"

constexpr int rates = 4, observations = 10;
constexpr double horizon = 5, start[2] = {1.2, 0.8}, truth[rates] = {1.1, 0.7, 0.9, 0.5};

template <class T>
struct Populations {
  T prey, predators;
  Populations plus(const T& h, const Populations& slope) const {
    return {prey + h * slope.prey, predators + h * slope.predators};
  }
};

template <class T>
Populations<T> slope(std::span<const T> r, const Populations<T>& p) {
  return {p.prey * (r[0] - r[1] * p.predators), p.predators * (r[3] * p.prey - r[2])};
}

/// A step, and what it may be wrong by: P. Bogacki, L. F. Shampine, "A 3(2) Pair of Runge-Kutta Formulas", Appl. Math. Lett. 2
/// (1989).
template <class T>
std::pair<Populations<T>, T> attempt(std::span<const T> r, const Populations<T>& p, const T& h) {
  const Populations<T> k1 = slope(r, p), k2 = slope(r, p.plus(h / 2, k1)), k3 = slope(r, p.plus(h * 3 / 4, k2));
  const Populations<T> next = p.plus(h * 2 / 9, k1).plus(h / 3, k2).plus(h * 4 / 9, k3), k4 = slope(r, next);
  const auto off = [&](const T& a, const T& b, const T& c, const T& d) {
    return h * (a * (-5.0 / 72) + b / 12 + c / 9 - d / 8);
  };
  return {next,
          hypot(off(k1.prey, k2.prey, k3.prey, k4.prey), off(k1.predators, k2.predators, k3.predators, k4.predators))};
}

/// Both populations at each time of observation. Steps are halved and doubled, so that they are numbers and only the comparisons
/// decide.
template <class T>
std::vector<T> solve(std::span<const T> r, double tolerance) {
  std::vector<T> seen;
  Populations<T> p{start[0], start[1]};
  double h = 0.0625;
  for (int k = 1; k <= observations; ++k) {
    const double end = horizon * k / observations;
    for (double t = horizon * (k - 1) / observations; t < end;) {
      const double step = std::fmin(h, end - t);
      const auto [next, error] = attempt<T>(r, p, step);
      if (error > tolerance) {
        h = step / 2;
        continue;
      }
      p = next, t = step < h ? end : t + step;
      if (step == h && error < tolerance / 16) h *= 2;
    }
    seen.push_back(p.prey), seen.push_back(p.predators);
  }
  return seen;
}

/// Solves the normal equations J'J d = J'e, by elimination without pivoting: J'J is positive definite.
void correct(const std::vector<double>& J, const std::vector<double>& e, double* r) {
  double A[rates][rates + 1] = {};
  for (std::size_t o = 0; o < e.size(); ++o)
    for (int i = 0; i < rates; ++i) {
      const double* row = &J[o * rates];
      for (int j = 0; j < rates; ++j) A[i][j] += row[i] * row[j];
      A[i][rates] += row[i] * e[o];
    }
  for (int k = 0; k < rates; ++k)
    for (int i = k + 1; i < rates; ++i)
      for (int j = rates; j >= k; --j) A[i][j] -= A[i][k] / A[k][k] * A[k][j];
  for (int k = rates; k-- > 0;) {
    for (int j = k + 1; j < rates; ++j) A[k][rates] -= A[k][j] * A[j][rates];
    r[k] += A[k][rates] /= A[k][k];
  }
}

/// V = r3 prey - r2 log(prey) + r1 predators - r0 log(predators) stays what it is. So its gradient at the end, in populations and
/// rates at the start, is that at the start, though those of the populations grow and grow. The largest difference.
double long_run(const double* r) {
  using Var = wengert::Var<double>;
  // State: prey, predators, time, length of the step, which is tried once: three paths, whatever the steps are.
  constexpr std::size_t steps = 100000, state = 4, inputs = state + rates;
  const auto step = [](std::span<const Var> x) -> std::array<Var, state> {
    const auto [next, error] = attempt<Var>(x.subspan(state), {x[0], x[1]}, x[3]);
    if (error > 1e-9) return {x[0], x[1], x[2], x[3] / 2};
    return {next.prey, next.predators, x[2] + x[3], error < 1e-9 / 16 ? x[3] * 2 : x[3]};
  };
  wengert::TimeLoop<double> loop(state, rates, step, {.most_bytes = 100000});
  const double first[inputs] = {start[0], start[1], 0, 0.0625, r[0], r[1], r[2], r[3]};
  double last[state], gradient[inputs];
  loop.values(1, steps, wengert::rows(first, inputs), wengert::rows(last, state));
  const auto in_state = [&](const double* p) { return std::array{r[3] - r[2] / p[0], r[1] - r[0] / p[1], 0.0, 0.0}; };
  const auto in_rates = [](const double* p) { return std::array{-std::log(p[1]), p[1], -std::log(p[0]), p[0]}; };
  loop.vjp(1, steps, wengert::rows(first, inputs), wengert::rows(in_state(last).data(), state), {},
           wengert::rows(gradient, inputs));
  double worst = 0;
  for (int k = 0; k < 2; ++k) worst = std::fmax(worst, std::fabs(gradient[k] - in_state(start)[k]));
  for (int k = 0; k < rates; ++k)
    worst = std::fmax(worst, std::fabs(gradient[state + k] + in_rates(last)[k] - in_rates(start)[k]));
  std::printf("time %.0f after %zu steps on %zu paths, %zu bytes of states kept: %.3f prey, %.3f predators\n", last[2],
              steps, loop.statistics().paths, loop.bytes(), last[0], last[1]);
  return worst;
}

int main() {
  // What was "observed": the same equations in plain doubles, much more precisely.
  const std::vector<double> observed = solve(std::span<const double>(truth), 1e-13);

  using Var = wengert::Var<double>;
  wengert::Function<double> model(rates, [](std::span<const Var> r) { return solve(r, 1e-10); });
  double r[rates] = {0.9, 0.9, 0.7, 0.7}, change = 1;
  for (int step = 1; step <= 30 && change > 1e-9; ++step) {
    std::vector<double> populations(2 * observations), J(populations.size() * rates), e;
    model.jacobian(1, wengert::rows(r, rates), wengert::rows(populations.data(), populations.size()),
                   wengert::rows(J.data(), J.size()));
    double sum = 0;
    for (std::size_t o = 0; o < observed.size(); ++o) e.push_back(observed[o] - populations[o]), sum += e[o] * e[o];
    const double before[rates] = {r[0], r[1], r[2], r[3]};
    correct(J, e, r);
    change = 0;
    for (int k = 0; k < rates; ++k) change = std::fmax(change, std::fabs(r[k] - before[k]));
    std::printf("step %d: sum of squares %.3g, rates %.9f %.9f %.9f %.9f\n", step, sum, r[0], r[1], r[2], r[3]);
  }
  const wengert::FunctionStatistics statistics = model.statistics();
  std::printf("%zu different choices of steps were recorded\n", statistics.recorded);
  double error = 0, invariant = long_run(r);
  for (int k = 0; k < rates; ++k) error = std::fmax(error, std::fabs(r[k] - truth[k]));
  std::printf("largest error of a rate: %.2g, of the invariant's gradient: %.2g\n", error, invariant);
  return error < 1e-6 && invariant < 1e-6 ? 0 : 1;
}
