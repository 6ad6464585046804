// Function: code with branches gives on batches what it gives sample by sample, bit for bit.
#include "wengert/function.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <stdexcept>
#include <string>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/program/branchy.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"
#include "tests/soak.hpp"

namespace wengert::test {
namespace {

template <class Real>
using Code = std::function<std::vector<Var<Real>>(std::span<const Var<Real>>)>;

/// What recording each sample by itself gives: values, then gradients of the outputs' sum.
template <class Real>
std::vector<Real> one_by_one(const Code<Real>& code, std::size_t n, std::size_t inputs, const std::vector<Real>& x,
                             ZeroRule rule = ZeroRule::exact) {
  std::vector<Real> values, gradients;
  for (std::size_t e = 0; e < n; ++e) {
    NaiveTape<Real> tape;
    tape.set_zero_rule(rule);
    std::vector<Var<Real>> in;
    for (std::size_t i = 0; i < inputs; ++i) in.push_back(input(tape, x[e * inputs + i]));
    std::vector<Seed<Real>> seeds;
    for (const Var<Real>& y : code(in)) {
      seeds.push_back({y.place(tape), Real(1)});
      values.push_back(tape.value(seeds.back().id));
    }
    tape.backward(seeds);
    for (const Var<Real>& v : in) gradients.push_back(grad(v));
  }
  values.insert(values.end(), gradients.begin(), gradients.end());
  return values;
}

template <class Real>
std::vector<Real> in_batch(Function<Real>& f, std::size_t n, const std::vector<Real>& x, std::size_t outputs) {
  const std::size_t inputs = f.inputs();
  std::vector<Real> all(n * (outputs + inputs), Real(-77));
  f.vjp(n, rows(x.data(), inputs), {}, rows(all.data(), outputs), rows(all.data() + n * outputs, inputs));
  return all;
}

template <class Real>
void check_same(const std::vector<Real>& batch, const std::vector<Real>& alone, const std::string& what) {
  BOOST_TEST_REQUIRE(batch.size() == alone.size(), what);
  for (std::size_t k = 0; k < alone.size(); ++k)
    BOOST_TEST_REQUIRE(same_bits(batch[k], alone[k]),
                       what << ", number " << k << ": " << show(batch[k]) << ", alone " << show(alone[k]));
}

template <class Real>
std::vector<Real> random_points(Random& random, std::size_t count, double low = -1.5, double high = 1.5) {
  std::vector<Real> x(count);
  for (Real& v : x) v = static_cast<Real>(random.in(low, high));
  return x;
}

template <class Real>
void random_functions(std::size_t count) {
  std::size_t several = 0, forgotten = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 11 + sizeof(Real));
    const std::size_t inputs = 1 + random.below(4), steps = 1 + random.below(20);
    const Code<Real> code = [=](std::span<const Var<Real>> x) { return branchy<Real>(Random(seed), steps, x); };
    FunctionOptions options;
    const Isa isa = random.of(usable_isas());
    options.replay.isa = std::string(name(isa));
    options.replay.threads = random.chance(0.7) ? 1 : 3;
    options.most_paths = random.chance(0.5) ? 64 : 1 + random.below(3);
    options.zero_rule = random.chance(0.2) ? ZeroRule::ieee : ZeroRule::exact;
    Function<Real> f(inputs, code, options);
    for (int call = 0; call < 3; ++call) {
      const std::vector<std::size_t> sizes = {0, 1, 2, 7, 17, 64, 65, 130};
      const std::size_t n = random.of(sizes);
      const std::vector<Real> x = random_points<Real>(random, n * inputs);
      const std::vector<Real> alone = one_by_one(code, n, inputs, x, options.zero_rule);
      const std::size_t outputs = n == 0 ? 0 : alone.size() / n - inputs;
      check_same(in_batch(f, n, x, outputs), alone,
                 "function " + std::to_string(seed) + ", call " + std::to_string(call) + ", " + options.replay.isa +
                     ", at most " + std::to_string(options.most_paths) + " paths");
      BOOST_TEST_REQUIRE(f.statistics().paths <= options.most_paths);
    }
    several += f.statistics().paths > 1;
    forgotten += f.statistics().forgotten != 0;
  }
  if (count >= 50) {
    BOOST_TEST(several > count / 4);
    BOOST_TEST(forgotten > 0u);
  }
}

