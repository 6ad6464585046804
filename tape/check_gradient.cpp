// Gradients against extrapolated differences.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tape/program.hpp"
#include "tape/show.hpp"
#include "tape/transfer.hpp"
#include "wengert/diagnose.hpp"

namespace wengert {
namespace {

constexpr std::size_t steps = 12;  // each half the one before

struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN(), error = std::numeric_limits<double>::infinity();
};

/// Of a derivative, from central differences of steps that halve: Neville's scheme for an error in even powers of the step
/// (Ridders 1982). `noise`: what rounding may have done to each difference. A difference that isn't finite (the function
/// isn't defined so far out) starts anew. Differences across jumps can agree by chance, so none is believed more than it
/// agrees with that of the smallest step.
Estimate extrapolate(const double (&differences)[steps], const double (&noise)[steps]) {
  Estimate best;
  const double last = differences[steps - 1];
  std::vector<double> row, above;
  for (std::size_t j = 0; j < steps; ++j) {
    row.clear();
    if (std::isfinite(differences[j])) {
      row.push_back(differences[j]);
      double factor = 1;
      for (std::size_t k = 0; k < above.size(); ++k) {
        factor *= 4;
        row.push_back(row[k] + (row[k] - above[k]) / (factor - 1));
        const double error = std::max({std::fabs(row[k + 1] - row[k]), std::fabs(row[k + 1] - above[k]), noise[j],
                                       std::fabs(row[k + 1] - last) - noise[steps - 1]});
        if (error < best.error) best = {row[k + 1], error};
      }
    }
    above.swap(row);
  }
  return best;
}

/// A custom op of floats on doubles: what it computes, it computes in float.
std::shared_ptr<const CustomRule<double>> in_double(const std::shared_ptr<const CustomRule<float>>& from) {
  CustomRule<double> to;
  to.name = from->name;
  to.inputs = from->inputs;
  to.outputs = from->outputs;
  to.kept = from->kept;
  to.values = [from](std::size_t samples, Samples<const double> x, Samples<double> y) {
    const std::size_t n = from->inputs, m = from->outputs + from->kept;
    std::vector<float> point(samples * n), results(samples * m);
    for (std::size_t k = 0; k < point.size(); ++k) point[k] = static_cast<float>(x(k % samples, k / samples));
    from->values(samples, columns(static_cast<const float*>(point.data()), samples), columns(results.data(), samples));
    for (std::size_t k = 0; k < results.size(); ++k) y(k % samples, k / samples) = static_cast<double>(results[k]);
  };
  return std::make_shared<const CustomRule<double>>(std::move(to));
}

/// The program in double. What is a float is a double too.
Program<double> in_double(const Program<double>& program) { return program; }
Program<double> in_double(const Program<float>& program) {
  const plan::Source<float>& from = program.data().source;
  plan::Source<double> to;
  to.inputs.assign(from.inputs.begin(), from.inputs.end());
  to.parameters = from.parameters;
  to.constants.assign(from.constants.begin(), from.constants.end());
  to.ops = from.ops;
  to.words = from.words;
  for (const auto& rule : from.rules) to.rules.push_back(in_double(rule));
  return compile(plan::record(to, program.data().zero_rule), std::span<const Id>(from.outputs),
                 CompileOptions{from.differentiated});
}

}  // namespace

