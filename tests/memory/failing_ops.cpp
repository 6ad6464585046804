// The k-th allocation fails, for every k, in what stands on tapes and replays: Vars, custom ops, equations, checkpoints,
// diagnostics. A tape is left as it was, constants that the call would have recorded among it.
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/memory/doubling_op.hpp"
#include "tests/memory/each_failure.hpp"
#include "tests/needs.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

using Number = Var<double>;
using Point = std::span<const Number>;

/// `act(tape, x, y)` on two inputs of some_tape().
template <class Act>
void each_failure_on_vars(const std::string& what, const Act& act) {
  each_failure_on_a_tape(what, [&](NaiveTape<double>& tape) { act(tape, Number(tape, 0), Number(tape, 1)); });
}

Number branching(Point x) { return x[0] < 0.75 ? exp(x[0]) * x[1] : x[0] / (1 + square(x[1])); }

template <class... Vars>
std::vector<Number> list(const Vars&... vars) {
  return {vars...};
}

/// Programs of an op that takes what two inputs and a constant make, once on each kind of evaluation.
template <class Record>
void each_failure_of_a_program(const std::string& what, const Record& record) {
  const Program<double> program = [&] {
    NaiveTape<double> tape;
    const Number x = input(tape, 1), y = input(tape, 2);
    return compile(tape, Number(sin(record(x, y)) * x).id());
  }();
  for (const unsigned threads : {1u, 2u}) {
    const auto make = [&] {
      ReplayOptions options;
      options.isa = "scalar";
      options.lanes = 16;
      options.threads = threads;
      options.parallel_for = [](std::size_t count, const auto& body) {  // so that allocations come in one order
        body(1, 0, count / 2);
        body(0, count / 2, count);
      };
      return Replay<double>(program, options);
    };
    each_failure_of_results(what + ", gradient", make, [](auto& replay, Room& r) {
      replay.gradient(5, rows(r.points, 2), rows(r.values, 1), rows(r.more, 2));
    });
    each_failure_of_results(what + ", hessian", make, [](auto& replay, Room& r) {
      replay.jvp(5, rows(r.points, 2), rows(r.points, 2), rows(r.values, 1), rows(r.values + 5, 1));
      replay.hessian(5, rows(r.points, 2), {}, {}, rows(r.most, 4));
    });
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failing_allocations_of_ops)

BOOST_AUTO_TEST_CASE(vars) {
  each_failure_on_vars("input", [](auto& tape, const Number&, const Number&) { input(tape, 4); });
  each_failure_on_vars("parameter", [](auto& tape, const Number&, const Number&) { parameter(tape, 4); });
  each_failure_on_vars("x + y", [](auto&, const Number& x, const Number& y) { (void)(x + y); });
  each_failure_on_vars("x * 7", [](auto&, const Number& x, const Number&) { (void)(x * 7); });
  each_failure_on_vars("7 - x", [](auto&, const Number& x, const Number&) { (void)(7 - x); });
  each_failure_on_vars("fma", [](auto&, const Number& x, const Number&) { (void)fma(7, x, 8); });
  each_failure_on_vars("clamp", [](auto&, const Number& x, const Number&) { (void)clamp(x, -7, 8); });
  each_failure_on_vars("x < 7", [](auto&, const Number& x, const Number&) { (void)(x < 7); });
  each_failure_on_vars("7 == x", [](auto&, const Number& x, const Number&) { (void)(7 == x); });
  each_failure_on_vars("isfinite", [](auto&, const Number& x, const Number&) { (void)isfinite(x); });
  each_failure_on_vars("isinf", [](auto&, const Number& x, const Number&) { (void)isinf(x); });
  each_failure_on_vars("signbit", [](auto&, const Number& x, const Number&) { (void)signbit(x); });
  each_failure_on_vars("to_integer", [](auto&, const Number& x, const Number&) { (void)to_integer(x); });
  each_failure_on_vars("decide",
                       [](auto& tape, const Number&, const Number&) { (void)decide(Cond<double>(Number(tape, 9))); });
  each_failure_on_vars("select", [](auto&, const Number& x, const Number& y) { (void)select(x, y, 7); });
  each_failure_on_vars("lt", [](auto&, const Number& x, const Number&) { (void)lt(x, 7); });
  each_failure_on_vars("label", [](auto&, const Number& x, const Number&) {
    label(x, "a label that is not short, and so is on the heap");
  });
  const std::vector<Number> constants = {7, 8, 9};
  each_failure_on_vars("sum", [&](auto&, const Number& x, const Number& y) {
    const Number all[] = {x, 7, y, 8, 9, 10, 11};
    (void)sum(all);
  });
  each_failure_on_vars("dot", [&](auto&, const Number& x, const Number& y) {
    const Number all[] = {x, y, x};
    (void)dot(all, constants);
  });
  each_failure_on_vars("softmax", [&](auto&, const Number& x, const Number& y) {
    const Number all[] = {x, 7, y, 8, 9, 10, 11};
    (void)softmax(all);
  });
  each_failure_on_vars("sincos", [&](auto&, const Number& x, const Number&) { (void)sincos(x); });
  each_failure_on_vars("softmax of constants", [&](auto&, const Number&, const Number&) { (void)softmax(constants); });
  each_failure_on_vars("backward", [](auto& tape, const Number&, const Number&) { backward(Number(tape, 8)); });
}

BOOST_AUTO_TEST_CASE(what_is_refused_leaves_no_constants_either) {
  NaiveTape<double> tape = some_tape(), other;
  const Number x(tape, 0), y = input(other, 1);
  const Number stale = [&] {
    const Mark mark = tape.mark();
    const Number gone = input(tape, 1);
    tape.rewind(mark);
    return gone;
  }();
  const Seen before = look_at(tape);
  const auto refused = [&](ErrorCode code, const auto& call) {
    BOOST_CHECK_EXCEPTION((void)call(), Error, [&](const Error& error) { return error.code() == code; });
    BOOST_TEST((look_at(tape) == before));
  };
  const CustomOp<double> twice = doubling_op();
  refused(ErrorCode::stale_id, [&] { return 77 * stale; });
  refused(ErrorCode::stale_id, [&] { return 77 < stale; });
  refused(ErrorCode::stale_id, [&] { return fma(x, 77, stale); });
  refused(ErrorCode::mixed_tapes, [&] { return fma(77, x, y); });
  refused(ErrorCode::mixed_tapes, [&] { return sum(list(x, 77, y)); });
  refused(ErrorCode::bad_size, [&] { return dot(list(x, 77, 78), list(x, 79)); });
  refused(ErrorCode::bad_size, [&] { return twice(x, 77); });
  refused(ErrorCode::mixed_tapes, [&] { return twice(x, 77, y); });
}

BOOST_AUTO_TEST_CASE(custom_ops) {
  each_failure_on_vars("CustomOp", [](auto&, const Number& x, const Number&) { (void)doubling_op()(x); });
  static const CustomOp<double> product = [] {
    CustomRule<double> rule = doubling_op().rule();
    rule.name = "a product whose name is not a short string";
    rule.inputs = 2;
    rule.values = [](std::size_t n, Samples<const double> x, Samples<double> y) {
      for (std::size_t e = 0; e < n; ++e) y(e, 0) = x(e, 0) * x(e, 1);
    };
    rule.vjp = [](std::size_t n, Samples<const double> x, Samples<const double>, Samples<const double> w,
                  Samples<double> g) {
      for (std::size_t e = 0; e < n; ++e)
        for (std::size_t i = 0; i < 2; ++i) g(e, i) = w(e, 0) * x(e, 1 - i);
    };
    return CustomOp<double>(std::move(rule));
  }();
  each_failure_on_vars("op(x, 7)", [](auto&, const Number& x, const Number&) { (void)product(x, 7); });
  each_failure_on_vars("op of a list", [](auto&, const Number& x, const Number&) { (void)product(list(7, x)); });
  each_failure_on_vars("op of constants", [](auto&, const Number&, const Number&) { (void)product(7, 8); });
  const auto nothing = [] { return 0; };
  const auto none = [](int, const std::string&) {};
  const double point[2] = {1, 2};
  each_failure(
      "values", nothing, [&](int) { (void)product.values(point); }, none);
  each_failure(
      "check_custom", nothing, [&](int) { (void)check_custom(product, 1, rows(point, 2)).describe(); }, none);
}

BOOST_AUTO_TEST_CASE(equations) {
  static const auto orbit = [](Point x) { return x[0] - x[1] * sin(x[0]) - x[2]; };
  each_failure_on_vars("solve",
                       [](auto&, const Number& x, const Number& y) { (void)solve(list(x, 7, 8, y), list(1, y)); });
  each_failure_on_vars("make_solve", [](auto&, const Number&, const Number&) { (void)make_solve<double>(3); });
  each_failure_on_vars("root", [](auto&, const Number& x, const Number&) {
    (void)root(orbit, std::array<double, 1>{1}, list(0.125, x));
  });
  each_failure_on_vars("make_root", [](auto&, const Number&, const Number&) { (void)make_root<double>(1, 2, orbit); });
  each_failure_of_a_program(
      "solve", [](const Number& x, const Number& y) { return solve(list(x + 9, 1, y, 8), list(y, 1))[0]; });
  each_failure_of_a_program("root", [](const Number& x, const Number& y) {
    return root(orbit, std::array<double, 1>{1}, list(sin(x) / 4, y))[0];
  });
}

BOOST_AUTO_TEST_CASE(checkpoints) {
  each_failure_on_vars("checkpoint",
                       [](auto&, const Number& x, const Number&) { (void)checkpoint(branching, list(x, 7)); });
  const Program<double> segment = [] {
    NaiveTape<double> tape;
    const Number x = input(tape, 1), y = input(tape, 2);
    return compile(tape, Number(x * exp(y)).id());
  }();
  each_failure_on_vars("checkpoint of a program",
                       [&](auto&, const Number& x, const Number&) { (void)checkpoint(segment, list(x, 7)); });
  const double point[2] = {1, 2};
  each_failure_on_vars("make_checkpoint", [&](auto&, const Number&, const Number&) {
    (void)make_checkpoint(std::span<const double>(point), branching);
  });
  each_failure_of_a_program("checkpoint",
                            [](const Number& x, const Number& y) { return checkpoint(branching, list(x, y))[0]; });
  each_failure_of_a_program("checkpoint in checkpoint", [](const Number& x, const Number& y) {
    return checkpoint([](Point in) { return checkpoint(branching, in)[0] * in[1]; }, list(x, y))[0];
  });
  each_failure_of_a_program("checkpoint of a program",
                            [&](const Number& x, const Number& y) { return checkpoint(segment, list(x, y))[0]; });
  // And of a tape, forward and back.
  const auto make = [] {
    NaiveTape<double> tape;
    const Number x = input(tape, 1), y = input(tape, 2);
    backward(checkpoint(branching, list(x, y))[0]);
    return tape;
  };
  each_failure(
      "sweeps", make,
      [](NaiveTape<double>& tape) {
        tape.forward();
        tape.backward(2);
      },
      [before = look_at(make())](const NaiveTape<double>& tape, const std::string& where) {
        BOOST_TEST_REQUIRE((look_at(tape) == before), where);
      });
}

BOOST_AUTO_TEST_CASE(looking_at_things) {
  const auto make = [] { return some_tape(); };
  const auto unchanged = [before = look_at(some_tape())](const NaiveTape<double>& tape, const std::string& where) {
    BOOST_TEST_REQUIRE((look_at(tape) == before), where);
  };
  each_failure(
      "diagnose", make, [](const NaiveTape<double>& tape) { (void)diagnose(tape).describe(); }, unchanged);
  each_failure(
      "dot", make, [](const NaiveTape<double>& tape) { (void)dot(tape); }, unchanged);
  each_failure(
      "label", make, [](const NaiveTape<double>& tape) { (void)tape.label(8); }, unchanged);
  const Program<double> program = compile(some_tape(), Id(8));
  const auto nothing = [] { return 0; };
  const auto none = [](int, const std::string&) {};
  each_failure(
      "sparsity", nothing, [&](int) { (void)program.jacobian_sparsity(); }, none);
  const double point[2] = {0, 1};
  each_failure(
      "GradientCheck", nothing,
      [&](int) {
        GradientCheck check = check_gradient(program, 1, rows(point, 2));
        for (GradientCheck::Entry& entry : check.entries) entry.agrees = false;
        (void)check.describe();
      },
      none);
  // A NaN, and what it says of it.
  NaiveTape<double> broken;
  const Number x = label(input(broken, 0), "the number that is to blame for all that follows");
  backward(log(x) * 0.0);
  each_failure(
      "Diagnosis", nothing, [&](int) { BOOST_REQUIRE(!diagnose(broken).describe().empty()); }, none);
  each_failure(
      "several outputs, sums and guards", nothing,
      [](int) {
        NaiveTape<double> tape;
        const Number p = parameter(tape, 1), x = input(tape, 2);
        const Number y = sum_samples(p * x), z = y < 3 ? y * p : y;
        const Id outputs[] = {z.id(), x.id(), y.id()};
        (void)compile(tape, std::span(outputs));
      },
      none);
}

BOOST_AUTO_TEST_CASE(files) {
  namespace fs = std::filesystem;
  const Program<double> program = compile(some_tape(), Id(8));
  const fs::path folder = fs::temp_directory_path() / ("wengert_failing_" + std::to_string(getpid()));
  fs::create_directory(folder);
  const std::string path = (folder / "f.wng").string();
  program.save(path);
  const auto read = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = read();
  const auto make = [&] { return program; };
  const auto unchanged = [&](const Program<double>&, const std::string& where) {
    BOOST_TEST_REQUIRE((read() == before), where);
    BOOST_TEST_REQUIRE(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1, where);
  };
  each_failure(
      "save", make, [&](const Program<double>& one) { one.save(path); }, unchanged);
  each_failure(
      "load", make, [&](Program<double>& one) { one = load_program<double>(path); }, unchanged);
  each_failure(
      "saved_precision", make, [&](const Program<double>&) { BOOST_REQUIRE(saved_precision(path) == 8); }, unchanged);
  fs::remove_all(folder);
}

BOOST_AUTO_TEST_CASE(functions) {
  const auto make = [] {
    FunctionOptions options;
    options.replay.isa = "scalar";
    return Function<double>(2, branching, options);
  };
  each_failure_of_results("Function", make, [](auto& f, Room& r) {
    f.values(5, rows(r.points, 2), rows(r.values, 1));
    f.gradient(5, rows(r.points, 2), rows(r.values, 1), rows(r.more, 2));
    f.jvp(5, rows(r.points, 2), rows(r.points, 2), {}, rows(r.values, 1));
    f.jacobian(5, rows(r.points, 2), rows(r.values, 1), rows(r.more, 2));
    f.hvp(5, rows(r.points, 2), rows(r.points, 2), {}, {}, rows(r.most, 2));
  });
  each_failure_of_results(
      "Function of checkpoints",
      [] {
        FunctionOptions options;
        options.replay.isa = "scalar";
        return Function<double>(
            2, [](Point x) { return checkpoint(branching, list(x[1], x[0]))[0]; }, options);
      },
      [](auto& f, Room& r) { f.gradient(5, rows(r.points, 2), rows(r.values, 1), rows(r.more, 2)); });
  each_failure(
      "what it is made of", [] { return 0; },
      [&](int) {
        Function<double> f = make();
        Function<double> other = std::move(f);
        f = make();
        f.clear();
        BOOST_REQUIRE(f.statistics().paths == 0);
      },
      [](int, const std::string&) {});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