void compare(const Code<double>& code, std::size_t inputs, std::size_t n, std::size_t least_paths,
             FunctionOptions options = {}, double low = -1.5, double high = 1.5) {
  Random random(inputs * 1000 + n);
  const std::vector<double> x = random_points<double>(random, n * inputs, low, high);
  const std::vector<double> alone = one_by_one<double>(code, n, inputs, x);
  Function<double> f(inputs, code, options);
  const std::size_t outputs = alone.size() / n - inputs;
  check_same(in_batch(f, n, x, outputs), alone, "first call");
  const std::size_t recorded = f.statistics().recorded;
  check_same(in_batch(f, n, x, outputs), alone, "second call");
  if (f.statistics().forgotten == 0) BOOST_TEST(f.statistics().recorded == recorded);
  BOOST_TEST(f.statistics().recorded >= least_paths);
  BOOST_TEST(f.statistics().samples == 2 * n);
}

using V = Var<double>;
using Vs = std::vector<V>;

/// Solves a dense system by elimination with partial pivoting: the code of a textbook, for numbers and for Vars.
template <class T>
std::vector<T> solve(std::vector<std::vector<T>> a, std::vector<T> b) {
  using std::abs;
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (abs(a[i][k]) > abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const T factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return b;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(function)

BOOST_AUTO_TEST_CASE(random_functions_f64, *uses_threads()) { random_functions<double>(soak(150)); }
BOOST_AUTO_TEST_CASE(random_functions_f32, *uses_threads()) { random_functions<float>(soak(150)); }

BOOST_AUTO_TEST_CASE(lu_with_pivoting) {
  compare(
      [](std::span<const V> x) {
        std::vector<Vs> a(4);
        for (std::size_t i = 0; i < 16; ++i) a[i / 4].push_back(x[i]);
        return solve<V>(a, Vs(x.begin() + 16, x.end()));
      },
      20, 300, 24);
}

BOOST_AUTO_TEST_CASE(sorting) {
  compare(
      [](std::span<const V> x) {
        Vs sorted(x.begin(), x.end());
        std::sort(sorted.begin(), sorted.end());
        V f = 0;
        for (std::size_t k = 0; k < sorted.size(); ++k) f += double(k + 1) * square(sorted[k]);
        return Vs{f};
      },
      4, 500, 24);
}

BOOST_AUTO_TEST_CASE(a_loop_whose_length_depends_on_data) {
  // Newton's method for a square root, to the last bit.
  compare(
      [](std::span<const V> x) {
        V r = 1, last = 0;
        while (abs(r - last) > 1e-12 * r) {
          last = r;
          r = 0.5 * (r + x[0] / r);
        }
        return Vs{r};
      },
      1, 200, 4, {}, 1e-3, 1e3);
}

BOOST_AUTO_TEST_CASE(an_early_return_and_recursion) {
  struct Steps {
    static V down(const V& x, int depth) {
      if (depth == 0 || x < 0.1) return x;
      return 0.5 * down(x * x, depth - 1);
    }
  };
  compare(
      [](std::span<const V> x) {
        if (x[0] < 0) return Vs{-x[1], x[0]};
        return Vs{Steps::down(x[0], 5), V(1)};
      },
      2, 200, 5);
}

BOOST_AUTO_TEST_CASE(a_table) {
  compare(
      [](std::span<const V> x) {
        static const double y[] = {0, 1, 4, 9, 16, 25};
        const V at = 4.999 * sigmoid(3 * x[0]);
        const auto k = static_cast<std::size_t>(to_integer(at));
        return Vs{y[k] + (at - double(k)) * (y[k + 1] - y[k])};
      },
      1, 300, 5);
}

BOOST_AUTO_TEST_CASE(no_branches_at_all) {
  compare([](std::span<const V> x) { return Vs{exp(x[0]) * x[1], V(3), x[1]}; }, 2, 100, 1);
}

BOOST_AUTO_TEST_CASE(all_derivatives) {
  Function<double> f(2, [](std::span<const V> x) {
    return x[0] < x[1] ? std::array<V, 2>{x[0] * x[0] * x[1], x[1]} : std::array<V, 2>{x[0], x[0] * x[1] * x[1]};
  });
  const double at[4] = {2, 3, 3, 2}, ones[4] = {1, 1, 1, 1};
  double values[4], jacobians[8], tangents[4], gradients[4], products[4], hessians[8];
  f.jacobian(2, rows(at, 2), rows(values, 2), rows(jacobians, 4));
  const double wanted_values[] = {12, 3, 3, 12}, wanted_jacobians[] = {12, 4, 0, 1, 1, 0, 4, 12};
  BOOST_TEST(values == wanted_values, boost::test_tools::per_element());
  BOOST_TEST(jacobians == wanted_jacobians, boost::test_tools::per_element());
  f.jvp(2, rows(at, 2), rows(ones, 2), {}, rows(tangents, 2));
  const double wanted_tangents[] = {16, 1, 1, 16};
  BOOST_TEST(tangents == wanted_tangents, boost::test_tools::per_element());
  f.hvp(2, rows(at, 2), rows(ones, 2), {}, rows(gradients, 2), rows(products, 2), rows(ones, 2));
  const double wanted_products[] = {10, 4, 4, 10}, wanted_gradients[] = {12, 5, 5, 12};
  BOOST_TEST(gradients == wanted_gradients, boost::test_tools::per_element());
  BOOST_TEST(products == wanted_products, boost::test_tools::per_element());
  f.hessian(2, rows(at, 2), {}, {}, rows(hessians, 4), rows(ones, 2));
  const double wanted_hessians[] = {6, 4, 4, 0, 0, 4, 4, 6};
  BOOST_TEST(hessians == wanted_hessians, boost::test_tools::per_element());
  f.values(2, rows(at, 2), rows(values, 2));
  BOOST_TEST(values == wanted_values, boost::test_tools::per_element());
  BOOST_TEST(f.statistics().recorded == 2u);
  BOOST_TEST(f.outputs() == 2u);
  BOOST_CHECK_EXCEPTION(f.gradient(1, rows(at, 2), {}, rows(gradients, 2)), Error,
                        says(ErrorCode::bad_argument, "2 outputs"));
}

BOOST_AUTO_TEST_CASE(more_paths_than_are_kept) {
  const Code<double> code = [](std::span<const V> x) { return Vs{x[0] * double(to_integer(x[0]))}; };
  FunctionOptions options;
  options.most_paths = 3;
  compare(code, 1, 200, 20, options, 0, 20);

  options.when_full = WhenFull::refuse;
  Function<double> f(1, code, options);
  std::vector<double> at = {0.5, 1.5, 2.5, 3.5}, values(4);
  f.values(3, rows(at.data(), 1), rows(values.data(), 1));
  BOOST_CHECK_EXCEPTION(f.values(4, rows(at.data(), 1), rows(values.data(), 1)), Error,
                        says(ErrorCode::too_many_paths, "sample 3 takes a path of its own, and this Function keeps 3"));
  f.values(3, rows(at.data(), 1), rows(values.data(), 1));  // usable as before
  BOOST_TEST(values[2] == 5);
  BOOST_TEST(f.statistics().recorded == 3u);
  f.clear();
  f.values(1, rows(at.data() + 3, 1), rows(values.data(), 1));
  BOOST_TEST(values[0] == 10.5);
}

BOOST_AUTO_TEST_CASE(the_path_not_used_for_longest_goes) {
  FunctionOptions options;
  options.most_paths = 2;
  Function<double> f(
      1, [](std::span<const V> x) { return x[0] * double(to_integer(x[0])); }, options);
  double value = 0;
  const auto recorded = [&](double at) {
    f.values(1, rows(&at, 1), rows(&value, 1));
    BOOST_TEST(value == at * std::trunc(at));
    return f.statistics().recorded;
  };
  BOOST_TEST(recorded(1.5) == 1u);
  BOOST_TEST(recorded(2.5) == 2u);
  BOOST_TEST(recorded(1.25) == 2u);
  BOOST_TEST(recorded(3.5) == 3u);  // 2 goes
  BOOST_TEST(recorded(1.75) == 3u);
  BOOST_TEST(recorded(2.75) == 4u);  // 3 goes
  BOOST_TEST(f.statistics().forgotten == 2u);
}

BOOST_AUTO_TEST_CASE(the_path_of_most_samples_is_tried_first) {
  Function<double> f(1, [](std::span<const V> x) { return x[0] < 0 ? V(-x[0]) : V(2 * x[0]); });
  std::vector<double> at(1000, 1.0), values(1000);
  at[0] = -1;
  f.values(1000, rows(at.data(), 1), rows(values.data(), 1));
  BOOST_TEST(f.statistics().repeated == 999u);
  f.values(1000, rows(at.data(), 1), rows(values.data(), 1));
  BOOST_TEST(f.statistics().repeated == 1000u);
  BOOST_TEST(values[0] == 1);
  BOOST_TEST(values[999] == 2);
}

BOOST_AUTO_TEST_CASE(exceptions_of_the_code) {
  Function<double> f(1, [](std::span<const V> x) {
    if (x[0] < 0) throw std::domain_error("below zero");
    return x[0] < 1 ? V(x[0] * x[0]) : V(1);
  });
  std::vector<double> at = {0.5, 2, -1}, values(3);
  BOOST_CHECK_THROW(f.values(1, rows(at.data() + 2, 1), rows(values.data(), 1)), std::domain_error);
  BOOST_TEST(f.outputs() == 0u);
  for (int again = 0; again < 2; ++again) {
    BOOST_CHECK_THROW(f.values(3, rows(at.data(), 1), rows(values.data(), 1)), std::domain_error);
    f.values(2, rows(at.data(), 1), rows(values.data(), 1));
    BOOST_TEST(values[0] == 0.25);
    BOOST_TEST(values[1] == 1);
  }
}

BOOST_AUTO_TEST_CASE(code_that_is_no_function) {
  std::vector<double> at = {1, 2, 3, 4}, values(8);
  const auto in = rows(std::as_const(at).data(), 1);
  // Another number of outputs.
  Function<double> ragged(1, [](std::span<const V> x) { return x[0] < 2 ? Vs{x[0]} : Vs{x[0], x[0]}; });
  BOOST_CHECK_EXCEPTION(ragged.values(2, in, rows(values.data(), 1)), Error,
                        says(ErrorCode::bad_size, "returns 2 outputs for sample 1, and returned 1 before"));
  // Asks once, and then no more.
  int calls = 0;
  Function<double> less(1, [&](std::span<const V> x) { return ++calls == 1 && x[0] < 1.5 ? x[0] : V(1); });
  BOOST_CHECK_EXCEPTION(less.values(4, in, rows(values.data(), 1)), Error,
                        says(ErrorCode::bad_argument, "took another path"));
  Function<double> none(1, [](std::span<const V>) { return Vs(); });
  BOOST_CHECK_EXCEPTION(none.values(1, in, rows(values.data(), 1)), Error, says(ErrorCode::bad_argument, "no outputs"));
  Function<double> sums(1, [](std::span<const V> x) { return sum_samples(x[0]); });
  BOOST_CHECK_EXCEPTION(sums.values(1, in, rows(values.data(), 1)), Error,
                        says(ErrorCode::unsupported, "sums over samples"));
  FunctionOptions options;
  options.most_paths = 0;
  BOOST_CHECK_EXCEPTION(Function<double>(
                            1, [](std::span<const V> x) { return x[0]; }, options),
                        Error, says(ErrorCode::bad_argument, "at least 1"));
}

BOOST_AUTO_TEST_CASE(code_that_can_only_be_moved) {
  auto scale = std::make_unique<double>(3);
  Function<double> f(1, [scale = std::move(scale)](std::span<const V> x) { return *scale * x[0]; });
  Function<double> moved = std::move(f);
  const double at = 2;
  double value = 0;
  moved.values(1, rows(&at, 1), rows(&value, 1));
  BOOST_TEST(value == 6);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
