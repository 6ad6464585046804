// Solutions of equations as ops: against what defines them, closed forms, and differences.
#include "wengert/implicit.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/needs.hpp"
#include "tests/program/machines.hpp"
#include "tests/random.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"
#include "wengert/diagnose.hpp"

namespace wengert::test {
namespace {

using V = Var<double>;
using Vs = std::vector<V>;

/// The op alone: its operands are the inputs.
template <class Real>
Program<Real> alone(const CustomOp<Real>& op, const std::vector<Real>& point) {
  NaiveTape<Real> tape;
  std::vector<Id> operands, outputs;
  for (const Real x : point) operands.push_back(tape.input(x));
  const Id first = op.record(tape, operands);
  for (std::size_t j = 0; j < op.rule().outputs; ++j) outputs.push_back(first + static_cast<Id>(j));
  return compile(tape, std::span<const Id>(outputs));
}

constexpr auto crossing = [](auto x) {
  using Real = typename std::remove_cvref_t<decltype(x[0])>::value_type;
  return std::vector<Var<Real>>{square(x[0]) + square(x[1]) - x[2], x[1] - x[3] * exp(-x[0])};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(implicit)

BOOST_AUTO_TEST_CASE(linear_systems) {
  for (const std::size_t n : {1u, 2u, 5u, 9u}) {
    const std::size_t samples = 33, inputs = n * n + n;
    Random random(n);
    std::vector<double> x, weights, y(samples * n), gradients(samples * inputs);
    for (std::size_t k = 0; k < samples * inputs; ++k) x.push_back(random.in(-1, 1));
    for (std::size_t k = 0; k < samples * n; ++k) weights.push_back(random.in(-1, 1));
    if (n > 1)
      for (std::size_t e = 0; e < samples; ++e) x[e * inputs] = 0;  // takes a pivot
    Replay<double> replay(alone(make_solve<double>(n), {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(inputs)}));
    replay.vjp(samples, rows(x.data(), inputs), rows(weights.data(), n), rows(y.data(), n),
               rows(gradients.data(), inputs));
    for (std::size_t e = 0; e < samples; ++e) {
      const double *a = x.data() + e * inputs, *b = a + n * n, *s = y.data() + e * n,
                   *g = gradients.data() + e * inputs;
      double large = 1;
      for (std::size_t i = 0; i < n; ++i) large = std::max({large, std::fabs(s[i]), std::fabs(g[n * n + i])});
      for (std::size_t i = 0; i < n; ++i) {
        double residual = -b[i], transposed = -weights[e * n + i];  // A y = b; A^T db = w; dA = -db y^T
        for (std::size_t j = 0; j < n; ++j) {
          residual += a[i * n + j] * s[j];
          transposed += a[j * n + i] * g[n * n + j];
          BOOST_TEST_REQUIRE(std::fabs(g[i * n + j] + g[n * n + i] * s[j]) <= 1e-14 * large * large);
        }
        BOOST_TEST_REQUIRE(std::fabs(residual) <= 1e-12 * large);
        BOOST_TEST_REQUIRE(std::fabs(transposed) <= 1e-12 * large);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(cramers_rule_recorded) {
  // Two unknowns by table ops and by solve: values and derivatives of the first and second order.
  const auto program = [](bool by_op) {
    NaiveTape<double> tape;
    const V a = input(tape, 2.0), b = input(tape, 0.5), c = input(tape, 1.0);
    const V matrix[] = {a, b, sin(b), a * c}, right[] = {c, exp(a)};
    Vs x;
    if (by_op) x = solve(matrix, right);
    else {
      const V det = matrix[0] * matrix[3] - matrix[1] * matrix[2];
      x = {(right[0] * matrix[3] - matrix[1] * right[1]) / det, (matrix[0] * right[1] - matrix[2] * right[0]) / det};
    }
    return compile(tape, (x[0] * sin(x[1]) + a).id());
  };
  Replay<double> table(program(false));
  on_every_machine<double>(program(true), [&](Replay<double>& replay) {
    for (const std::size_t n : batch_sizes) {
      Random random(n);
      std::vector<double> x(3 * n), all[2];
      for (double& number : x) number = random.in(1, 2);
      for (Replay<double>* const one : {&table, &replay}) {
        std::vector<double>& out = all[one == &replay];
        out.assign(14 * n, 0);
        one->hessian(n, rows(x.data(), 3), rows(out.data(), 1), rows(out.data() + n, 3), rows(out.data() + 4 * n, 9));
        one->jvp(n, rows(x.data(), 3), rows(x.data(), 3), {}, rows(out.data() + 13 * n, 1));
      }
      for (std::size_t k = 0; k < 14 * n; ++k)
        BOOST_TEST_REQUIRE(std::fabs(all[0][k] - all[1][k]) <= 1e-11 * (1 + std::fabs(all[0][k])));
    }
  });
}

BOOST_AUTO_TEST_CASE(kepler) {
  NaiveTape<double> tape;
  const V p[] = {input(tape, 0.2), input(tape, 0.7)};
  const V anomaly =
      root([](std::span<const V> x) { return x[0] - x[1] * sin(x[0]) - x[2]; }, std::vector<double>{1}, p)[0];
  Replay<double> replay(compile(tape, (2 * anomaly).id()));
  const std::size_t n = 500;
  Random random(1);
  std::vector<double> x, twice(n), gradients(2 * n), hessians(4 * n);
  for (std::size_t e = 0; e < n; ++e) {
    x.push_back(random.in(0, 0.9));
    x.push_back(random.in(0, 3));
  }
  replay.hessian(n, rows(x.data(), 2), rows(twice.data(), 1), rows(gradients.data(), 2), rows(hessians.data(), 4));
  for (std::size_t k = 0; k < n; ++k) {
    const double y = twice[k] / 2, e = x[2 * k], slope = 1 - e * std::cos(y);
    BOOST_TEST_REQUIRE(std::fabs(y - e * std::sin(y) - x[2 * k + 1]) <= 1e-14);
    BOOST_TEST_REQUIRE(std::fabs(gradients[2 * k] - 2 * std::sin(y) / slope) <= 1e-12 / slope);
    BOOST_TEST_REQUIRE(std::fabs(gradients[2 * k + 1] - 2 / slope) <= 1e-12 / slope);
    const double curved = -2 * e * std::sin(y) / (slope * slope * slope);  // of the anomaly in the mean one, twice
    BOOST_TEST_REQUIRE(std::fabs(hessians[4 * k + 3] - curved) <= 1e-10 * (1 + std::fabs(curved)));
    BOOST_TEST_REQUIRE(std::fabs(hessians[4 * k + 1] - hessians[4 * k + 2]) <= 1e-10 * (1 + std::fabs(curved)));
  }
}

BOOST_AUTO_TEST_CASE(several_unknowns_and_a_damped_step) {
  // Two curves that cross; and atan, at which the full step from afar leads ever farther away.
  NaiveTape<double> tape;
  const V p[] = {input(tape, 4.0), input(tape, 1.0)};
  const Vs y = root([](std::span<const V> x) { return crossing(x); }, std::vector<double>{1, 1}, p);
  backward(y[0]);
  BOOST_TEST(value(y[0]) * value(y[0]) + value(y[1]) * value(y[1]) == 4, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(value(y[1]) == std::exp(-value(y[0])), boost::test_tools::tolerance(1e-14));
  BOOST_TEST(grad(p[0]) == 1 / (2 * value(y[0]) - 2 * value(y[1]) * value(y[1])), boost::test_tools::tolerance(1e-12));
  const V guess[] = {input(tape, 50.0)};
  const V far = root([](std::span<const V> x) { return atan(x[0] - x[1]); }, guess, std::span(p, 1))[0];
  BOOST_TEST(std::fabs(value(far) - 4) < 1e-15);
  backward(far);
  BOOST_TEST(grad(guess[0]) == 0);
  BOOST_TEST(grad(p[0]) == 1, boost::test_tools::tolerance(1e-15));
  // A guess that is a root already, where the Jacobian is singular.
  const V zero[] = {input(tape, 0.0)};
  const V cubic = root([](std::span<const V> x) { return x[0] * x[0] * x[0] - x[1]; }, std::vector<double>{0}, zero)[0];
  BOOST_TEST(value(cubic) == 0);
}

template <class Real>
void the_same_bits_everywhere() {
  const auto code = [](std::span<const Var<Real>> x) {
    return std::vector<Var<Real>>{
        x[0] + sinh(x[0]) + (x[1] < Real(0.5) ? Var<Real>(x[1]) : Var<Real>(x[1] * x[1] + Real(0.25))) - x[2],
        x[1] + Real(0.1) * sin(x[0]) - x[3]};
  };
  NaiveTape<Real> tape;
  const Var<Real> p[] = {input(tape, Real(0.5)), input(tape, Real(0.7))};
  const std::vector<Var<Real>> y = root(code, std::vector<Real>{0, 0}, p),
                               z = solve(std::array{y[0], p[0], p[1], y[1]}, y);
  const Program<Real> program = compile(tape, (y[0] * z[1] + exp(z[0])).id());
  std::vector<std::vector<Real>> first(std::size(batch_sizes));
  on_every_machine<Real>(program, [&](Replay<Real>& replay) {
    for (std::size_t k = 0; k < first.size(); ++k) {
      const std::size_t n = batch_sizes[k];
      Random random(3);
      std::vector<Real> x, all(11 * n);
      for (std::size_t i = 0; i < 2 * n; ++i) x.push_back(static_cast<Real>(random.in(0.1, 1)));
      replay.gradient(n, rows(x.data(), 2), rows(all.data(), 1), rows(all.data() + n, 2));
      replay.hessian(n, rows(x.data(), 2), {}, rows(all.data() + 3 * n, 2), rows(all.data() + 5 * n, 4));
      replay.jvp(n, rows(x.data(), 2), rows(x.data(), 2), rows(all.data() + 9 * n, 1), rows(all.data() + 10 * n, 1));
      if (first[k].empty()) first[k] = all;
      for (std::size_t i = 0; i < all.size(); ++i) BOOST_TEST_REQUIRE(same_bits(all[i], first[k][i]));
    }
  });
}
BOOST_AUTO_TEST_CASE(the_same_bits_everywhere_f64, *uses_threads()) { the_same_bits_everywhere<double>(); }
BOOST_AUTO_TEST_CASE(the_same_bits_everywhere_f32, *uses_threads()) { the_same_bits_everywhere<float>(); }

using Reals = std::tuple<double, float>;
BOOST_AUTO_TEST_CASE_TEMPLATE(against_differences, Real, Reals) {
  Random random(9);
  std::vector<Real> systems, crossings;
  for (std::size_t e = 0; e < 5; ++e) {
    for (std::size_t k = 0; k < 12; ++k)
      systems.push_back(static_cast<Real>(random.in(-1, 1) + (k < 9 && k % 4 == 0) * 3));
    for (const double number : {1.0, 1.0, random.in(3, 5), random.in(0.5, 1.5)})
      crossings.push_back(static_cast<Real>(number));
  }
  const CustomCheck linear = check_custom(make_solve<Real>(3), 5, rows(systems.data(), 12));
  BOOST_TEST(linear.passed(), linear.describe());
  BOOST_TEST(linear.hvp.entries.size() == 5u * 12 * 12);
  const CustomCheck curves = check_custom(
      make_root<Real>(2, 2, [](std::span<const Var<Real>> x) { return crossing(x); }), 5, rows(crossings.data(), 4));
  BOOST_TEST(curves.passed(), curves.describe());
  BOOST_TEST(curves.hvp.entries.size() == 5u * 4 * 4);
}

BOOST_AUTO_TEST_CASE(no_root) {
  NaiveTape<double> tape;
  const V p[] = {input(tape, 4.0)};
  const auto squared = [](std::span<const V> x) { return x[0] * x[0] - x[1]; };
  const V y = root(squared, std::vector<double>{1}, p)[0];
  const double at[4] = {4, -1, 9, std::numeric_limits<double>::quiet_NaN()};
  double roots[4], slopes[4];
  Replay<double> replay(compile(tape, y.id()));
  BOOST_CHECK_EXCEPTION(replay.values(4, rows(at, 1), rows(roots, 1)), Error,
                        says(ErrorCode::no_root, "finds no root in 50 steps from (1) with (-1)"));
  replay.values(1, rows(at, 1), rows(roots, 1));
  BOOST_TEST(roots[0] == 2, boost::test_tools::tolerance(1e-15));
  tape.set_input(p[0].id(), -1);
  BOOST_CHECK_THROW(tape.forward(), Error);

  const V lenient = root(squared, std::vector<double>{1}, p, {.nan_where_none = true})[0];
  Replay<double> going_on(compile(tape, lenient.id()));
  going_on.gradient(4, rows(at, 1), rows(roots, 1), rows(slopes, 1));
  BOOST_TEST(roots[0] == 2, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(roots[2] == 3, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(slopes[2] == 1 / 6.0, boost::test_tools::tolerance(1e-15));
  for (const std::size_t e : {1, 3}) {
    BOOST_TEST(std::isnan(roots[e]));
    BOOST_TEST(std::isnan(slopes[e]));
  }
  BOOST_TEST(diagnose(going_on.program(), 2, rows(at, 1)).describe().find("sample 1: root (id 2) is ") == 0);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  NaiveTape<double> tape;
  const V p[] = {input(tape, 4.0), input(tape, 1.0)};
  const auto one = [](std::span<const V> x) { return x[0]; };
  BOOST_CHECK_EXCEPTION(root(one, std::vector<double>(), p), Error,
                        says(ErrorCode::bad_argument, "root without unknowns"));
  BOOST_CHECK_EXCEPTION(root(one, std::vector<double>{1, 2}, p), Error,
                        says(ErrorCode::bad_size, "root is given 1 equations for 2 unknowns"));
  BOOST_CHECK_EXCEPTION(root([&](std::span<const V> x) { return x[0] - p[0]; }, std::vector<double>{1}, p), Error,
                        says(ErrorCode::mixed_tapes, ""));
  BOOST_CHECK_EXCEPTION(solve(p, p), Error, says(ErrorCode::bad_size, "a matrix of 2 numbers for 2 of b; it takes 4"));
  BOOST_CHECK_EXCEPTION(make_solve<double>(0), Error, says(ErrorCode::bad_argument, ""));
  // A singular matrix: numbers that aren't finite.
  const V flat[] = {1, 2, 2, 4};
  const Vs x = solve(flat, p);
  BOOST_TEST(!(std::isfinite(value(x[0])) && std::isfinite(value(x[1]))));
  // Of constants alone: a constant.
  const V regular[] = {2, 0, 0, 4}, right[] = {2, 2};
  BOOST_TEST(value(solve(regular, right)[1]) == 0.5);
  BOOST_TEST(!solve(regular, right)[0].tape());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
