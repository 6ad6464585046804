// What the drivers of Replay return, against closed forms, each other and central differences.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>

#include "kernels/dispatch.hpp"
#include "tests/every_op.hpp"
#include "tests/points.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {
namespace {

/// Sum over i of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2: H. H. Rosenbrock, "An automatic method for finding the greatest
/// or least value of a function", Computer J. 3 (1960), chained.
struct Rosenbrock {
  NaiveTape<double> tape;
  std::vector<Id> x;
  Id f = no_id;

  explicit Rosenbrock(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) x.push_back(tape.input());
    const Id hundred = tape.constant(100), one = tape.constant(1);
    std::vector<Id> terms;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      terms.push_back(tape.mul(hundred, tape.square(tape.sub(x[i + 1], tape.square(x[i])))));
      terms.push_back(tape.square(tape.sub(one, x[i])));
    }
    f = tape.sum(terms);
  }
  static double gradient(const std::vector<double>& x, std::size_t i) {
    double g = 0;
    if (i + 1 < x.size()) g += -400 * x[i] * (x[i + 1] - x[i] * x[i]) - 2 * (1 - x[i]);
    if (i > 0) g += 200 * (x[i] - x[i - 1] * x[i - 1]);
    return g;
  }
  static double hessian(const std::vector<double>& x, std::size_t i, std::size_t j) {
    if (i > j) std::swap(i, j);
    if (j > i + 1) return 0;
    if (j == i + 1) return -400 * x[i];
    return (i + 1 < x.size() ? 1200 * x[i] * x[i] - 400 * x[i + 1] + 2 : 0) + (i > 0 ? 200 : 0);
  }
};

