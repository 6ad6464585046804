// What can't be right is refused, before anything is written, and leaves the object as usable as before.
#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tape/transfer.hpp"
#include "tests/says.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

using Number = Var<double>;
using Point = std::span<const Number>;

auto bad(const std::string& part) { return says(ErrorCode::bad_argument, part); }

/// x0^2 x1 and sin(x0), of two inputs.
Program<double> two_outputs() {
  NaiveTape<double> tape;
  const Number x = input(tape, 1), y = input(tape, 2);
  const Id outputs[] = {Number(square(x) * y).id(), Number(sin(x)).id()};
  return compile(tape, std::span(outputs));
}
Program<double> one_output() {
  NaiveTape<double> tape;
  const Number x = input(tape, 1), y = input(tape, 2);
  return compile(tape, Number(square(x) * y).id());
}

BOOST_AUTO_TEST_SUITE(misuse)

BOOST_AUTO_TEST_CASE(places_that_numbers_share) {
  std::array<double, 200> memory;
  for (std::ptrdiff_t sample = -7; sample <= 7; ++sample)
    for (std::ptrdiff_t item = -7; item <= 7; ++item)
      for (std::size_t samples = 0; samples <= 6; ++samples)
        for (std::size_t items = 0; items <= 6; ++items) {
          std::set<const double*> places;
          const Samples<double> table{memory.data() + 100, sample, item};
          for (std::size_t e = 0; e < samples; ++e)
            for (std::size_t i = 0; i < items; ++i) places.insert(&table(e, i));
          bool refused = false;
          try {
            own_places<double>(samples, {{"numbers", items, table}}, {});
          } catch (const Error& error) {
            BOOST_REQUIRE(bad("the table of numbers")(error));
            refused = true;
          }
          BOOST_TEST_REQUIRE(refused == (places.size() != samples * items), sample << " " << item << " " << samples);
        }
  constexpr std::ptrdiff_t least = std::numeric_limits<std::ptrdiff_t>::min();
  const auto look = [&](std::ptrdiff_t item) {
    own_places<double>(2, {{"numbers", 3, Samples<double>{memory.data(), least, item}}}, {});
  };
  BOOST_CHECK_EXCEPTION(look(1), Error, says(ErrorCode::bad_size, "reaches further than any memory"));
  BOOST_CHECK_EXCEPTION(look(0), Error, bad("strides"));
}

