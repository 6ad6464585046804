// Var: the scalar that records.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <sstream>
#include <tuple>
#include <vector>

#include "tests/same_bits.hpp"
#include "wengert/wengert.hpp"

using wengert::Cond;
using wengert::ErrorCode;
using wengert::NaiveTape;
using wengert::Op;
using wengert::Var;
using wengert::test::same_bits;

namespace {

using V = Var<double>;

static_assert(sizeof(Var<double>) == 24);
static_assert(std::is_trivially_copyable_v<V>);
static_assert(!std::is_convertible_v<V, double> && !std::is_constructible_v<double, V>);
static_assert(!std::is_constructible_v<int, V> && !std::is_constructible_v<bool, V>);
static_assert(!std::is_constructible_v<Var<float>, Var<double>> && !std::is_constructible_v<Var<double>, Var<float>>);
static_assert(!std::is_convertible_v<Cond<double>, bool> && !std::is_constructible_v<bool, Cond<double>>);
template <class C>
concept Selects = requires(C c, V a) { select(c, a, a); };
static_assert(Selects<Cond<double>> && !Selects<bool>);
static_assert(std::numeric_limits<V>::is_specialized);
static_assert(std::is_same_v<decltype(std::declval<V>() * 2 + 1.0f), V>);

using Reals = std::tuple<double, float>;

template <class F>
ErrorCode code_of(F f) {
  try {
    f();
  } catch (const wengert::Error& error) {
    return error.code();
  }
  BOOST_ERROR("nothing was thrown");
  return ErrorCode::bad_argument;
}

/// A function as a user would write it, for double and for Var.
template <class T>
T model(T x, T y) {
  using std::exp;
  auto t = x * y + 2 * x;
  t += exp(x) / 3.0f;
  t -= y * 1L;
  if (t < T(100)) t *= T(0.5);
  return -t + x++ * y;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(var)

BOOST_AUTO_TEST_CASE(templated_code_gives_value_and_gradient) {
  NaiveTape<double> tape;
  V x = input(tape, 1.25), y = input(tape, -0.75);
  const V f = model(x, y);
  backward(f);
  const double h = 1e-6;
  BOOST_TEST(value(f) == model(1.25, -0.75), boost::test_tools::tolerance(1e-15));
  BOOST_TEST(grad(x) == (model(1.25 + h, -0.75) - model(1.25 - h, -0.75)) / (2 * h),
             boost::test_tools::tolerance(1e-7));
  BOOST_TEST(grad(y) == (model(1.25, -0.75 + h) - model(1.25, -0.75 - h)) / (2 * h),
             boost::test_tools::tolerance(1e-7));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_row_is_a_function_with_the_bits_of_the_tape, Real, Reals) {
  using Limits = std::numeric_limits<Real>;
  const Real at[] = {Real(0.375),        Real(-0.625),         Real(0.8125),   Real(1) / 3,   0,
                     -Real(0),           Limits::denorm_min(), -Limits::min(), Limits::max(), 1 + Limits::epsilon(),
                     Limits::infinity(), Limits::quiet_NaN()};
  for (const Real a : at)
    for (const Real b : at)
      for (const Real c : {Real(0.8125), -a * b, -Real(0), -Limits::max(), Limits::infinity()}) {
        NaiveTape<Real> tape;
        Var<Real> x[3] = {input(tape, a), input(tape, b), input(tape, c)};
        std::size_t rows = 0;
        const auto compare = [&](Op op, const Var<Real>& made, std::size_t arity) {
          ++rows;
          const wengert::Id ids[] = {x[0].id(), x[1].id(), x[2].id()};
          const wengert::Id id = tape.record(op, std::span(ids, arity));
          const auto as_by_id = [&](Real ours, Real by_id, const char* what) {
            if (!same_bits(ours, by_id))
              BOOST_ERROR(name(op) << " at " << a << ", " << b << ", " << c << ": " << what << ours << " and "
                                   << by_id);
          };
          as_by_id(value(made), tape.value(id), "");
          backward(made);
          Real slopes[3];
          for (std::size_t k = 0; k < arity; ++k) slopes[k] = grad(x[k]);
          tape.backward(id);
          for (std::size_t k = 0; k < arity; ++k) as_by_id(slopes[k], grad(x[k]), "slope ");
        };
#define WENGERT_OP1(name, ...) compare(Op::name, name(x[0]), 1);
#define WENGERT_OP2(name, ...) compare(Op::name, name(x[0], x[1]), 2);
#define WENGERT_OP3(name, ...) compare(Op::name, name(x[0], x[1], x[2]), 3);
#include "wengert/ops.def"
        compare(Op::add, x[0] + x[1], 2);
        compare(Op::sub, x[0] - x[1], 2);
        compare(Op::mul, x[0] * x[1], 2);
        compare(Op::div, x[0] / x[1], 2);
        compare(Op::neg, -x[0], 1);
        BOOST_REQUIRE(rows > 50u);
      }
}

BOOST_AUTO_TEST_CASE(lists) {
  NaiveTape<double> tape;
  std::vector<V> x = {input(tape, 1), input(tape, 2), input(tape, 4)};
  const std::vector<V> weights = {1.0, 0.5, 0.25};
  BOOST_TEST(value(sum(x)) == 7);
  BOOST_TEST(value(prod(x)) == 8);
  const V d = dot(x, weights);
  backward(d);
  BOOST_TEST(value(d) == 3);
  BOOST_TEST(grad(x[2]) == 0.25);
  const std::vector<V> p = softmax(x);
  BOOST_TEST(p.size() == 3u);
  BOOST_TEST(value(p[0]) + value(p[1]) + value(p[2]) == 1, boost::test_tools::tolerance(1e-15));
  const auto [s, c] = sincos(x[0]);
  backward(s);
  BOOST_TEST(grad(x[0]) == value(c));
  BOOST_TEST(value(hypot(x[0], x[1], x[1])) == 3);
  BOOST_TEST((code_of([&] { dot(x, std::vector<V>(2, x[0])); }) == ErrorCode::bad_size));
  BOOST_TEST((code_of([&] { softmax(std::vector<V>()); }) == ErrorCode::bad_size));
}

BOOST_AUTO_TEST_CASE(constants_fold_and_literals_are_shared) {
  NaiveTape<double> tape;
  const V c = 3;
  const V folded = exp(c) * 2 + sum(std::vector<V>{c, c});
  BOOST_TEST(tape.size() == 0u);
  BOOST_TEST(folded.tape() == nullptr);
  BOOST_TEST(grad(folded) == 0);
  backward(folded);  // nothing to do
  V x = input(tape, 1);
  for (int k = 0; k < 100; ++k) x = x * 1.5;
  BOOST_TEST(tape.statistics().constants == 1u);
  // A literal recorded after a mark is forgotten with it.
  const wengert::Mark mark = tape.mark();
  BOOST_TEST(value(x + 0.125) == value(x) + 0.125);
  tape.rewind(mark);
  V z = x + 0.125;
  backward(z);
  BOOST_TEST(value(z) == value(x) + 0.125);
  BOOST_TEST(grad(x) == 1);
}

BOOST_AUTO_TEST_CASE(a_tie_against_a_literal_has_slope_zero) {
  NaiveTape<double> tape;
  V x = input(tape, 0);
  backward(max(x, 0));
  BOOST_TEST(grad(x) == 0);
  backward(max(x, x));
  BOOST_TEST(grad(x) == 1);
}

BOOST_AUTO_TEST_CASE(conditions_are_decided_at_replay) {
  NaiveTape<double> tape;
  V x = input(tape, 2);
  const V f = select(lt(x, 1) | !ge(x, 1.5), x * x, 3 * x);
  BOOST_TEST(value(f) == 6);
  tape.set_input(x.id(), 0.5);
  tape.forward();
  tape.backward(f.id());
  BOOST_TEST(tape.value(f.id()) == 0.25);
  BOOST_TEST(grad(x) == 1);
}

BOOST_AUTO_TEST_CASE(stale_and_mixed_operands_are_told) {
  NaiveTape<double> tape, other;
  V a = input(tape, 1);
  const wengert::Mark mark = tape.mark();
  V b = a * 2;
  tape.rewind(mark);
  BOOST_TEST((code_of([&] { b + 1; }) == ErrorCode::stale_id));
  V c = a * 3;  // takes b's place on the tape
  BOOST_TEST((code_of([&] { b + 1; }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { grad(b); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { backward(b); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { sum(std::vector<V>{a, b}); }) == ErrorCode::stale_id));
  BOOST_TEST(value(c + a) == 4);
  V d = input(other, 1);
  BOOST_TEST((code_of([&] { a + d; }) == ErrorCode::mixed_tapes));
  BOOST_TEST((code_of([&] { fma(a, 1, d); }) == ErrorCode::mixed_tapes));
  BOOST_TEST((code_of([&] { sum(std::vector<V>{a, d}); }) == ErrorCode::mixed_tapes));
  tape.clear();
  BOOST_TEST((code_of([&] { a + 1; }) == ErrorCode::stale_id));
  input(tape, 5);
  BOOST_TEST((code_of([&] { a + 1; }) == ErrorCode::stale_id));
}

BOOST_AUTO_TEST_CASE(epochs_through_many_rewinds) {
  // What survives is told from what doesn't, whatever the order of marks: against a plain record of it.
  NaiveTape<double> tape;
  std::vector<V> alive, dead;
  std::vector<std::pair<wengert::Mark, std::size_t>> marks;
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  for (int step = 0; step < 4000; ++step) {
    switch (random(4)) {
      case 0: marks.emplace_back(tape.mark(), alive.size()); break;
      case 1:
        if (!marks.empty()) {
          const std::size_t k = marks.size() - 1 - random(std::min<std::size_t>(marks.size(), 3));
          tape.rewind(marks[k].first);
          dead.insert(dead.end(), alive.begin() + std::ptrdiff_t(marks[k].second), alive.end());
          alive.resize(marks[k].second);
          marks.resize(k);
        }
        break;
      default: alive.push_back(input(tape, step));
    }
    for (int probe = 0; probe < 3; ++probe) {
      if (!alive.empty()) {
        const V& x = alive[random(alive.size())];
        BOOST_REQUIRE_NO_THROW(x.place(tape));
      }
      if (!dead.empty()) BOOST_REQUIRE_THROW(dead[random(dead.size())].place(tape), wengert::Error);
    }
  }
  BOOST_TEST(dead.size() > 100u);
}

BOOST_AUTO_TEST_CASE(moves_copies_and_algorithms) {
  NaiveTape<double> tape;
  std::vector<V> x;
  for (double v : {3.0, 1.0, 2.0}) x.push_back(input(tape, v));
  std::sort(x.begin(), x.end());
  BOOST_TEST(value(x[0]) == 1);
  std::swap(x[0], x[2]);
  const V total = std::accumulate(x.begin(), x.end(), V(0));
  const V product = std::inner_product(x.begin(), x.end(), x.begin(), V(0));
  backward(product);
  BOOST_TEST(value(total) == 6);
  BOOST_TEST(grad(x[0]) == 6);
  std::map<V, int> order;  // by value
  for (const V& v : x) order[v] = 1;
  BOOST_TEST(order.size() == 3u);
  V moved = std::move(x[0]);
  BOOST_TEST(value(std::max(moved, x[1])) == 3);
  std::ostringstream text;
  text << moved;
  BOOST_TEST(text.str() == "3");
}

BOOST_AUTO_TEST_CASE(vars_stay_with_their_tape) {
  NaiveTape<double> tape;
  V x = input(tape, 1);
  NaiveTape<double> taken = std::move(tape);
  BOOST_TEST(taken.size() == 1u);
  BOOST_TEST((code_of([&] { x + 1; }) == ErrorCode::stale_id));
  input(tape, 2);  // takes its place on the tape that was moved from
  BOOST_TEST((code_of([&] { x + 1; }) == ErrorCode::stale_id));

  NaiveTape<double> copy = taken;
  V y = V(taken, 0) * 2;
  BOOST_TEST(copy.size() == 1u);
  taken = copy;
  BOOST_TEST((code_of([&] { y + 1; }) == ErrorCode::stale_id));
  V z = V(taken, 0) * 2;
  BOOST_TEST(value(z) == 2);
}

BOOST_AUTO_TEST_CASE(a_tape_takes_no_constants_along) {
  const auto shared = [](NaiveTape<double>& tape) { return input(tape, 1) * 2.0 + 3.0; };
  const auto doubled = [](NaiveTape<double>& tape) {
    const V y = V(tape, 0) * 2.0;
    tape.forward();
    return tape.value(y.id());
  };
  NaiveTape<double> tape;
  shared(tape);
  tape.clear();  // the ids of 2 and 3 name inputs from now on
  for (int k = 0; k < 6; ++k) input(tape, 10 + k);
  NaiveTape<double> copy = tape, assigned;
  BOOST_TEST(doubled(copy) == 20);
  shared(assigned);
  assigned = tape;
  BOOST_TEST(doubled(assigned) == 20);
  NaiveTape<double> moved = std::move(tape);
  BOOST_TEST(doubled(moved) == 20);
  shared(tape);  // which was moved from
  tape = std::move(moved);
  BOOST_TEST(doubled(tape) == 20);
}

BOOST_AUTO_TEST_CASE(a_tape_that_was_moved_from_is_like_a_new_one) {
  NaiveTape<double> tape;
  const auto product = [&] {
    std::vector<V> x;
    for (int k = 1; k <= 4; ++k) x.push_back(input(tape, k));
    backward(prod(x));
    return grad(x[0]);
  };
  BOOST_TEST(product() == 24);
  const NaiveTape<double> taken = std::move(tape);
  BOOST_TEST(tape.size() == 0u);
  BOOST_TEST(product() == 24);
}

BOOST_AUTO_TEST_CASE(floats) {
  NaiveTape<float> tape;
  Var<float> x = input(tape, 0.5f);
  const Var<float> f = softplus(x) * 2.0;
  backward(f);
  BOOST_TEST(grad(x) == 2 / (1 + std::exp(-0.5f)), boost::test_tools::tolerance(1e-6f));
}

#ifdef WENGERT_CHECKED
BOOST_AUTO_TEST_CASE(a_tape_that_ended) {
  Var<double> x;
  {
    NaiveTape<double> tape;
    x = input(tape, 1.0);
    NaiveTape<double> moved = std::move(tape);  // the tape is still there, empty; a Var stays with it
    BOOST_TEST((code_of([&] { x + x; }) == ErrorCode::stale_id));
  }
  BOOST_TEST((code_of([&] { x + 1; }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { exp(x); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { sum(std::vector{x, x}); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { (void)(x < 2); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { (void)isfinite(x); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { fma(1, 2, x); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { label(x, "x"); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { grad(x); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { backward(x); }) == ErrorCode::stale_id));
  BOOST_TEST(value(x) == 1);  // the number is the Var's own
}
#endif

BOOST_AUTO_TEST_SUITE_END()
