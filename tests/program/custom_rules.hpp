// Custom ops that tests use.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/random.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {

/// Length and a b of (a, b). No derivatives in forward mode.
template <class Real>
CustomRule<Real> polar_rule() {
  CustomRule<Real> rule;
  rule.name = "polar";
  rule.inputs = 2;
  rule.outputs = 2;
  rule.values = [](std::size_t n, Samples<const Real> x, Samples<Real> y) {
    for (std::size_t e = 0; e < n; ++e) {
      y(e, 0) = std::sqrt(x(e, 0) * x(e, 0) + x(e, 1) * x(e, 1));
      y(e, 1) = x(e, 0) * x(e, 1);
    }
  };
  rule.vjp = [](std::size_t n, Samples<const Real> x, Samples<const Real> y, Samples<const Real> w, Samples<Real> g) {
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t i = 0; i < 2; ++i) g(e, i) = w(e, 0) * x(e, i) / y(e, 0) + w(e, 1) * x(e, 1 - i);
  };
  return rule;
}

/// a * b, as the table has it.
template <class Real>
CustomRule<Real> product_rule() {
  CustomRule<Real> rule;
  rule.name = "product";
  rule.inputs = 2;
  rule.outputs = 1;
  rule.values = [](std::size_t n, Samples<const Real> x, Samples<Real> y) {
    for (std::size_t e = 0; e < n; ++e) y(e, 0) = x(e, 0) * x(e, 1);
  };
  rule.vjp = [](std::size_t n, Samples<const Real> x, Samples<const Real>, Samples<const Real> w, Samples<Real> g) {
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t i = 0; i < 2; ++i) g(e, i) = w(e, 0) * x(e, 1 - i);
  };
  rule.jvp = [](std::size_t n, Samples<const Real> x, Samples<const Real>, Samples<const Real> d, Samples<Real> t) {
    for (std::size_t e = 0; e < n; ++e) t(e, 0) = x(e, 1) * d(e, 0) + x(e, 0) * d(e, 1);
  };
  rule.hvp = [](std::size_t n, Samples<const Real>, Samples<const Real>, Samples<const Real> w, Samples<const Real> d,
                Samples<Real> h) {
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t i = 0; i < 2; ++i) h(e, i) = w(e, 0) * d(e, 1 - i);
  };
  return rule;
}

template <class Real>
std::vector<Real> random_numbers(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<Real> numbers(count);
  for (Real& number : numbers) number = static_cast<Real>(random.in(0.1, 2));
  return numbers;
}

/// exp(-r) + a p, where r, p = polar(a, b).
template <class Real, class Polar>
Program<Real> compiled(const Polar& polar) {
  NaiveTape<Real> tape;
  const Var<Real> a = input(tape, Real(0.5)), b = input(tape, Real(2));
  const std::vector<Var<Real>> y = polar(a, b);
  return compile(tape, (exp(-y[0]) + a * y[1]).id());
}

}  // namespace wengert::test