BOOST_AUTO_TEST_CASE(results_that_would_overlap) {
  Replay<double> one(one_output()), two(two_outputs());
  const double in[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::array<double, 64> out;
  out.fill(99);
  const Samples<const double> at = rows(in, 2);
  const Samples<double> fine = rows(out.data(), 4), narrow = rows(out.data(), 1), still{out.data(), 0, 1};
  const auto refused = [&](const std::string& table, const auto& call) {
    BOOST_CHECK_EXCEPTION(call(), Error, bad("the table of " + table + " for 3 samples"));
    for (const double number : out) BOOST_TEST_REQUIRE(number == 99);
  };
  refused("values", [&] { one.values(3, at, still); });
  refused("values", [&] { two.values(3, at, narrow); });
  refused("values", [&] { one.gradient(3, at, still, fine); });
  refused("gradients", [&] { one.gradient(3, at, narrow, narrow); });
  refused("gradients", [&] { two.vjp(3, at, {}, fine, narrow); });
  refused("values", [&] { two.jvp(3, at, at, narrow, fine); });
  refused("tangents", [&] { two.jvp(3, at, at, fine, narrow); });
  refused("values", [&] { two.jacobian(3, at, narrow, fine); });
  refused("jacobians", [&] { two.jacobian(3, at, {}, rows(out.data(), 3)); });
  refused("values", [&] { two.sparse_jacobian(3, at, narrow, fine); });
  refused("nonzeros", [&] { two.sparse_jacobian(3, at, {}, rows(out.data(), 2)); });
  refused("nonzeros", [&] { two.sparse_jacobian(3, at, {}, {out.data(), 3, 0}); });
  refused("gradients", [&] { one.hvp(3, at, at, {}, narrow, fine); });
  refused("products", [&] { one.hvp(3, at, at, {}, fine, narrow); });
  refused("values", [&] { one.hessian(3, at, still, {}, fine); });
  refused("hessians", [&] { one.hessian(3, at, {}, {}, rows(out.data(), 2)); });
  refused("gradients", [&] { one.sparse_hessian(3, at, {}, narrow, fine); });
  refused("nonzeros", [&] { one.sparse_hessian(3, at, {}, {}, rows(out.data(), 2)); });
  refused("nonzeros", [&] { one.sparse_hessian(3, at, {}, {}, {out.data(), 1, 1}); });

  const auto step = [](Point x) { return std::array{x[0] * x[1]}; };
  TimeLoop<double> loop(1, 1, step);
  refused("values", [&] { loop.values(3, 4, at, still); });
  refused("values", [&] { loop.vjp(3, 4, at, at, still, fine); });
  refused("gradients", [&] { loop.vjp(3, 4, at, at, fine, narrow); });
  Function<double> f(2, [](Point x) { return x[0] < 4 ? x[0] * x[1] : x[1]; });
  refused("gradients", [&] { f.gradient(3, at, {}, narrow); });

  // And what may be done: gaps, from the end, items and samples intertwined.
  one.hessian(3, at, {}, {}, rows(out.data(), 4, 7));
  BOOST_TEST(out[7 + 1] == 6);
  BOOST_TEST(out[4] == 99);
  two.jacobian(3, at, {}, {out.data() + 63, -4, -1});
  BOOST_TEST(out[63] == 4);  // 2 x0 x1 at (1, 2)
  one.gradient(3, at, {}, {out.data(), 2, 3});
  BOOST_TEST(out[2] == 24);  // at (3, 4)
  BOOST_TEST(out[3] == 1);   // x0^2 at (1, 2)
}

BOOST_AUTO_TEST_CASE(code_that_records_inputs) {
  const double in[2] = {1, 2};
  double out[1] = {99};
  for (const bool parameters : {false, true}) {
    int mode = 0;
    Function<double> f(2, [&](Point x) {
      NaiveTape<double>& tape = *x[0].tape();
      if (mode == 1) return x[0] * (parameters ? parameter(tape, 3) : input(tape, 3));
      if (mode == 2) return (void)(parameters ? tape.parameter() : tape.input()), x[0] * x[1];
      return x[0] + x[1];
    });
    for (const int k : {1, 2, 0, 1}) {
      mode = k;
      f.clear();
      if (k == 0) {
        f.values(1, rows(in, 2), rows(out, 1));
        BOOST_TEST(out[0] == 3);
      } else {
        BOOST_CHECK_EXCEPTION(f.values(1, rows(in, 2), rows(out, 1)), Error, bad("inputs or parameters"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(functions_that_call_themselves) {
  const double in[2] = {3, 2};
  double out[1], gradient[2];
  std::optional<Function<double>> f;
  int mode = 0;
  f.emplace(2, [&](Point x) {
    if (mode == 1) f->values(1, rows(in, 2), rows(out, 1));
    if (mode == 2) f->clear();
    return x[0] * x[1];
  });
  for (const int k : {1, 2, 0, 1}) {
    mode = 0;
    f->clear();
    mode = k;
    if (k == 0) {
      f->gradient(1, rows(in, 2), rows(out, 1), rows(gradient, 2));
      BOOST_TEST(out[0] == 6);
      BOOST_TEST(gradient[1] == 3);
    } else {
      BOOST_CHECK_EXCEPTION(f->gradient(1, rows(in, 2), rows(out, 1), rows(gradient, 2)), Error,
                            bad("this Function is called by code that it is running"));
    }
  }
}

BOOST_AUTO_TEST_CASE(replays_that_call_themselves) {
  std::optional<Replay<double>> replay;
  const double in[4] = {1, 2, 3, 4};
  double out[2] = {0, 0}, inner[2];
  bool again = false;
  CustomRule<double> rule;
  rule.name = "again";
  rule.inputs = rule.outputs = 1;
  rule.values = [&](std::size_t n, Samples<const double> x, Samples<double> y) {
    if (again) replay->values(2, rows(in, 2), rows(inner, 1));
    for (std::size_t e = 0; e < n; ++e) y(e, 0) = 2 * x(e, 0);
  };
  rule.vjp = [&](std::size_t n, Samples<const double>, Samples<const double>, Samples<const double> w,
                 Samples<double> g) {
    for (std::size_t e = 0; e < n; ++e) g(e, 0) = 2 * w(e, 0);
  };
  const CustomOp<double> twice(rule);
  NaiveTape<double> tape;
  const Number p = parameter(tape, 1), x = input(tape, 1), y = input(tape, 2);
  for (const Number& f : {twice(p)[0] * x + y, x * y + twice(x)[0]}) {  // before all samples, and in each
    again = false;
    replay.emplace(compile(tape, f.id()));
    for (const bool now : {true, false, true}) {
      again = now;
      if (now)
        BOOST_CHECK_EXCEPTION(replay->values(2, rows(in, 2), rows(out, 1)), Error,
                              bad("this Replay is called by code"));
      else replay->values(2, rows(in, 2), rows(out, 1));
    }
    BOOST_TEST(out[0] == 4);
  }
}

BOOST_AUTO_TEST_CASE(what_was_moved_from) {
  Program<double> program = one_output(), other = std::move(program);
  BOOST_TEST(program.outputs() == 1u);
  other = std::move(program);
  BOOST_TEST(program.describe() == other.describe());
  CustomOp<double> op = make_solve<double>(1), moved = std::move(op);
  NaiveTape<double> tape;
  const Number x = input(tape, 4);
  BOOST_TEST(value(op(x, 2)[0]) == 0.5);
  NaiveTape<double> elsewhere = std::move(tape);
  BOOST_TEST(tape.size() == 0u);
  BOOST_CHECK_EXCEPTION((void)(x + 1), Error, says(ErrorCode::stale_id, "names nothing"));
  BOOST_TEST(value(square(input(tape, 3))) == 9);
}

BOOST_AUTO_TEST_CASE(parallel_for_that_leaves_something_out) {
  constexpr std::size_t samples = 2000;
  const std::vector<double> in(2 * samples, 2);
  std::vector<double> out(samples);
  int mode = 0;
  ReplayOptions options;
  options.threads = 2;
  options.lanes = 64;
  options.parallel_for = [&](std::size_t count, const auto& body) {
    if (mode == 1) return body(0, 0, count - 1);
    body(0, 0, count / 2);
    body(1, count / 2, count);
    if (mode == 2) body(0, 0, 1);
    if (mode == 3) body(0, 1, 0);
  };
  Replay<double> replay(one_output(), options);
  for (const int k : {1, 2, 3, 0, 1}) {
    mode = k;
    const auto run = [&] { replay.values(samples, rows(in.data(), 2), rows(out.data(), 1)); };
    if (k == 0) run();
    else BOOST_CHECK_EXCEPTION(run(), Error, bad("parallel_for"));
  }
  BOOST_TEST(out[samples - 1] == 8);
}

/// A checkpoint whose code comes to the checkpoint again: x to the power of how often it does. What it recorded goes with it.
BOOST_AUTO_TEST_CASE(checkpoints_that_come_to_themselves) {
  std::weak_ptr<int> recorded;
  {
    std::optional<CustomOp<double>> op;
    const double start[2] = {2, 0.5};
    const auto with_code = std::make_shared<int>(0);
    recorded = with_code;
    op = make_checkpoint(std::span<const double>(start), [&op, with_code](Point x) {
      if (x[1] < 1) return x[0];
      return x[0] * (*op)(x[0], x[1] - 1)[0];
    });
    NaiveTape<double> tape;
    const Number x = input(tape, 2), depth = input(tape, 3.5);
    const Number y = (*op)(x, depth)[0];
    BOOST_TEST(value(y) == 16);
    backward(y);
    BOOST_TEST(grad(x) == 32);
    Replay<double> replay(compile(tape, y.id()));
    const double in[4] = {2, 3.5, 3, 1.5};
    double out[2], gradient[4];
    for (int again = 0; again < 2; ++again) {
      replay.gradient(2, rows(in, 2), rows(out, 1), rows(gradient, 2));
      BOOST_TEST(out[1] == 9);
      BOOST_TEST(gradient[2] == 6);
    }
  }
  BOOST_TEST(recorded.expired());
}

BOOST_AUTO_TEST_CASE(numbers_that_mean_nothing) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  NaiveTape<double> tape;
  const Number p = input(tape, 2), ps[] = {p};
  const auto equation = [](Point x) { return x[0] * x[0] - x[1]; };
  for (const double tolerance : {nan, -1e-9})
    BOOST_CHECK_EXCEPTION(root(equation, std::vector<double>{1}, ps, {.tolerance = tolerance}), Error,
                          bad("tolerance"));
  BOOST_CHECK_EXCEPTION(make_root<double>(huge, 2, equation), Error, bad("unknowns"));
  BOOST_CHECK_EXCEPTION(make_root<double>(1, huge, equation), Error, bad("inputs"));
  for (const std::size_t n : {std::size_t(65535), std::size_t(1) << 32, huge})
    BOOST_CHECK_EXCEPTION(make_solve<double>(n), Error, bad("solve for"));
  const double at[2] = {1, 2};
  for (const double tolerance : {nan, -1.0})
    BOOST_CHECK_EXCEPTION(check_gradient(one_output(), 1, rows(at, 2), tolerance), Error, bad("tolerance"));

  CustomRule<double> rule = make_solve<double>(1).rule();
  for (int k = 0; k < 3; ++k) {
    CustomRule<double> large = rule;
    (k == 0 ? large.inputs : k == 1 ? large.outputs : large.kept) = k == 2 ? huge : std::size_t(no_id);
    BOOST_CHECK_EXCEPTION(CustomOp<double>{large}, Error, bad("2^32 - 2"));
  }

  double out[4];
  Replay<double> one(one_output());
  BOOST_CHECK_EXCEPTION(one.hessian(huge / 4 + 1, {at, 0, 1}, {}, {}, rows(out, 4)), Error,
                        says(ErrorCode::bad_size, "samples"));
  // Tables that no memory holds, forwards and backwards, by samples and by items.
  constexpr std::ptrdiff_t far = std::numeric_limits<std::ptrdiff_t>::max(), back = -far - 1;
  const auto too_far = says(ErrorCode::bad_size, "further than any memory");
  for (const std::ptrdiff_t stride : {far, back, far / 16, back / 16}) {
    BOOST_CHECK_EXCEPTION(one.gradient(3, rows(at, 2), {}, {out, stride, 1}), Error, too_far);
    BOOST_CHECK_EXCEPTION(one.gradient(3, rows(at, 2), {}, {out, 2, stride}), Error, too_far);
    BOOST_CHECK_EXCEPTION(one.gradient(3, {at, stride, 1}, {}, rows(out, 2)), Error, too_far);
    BOOST_CHECK_EXCEPTION(one.gradient(3, {at, 2, stride}, {}, rows(out, 2)), Error, too_far);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace wengert::test
