// Custom ops: on the tape, in programs, under threads.
#include "wengert/custom.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/needs.hpp"
#include "tests/program/custom_rules.hpp"
#include "tests/program/machines.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"
#include "wengert/diagnose.hpp"
#include "wengert/function.hpp"

namespace wengert::test {

BOOST_AUTO_TEST_SUITE(custom)

BOOST_AUTO_TEST_CASE(on_a_tape) {
  const CustomOp<double> polar(polar_rule<double>());
  NaiveTape<double> tape;
  const Var<double> a = input(tape, 3.0), b = input(tape, 4.0);
  const std::vector<Var<double>> y = polar(a, b);
  BOOST_TEST_REQUIRE(y.size() == 2u);
  BOOST_TEST(value(y[0]) == 5);
  BOOST_TEST(value(y[1]) == 12);
  backward(2 * y[0] + y[1]);
  BOOST_TEST(grad(a) == 2 * 3 / 5.0 + 4);
  BOOST_TEST(grad(b) == 2 * 4 / 5.0 + 3);
  tape.set_input(a.id(), 6);
  tape.set_input(b.id(), 8);
  tape.forward();
  BOOST_TEST(tape.value(y[0].id()) == 10);
  BOOST_TEST(tape.output(y[0].id(), 1) == y[1].id());
  BOOST_CHECK_EXCEPTION(tape.output(y[0].id(), 2), Error, says(ErrorCode::bad_argument, "polar at id 2 has 2 outputs"));
  // Constants alone are no op.
  const std::size_t ops = tape.statistics().ops;
  BOOST_TEST(value(polar(Var<double>(3), Var<double>(4))[0]) == 5);
  BOOST_TEST(value(polar(std::vector<Var<double>>{6, 8})[1]) == 48);
  BOOST_TEST(tape.statistics().ops == ops);
  const double point[] = {3, 4};
  BOOST_TEST(polar.values(point) == (std::vector<double>{5, 12}), boost::test_tools::per_element());
}

template <class Real>
void in_a_program() {
  const Program<Real> program = compiled<Real>(CustomOp<Real>(polar_rule<Real>()));  // which outlives the op
  on_every_machine<Real>(program, [](Replay<Real>& replay) {
    for (const std::size_t n : batch_sizes) {
      const std::vector<Real> x = random_numbers<Real>(n, 2 * n);
      std::vector<Real> y(n), g(2 * n), j(2 * n);
      replay.gradient(n, rows(x.data(), 2), rows(y.data(), 1), rows(g.data(), 2));
      replay.jacobian(n, rows(x.data(), 2), {}, rows(j.data(), 2));
      for (std::size_t e = 0; e < n; ++e) {
        const double a = x[2 * e], b = x[2 * e + 1], r = std::hypot(a, b), f = std::exp(-r) + a * a * b,
                     da = -std::exp(-r) * a / r + 2 * a * b, db = -std::exp(-r) * b / r + a * a;
        const double close = 20 * std::numeric_limits<Real>::epsilon();
        BOOST_TEST_REQUIRE(std::fabs(y[e] - f) <= close * f);
        BOOST_TEST_REQUIRE(std::fabs(g[2 * e] - da) <= close * (1 + std::fabs(da)));
        BOOST_TEST_REQUIRE(std::fabs(g[2 * e + 1] - db) <= close * (1 + std::fabs(db)));
        BOOST_TEST_REQUIRE(same_bits(j[2 * e], g[2 * e]));
        BOOST_TEST_REQUIRE(same_bits(j[2 * e + 1], g[2 * e + 1]));
      }
    }
  });
}
BOOST_AUTO_TEST_CASE(in_a_program_f64, *uses_threads()) { in_a_program<double>(); }
BOOST_AUTO_TEST_CASE(in_a_program_f32, *uses_threads()) { in_a_program<float>(); }

template <class Real>
void the_bits_of_the_tables_op() {
  const CustomOp<Real> product(product_rule<Real>());
  const auto program = [&](const auto& times) {
    NaiveTape<Real> tape;
    const Var<Real> a = input(tape, Real(0.5)), b = input(tape, Real(2)), p = times(a, sin(b)), q = times(p, p);
    return compile(tape, (times(a, q) + times(q, b) + p).id());
  };
  Replay<Real> table(program([](const Var<Real>& a, const Var<Real>& b) { return a * b; }));
  on_every_machine<Real>(
      program([&](const Var<Real>& a, const Var<Real>& b) { return product(a, b)[0]; }), [&](Replay<Real>& replay) {
        for (const std::size_t n : batch_sizes) {
          const std::vector<Real> x = random_numbers<Real>(n, 2 * n), d = random_numbers<Real>(n + 9, 2 * n);
          std::vector<Real> all[2];
          for (Replay<Real>* const one : {&table, &replay}) {
            std::vector<Real>& out = all[one == &replay];
            out.assign(13 * n, 0);
            const Samples<const Real> in = rows(x.data(), 2), along = rows(d.data(), 2);
            const auto place = [&](std::size_t first, std::size_t items) {
              return rows(out.data() + first * n, items);
            };
            one->gradient(n, in, place(0, 1), place(1, 2));
            one->jvp(n, in, along, place(3, 1), place(4, 1));
            one->hvp(n, in, along, {}, place(5, 2), place(7, 2));
            one->hessian(n, in, {}, {}, place(9, 4));
          }
          for (std::size_t k = 0; k < 9 * n; ++k) {
            if (k < 5 * n) BOOST_TEST_REQUIRE(same_bits(all[0][k], all[1][k]));
            BOOST_TEST_REQUIRE(std::fabs(all[0][k] - all[1][k]) <=
                               100 * std::numeric_limits<Real>::epsilon() * (1 + std::fabs(all[0][k])));
          }
          for (std::size_t k = 9 * n; k < 13 * n; ++k)
            BOOST_TEST_REQUIRE(std::fabs(all[0][k] - all[1][k]) <=
                               100 * std::numeric_limits<Real>::epsilon() * (1 + std::fabs(all[0][k])));
        }
      });
}
BOOST_AUTO_TEST_CASE(the_bits_of_the_tables_op_f64, *uses_threads()) { the_bits_of_the_tables_op<double>(); }
BOOST_AUTO_TEST_CASE(the_bits_of_the_tables_op_f32, *uses_threads()) { the_bits_of_the_tables_op<float>(); }

BOOST_AUTO_TEST_CASE(what_forward_mode_needs) {
  CustomRule<double> rule = polar_rule<double>();
  double x[] = {3, 4}, y[3], j[6], nonzeros[6];
  {
    NaiveTape<double> tape;
    const Var<double> a = input(tape, 3.0), b = input(tape, 4.0);
    const auto r = CustomOp<double>(rule)(a, b);
    const Id outputs[] = {r[0].id(), r[1].id(), (a + b).id()};
    Replay<double> replay(compile(tape, std::span<const Id>(outputs)));
    replay.jacobian(1, rows(x, 2), rows(y, 3), rows(j, 6));  // more outputs than inputs, and yet in reverse
    BOOST_TEST(j[0] == 3 / 5.0);
    BOOST_TEST(j[3] == 3);
    BOOST_TEST(j[5] == 1);
    BOOST_TEST_REQUIRE(replay.program().jacobian_sparsity().nonzeros() == 6u);
    replay.sparse_jacobian(1, rows(x, 2), {}, rows(nonzeros, 6));
    for (std::size_t k = 0; k < 6; ++k) BOOST_TEST(nonzeros[k] == j[k]);
  }
  Replay<double> replay(compiled<double>(CustomOp<double>(rule)));
  double d[2] = {1, 0}, t[1], h[4];
  BOOST_CHECK_EXCEPTION(replay.jvp(1, rows(x, 2), rows(d, 2), {}, rows(t, 1)), Error,
                        says(ErrorCode::unsupported, "the custom op polar, which has no jvp"));
  BOOST_CHECK_EXCEPTION(replay.hvp(1, rows(x, 2), rows(d, 2), {}, {}, rows(h, 2)), Error,
                        says(ErrorCode::unsupported, "polar, which has no jvp"));
  rule.jvp = [](std::size_t n, Samples<const double> at, Samples<const double> r, Samples<const double> along,
                Samples<double> tangents) {
    for (std::size_t e = 0; e < n; ++e) {
      tangents(e, 0) = (at(e, 0) * along(e, 0) + at(e, 1) * along(e, 1)) / r(e, 0);
      tangents(e, 1) = at(e, 1) * along(e, 0) + at(e, 0) * along(e, 1);
    }
  };
  replay = Replay<double>(compiled<double>(CustomOp<double>(rule)));
  replay.jvp(1, rows(x, 2), rows(d, 2), {}, rows(t, 1));
  BOOST_TEST(std::fabs(t[0] - (-std::exp(-5) * 3 / 5 + 24)) < 1e-14);
  BOOST_CHECK_EXCEPTION(replay.hessian(1, rows(x, 2), {}, {}, rows(h, 4)), Error,
                        says(ErrorCode::unsupported, "polar, which has no hvp"));
  BOOST_CHECK_EXCEPTION(replay.sparse_hessian(1, rows(x, 2), {}, {}, rows(h, 4)), Error,
                        says(ErrorCode::unsupported, "polar, which has no hvp"));
  // An op that no differentiated input reaches needs none of that.
  NaiveTape<double> tape;
  const Var<double> a = input(tape, 3.0), b = input(tape, 4.0), c = input(tape, 2.0);
  const Program<double> passive = compile(tape, (c * CustomOp<double>(polar_rule<double>())(a, b)[0]).id(),
                                          {.differentiated = std::vector<Id>{c.id()}});
  double three[] = {3, 4, 2};
  Replay<double> other(passive);
  other.jvp(1, rows(three, 3), rows(d, 1), rows(y, 1), rows(t, 1));
  BOOST_TEST(y[0] == 10);
  BOOST_TEST(t[0] == 5);
  other.hessian(1, rows(three, 3), {}, {}, rows(h, 1));
  BOOST_TEST(h[0] == 0);
}

BOOST_AUTO_TEST_CASE(what_the_passes_make_of_it) {
  auto calls = std::make_shared<std::size_t>(0);
  CustomRule<double> rule = product_rule<double>();
  rule.values = [calls, inner = rule.values](std::size_t n, Samples<const double> x, Samples<double> y) {
    *calls += 1;
    inner(n, x, y);
  };
  NaiveTape<double> tape;
  const std::weak_ptr<std::size_t> watch = calls;
  {
    const CustomOp<double> product(std::move(rule));
    const Var<double> a = input(tape, 3.0), b = input(tape, 4.0), two(tape, tape.constant(2));
    const Var<double> p = product(a, b)[0], again = product(a, b)[0], folded = product(two, two)[0];
    const Var<double> dead = product(p, p)[0];
    BOOST_TEST(value(dead) == 144);
    const Program<double> program = compile(tape, (p + again * folded).id());
    BOOST_TEST(program.statistics().common_ops == 1u);
    BOOST_TEST(program.statistics().constant_ops == 1u);
    BOOST_TEST(program.statistics().dead_ops == 1u);
    BOOST_TEST(program.describe().find("custom ops: 3 of product\n") != std::string::npos, program.describe());
    Replay<double> replay(program);
    *calls = 0;
    double x[] = {5, 6}, y[1], g[2];
    replay.gradient(1, rows(x, 2), rows(y, 1), rows(g, 2));
    BOOST_TEST(*calls == 1u);
    BOOST_TEST(y[0] == 30 + 4 * 30);
    BOOST_TEST(g[0] == 30);
    BOOST_TEST(g[1] == 25);
  }
  calls.reset();
  BOOST_TEST(!watch.expired());
  NaiveTape<double> copy = tape, moved = std::move(tape);
  tape.clear();
  copy.forward();
  moved.clear();
  copy.rewind({});
  BOOST_TEST(watch.expired());  // what is forgotten lets go of its rules
}

BOOST_AUTO_TEST_CASE(no_weight_no_contribution) {
  const CustomOp<double> polar(polar_rule<double>());
  NaiveTape<double> tape;
  const Var<double> a = input(tape, 0.0), b = input(tape, 0.0);
  const Var<double> f = select(gt(a, 0), polar(a, b)[0], a + b);  // at the origin the slopes of polar are NaN
  backward(f);
  BOOST_TEST(grad(a) == 1);
  BOOST_TEST(grad(b) == 1);
  Replay<double> replay(compile(tape, f.id()));
  double x[] = {0, 0, 3, 4}, g[4];
  replay.gradient(2, rows(x, 2), {}, rows(g, 2));
  BOOST_TEST(g[0] == 1);
  BOOST_TEST(g[1] == 1);
  BOOST_TEST(g[2] == 3 / 5.0);
  tape.set_zero_rule(ZeroRule::ieee);
  backward(f);
  BOOST_TEST(std::isnan(grad(a)));
}

BOOST_AUTO_TEST_CASE(once_per_batch_and_after_sums) {
  const CustomOp<double> product(product_rule<double>());
  NaiveTape<double> tape;
  const Var<double> x = input(tape, 1.0), p = parameter(tape, 2.0);
  const Var<double> before = product(p, p)[0], each = product(x, before)[0];
  const Var<double> total(tape, tape.sum_samples(each.id()));
  const Var<double> f = product(total, p)[0];  // p^3 times the sum of x
  for (const unsigned threads : {1u, 3u}) {
    Replay<double> replay(compile(tape, f.id()), {.threads = threads});
    for (const std::size_t n : {1u, 9u, 1000u}) {
      std::vector<double> points(n), g(n);
      std::iota(points.begin(), points.end(), 1.0);
      const double sum = double(n) * double(n + 1) / 2, parameters[] = {3};
      replay.set_parameters(parameters);
      replay.gradient(n, rows(points.data(), 1), {}, rows(g.data(), 1));
      BOOST_TEST(replay.uniform_outputs()[0] == 27 * sum);
      BOOST_TEST(replay.parameter_gradients()[0] == 27 * sum);
      BOOST_TEST(g[n - 1] == 27);
    }
  }
}

BOOST_AUTO_TEST_CASE(branches_on_its_results) {
  const CustomOp<double> polar(polar_rule<double>());
  Function<double> f(2, [&](std::span<const Var<double>> x) {
    const Var<double> r = polar(x[0], x[1])[0];
    return r < 1 ? r * r : 2 * r - 1;
  });
  double x[] = {0.3, 0.4, 3, 4}, y[2], g[4];
  f.gradient(2, rows(x, 2), rows(y, 1), rows(g, 2));
  BOOST_TEST(y[0] == 0.25);
  BOOST_TEST(y[1] == 9);
  BOOST_TEST(std::fabs(g[0] - 0.6) < 1e-15);
  BOOST_TEST(g[2] == 2 * 3 / 5.0);
  BOOST_TEST(f.statistics().paths == 2u);
}

BOOST_AUTO_TEST_CASE(a_program_shared_by_threads, *uses_threads()) {
  const Program<double> program = compiled<double>(CustomOp<double>(polar_rule<double>()));
  const std::vector<double> x = random_numbers<double>(3, 2000);
  std::vector<double> wanted(1000);
  Replay<double>(program).values(1000, rows(x.data(), 2), rows(wanted.data(), 1));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&] {
        std::vector<double> y(1000);
        Replay<double>(program).values(1000, rows(x.data(), 2), rows(y.data(), 1));
        wrong += y != wanted;
      });
  }
  BOOST_TEST(wrong == 0);
}

