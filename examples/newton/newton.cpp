// Newton's method on 10,000 unknowns: the boundary value problem -u'' + v = s on (0, 1), u = 0 at both ends, as the minimum of
// an energy, where v is what solves v + v^3 = u: an equation at each point, inside of the objective. The Hessian is sparse: three
// sweeps of directions instead of 10,000, found by colouring.
//
//   newton [UNKNOWNS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "wengert/wengert.hpp"

using Var = wengert::Var<double>;

constexpr double pi = 3.14159265358979323846;

double solution(double x) { return std::sin(pi * x) + std::pow(std::sin(pi * x), 3); }

/// Made so that v(x) = sin(pi x), and with it that solution: s = v - u''.
double source(double x) {
  const double v = std::sin(pi * x), slope = pi * std::cos(pi * x);
  return v + pi * pi * v * (1 + 3 * v * v) - 6 * v * slope * slope;
}

/// Sum of (u[i + 1] - u[i])^2 / 2h + h (w[i] - s[i] u[i]), where w = v^2 / 2 + 3 v^4 / 4 has the derivative v in u.
Var energy(const std::vector<Var>& u, double h) {
  const wengert::CustomOp<double> law =
      wengert::make_root<double>(1, 1, [](std::span<const Var> x) { return x[0] + x[0] * x[0] * x[0] - x[1]; });
  std::vector<Var> terms;
  for (std::size_t i = 0; i <= u.size(); ++i) {
    const Var left = i == 0 ? Var(0) : u[i - 1], right = i == u.size() ? Var(0) : u[i];
    terms.push_back(square(right - left) / (2 * h));
    if (i == u.size()) break;
    const Var v2 = square(law(Var(0), right)[0]);  // from the guess 0
    terms.push_back(h * (0.5 * v2 + 0.75 * square(v2) - source(static_cast<double>(i + 1) * h) * right));
  }
  return sum(terms);
}

/// Solves A d = -g for a symmetric tridiagonal A, given by its entries in the order of `pattern`.
std::vector<double> solve(const wengert::SparsityPattern& pattern, const std::vector<double>& entries,
                          const std::vector<double>& g) {
  const std::size_t n = g.size();
  std::vector<double> diagonal(n), above(n), d(n);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t k = pattern.row_start[row]; k < pattern.row_start[row + 1]; ++k) {
      if (pattern.column[k] == row) diagonal[row] = entries[k];
      if (pattern.column[k] == row + 1) above[row] = entries[k];
    }
  for (std::size_t i = 0; i < n; ++i) d[i] = -g[i];
  for (std::size_t i = 1; i < n; ++i) {
    const double factor = above[i - 1] / diagonal[i - 1];
    diagonal[i] -= factor * above[i - 1];
    d[i] -= factor * d[i - 1];
  }
  for (std::size_t i = n; i-- > 0;) d[i] = (d[i] - (i + 1 < n ? above[i] * d[i + 1] : 0)) / diagonal[i];
  return d;
}

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
  if (n < 2) return std::fputs("newton: UNKNOWNS is a whole number from 2 on\n", stderr), 2;
  const double h = 1 / static_cast<double>(n + 1);

  wengert::NaiveTape<double> tape;
  std::vector<Var> unknowns;
  for (std::size_t i = 0; i < n; ++i) unknowns.push_back(input(tape));
  wengert::Replay<double> replay(compile(tape, energy(unknowns, h).id()));
  const wengert::SparsityPattern pattern = replay.program().hessian_sparsity();
  std::printf("%zu unknowns, %zu entries of the Hessian that may be other than zero\n", n, pattern.nonzeros());

  std::vector<double> u(n, 0.0), gradient(n), entries(pattern.nonzeros());
  double value = 0, change = 1;
  int steps = 0;
  for (; steps < 50 && change > 1e-10; ++steps) {
    replay.sparse_hessian(1, wengert::rows(u.data(), n), wengert::rows(&value, 1), wengert::rows(gradient.data(), n),
                          wengert::rows(entries.data(), pattern.nonzeros()));
    const std::vector<double> d = solve(pattern, entries, gradient);
    change = 0;
    for (std::size_t i = 0; i < n; ++i) u[i] += d[i], change = std::max(change, std::fabs(d[i]));
    std::printf("step %d: energy %.12g, largest change %.2g\n", steps + 1, value, change);
  }
  double error = 0;
  for (std::size_t i = 0; i < n; ++i)
    error = std::max(error, std::fabs(u[i] - solution(static_cast<double>(i + 1) * h)));
  std::printf("largest distance from the solution: %.2g (of the discretisation: some h^2 = %.2g)\n", error, h * h);
  return steps < 50 && error < 4 * h * h + 1e-8 ? 0 : 1;
}