void check_close(double a, double b, double scale, double tolerance, const std::string& what) {
  BOOST_TEST_REQUIRE(std::fabs(a - b) <= tolerance * std::fmax(1, scale), what << ": " << a << " and " << b);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(derivatives)

BOOST_AUTO_TEST_CASE(rosenbrock_has_its_gradient_and_hessian) {
  for (const std::size_t n : {2, 3, 9, 70}) {
    Rosenbrock problem(n);
    Replay<double> replay(compile(problem.tape, problem.f));
    const SparsityPattern pattern = replay.program().hessian_sparsity();
    BOOST_TEST(pattern.nonzeros() == 3 * n - 2);
    for (const std::size_t samples : {1, 3, 100}) {
      Random random(n + samples);
      std::vector<double> x(samples * n), g(samples * n), h(samples * n * n), sparse(samples * pattern.nonzeros());
      for (double& number : x) number = random.in(-2, 2);
      replay.hessian(samples, rows(x.data(), n), {}, rows(g.data(), n), rows(h.data(), n * n));
      replay.sparse_hessian(samples, rows(x.data(), n), {}, {}, rows(sparse.data(), pattern.nonzeros()));
      for (std::size_t e = 0; e < samples; ++e) {
        const std::vector<double> point(x.begin() + static_cast<std::ptrdiff_t>(e * n),
                                        x.begin() + static_cast<std::ptrdiff_t>((e + 1) * n));
        for (std::size_t i = 0; i < n; ++i) {
          check_close(g[e * n + i], Rosenbrock::gradient(point, i), 1e4, 1e-14, "gradient");
          for (std::size_t j = 0; j < n; ++j)
            check_close(h[(e * n + i) * n + j], Rosenbrock::hessian(point, i, j), 1e4, 1e-14, "hessian");
          for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
            check_close(sparse[e * pattern.nonzeros() + k], Rosenbrock::hessian(point, i, pattern.column[k]), 1e4,
                        1e-14, "sparse hessian");
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(forward_and_reverse_agree_on_random_graphs) {
  for (std::uint64_t seed = 1; seed <= soak(700); ++seed) {
    Random random(seed);
    const double custom = seed % 7 == 0 ? 0.2 : 0;
    RandomTape<double> graph = random_tape<double>(random, 1 + random.below(40), 0, false, custom);
    const std::size_t n = graph.inputs.size(), m = graph.outputs.size(),
                      samples = random.chance(0.3) ? 70 : 1 + random.below(9);
    const std::string isa = std::string(name(random.of(usable_isas())));
    Replay<double> replay(compile(graph.tape, std::span<const Id>(graph.outputs)), {isa, 1, 0, {}});
    const SparsityPattern pattern = replay.program().jacobian_sparsity();
    std::vector<Id> all(graph.tape.size());
    std::iota(all.begin(), all.end(), Id(0));
    Replay<double> inside(compile(graph.tape, std::span<const Id>(all)), {isa, 1, 0, {}});
    std::vector<double> numbers(samples * all.size()), tangents(samples * all.size());
    std::vector<double> x(samples * n), v(samples * n), w(samples * m), t(samples * m), g(samples * n),
        j(samples * n * m), y(samples * m), yj(samples * m), sparse(samples * pattern.nonzeros());
    for (double& number : x) number = some_number<double>(random, 0);  // nothing to under- or overflow on one way only
    for (double& number : v) number = random.in(-1, 1);
    for (double& number : w) number = random.in(-1, 1);
    replay.values(samples, rows(x.data(), n), rows(y.data(), m));
    replay.jvp(samples, rows(x.data(), n), rows(v.data(), n), rows(yj.data(), m), rows(t.data(), m));
    replay.vjp(samples, rows(x.data(), n), rows(w.data(), m), {}, rows(g.data(), n));
    inside.jvp(samples, rows(x.data(), n), rows(v.data(), n), rows(numbers.data(), all.size()),
               rows(tangents.data(), all.size()));
    for (std::size_t k = 0; k < y.size(); ++k)
      BOOST_TEST_REQUIRE(same_bits(y[k], yj[k]), "graph " << seed << ": values of jvp");
    replay.jacobian(samples, rows(x.data(), n), rows(yj.data(), m), rows(j.data(), n * m));
    for (std::size_t k = 0; k < y.size(); ++k)
      BOOST_TEST_REQUIRE(same_bits(y[k], yj[k]), "graph " << seed << ": values of jacobian");
    replay.sparse_jacobian(samples, rows(x.data(), n), {}, rows(sparse.data(), pattern.nonzeros()));
    for (std::size_t e = 0; e < samples; ++e) {
      const double* const jacobian = j.data() + e * n * m;
      bool finite = true;
      for (std::size_t k = 0; k < n * m; ++k) finite &= std::fabs(jacobian[k]) < 1e100;
      if (!finite) continue;  // infinite and NaN slopes add up to other things in another order
      // Where a number is what rounding left of zero, so is its tangent, and log's slope makes something of it.
      const bool left_of_zero = std::any_of(numbers.begin() + static_cast<std::ptrdiff_t>(e * all.size()),
                                            numbers.begin() + static_cast<std::ptrdiff_t>((e + 1) * all.size()),
                                            [](double number) { return number != 0 && std::fabs(number) < 1e-12; });
      if (left_of_zero) continue;
      // Large slopes on the way that cancel leave their rounding errors, other ones on each way.
      double largest = 0;
      for (std::size_t k = 0; k < all.size(); ++k)
        if (const double slope = std::fabs(tangents[e * all.size() + k]); slope < 1e100)
          largest = std::fmax(largest, slope);
      for (std::size_t k = 0; k < m; ++k) {
        double along = 0, size = 1e-6 * largest;
        for (std::size_t i = 0; i < n; ++i) {
          along += jacobian[k * n + i] * v[e * n + i];
          size += std::fabs(jacobian[k * n + i]);
        }
        if (std::isfinite(t[e * m + k]))
          check_close(t[e * m + k], along, size, 1e-7, "graph " + std::to_string(seed) + ": jvp");
        std::size_t at = pattern.row_start[k];
        for (std::size_t i = 0; i < n; ++i) {
          const bool possible = at < pattern.row_start[k + 1] && pattern.column[at] == i;
          if (!possible) BOOST_TEST_REQUIRE(jacobian[k * n + i] == 0, "graph " << seed << ": outside the pattern");
          else if (const double s = sparse[e * pattern.nonzeros() + at++]; std::isfinite(s))
            check_close(s, jacobian[k * n + i], size, 1e-7, "graph " + std::to_string(seed) + ": sparse jacobian");
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0, size = 1e-6 * largest;
        for (std::size_t k = 0; k < m; ++k) {
          sum += jacobian[k * n + i] * w[e * m + k];
          size += std::fabs(jacobian[k * n + i]);
        }
        if (std::isfinite(g[e * n + i]))
          check_close(g[e * n + i], sum, size, 1e-7, "graph " + std::to_string(seed) + ": vjp");
      }
    }
  }
}

BOOST_DATA_TEST_CASE(second_derivatives_of_every_op, boost::unit_test::data::make(fixed_ops), op) {
  if (op == Op::sum_samples) return;  // uniform.cpp
  const std::size_t n = static_cast<std::size_t>(info(op).arity);
  NaiveTape<double> tape;
  std::vector<Id> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(tape.input(0.5));
  Replay<double> replay(compile(tape, tape.record(op, x)));
  Random random(static_cast<std::uint64_t>(op) + 1);
  std::size_t compared = 0;
  for (std::size_t k = 0; k < 300; ++k) {
    std::vector<double> point(n), h(n * n), g(n);
    for (std::size_t i = 0; i < n; ++i)
      point[i] = random.in(std::fmax(info(op).domain[i].low, -20), std::fmin(info(op).domain[i].high, 20));
    replay.hessian(1, rows(point.data(), n), {}, rows(g.data(), n), rows(h.data(), n * n));
    for (std::size_t j = 0; j < n; ++j) {
      // Central differences of the gradient at two steps: only where they agree is there a number to compare with.
      std::vector<double> difference[2];
      for (int fine = 0; fine < 2; ++fine) {
        const double step = (fine ? 1e-5 : 4e-5) * std::fmax(0.1, std::fabs(point[j]));
        std::vector<double> up = point, down = point, gu(n), gd(n);
        up[j] += step;
        down[j] -= step;
        replay.gradient(1, rows(up.data(), n), {}, rows(gu.data(), n));
        replay.gradient(1, rows(down.data(), n), {}, rows(gd.data(), n));
        for (std::size_t i = 0; i < n; ++i) difference[fine].push_back((gu[i] - gd[i]) / (up[j] - down[j]));
      }
      for (std::size_t i = 0; i < n; ++i) {
        const double a = difference[0][i], b = difference[1][i];
        if (!std::isfinite(a) || !(std::fabs(a - b) <= 1e-6 * std::fmax(1, std::fabs(b)))) continue;
        ++compared;
        check_close(h[i * n + j], b, std::fabs(b), 2e-5, std::string(name(op)) + " at " + show(point[0]));
      }
    }
  }
  BOOST_TEST(compared > 100);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