using Reals = std::tuple<double, float>;
BOOST_AUTO_TEST_CASE_TEMPLATE(against_differences, Real, Reals) {
  const std::vector<Real> x = random_numbers<Real>(5, 60);
  const CustomCheck two = check_custom(CustomOp<Real>(product_rule<Real>()), 20, rows(x.data(), 2));
  BOOST_TEST(two.passed(), two.describe());
  BOOST_TEST(two.vjp.entries.size() == 40u);
  BOOST_TEST(two.jvp.entries.size() == 40u);
  BOOST_TEST(two.hvp.entries.size() == 80u);
  const CustomCheck forms = check_custom(quadratic_forms<Real>(3, 2), 20, rows(x.data(), 3));
  BOOST_TEST(forms.passed(), forms.describe());
  const CustomCheck polar = check_custom(CustomOp<Real>(polar_rule<Real>()), 20, rows(x.data(), 2));
  BOOST_TEST(polar.passed(), polar.describe());
  BOOST_TEST(polar.jvp.entries.empty());
  BOOST_TEST(check_custom(CustomOp<Real>(polar_rule<Real>()), 0, rows(x.data(), 2)).passed());

  CustomRule<Real> wrong = product_rule<Real>();
  const auto right = wrong;
  wrong.vjp = [](std::size_t n, Samples<const Real> at, Samples<const Real>, Samples<const Real> w, Samples<Real> g) {
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t i = 0; i < 2; ++i) g(e, i) = w(e, 0) * at(e, i);
  };
  CustomCheck found = check_custom(CustomOp<Real>(wrong), 20, rows(x.data(), 2));
  BOOST_TEST(!found.vjp.passed());
  BOOST_TEST(found.jvp.passed());
  BOOST_TEST(found.describe().find("vjp: 40 derivatives: ") == 0, found.describe());
  wrong = right;
  wrong.jvp = [](std::size_t n, Samples<const Real> at, Samples<const Real>, Samples<const Real> d, Samples<Real> t) {
    for (std::size_t e = 0; e < n; ++e) t(e, 0) = at(e, 1) * d(e, 0);
  };
  found = check_custom(CustomOp<Real>(wrong), 20, rows(x.data(), 2));
  BOOST_TEST((found.vjp.passed() && !found.jvp.passed() && found.hvp.passed()), found.describe());
  wrong = right;
  wrong.hvp = [](std::size_t n, Samples<const Real>, Samples<const Real>, Samples<const Real> w, Samples<const Real> d,
                 Samples<Real> h) {
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t i = 0; i < 2; ++i) h(e, i) = 2 * w(e, 0) * d(e, 1 - i);
  };
  found = check_custom(CustomOp<Real>(wrong), 20, rows(x.data(), 2));
  BOOST_TEST((found.vjp.passed() && found.jvp.passed() && !found.hvp.passed()), found.describe());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
