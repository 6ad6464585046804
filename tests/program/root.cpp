// Root: solutions of equations and their derivatives.
#include "wengert/root.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/random.hpp"
#include "tests/same_bits.hpp"

namespace wengert::test {
namespace {

using V = Var<double>;
using Vs = std::vector<V>;

auto says(ErrorCode code, const std::string& part) {
  return [=](const Error& error) {
    BOOST_TEST_MESSAGE(error.what());
    return error.code() == code && std::string(error.what()).find(part) != std::string::npos;
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(root)

BOOST_AUTO_TEST_CASE(kepler) {
  Root<double> f(1, 2, [](std::span<const V> x) { return x[0] - x[1] * sin(x[0]) - x[2]; });
  const std::size_t n = 5000;  // more than are solved together
  Random random(1);
  std::vector<double> x, guess(n, 1), weights(n, 2), anomaly(n), gradients(2 * n);
  for (std::size_t e = 0; e < n; ++e) {
    x.push_back(random.in(0, 0.9));
    x.push_back(random.in(0, 3));
  }
  f.vjp(n, rows(guess.data(), 1), rows(x.data(), 2), rows(weights.data(), 1), rows(anomaly.data(), 1),
        rows(gradients.data(), 2));
  for (std::size_t k = 0; k < n; ++k) {
    const double y = anomaly[k], e = x[2 * k], slope = 1 - e * std::cos(y);
    BOOST_TEST_REQUIRE(std::fabs(y - e * std::sin(y) - x[2 * k + 1]) <= 1e-14);
    BOOST_TEST_REQUIRE(std::fabs(gradients[2 * k] - 2 * std::sin(y) / slope) <= 1e-12 / slope);
    BOOST_TEST_REQUIRE(std::fabs(gradients[2 * k + 1] - 2 / slope) <= 1e-12 / slope);
  }
  BOOST_TEST(f.steps() < 20u);
}

BOOST_AUTO_TEST_CASE(linear_systems) {
  for (const std::size_t n : {1u, 2u, 5u, 9u}) {
    Root<double> solve = linear_system<double>(n);
    const std::size_t samples = 33, inputs = n * n + n;
    Random random(n);
    std::vector<double> x, weights, y(samples * n), gradients(samples * inputs);
    for (std::size_t k = 0; k < samples * inputs; ++k) x.push_back(random.in(-1, 1));
    for (std::size_t k = 0; k < samples * n; ++k) weights.push_back(random.in(-1, 1));
    if (n > 1)
      for (std::size_t e = 0; e < samples; ++e) x[e * inputs] = 0;  // takes a pivot
    solve.vjp(samples, {}, rows(x.data(), inputs), rows(weights.data(), n), rows(y.data(), n),
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
        BOOST_TEST_REQUIRE(std::fabs(residual) <= 1e-13 * large);
        BOOST_TEST_REQUIRE(std::fabs(transposed) <= 1e-13 * large);
      }
    }
    BOOST_TEST(solve.steps() <= 3u);
  }
}

BOOST_AUTO_TEST_CASE(several_unknowns_and_a_damped_step) {
  // Two curves that cross; and atan, at which the full step from afar leads ever farther away.
  Root<double> cross(2, 1, [](std::span<const V> x) {
    return Vs{square(x[0]) + square(x[1]) - x[2], x[1] - exp(-x[0])};
  });
  const double guess[2] = {1, 1}, at = 4, weights[2] = {1, 0};
  double y[2], g;
  cross.vjp(1, rows(guess, 2), rows(&at, 1), rows(weights, 2), rows(y, 2), rows(&g, 1));
  BOOST_TEST(y[0] * y[0] + y[1] * y[1] == 4, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(y[1] == std::exp(-y[0]), boost::test_tools::tolerance(1e-14));
  BOOST_TEST(g == 1 / (2 * y[0] - 2 * y[1] * y[1]), boost::test_tools::tolerance(1e-12));

  Root<double> far(1, 1, [](std::span<const V> x) { return atan(x[0] - x[1]); });
  const double start = 50, to = 0;
  far.values(1, rows(&start, 1), rows(&to, 1), rows(y, 1));
  BOOST_TEST(std::fabs(y[0]) < 1e-15);
}

BOOST_AUTO_TEST_CASE(the_same_bits_everywhere, *uses_threads()) {
  const auto code = [](std::span<const V> x) {
    return Vs{x[0] + sinh(x[0]) + (x[1] < 0.5 ? V(x[1]) : V(x[1] * x[1] + 0.25)) - x[2], x[1] + 0.1 * sin(x[0]) - x[3]};
  };
  const std::size_t n = 130;
  Random random(3);
  std::vector<double> x, first, weights(2 * n, 1);
  for (std::size_t k = 0; k < 2 * n; ++k) x.push_back(random.in(0.1, 1));
  for (const Isa isa : usable_isas())
    for (const unsigned threads : {1u, 3u}) {
      RootOptions options;
      options.function.replay.isa = std::string(name(isa));
      options.function.replay.threads = threads;
      Root<double> f(2, 2, code, options);
      std::vector<double> all(4 * n);
      f.vjp(n, {}, rows(x.data(), 2), rows(weights.data(), 2), rows(all.data(), 2), rows(all.data() + 2 * n, 2));
      if (first.empty()) first = all;
      for (std::size_t k = 0; k < all.size(); ++k) BOOST_TEST_REQUIRE(same_bits(all[k], first[k]));
    }
}

BOOST_AUTO_TEST_CASE(floats) {
  Root<float> f(1, 1, [](std::span<const Var<float>> x) { return x[0] * x[0] - x[1]; });
  const float guess = 1, at = 2, weight = 1;
  float y = 0, g = 0;
  f.vjp(1, rows(&guess, 1), rows(&at, 1), rows(&weight, 1), rows(&y, 1), rows(&g, 1));
  BOOST_TEST(y == std::sqrt(2.0f), boost::test_tools::tolerance(2e-7f));
  BOOST_TEST(g == 0.5f / std::sqrt(2.0f), boost::test_tools::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(no_root) {
  Root<double> f(1, 1, [](std::span<const V> x) { return x[0] * x[0] - x[1]; });
  const double guess[4] = {1, 1, 1, 1}, at[4] = {4, -1, 9, std::numeric_limits<double>::quiet_NaN()};
  double y[4];
  BOOST_CHECK_EXCEPTION(f.values(4, rows(guess, 1), rows(at, 1), rows(y, 1)), Error,
                        says(ErrorCode::no_root, "sample 1: Newton's method finds no root in 50 steps"));
  BOOST_TEST(y[0] == 2, boost::test_tools::tolerance(1e-15));  // the others have theirs
  BOOST_TEST(y[2] == 3, boost::test_tools::tolerance(1e-15));
  BOOST_CHECK_EXCEPTION(f.values(1, rows(guess, 1), rows(at + 3, 1), rows(y, 1)), Error,
                        says(ErrorCode::no_root, "sample 0"));
  f.values(1, rows(guess, 1), rows(at, 1), rows(y, 1));
  f.values(0, {}, {}, {});

  Root<double> singular = linear_system<double>(2);
  const double flat[6] = {1, 2, 2, 4, 1, 1};
  BOOST_CHECK_EXCEPTION(singular.values(1, {}, rows(flat, 6), rows(y, 2)), Error, says(ErrorCode::no_root, "singular"));
  BOOST_CHECK_EXCEPTION(Root<double>(0, 1, [](std::span<const V> x) { return x[0]; }), Error,
                        says(ErrorCode::bad_argument, "without unknowns"));
  Root<double> few(2, 0, [](std::span<const V> x) { return x[0]; });
  BOOST_CHECK_EXCEPTION(few.values(1, {}, {}, rows(y, 2)), Error,
                        says(ErrorCode::bad_size, "returns 1 equations for 2 unknowns"));
}

BOOST_AUTO_TEST_CASE(a_guess_that_is_a_root) {
  Root<double> f(1, 1, [](std::span<const V> x) { return x[0] * x[0] * x[0] - x[1]; });
  const double zero = 0;
  double y = 5;
  f.values(1, {}, rows(&zero, 1), rows(&y, 1));  // the Jacobian is singular there
  BOOST_TEST(y == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