template <class Real>
GradientCheck check_gradient(const Program<Real>& program, std::size_t samples,
                             Samples<const std::type_identity_t<Real>> inputs, double tolerance) {
  if (!program.data().uniform.sums.empty() || program.uniform_outputs() != 0)
    throw Error(
        ErrorCode::unsupported,
        "check_gradient of a program with sums over samples or uniform outputs: it looks at samples one by one; "
        "compile the terms of the sums as outputs to check these");
  need("inputs", samples, program.inputs(), inputs);
  const std::size_t n = program.inputs(), m = program.outputs(), d = program.differentiated();
  if (!(tolerance >= 0))
    throw Error(ErrorCode::bad_argument,
                "check_gradient with a tolerance of " + shortest(tolerance) + ": it is 0, for the usual one, or more");
  if (tolerance == 0) tolerance = sizeof(Real) == 8 ? 1e-6 : 1e-4;
  Replay<Real> ours(program);
  // Differences are those of the recorded path, also where a step leads off it: it is that path's gradient.
  Replay<double> function(in_double(program), {.report_departures = true});
  std::vector<Real> jacobian(m * d);
  std::vector<double> points(2 * steps * n), values(2 * steps * m);
  // Custom ops of float programs compute in float, in so many operations that some rounding errors come together.
  const double rounding = program.data().source.rules.empty() ? std::numeric_limits<double>::epsilon()
                                                              : 8 * double(std::numeric_limits<Real>::epsilon());
  GradientCheck check;
  check.entries.reserve(samples * m * d);
  for (std::size_t e = 0; e < samples; ++e) {
    ours.jacobian(1, {place(inputs, e, 0), inputs.sample, inputs.item}, {}, rows(jacobian.data(), m * d));
    const std::size_t first = check.entries.size();
    check.entries.resize(first + m * d);
    for (std::size_t i = 0; i < d; ++i) {
      const std::size_t at = program.data().differentiated[i];
      const double x = static_cast<double>(*place(inputs, e, at));
      double width[steps];
      for (std::size_t j = 0; j < steps; ++j) {
        const double step = std::ldexp(std::fmax(std::fabs(x), 0.1), -2 - static_cast<int>(j));
        for (std::size_t side = 0; side < 2; ++side) {
          double* const point = points.data() + (2 * j + side) * n;
          for (std::size_t k = 0; k < n; ++k) point[k] = static_cast<double>(*place(inputs, e, k));
          point[at] = side == 0 ? x - step : x + step;
        }
        width[j] = points[(2 * j + 1) * n + at] - points[2 * j * n + at];
      }
      function.values(2 * steps, rows(static_cast<const double*>(points.data()), n), rows(values.data(), m));
      for (std::size_t k = 0; k < m; ++k) {
        double differences[steps], noise[steps];
        for (std::size_t j = 0; j < steps; ++j) {
          const double low = values[2 * j * m + k], high = values[(2 * j + 1) * m + k];
          differences[j] = (high - low) / width[j];
          noise[j] = rounding * std::fmax(std::fabs(low), std::fabs(high)) / width[j];
        }
        const Estimate estimate = extrapolate(differences, noise);
        const double gradient = static_cast<double>(jacobian[k * d + i]);
        const bool known = std::isfinite(estimate.error);
        const double larger = std::fmax(std::fabs(gradient), std::fabs(estimate.value));
        const bool agrees =
            !known || std::fabs(gradient - estimate.value) <=
                          10 * estimate.error + tolerance * larger + double(std::numeric_limits<Real>::min());
        check.entries[first + k * d + i] = {e, k, i, gradient, estimate.value, estimate.error, known, agrees};
      }
    }
  }
  return check;
}

std::string GradientCheck::describe() const {
  constexpr std::size_t most = 10;
  std::vector<const Entry*> wrong;
  std::size_t known = 0;
  for (const Entry& entry : entries) {
    known += entry.known;
    if (!entry.agrees) wrong.push_back(&entry);
  }
  std::string text = std::to_string(entries.size()) + " derivatives: " + std::to_string(known - wrong.size()) +
                     " agree with differences, " + std::to_string(wrong.size()) + " don't, " +
                     std::to_string(entries.size() - known) + " have none to compare with\n";
  const auto off = [](const Entry* entry) {
    const double by = std::fabs(entry->gradient - entry->difference) / std::fmax(entry->error, 1e-300);
    return std::isnan(by) ? std::numeric_limits<double>::infinity() : by;
  };
  std::stable_sort(wrong.begin(), wrong.end(), [&](const Entry* a, const Entry* b) { return off(a) > off(b); });
  const auto show = [](double x) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.10g", x);
    return std::string(buffer);
  };
  for (std::size_t k = 0; k < wrong.size() && k < most; ++k)
    text += "sample " + std::to_string(wrong[k]->sample) + ", output " + std::to_string(wrong[k]->output) + ", input " +
            std::to_string(wrong[k]->input) + ": " + show(wrong[k]->gradient) + ", by differences " +
            show(wrong[k]->difference) + " +- " + show(wrong[k]->error) + "\n";
  if (wrong.size() > most) text += "and " + std::to_string(wrong.size() - most) + " more\n";
  return text;
}

template GradientCheck check_gradient(const Program<double>&, std::size_t, Samples<const double>, double);
template GradientCheck check_gradient(const Program<float>&, std::size_t, Samples<const float>, double);

}  // namespace wengert
