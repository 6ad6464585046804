// Custom ops for random tapes: ones made of a rule, solutions of systems and equations, checkpoints of code with branches, and one of
// these inside another.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "tests/program/branchy.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {

/// A custom op: output j is the sum over i of c(i, j) x(i) x(i + j), places counted in a circle. It keeps the operands' sum.
template <class Real>
CustomOp<Real> quadratic_forms(std::size_t inputs, std::size_t outputs) {
  const auto c = [](std::size_t i, std::size_t j) { return Real(i + 1) - Real(2) / Real(j + 1); };
  // Of output j in x(k), at u.
  const auto slope = [inputs, c](Samples<const Real> u, std::size_t e, std::size_t k, std::size_t j) {
    const std::size_t up = (k + j) % inputs, down = (k + inputs * j - j) % inputs;
    return c(k, j) * u(e, up) + c(down, j) * u(e, down);
  };
  CustomRule<Real> rule;
  rule.name = "forms";
  rule.inputs = inputs;
  rule.outputs = outputs;
  rule.kept = 1;
  rule.values = [=](std::size_t samples, Samples<const Real> x, Samples<Real> y) {
    for (std::size_t e = 0; e < samples; ++e) {
      for (std::size_t j = 0; j <= outputs; ++j) y(e, j) = 0;
      for (std::size_t i = 0; i < inputs; ++i) {
        for (std::size_t j = 0; j < outputs; ++j) y(e, j) += c(i, j) * x(e, i) * x(e, (i + j) % inputs);
        y(e, outputs) += x(e, i);
      }
    }
  };
  rule.vjp = [=](std::size_t samples, Samples<const Real> x, Samples<const Real> y, Samples<const Real> w,
                 Samples<Real> g) {
    for (std::size_t e = 0; e < samples; ++e) {
      Real sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) sum += x(e, i);
      const bool kept = sum == y(e, outputs) || (std::isnan(sum) && std::isnan(y(e, outputs)));
      for (std::size_t k = 0; k < inputs; ++k) {
        g(e, k) = kept ? 0 : 12345;
        for (std::size_t j = 0; j < outputs; ++j) g(e, k) += w(e, j) * slope(x, e, k, j);
      }
    }
  };
  rule.jvp = [=](std::size_t samples, Samples<const Real> x, Samples<const Real>, Samples<const Real> d,
                 Samples<Real> t) {
    for (std::size_t e = 0; e < samples; ++e)
      for (std::size_t j = 0; j < outputs; ++j) {
        t(e, j) = 0;
        for (std::size_t k = 0; k < inputs; ++k) t(e, j) += slope(x, e, k, j) * d(e, k);
      }
  };
  rule.hvp = [=](std::size_t samples, Samples<const Real>, Samples<const Real>, Samples<const Real> w,
                 Samples<const Real> d, Samples<Real> h) {
    for (std::size_t e = 0; e < samples; ++e)
      for (std::size_t k = 0; k < inputs; ++k) {
        h(e, k) = 0;
        for (std::size_t j = 0; j < outputs; ++j) h(e, k) += w(e, j) * slope(d, e, k, j);
      }
  };
  return CustomOp<Real>(std::move(rule));
}

/// y with y0 + tanh(y1) / 4 = p0 and y1 - sin(y0 p1) / 4 = p2, of a guess, then p. NaN where there is none.
template <class Real>
CustomOp<Real> two_equations() {
  return make_root<Real>(
      2, 3,
      [](std::span<const Var<Real>> x) {
        return std::array{x[0] + Real(0.25) * tanh(x[1]) - x[2], x[1] - Real(0.25) * sin(x[0] * x[3]) - x[4]};
      },
      {.nan_where_none = true});
}

/// Code with branches as one op; with `inner`, that op of its first output comes after it.
template <class Real, class Source>
CustomOp<Real> random_checkpoint(Source& random, std::vector<CustomOp<Real>> inner) {
  const std::size_t inputs = 1 + random.below(4), steps = 1 + random.below(8);
  const ZeroRule rule = random.chance(0.2) ? ZeroRule::ieee : ZeroRule::exact;
  std::vector<Real> point(inputs);
  for (Real& number : point) number = static_cast<Real>(random.in(-1, 1));
  return make_checkpoint(
      std::span<const Real>(point),
      [source = random, steps, inner = std::move(inner)](std::span<const Var<Real>> x) {
        std::vector<Var<Real>> y = branchy<Real>(source, steps, x);
        for (const CustomOp<Real>& op : inner) {
          std::vector<Var<Real>> operands(op.rule().inputs, y[0]);
          operands[0] = x[0];
          y[0] = op(operands)[0];
        }
        return y;
      },
      rule);
}

/// `depth`: how many may be inside one another.
template <class Real, class Source>
CustomOp<Real> random_op(Source& random, int depth = 2) {
  switch (random.below(depth > 0 ? 6 : 4)) {
    case 0:
    case 1: return quadratic_forms<Real>(1 + random.below(5), 1 + random.below(3));
    case 2: return make_solve<Real>(1 + random.below(3));
    case 3: return two_equations<Real>();
    case 4: return random_checkpoint<Real>(random, {});
    default: return random_checkpoint<Real>(random, {random_op<Real>(random, depth - 1)});
  }
}

}  // namespace wengert::test
