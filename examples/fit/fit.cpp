// Nonlinear least squares on problems whose answers are certified to 11 digits: Levenberg-Marquardt, all rows of the
// Jacobian by one call of Replay.
//
//   fit DATA_FOLDER
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "wengert/wengert.hpp"

using Var = wengert::Var<double>;
using Model = std::function<Var(std::span<const Var> b, const Var& x)>;

struct Problem {
  std::vector<double> start[2], certified, x, y;
};

/// A file as NIST published it: lines `bK = start1 start2 certified deviation`, data from line 61 on.
Problem read(const std::string& path) {
  Problem p;
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    double a, b, c;
    int k;
    if (number <= 60 && std::sscanf(line.c_str(), " b%d = %lf %lf %lf", &k, &a, &b, &c) == 4) {
      p.start[0].push_back(a), p.start[1].push_back(b), p.certified.push_back(c);
    } else if (number > 60 && std::sscanf(line.c_str(), "%lf %lf", &a, &b) == 2) {
      p.y.push_back(a), p.x.push_back(b);
    }
  }
  return p;
}

/// Minimises |A d - r| for the rows x columns matrix A by Householder reflections; both are overwritten.
std::vector<double> least_squares(std::vector<double>& A, std::vector<double>& r, std::size_t columns) {
  const std::size_t rows = r.size();
  for (std::size_t k = 0; k < columns; ++k) {
    double norm = 0;
    for (std::size_t i = k; i < rows; ++i) norm = std::hypot(norm, A[i * columns + k]);
    if (norm == 0) continue;
    std::vector<double> v(rows, 0.0);
    for (std::size_t i = k; i < rows; ++i) v[i] = A[i * columns + k] / norm;
    v[k] += std::copysign(1.0, v[k]);
    const auto reflect = [&](double* column, std::size_t stride) {
      double dot = 0;
      for (std::size_t i = k; i < rows; ++i) dot += v[i] * column[i * stride];
      for (std::size_t i = k; i < rows; ++i) column[i * stride] -= dot / std::fabs(v[k]) * v[i];
    };
    for (std::size_t j = k; j < columns; ++j) reflect(A.data() + j, columns);
    reflect(r.data(), 1);
  }
  std::vector<double> d(columns);
  for (std::size_t k = columns; k-- > 0;) {
    double sum = r[k];
    for (std::size_t j = k + 1; j < columns; ++j) sum -= A[k * columns + j] * d[j];
    d[k] = sum / A[k * columns + k];
  }
  return d;
}

std::vector<double> fit(const Model& model, const Problem& p, std::vector<double> b) {
  const std::size_t n = b.size(), m = p.x.size();
  wengert::NaiveTape<double> tape;
  std::vector<Var> parameters;
  std::vector<wengert::Id> ids;
  for (double value : b) parameters.push_back(input(tape, value)), ids.push_back(parameters.back().id());
  const Var f = model(parameters, input(tape, p.x[0]));
  // Not differentiated in x: that costs nothing.
  wengert::Replay<double> replay(compile(tape, f.id(), {.differentiated = ids}));

  std::vector<double> points(m * (n + 1)), values(m), jacobian(m * n), residuals(m);
  const auto sum_of_squares = [&](const std::vector<double>& at) {
    for (std::size_t i = 0; i < m; ++i)
      std::copy(at.begin(), at.end(), &points[i * (n + 1)]), points[i * (n + 1) + n] = p.x[i];
    replay.gradient(m, wengert::rows(points.data(), n + 1), wengert::rows(values.data(), 1),
                    wengert::rows(jacobian.data(), n));
    double sum = 0;
    for (std::size_t i = 0; i < m; ++i) residuals[i] = p.y[i] - values[i], sum += residuals[i] * residuals[i];
    return sum;
  };

  // The damping rows below the Jacobian are scaled by its columns, the largest that each ever was: J. J. More, "The
  // Levenberg-Marquardt algorithm: implementation and theory", Lect. Notes Math. 630 (1978).
  std::vector<double> scale(n, 0.0);
  const auto step = [&](double damping) {
    std::vector<double> A = jacobian, r = residuals;
    for (std::size_t k = 0; k < n; ++k) {
      double norm = 0;
      for (std::size_t i = 0; i < m; ++i) norm = std::hypot(norm, jacobian[i * n + k]);
      A.insert(A.end(), n, 0.0), r.push_back(0);
      A[(m + k) * n + k] = std::sqrt(damping) * (scale[k] = std::max(scale[k], norm));
    }
    return least_squares(A, r, n);
  };
  double least = sum_of_squares(b), damping = 1, moved = 1;
  for (int tried = 0; tried < 2000 && moved > 1e-13; ++tried) {
    std::vector<double> d = step(damping), next = b;
    moved = 0;
    for (std::size_t k = 0; k < n; ++k) next[k] += d[k], moved = std::max(moved, std::fabs(d[k] / next[k]));
    const double sum = sum_of_squares(next);
    if (sum <= least) b = next, least = sum, damping = std::max(damping / 10, 1e-18);
    else damping = std::min(damping * 10, 1e18), sum_of_squares(b);
  }
  // The sum tells only half the digits of the parameters apart; steps without damping find the others.
  for (int last = 0; last < 3; ++last, sum_of_squares(b)) {
    const std::vector<double> d = step(0);
    for (std::size_t k = 0; k < n; ++k) b[k] += d[k];
  }
  return b;
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "data";
  const auto saturating = [](auto b, auto& x) { return b[0] * -expm1(-b[1] * x); };
  const std::pair<const char*, Model> problems[] = {
      {"Misra1a", saturating},
      {"BoxBOD", saturating},
      {"MGH17", [](auto b, auto& x) { return b[0] + b[1] * exp(-x * b[3]) + b[2] * exp(-x * b[4]); }},
      {"Eckerle4", [](auto b, auto& x) { return b[0] / b[1] * exp(-0.5 * square((x - b[2]) / b[1])); }},
      {"Rat43", [](auto b, auto& x) { return b[0] / pow(1 + exp(b[1] - b[2] * x), 1 / b[3]); }},
      {"Thurber",
       [](auto b, auto& x) {
         return (b[0] + x * (b[1] + x * (b[2] + x * b[3]))) / (1 + x * (b[4] + x * (b[5] + x * b[6])));
       }},
  };
  bool right = true;
  std::puts("problem   start  digits that agree with the certified parameters");
  for (const auto& [name, model] : problems) {
    const Problem p = read(folder + "/" + name + ".dat");
    const std::size_t n = p.certified.size();
    if (p.x.empty()) return std::fprintf(stderr, "fit: can't read %s/%s.dat\n", folder.c_str(), name), 1;
    for (int start = 0; start < 2; ++start) {
      const std::vector<double> b = fit(model, p, p.start[start]);
      double digits = 11;
      for (std::size_t k = 0; k < n; ++k)
        digits = std::min(digits, -std::log10(std::fabs(b[k] / p.certified[k] - 1) + 1e-11));
      std::printf("%-8s  %5d  %6.1f\n", name, start + 1, std::fmax(digits, 0));
      // From the farther start MGH17 runs away, as for most solvers. Thurber's Jacobian costs three digits.
      right &= digits >= (n == 7 ? 7 : 9) || (n == 5 && start == 0);
    }
  }
  return right ? 0 : 1;
}
