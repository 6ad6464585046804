// Checkpoints: stretches of code as one op, against the same code recorded.
#include "wengert/checkpoint.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/needs.hpp"
#include "tests/program/machines.hpp"
#include "tests/random.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"
#include "wengert/implicit.hpp"

namespace wengert::test {
namespace {

/// Some steps of a pendulum: place, speed, damping.
template <class Real>
std::array<Var<Real>, 3> steps(std::span<const Var<Real>> x) {
  Var<Real> place = x[0], speed = x[1];
  for (int k = 0; k < 5; ++k) {
    speed -= Real(0.1) * (sin(place) + x[2] * speed);
    place += Real(0.1) * speed;
  }
  return {place, speed, x[2]};
}

/// f of the state after 20 steps, in four stretches that `run` records.
template <class Real, class Run>
Program<Real> pendulum(const Run& run) {
  NaiveTape<Real> tape;
  std::vector<Var<Real>> x = {input(tape, Real(1)), input(tape, Real(0.5)), input(tape, Real(0.1))};
  for (int k = 0; k < 4; ++k) x = run(x);
  const Id outputs[] = {(x[0] * x[1]).id(), exp(x[1]).id()};
  return compile(tape, std::span<const Id>(outputs));
}

template <class Real>
void the_bits_of_the_code_recorded() {
  using Vars = std::vector<Var<Real>>;
  const auto recorded = [](const Vars& x) {
    const auto y = steps<Real>(x);
    return Vars(y.begin(), y.end());
  };
  Replay<Real> plain(pendulum<Real>(recorded));
  const Program<Real> program = pendulum<Real>([](const Vars& x) { return checkpoint(steps<Real>, x); });
  BOOST_TEST(program.statistics().recorded_ops == 6u);
  on_every_machine<Real>(program, [&](Replay<Real>& replay) {
    for (const std::size_t n : batch_sizes) {
      Random random(n);
      std::vector<Real> x(3 * n), d(3 * n), w(2 * n + 1), all[2];
      for (auto* const list : {&x, &d, &w})
        for (Real& number : *list) number = static_cast<Real>(random.in(-1, 1));
      for (Replay<Real>* const one : {&plain, &replay}) {
        std::vector<Real>& out = all[one == &replay];
        out.assign(16 * n, 0);
        const auto table = [&](std::size_t first, std::size_t items) { return rows(out.data() + first * n, items); };
        one->vjp(n, rows(x.data(), 3), rows(w.data(), 2), table(0, 2), table(2, 3));
        one->jvp(n, rows(x.data(), 3), rows(d.data(), 3), table(5, 2), table(7, 2));
        one->jacobian(n, rows(x.data(), 3), {}, table(9, 6));
      }
      for (std::size_t k = 0; k < 15 * n; ++k) BOOST_TEST_REQUIRE(same_bits(all[0][k], all[1][k]));
      std::vector<Real> h[2];
      for (Replay<Real>* const one : {&plain, &replay}) {
        h[one == &replay].resize(12 * n);
        one->hessian(n, rows(x.data(), 3), {}, {}, rows(h[one == &replay].data(), 9), rows(w.data(), 2));
        one->hvp(n, rows(x.data(), 3), rows(d.data(), 3), {}, {}, rows(h[one == &replay].data() + 9 * n, 3),
                 rows(w.data(), 2));
      }
      const double close = 200 * std::numeric_limits<Real>::epsilon();
      for (std::size_t k = 0; k < 12 * n; ++k)
        BOOST_TEST_REQUIRE(std::fabs(h[0][k] - h[1][k]) <= close * (1 + std::fabs(h[0][k])));
    }
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoints)

BOOST_AUTO_TEST_CASE(the_bits_f64, *uses_threads()) { the_bits_of_the_code_recorded<double>(); }
BOOST_AUTO_TEST_CASE(the_bits_f32, *uses_threads()) { the_bits_of_the_code_recorded<float>(); }

BOOST_AUTO_TEST_CASE(on_a_tape) {
  NaiveTape<double> tape;
  const Var<double> x[] = {input(tape, 1.0), input(tape, 0.5), input(tape, 0.1)};
  const auto y = checkpoint(steps<double>, x);
  BOOST_TEST(tape.statistics().ops == 1u);
  backward(y[0]);
  NaiveTape<double> plain;
  const Var<double> z[] = {input(plain, 1.0), input(plain, 0.5), input(plain, 0.1)};
  const auto wanted = steps<double>(z);
  backward(wanted[0]);
  for (std::size_t k = 0; k < 3; ++k) {
    BOOST_TEST(same_bits(value(y[k]), value(wanted[k])));
    BOOST_TEST(same_bits(grad(x[k]), grad(z[k])));
  }
  const Var<double> constants[] = {1.0, 0.5, 0.1};
  BOOST_TEST(value(checkpoint(steps<double>, constants)[1]) == value(wanted[1]));
}

BOOST_AUTO_TEST_CASE(branches_inside, *uses_threads()) {
  std::size_t calls = 0;
  const auto code = [&calls](std::span<const Var<double>> x) {
    ++calls;
    Var<double> sum = 0;
    for (Var<double> term = x[0]; term > 0.5; term *= 0.5) sum += term * x[1];
    return sum;
  };
  NaiveTape<double> tape;
  const Var<double> x[] = {input(tape, 1.0), input(tape, 2.0)};
  const Id f = exp(-checkpoint(code, x)[0]).id();
  const std::size_t n = 300;
  Random random(4);
  std::vector<double> points;
  for (std::size_t k = 0; k < 2 * n; ++k) points.push_back(random.in(0, 4));
  for (const unsigned threads : {1u, 4u}) {
    Replay<double> replay(compile(tape, f), {.threads = threads});
    std::vector<double> y(n), g(2 * n);
    replay.gradient(n, rows(points.data(), 2), rows(y.data(), 1), rows(g.data(), 2));
    for (std::size_t e = 0; e < n; ++e) {
      double halves = 0;
      for (double term = points[2 * e], part = 1; term > 0.5; term *= 0.5, part *= 0.5) halves += part;
      const double wanted = std::exp(-halves * points[2 * e] * points[2 * e + 1]);
      BOOST_TEST_REQUIRE(std::fabs(y[e] - wanted) <= 1e-14);
      BOOST_TEST_REQUIRE(std::fabs(g[2 * e] + halves * points[2 * e + 1] * wanted) <= 1e-13);
      BOOST_TEST_REQUIRE(std::fabs(g[2 * e + 1] + halves * points[2 * e] * wanted) <= 1e-13);
    }
  }
  BOOST_TEST(calls < 40u);  // paths, and not samples
}

BOOST_AUTO_TEST_CASE(checkpoints_in_checkpoints) {
  const auto inner = [](std::span<const Var<double>> x) { return sin(x[0]) * x[0]; };
  const auto outer = [&](std::span<const Var<double>> x) { return checkpoint(inner, x)[0] + exp(x[0]); };
  NaiveTape<double> tape;
  const Var<double> x = input(tape, 0.3), list[] = {x};
  const Var<double> y = checkpoint(outer, list)[0];
  backward(y);
  BOOST_TEST(grad(x) == std::cos(0.3) * 0.3 + std::sin(0.3) + std::exp(0.3), boost::test_tools::tolerance(1e-15));
  double h, at = 0.3;
  Replay<double>(compile(tape, y.id())).hessian(1, rows(&at, 1), {}, {}, rows(&h, 1));
  BOOST_TEST(h == 2 * std::cos(0.3) - 0.3 * std::sin(0.3) + std::exp(0.3), boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(one_op_for_many_calls) {
  std::size_t calls = 0;
  const double point[] = {1, 2};
  const CustomOp<double> op = make_checkpoint<double>(point, [&](std::span<const Var<double>> x) {
    ++calls;
    return std::array{x[0] * x[1], x[0] + x[1]};
  });
  NaiveTape<double> tape;
  std::vector<Var<double>> x = {input(tape, 1.5), input(tape, 1.0)};
  for (int k = 0; k < 10; ++k) x = op(x);
  backward(x[0]);
  BOOST_TEST(calls == 1u);
  BOOST_TEST(tape.statistics().ops == 10u);
}

BOOST_AUTO_TEST_CASE(one_op_for_many_calls_in_another) {
  std::size_t inner_calls = 0, outer_calls = 0;
  const double point[] = {1};
  const CustomOp<double> inner = make_checkpoint<double>(point, [&](std::span<const Var<double>> x) {
    ++inner_calls;
    return x[0] * x[0];
  });
  const CustomOp<double> outer = make_checkpoint<double>(point, [&](std::span<const Var<double>> x) {
    ++outer_calls;
    return inner(x[0])[0] + 1.0;
  });
  for (const double at : {1, 2, 3}) BOOST_TEST(outer.values(std::array{at})[0] == at * at + 1);
  BOOST_TEST(inner_calls == 1u);
  BOOST_TEST(outer_calls == 1u);
}

/// Op k squares its number, but from k + 1 it goes to the op after it. What one makes is looked at by `each`; nothing of it stays.
template <class Make, class Each>
void ring(std::size_t ops, const Make& make, const Each& each) {
  auto held = std::make_shared<int>();
  const std::weak_ptr<int> watched = held;
  {
    std::vector<CustomOp<double>> all;
    for (std::size_t k = 0; k < ops; ++k)
      all.push_back(make([&all, held, k](const Var<double>& x) {
        return x == static_cast<double>(k + 1) ? all[(k + 1) % all.size()](x)[0] : x * x;
      }));
    held.reset();
    for (int again = 0; again < 2; ++again)
      for (std::size_t k = 0; k < ops; ++k)
        for (const double at : {0.5, static_cast<double>(k + 1)}) each(all[k], at);
    BOOST_TEST(!watched.expired());
  }
  BOOST_TEST(watched.expired());
}

BOOST_AUTO_TEST_CASE(ops_that_come_to_each_other) {
  const double zero[] = {0};
  const auto squares = [](const CustomOp<double>& op, double at) {
    NaiveTape<double> tape;
    const Var<double> x = input(tape, at), y = op(x)[0];
    backward(y);
    BOOST_TEST(value(y) == at * at);
    BOOST_TEST(grad(x) == 2 * at);
  };
  const auto checkpoint_of = [&](auto code) {
    return make_checkpoint<double>(zero, [code](std::span<const Var<double>> x) { return code(x[0]); });
  };
  for (const std::size_t ops : {2, 3, 5}) ring(ops, checkpoint_of, squares);
  // By way of a program, which is there before the op that it is on comes to it.
  const auto program_of = [&](auto code) {
    NaiveTape<double> tape;
    const Var<double> x = input(tape, 0.0);
    return make_checkpoint(compile(tape, checkpoint_of(code)(x)[0].id()));
  };
  for (const std::size_t ops : {2, 3}) ring(ops, program_of, squares);
  // Of y = code(x) for y.
  const auto root_of = [&](auto code) {
    return make_root<double>(1, 1, [code](std::span<const Var<double>> x) { return x[0] - code(x[1]); });
  };
  const auto to_root = [&](auto code) {
    return checkpoint_of([op = root_of(code)](const Var<double>& x) { return op(Var<double>(0), x)[0]; });
  };
  for (const std::size_t ops : {2, 3}) ring(ops, to_root, squares);
}

BOOST_AUTO_TEST_CASE(recursion) {
  for (const std::size_t ops : {1u, 2u, 3u}) {  // by turns
    auto held = std::make_shared<int>();
    const std::weak_ptr<int> watched = held;
    {
      std::vector<CustomOp<double>> all;
      const double zero[] = {0};
      for (std::size_t k = 0; k < ops; ++k)
        all.push_back(make_checkpoint<double>(zero, [&all, held, k](std::span<const Var<double>> x) {
          return x[0] > 0 ? x[0] * all[(k + 1) % all.size()](x[0] - 1.0)[0] : Var<double>(x[0] + 1.0);
        }));
      held.reset();
      for (const CustomOp<double>& op : all) BOOST_TEST(op.values(std::array{5.0})[0] == 120);
    }
    BOOST_TEST(watched.expired());
  }
}

BOOST_AUTO_TEST_CASE(of_a_program) {
  NaiveTape<double> inside;
  const Var<double> a = input(inside, 1.0), b = input(inside, 2.0);
  const Id outputs[] = {(a < 3 ? a * b : b).id(), (a / b).id()};
  const Program<double> segment = compile(inside, std::span<const Id>(outputs));
  NaiveTape<double> tape;
  const Var<double> x[] = {input(tape, 2.0), input(tape, 5.0)};
  const auto y = checkpoint(segment, x);
  backward(y[0] + y[1]);
  BOOST_TEST(value(y[0]) == 10);
  BOOST_TEST(grad(x[0]) == 5 + 1 / 5.0);
  tape.set_input(x[0].id(), 4);
  BOOST_CHECK_EXCEPTION(tape.forward(), Error, says(ErrorCode::other_path, "checkpoint.cpp"));
  tape.set_input(x[0].id(), 1);
  tape.forward();
  BOOST_TEST(tape.value(y[0].id()) == 5);

  const Id one[] = {outputs[1]};
  const Program<double> partly = compile(inside, std::span<const Id>(one), {.differentiated = std::vector<Id>{b.id()}});
  BOOST_CHECK_EXCEPTION(checkpoint(partly, x), Error,
                        says(ErrorCode::bad_argument, "differentiated in all its inputs"));
  const Var<double> p = parameter(inside, 1.0);
  BOOST_CHECK_EXCEPTION(checkpoint(compile(inside, (a * p).id()), x), Error,
                        says(ErrorCode::bad_argument, "no parameters"));
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  NaiveTape<double> tape;
  const Var<double> x = input(tape, 2.0), list[] = {x};
  BOOST_CHECK_EXCEPTION(checkpoint([&](std::span<const Var<double>> in) { return in[0] * x; }, list), Error,
                        says(ErrorCode::mixed_tapes, ""));
  BOOST_CHECK_EXCEPTION(
      checkpoint([](std::span<const Var<double>>) { return Var<double>(1); }, std::span<const Var<double>>()), Error,
      says(ErrorCode::bad_argument, "no inputs"));
  BOOST_CHECK_EXCEPTION(checkpoint([](std::span<const Var<double>>) { return std::vector<Var<double>>(); }, list),
                        Error, says(ErrorCode::bad_argument, "no outputs"));
  const auto picky = [](std::span<const Var<double>> in) {
    if (in[0] < 0) throw std::domain_error("not below zero");
    return sqrt(in[0]);
  };
  const Var<double> y = checkpoint(picky, list)[0];
  Replay<double> replay(compile(tape, y.id()), {.threads = 2});
  std::vector<double> points(500, 4), roots(500);
  points[300] = -1;
  BOOST_CHECK_THROW(replay.values(500, rows(points.data(), 1), rows(roots.data(), 1)), std::domain_error);
  points[300] = 9;
  replay.values(500, rows(points.data(), 1), rows(roots.data(), 1));
  BOOST_TEST(roots[299] == 2);
  BOOST_TEST(roots[300] == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
