// Machine code gives the bits of the interpreter, and is what runs.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "codegen/delay.hpp"
#include "codegen/rematerialize.hpp"
#include "codegen/schedule.hpp"
#include "tape/native_cost.hpp"
#include "tape/native_point.hpp"
#include "tests/every_op.hpp"
#include "tests/needs.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "wengert/error.hpp"
#include "wengert/replay.hpp"
#include "wengert/var.hpp"

namespace wengert::test {
namespace {

/// Ops whose formulas loop until a lane is done.
bool has_no_vector_form(Op op) { return op == Op::tgamma || op == Op::lgamma || op == Op::digamma; }

template <class Real>
struct OneOp {
  NaiveTape<Real> tape;
  std::vector<Id> inputs, outputs;

  /// So many times, of other inputs each time.
  OneOp(Op op, std::size_t n, std::size_t times = 1) {
    for (std::size_t i = 0; i < n * times; ++i) inputs.push_back(tape.input(Real(1)));
    for (std::size_t t = 0; t < times; ++t) {
      const Id first = tape.record(op, std::span<const Id>(inputs).subspan(t * n, n));
      for (Id j = 0; j < info(op).outputs(static_cast<std::uint32_t>(n)); ++j) outputs.push_back(first + j);
    }
  }
};

/// Instruction sets here that there is machine code for.
std::vector<Isa> native_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : usable_isas())
    if (native_target(isa)) isas.push_back(isa);
  return isas;
}

/// Ops whose slopes take a closer look at many ordinary points.
bool looks_closer(Op op) { return op == Op::pow || op == Op::erfcx; }

/// Blocks of a batch of columns, or each sample by itself, by machine code alone, against the interpreter. Returns how many
/// it did.
template <class Real>
std::size_t run_blocks(const Program<Real>& program, Isa isa, bool point, std::size_t samples,
                       const std::vector<Real>& x, const std::vector<Real>& weights, const std::string& what) {
  const std::size_t outputs = program.outputs(), differentiated = program.differentiated();
  std::vector<Real> y(samples * outputs), g(samples * differentiated), values(y), wanted_y(y), wanted_g(g);
  Replay<Real> interpreter(program, {.engine = "interpreter"});
  interpreter.vjp(samples, columns(x.data(), samples), columns(weights.data(), samples),
                  columns(wanted_y.data(), samples), columns(wanted_g.data(), samples));

  NativeRunner<Real> both(program.data(), isa, true), alone(program.data(), isa, false);
  BOOST_TEST_REQUIRE(both.why_not() == "", what);
  BOOST_TEST_REQUIRE(alone.why_not() == "", what);
  const NativeBatch<Real> like{1, columns(x.data(), samples), {}, columns(y.data(), samples), {}};
  NativePoint<Real> point_of_both(program.data(), isa, true, like), point_alone(program.data(), isa, false);
  const std::size_t block = point ? 1 : both.code().lanes();
  std::size_t done = 0;
  for (std::size_t first = 0; first < samples; first += block) {
    const std::size_t count = std::min(block, samples - first);
    const auto from = [&](auto& numbers, std::size_t sample) { return columns(numbers.data() + sample, samples); };
    // A point is a batch of its own.
    const std::size_t begin = point ? first : 0, of = point ? 1 : samples;
    const auto run = [&](NativePoint<Real>& code, NativeRunner<Real>& runner, const NativeBatch<Real>& batch) {
      if (point) return code.run(batch.inputs, batch.weights, batch.values, batch.gradients);
      runner.begin(batch, 1, nullptr);
      return runner.run({first, count}, 0, block);
    };
    const bool values_done = run(point_alone, alone, {of, from(x, begin), {}, from(values, begin), {}}),
               all_done =
                   run(point_of_both, both, {of, from(x, begin), from(weights, begin), from(y, begin), from(g, begin)});
    for (std::size_t e = first; e < first + count; ++e) {
      const auto check = [&](const char* thing, std::size_t k, Real ours, Real theirs) {
        BOOST_TEST_REQUIRE(same_bits(ours, theirs), what + ", " + std::string(name(isa)) + (point ? ", alone" : "") +
                                                        ", sample " + std::to_string(e) + ", " + thing + " " +
                                                        std::to_string(k) + ": " + show(ours) + ", interpreter " +
                                                        show(theirs));
      };
      for (std::size_t k = 0; k < outputs; ++k) {
        if (values_done) check("value", k, values[k * samples + e], wanted_y[k * samples + e]);
        if (all_done) check("output", k, y[k * samples + e], wanted_y[k * samples + e]);
      }
      for (std::size_t k = 0; k < differentiated && all_done; ++k)
        check("gradient", k, g[k * samples + e], wanted_g[k * samples + e]);
    }
    done += all_done;
  }
  return done;
}

template <class Real>
void every_op(Op op, std::size_t n) {
  const OneOp<Real> one(op, n);
  const Program<Real> program = compile(one.tape, std::span<const Id>(one.outputs));
  if (has_no_vector_form(op)) {
    for (const Isa isa : native_isas()) BOOST_TEST(NativeRunner<Real>(program.data(), isa, true).why_not() != "");
    return;
  }
  Random random(static_cast<std::uint64_t>(op) * 100 + n);
  // Of ten samples four are ordinary, three of the whole domain, three have edges among them.
  const std::size_t samples = std::clamp<std::size_t>(soak(1003), 103, 10'003), ordinary = samples * 4 / 10,
                    edges = samples * 7 / 10;
  std::vector<Real> x(samples * n), weights(samples * one.outputs.size());
  for (std::size_t i = 0; i < n; ++i) {
    const OpInfo::Range& range = info(op).domain[info(op).arity == 0 ? 0 : i];
    for (std::size_t e = 0; e < samples; ++e) {
      const double most = e < ordinary ? 2.5 : sizeof(Real) == 8 ? 1e300 : 80;
      const double number = random.in(std::max(range.low, -most), std::min(range.high, most));
      x[i * samples + e] = e >= edges && random.chance(0.1) ? some_number<Real>(random, 1) : static_cast<Real>(number);
    }
  }
  for (Real& weight : weights) weight = random.chance(0.01) ? Real(0) : static_cast<Real>(random.in(-2, 2));
  for (const Isa isa : native_isas())
    for (const bool point : {false, true}) {
      const std::size_t done =
          run_blocks(program, isa, point, samples, x, weights, std::string(name(op)) + " of " + std::to_string(n));
      const std::size_t blocks = ordinary / (point ? 1 : 64 / sizeof(Real));
      if (!looks_closer(op))
        BOOST_TEST(done >= blocks / 2, "machine code for " << name(isa) << " did only " << done << " blocks");
    }
}

/// In code so long that ops which take many operations are subroutines.
template <class Real>
void many_of_one_op(Op op, std::size_t n) {
  static constexpr std::size_t times = 5, samples = 35;
  OneOp<Real> many(op, n, times);
  many.inputs.push_back(many.tape.input(Real(1)));
  Id product = many.inputs.back();
  for (int k = 0; k < 3000; ++k) product = many.tape.mul(product, many.inputs.back());
  many.outputs.push_back(product);
  const Program<Real> program = compile(many.tape, std::span<const Id>(many.outputs));
  Random random(static_cast<std::uint64_t>(op) * 10 + n);
  std::vector<Real> x(samples * program.inputs()), weights(samples * many.outputs.size());
  for (std::size_t i = 0; i < program.inputs(); ++i) {
    const OpInfo::Range& range = info(op).domain[info(op).arity == 0 ? 0 : i % n];
    for (std::size_t e = 0; e < samples; ++e)
      x[i * samples + e] = static_cast<Real>(random.in(std::max(range.low, -2.5), std::min(range.high, 2.5)));
  }
  std::fill(x.end() - samples, x.end(), Real(-1));
  for (Real& weight : weights) weight = static_cast<Real>(random.in(-2, 2));
  for (const Isa isa : native_isas())
    for (const bool point : {false, true}) {
      const std::size_t done =
          run_blocks(program, isa, point, samples, x, weights, std::string(name(op)) + " in subroutines");
      if (!looks_closer(op)) BOOST_TEST(done > 0u, name(isa));
    }
}

template <class Real>
void random_graphs(std::size_t count) {
  std::size_t done = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    RandomTape<Real> graph = random_tape<Real>(random, random.chance(0.1) ? 600 : 1 + random.below(60), 0.05);
    graph.tape.set_zero_rule(random.chance(0.5) ? ZeroRule::ieee : ZeroRule::exact);
    const Program<Real> program = compile(graph.tape, std::span<const Id>(graph.outputs));
    if (!NativeRunner<Real>(program.data(), native_isas()[0], true).why_not().empty()) continue;
    const std::size_t samples = 1 + random.below(70);
    std::vector<Real> x(samples * graph.inputs.size()), weights(samples * program.outputs());
    for (Real& number : x) number = some_number<Real>(random, 0.002);
    for (Real& weight : weights) weight = some_number<Real>(random, 0.002);
    for (const Isa isa : native_isas())
      for (const bool point : {false, true})
        done += run_blocks(program, isa, point, samples, x, weights, "graph " + std::to_string(seed));
  }
  BOOST_TEST(done >= count / 2, "machine code did only " << done << " blocks");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(native, *needs(Isa::avx2))

BOOST_DATA_TEST_CASE(fixed_op, boost::unit_test::data::make(fixed_ops), op) {
  if (op == Op::sum_samples) return;
  every_op<double>(op, static_cast<std::size_t>(info(op).arity));
  every_op<float>(op, static_cast<std::size_t>(info(op).arity));
}
BOOST_DATA_TEST_CASE(nary_op, boost::unit_test::data::make(nary_ops), op) {
  for (std::uint32_t n : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 40u}) {
    if (info(op).outputs(n) == 0) continue;
    every_op<double>(op, n);
    every_op<float>(op, n);
  }
}

BOOST_DATA_TEST_CASE(fixed_op_in_subroutines, boost::unit_test::data::make(fixed_ops), op) {
  if (op == Op::sum_samples || has_no_vector_form(op)) return;
  many_of_one_op<double>(op, static_cast<std::size_t>(info(op).arity));
  many_of_one_op<float>(op, static_cast<std::size_t>(info(op).arity));
}
BOOST_DATA_TEST_CASE(nary_op_in_subroutines, boost::unit_test::data::make(nary_ops), op) {
  for (std::uint32_t n : {3u, 4u, 7u, 9u}) {
    if (info(op).outputs(n) == 0) continue;
    many_of_one_op<double>(op, n);
    many_of_one_op<float>(op, n);
  }
}

BOOST_AUTO_TEST_CASE(random_graphs_f64) { random_graphs<double>(soak(400)); }
BOOST_AUTO_TEST_CASE(random_graphs_f32) { random_graphs<float>(soak(400)); }

/// softplus((x + y) * x) on `samples` points.
void evaluate(Replay<double>& replay, std::size_t samples) {
  const std::vector<double> x(2 * samples, 0.5);
  std::vector<double> y(samples), g(2 * samples);
  replay.gradient(samples, columns(x.data(), samples), columns(y.data(), samples), columns(g.data(), samples));
  BOOST_TEST(y[samples - 1] == y[0]);
  BOOST_TEST(std::abs(y[0] - 0.9740769841801067) < 1e-14);
}
Program<double> expression() {
  NaiveTape<double> tape;
  const Id x = tape.input(1.0), y = tape.input(2.0);
  return compile(tape, tape.softplus(tape.mul(tape.add(x, y), x)));
}

BOOST_AUTO_TEST_CASE(engines) {
  Replay<double> interpreter(expression()), narrow(expression(), {.isa = "scalar", .engine = "native"});
  for (Replay<double>* replay : {&interpreter, &narrow}) evaluate(*replay, 100);
  BOOST_TEST(interpreter.engine() == "interpreter");
  BOOST_TEST(narrow.engine() == "interpreter: native code is for avx2 and avx512, this is scalar");
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    Replay<double> native(expression(), {.isa = set, .engine = "native"}),
        automatic(expression(), {.isa = set, .engine = "auto"});
    for (Replay<double>* replay : {&native, &automatic}) evaluate(*replay, 100);
    BOOST_TEST(native.engine() == "native: " + set);
    BOOST_TEST(automatic.engine() == "interpreter: too few samples so far for native code");
    evaluate(automatic, 300000);
    BOOST_TEST(automatic.engine() == "native: " + set);
  }
  BOOST_CHECK_EXCEPTION(Replay<double>(expression(), {.engine = "jit"}), Error, [](const Error& error) {
    return error.code() == ErrorCode::bad_argument &&
           std::string(error.what()) == "unknown engine \"jit\"; there are auto, interpreter and native";
  });
}

BOOST_AUTO_TEST_CASE(single_evaluations) {
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    Replay<double> native(expression(), {.isa = set, .engine = "native"}),
        automatic(expression(), {.isa = set, .engine = "auto"});
    evaluate(native, 1);
    BOOST_TEST(native.engine() == "native: " + set);
    BOOST_CHECK_THROW(native.gradient(1, {}, {}, {}), Error);  // no inputs
    evaluate(automatic, 1);
    BOOST_TEST(automatic.engine() == "interpreter: too few samples so far for native code");
    for (int k = 0; k < 3000; ++k) evaluate(automatic, 1);
    BOOST_TEST(automatic.engine() == "native: " + set);
  }
}

/// A slope that is NaN where it matters, single evaluations of it: the interpreter's, and then code with the zero rule.
BOOST_AUTO_TEST_CASE(single_evaluations_whose_products_are_not_plain) {
  NaiveTape<double> tape;
  const Id x = tape.input(1.0), y = tape.input(1.0);
  const Program<double> program = compile(tape, tape.mul(tape.sqrt(x), y));
  Replay<double> interpreter(program);
  const auto check = [&](Replay<double>& native, double at_x, double at_y) {
    const double point[2] = {at_x, at_y};
    double value[2], gradient[2][2];
    native.gradient(1, rows(point, 2), rows(&value[0], 1), rows(gradient[0], 2));
    interpreter.gradient(1, rows(point, 2), rows(&value[1], 1), rows(gradient[1], 2));
    BOOST_TEST_REQUIRE(same_bits(value[0], value[1]), at_x << " " << at_y);
    for (int k = 0; k < 2; ++k) BOOST_TEST_REQUIRE(same_bits(gradient[0][k], gradient[1][k]), at_x << " " << at_y);
  };
  for (const Isa isa : native_isas()) {
    Replay<double> native(program, {.isa = std::string(name(isa)), .engine = "native"});
    for (int k = 0; k < 300; ++k) check(native, k % 3 == 0 ? 4 : 0, k % 5 == 0 ? 2 : 0);  // sqrt'(0) is infinite
    BOOST_TEST(native.engine() == "native: " + std::string(name(isa)));
  }
}

/// What `auto` chooses by, and that it says so.
BOOST_AUTO_TEST_CASE(costs) {
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  for (const Isa isa : native_isas()) {
    const std::string text = plan::describe_native(expression().data(), isa);
    BOOST_TEST(contains(text, "machine code (" + std::string(native_target(isa)->name) + "): about "), text);
  }
  BOOST_TEST(plan::describe_native(expression().data(), Isa::scalar) ==
             "machine code: none, the instruction set is scalar");
  BOOST_TEST(contains(expression().describe(), plan::describe_native(expression().data(), default_isa())));
  const auto chains_of = [](Op op, std::size_t count, std::size_t length) {
    NaiveTape<double> tape;
    const Id x = tape.input(0.5);
    std::vector<Id> y(count, x);
    for (std::size_t k = 0; k < count * length; ++k) {
      Id& z = y[k % count];
      z = op == Op::mul ? tape.mul(z, x) : tape.record(op, std::vector<Id>{z});
    }
    return compile(tape, tape.record(Op::sum, y));
  };
  const Program<double> products = chains_of(Op::mul, 8, 100), functions = chains_of(Op::tanh, 8, 60),
                        longer = chains_of(Op::tanh, 1, 9000);
  for (const Isa isa : native_isas()) {
    const plan::NativeCost of_products = plan::native_cost(products.data(), true, isa),
                           of_functions = plan::native_cost(functions.data(), true, isa),
                           of_longer = plan::native_cost(longer.data(), true, isa);
    BOOST_TEST(of_products.native / of_products.interpreter < of_functions.native / of_functions.interpreter);
    BOOST_TEST(of_functions.two_vectors);
    BOOST_TEST(!plan::native_cost(chains_of(Op::mul, 8, 10000).data(), true, isa).two_vectors);
    // Long code calls subroutines, short code doesn't.
    BOOST_TEST(of_products.batches.operations == of_products.operations);
    BOOST_TEST(of_longer.batches.operations < of_longer.operations / 4);
    BOOST_TEST(of_longer.alone.operations < of_longer.operations / 2);
    // No gain from code that computes functions that wait for each other: batches go to the interpreter whatever their number.
    BOOST_TEST(of_longer.worth_from == plan::NativeCost::never);
    BOOST_TEST(of_longer.worth_from_alone < 1000u);
    const std::string text = plan::describe_native(longer.data(), isa);
    BOOST_TEST(contains(text, "pays never for samples in batches, from "), text);
    BOOST_TEST(text.ends_with(" single ones; values, gradients and vjp only"), text);
    Replay<double> replay(longer, {.isa = std::string(name(isa)), .engine = "auto"});
    const std::vector<double> x(200, 0.5);
    std::vector<double> y(200);
    replay.gradient(200, columns(x.data(), 200), columns(y.data(), 200), {});
    BOOST_TEST(replay.engine() == "interpreter: native code would not pay (Program::describe)");
  }
}

/// What divides waits for one unit, whichever engine: nothing is gained, and where each waits for the one before code is slower.
BOOST_AUTO_TEST_CASE(costs_of_chains_of_divisions) {
  NaiveTape<float> tape;
  const Id x = tape.input(0.5f);
  Id y = x, z = x;
  for (int k = 0; k < 500; ++k) y = tape.sqrt(y), z = tape.div(x, z);
  for (const Isa isa : native_isas())
    for (const Id output : {y, z}) {
      const plan::NativeCost cost = plan::native_cost(compile(tape, output).data(), true, isa);
      BOOST_TEST(cost.worth_from == plan::NativeCost::never);
      BOOST_TEST(cost.native / cost.interpreter > 0.9);
      BOOST_TEST(cost.native / cost.interpreter < 1.5);
    }
}

BOOST_AUTO_TEST_CASE(an_op_without_a_vector_form) {
  NaiveTape<double> tape;
  const Id x = tape.input(1.0);
  Replay<double> replay(compile(tape, tape.lgamma(x)), {.engine = "native"});
  const double points[2] = {1, 3};
  double values[2];
  replay.values(2, columns(points, 2), columns(values, 2));
  BOOST_TEST(std::abs(values[1] - std::log(2.0)) < 1e-15);
  BOOST_TEST(replay.engine() == "interpreter: an op of the program has no vector form");
  BOOST_TEST(replay.program().describe().find("machine code: none") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(departures_are_reported) {
  NaiveTape<double> tape;
  const Var<double> x = input(tape, 1.0), y = input(tape, 2.0);
  const Var<double> f = x < y ? x * y : x;
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    Replay<double> replay(compile(tape, f.id()), {.isa = set, .report_departures = true, .engine = "native"});
    std::vector<double> points(40, 1.0), values(20), gradients(40);
    std::fill(points.begin() + 20, points.end(), 2.0);
    points[7] = 3;
    replay.gradient(20, columns(points.data(), 20), columns(values.data(), 20), columns(gradients.data(), 20));
    BOOST_TEST(replay.engine() == "native: " + set);
    BOOST_TEST_REQUIRE(replay.departures().size() == 1u);
    BOOST_TEST(replay.departures()[0].sample == 7u);
    BOOST_TEST(values[19] == 2);
    points[7] = 1;
    replay.gradient(20, columns(points.data(), 20), columns(values.data(), 20), columns(gradients.data(), 20));
    BOOST_TEST(replay.departures().size() == 0u);
  }
}

/// Long code is on pages of another kind.
BOOST_AUTO_TEST_CASE(long_code) {
  NaiveTape<double> tape;
  const Id x = tape.input(1.0);
  Id y = x;
  const Id one = tape.constant(1), minus_one = tape.constant(-1);
  for (int k = 0; k < 20000; ++k) y = tape.min(tape.max(tape.mul(y, x), minus_one), one);
  const Program<double> program = compile(tape, y);
  const std::vector<double> at = {-3, -1, -0.5, 0, 0.25, 1, 1.5, 2, 7};
  const std::size_t n = at.size();
  const auto run = [&](Replay<double> replay, const std::string& engine) {
    std::vector<double> results(2 * n);
    replay.gradient(n, columns(at.data(), n), columns(results.data(), n), columns(results.data() + n, n));
    BOOST_TEST(replay.engine() == engine);
    return results;
  };
  const std::vector<double> expected = run(Replay<double>(program), "interpreter");
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    const NativeCode<double> code(program.data(), isa, true, false, codegen::Chain::plain, 1'000'000'000);
    BOOST_TEST(code.code_bytes() > std::size_t(1) << 21);
    BOOST_TEST(run(Replay<double>(program, {.isa = set, .engine = "native"}), "native: " + set) == expected,
               boost::test_tools::per_element());
  }
}

/// Long chains of cheap ops, whose backward sweep wants what was computed long before: some of it is computed again.
BOOST_AUTO_TEST_CASE(values_that_are_computed_again) {
  for (std::uint64_t seed = 1; seed <= soak(6); ++seed) {
    Random random(seed);
    NaiveTape<double> tape;
    std::vector<Id> inputs, now;
    const Id p = tape.parameter(0.3);
    for (int i = 0; i < 200; ++i) inputs.push_back(tape.input(1.0));
    for (int i = 0; i < 4; ++i) now.push_back(inputs[static_cast<std::size_t>(i)]);
    for (int step = 0; step < 400; ++step) {
      const auto any = [&] { return random.of(now); };
      const Id w = tape.mul(random.of(inputs), tape.constant(random.in(0.1, 0.9))),
               deviation = tape.sqrt(tape.max(any(), tape.constant(0.01)));
      Id& next = now[random.below(now.size())];
      next = tape.fma(tape.mul(p, deviation), w, tape.mul(any(), tape.sub(p, any())));
      if (random.chance(0.2)) next = tape.min(tape.max(next, tape.constant(-1)), tape.add(tape.constant(1), w));
    }
    const Program<double> program = compile(tape, tape.record(Op::sum, now));
    const std::size_t samples = 37;
    std::vector<double> x(samples * inputs.size()), y(samples), g(samples * program.differentiated());
    for (double& number : x) number = random.in(-1, 1);
    const auto run = [&](Replay<double> replay) {
      replay.gradient(samples, columns(std::as_const(x).data(), samples), columns(y.data(), samples),
                      columns(g.data(), samples));
      std::vector<double> all(y);
      all.insert(all.end(), g.begin(), g.end());
      all.insert(all.end(), replay.parameter_gradients().begin(), replay.parameter_gradients().end());
      return all;
    };
    const std::vector<double> wanted = run(Replay<double>(program));
    for (const Isa isa : native_isas()) {
      const std::vector<double> ours =
          run(Replay<double>(program, {.isa = std::string(name(isa)), .engine = "native"}));
      for (std::size_t k = 0; k < wanted.size(); ++k)
        BOOST_TEST_REQUIRE(same_bits(ours[k], wanted[k]), "seed " << seed << ", " << name(isa) << ", number " << k);
      codegen::Graph graph = plan::lower_to_graph(program.data(), {true, {native_target(isa), false, 2}});
      const std::size_t before = codegen::assemble(graph).spill_bytes;
      codegen::rematerialize(graph);
      const std::size_t after = codegen::assemble(graph).spill_bytes;
      if (isa == Isa::avx512) BOOST_TEST(after < before * 9 / 10, after << " bytes of " << before);
      else BOOST_TEST(after == before);
    }
  }
}

/// 30 inputs that 40 dots read, in columns a power of two apart, which caches take badly and code copies; and a bit more.
BOOST_AUTO_TEST_CASE(columns_that_share_sets_of_the_caches) {
  NaiveTape<double> tape;
  constexpr std::size_t inputs = 30, dots = 40;
  Random random(11);
  std::vector<Id> weights, x, y;
  for (std::size_t k = 0; k < inputs * dots; ++k) weights.push_back(tape.parameter(random.in(-1, 1)));
  for (std::size_t k = 0; k < inputs; ++k) x.push_back(tape.input());
  for (std::size_t k = 0; k < dots; ++k) {
    std::vector<Id> operands(weights.begin() + static_cast<std::ptrdiff_t>(k * inputs),
                             weights.begin() + static_cast<std::ptrdiff_t>((k + 1) * inputs));
    operands.insert(operands.end(), x.begin(), x.end());
    y.push_back(tape.tanh(tape.dot(operands)));
  }
  const Program<double> program = compile(tape, tape.sqnorm(y));
  for (const std::size_t stride : {std::size_t(512), std::size_t(520)}) {
    std::vector<double> points(inputs * stride);
    for (double& number : points) number = random.in(-1, 1);
    const auto run = [&](const ReplayOptions& options) {
      constexpr std::size_t samples = 509;
      Replay<double> replay(program, options);
      std::vector<double> all(samples * (1 + inputs));
      replay.gradient(samples, columns(std::as_const(points).data(), stride), columns(all.data(), samples),
                      columns(all.data() + samples, samples));
      all.insert(all.end(), replay.parameter_gradients().begin(), replay.parameter_gradients().end());
      return all;
    };
    const std::vector<double> wanted = run({});
    for (const Isa isa : native_isas()) {
      const std::vector<double> ours = run({.isa = std::string(name(isa)), .engine = "native"});
      for (std::size_t k = 0; k < wanted.size(); ++k)
        BOOST_TEST_REQUIRE(same_bits(ours[k], wanted[k]), stride << ", " << name(isa) << ", number " << k);
      // It leaves a share of each parameter's gradient in memory; the interpreter sums them in registers.
      BOOST_TEST(plan::native_cost(program.data(), true, isa).worth_from == plan::NativeCost::never);
    }
  }
}

/// A sum of many terms, whose additions wait for each other and nothing but the value for them: code of one sample spreads them.
BOOST_AUTO_TEST_CASE(sums_beside_the_backward_sweep) {
  for (std::uint64_t seed = 1; seed <= soak(6); ++seed) {
    Random random(seed);
    NaiveTape<double> tape;
    std::vector<Id> inputs, all;
    for (int i = 0; i < 30; ++i) inputs.push_back(tape.input(1.0));
    all = inputs;
    for (int k = 0; k < 700; ++k) {
      const auto any = [&] { return all[all.size() - 1 - random.below(30)]; };
      all.push_back(random.chance(0.5)   ? tape.mul(any(), any())
                    : random.chance(0.5) ? tape.sub(any(), any())
                                         : tape.neg(any()));
    }
    // Of the second output the derivatives wait for the sum.
    const std::vector<Id> outputs = {tape.record(Op::sum, all), tape.exp(tape.record(Op::sum, all))};
    for (const std::size_t count : {1u, 2u}) {
      const Program<double> program = compile(tape, std::span<const Id>(outputs).last(count));
      const std::size_t samples = 3;
      std::vector<double> x(samples * inputs.size()), weights(samples * count);
      for (double& number : x) number = random.in(-1, 1);
      for (double& number : weights) number = random.in(-1, 1);
      for (const Isa isa : native_isas())
        BOOST_TEST(run_blocks(program, isa, true, samples, x, weights, "sum " + std::to_string(seed)) == samples);
    }
    const Program<double> sum = compile(tape, outputs[0]);
    codegen::Graph graph = plan::lower_to_graph(sum.data(), {true, {&codegen::avx512, true, 1}});
    const auto goes_out = [&] {  // the value
      std::size_t at = 0;
      for (std::size_t v = 0; v < graph.nodes().size(); ++v)
        if (const codegen::Node& node = graph.nodes()[v];
            node.what == codegen::Do::output && node.c == static_cast<std::uint32_t>(codegen::Table::values))
          at = v;
      return at;
    };
    const std::size_t nodes = graph.nodes().size(), before = goes_out();
    codegen::delay(graph);
    BOOST_TEST(graph.nodes().size() == nodes);
    BOOST_TEST(before < nodes * 6 / 10);
    BOOST_TEST(goes_out() > nodes * 9 / 10);
    for (std::size_t v = 0; v < nodes; ++v) {
      const codegen::Node& node = graph.nodes()[v];
      const codegen::Value operands[] = {node.a, node.b, node.c};
      for (int k = 0; k < codegen::operand_count(node.what); ++k) BOOST_TEST_REQUIRE(operands[k] < v);
    }
  }
}

/// Code of one sample begins with what takes longest, whatever was recorded before it.
BOOST_AUTO_TEST_CASE(order_of_one_evaluation) {
  NaiveTape<double> tape;
  std::vector<Id> inputs, terms;
  for (int k = 0; k < 20; ++k) inputs.push_back(tape.input(1.0));
  for (int k = 0; k < 20; ++k) terms.push_back(tape.mul(inputs[static_cast<std::size_t>(k)], inputs[0]));
  Id root = inputs[0];
  for (int k = 0; k < 10; ++k) root = tape.sqrt(root);
  terms.push_back(root);
  const Program<double> program = compile(tape, tape.record(Op::sum, terms));
  codegen::Graph graph = plan::lower_to_graph(program.data(), {false, {&codegen::avx512, true, 1}}),
                 batch = plan::lower_to_graph(program.data(), {false, {&codegen::avx512, false, 1}});
  const auto first_root = [&] {
    std::size_t v = 0;
    while (graph.nodes()[v].what != codegen::Do::sqrt) ++v;
    return v;
  };
  const std::size_t nodes = graph.nodes().size(), before = first_root();
  codegen::schedule(graph);
  BOOST_TEST(graph.nodes().size() == nodes);
  BOOST_TEST(before > 30u);
  BOOST_TEST(first_root() < 3u);
  std::size_t roots = 0;
  for (std::size_t v = 0; v < nodes; ++v) {
    const codegen::Node& node = graph.nodes()[v];
    roots += node.what == codegen::Do::sqrt;
    const codegen::Value operands[] = {node.a, node.b, node.c};
    for (int k = 0; k < codegen::operand_count(node.what); ++k) BOOST_TEST_REQUIRE(operands[k] < v);
  }
  BOOST_TEST(roots == 10u);
  const codegen::Node last = batch.nodes()[batch.nodes().size() - 1];
  codegen::schedule(batch);  // of batches it stays
  BOOST_TEST((batch.nodes()[batch.nodes().size() - 1].what == last.what));
  const std::size_t samples = 5;
  std::vector<double> x(samples * inputs.size()), weights(samples, 1.0);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 0.1 * static_cast<double>(k + 1);
  for (const Isa isa : native_isas())
    BOOST_TEST(run_blocks(program, isa, true, samples, x, weights, "order") == samples);
}

BOOST_AUTO_TEST_CASE(names_for_profilers) {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  const auto line_of = [&](const char* wish) {
    std::remove(path.c_str());
    setenv("WENGERT_PERF_MAP", wish, 1);
    const NativeCode<double> code(expression().data(), native_isas()[0], true, true, codegen::Chain::plain, 1'000'000);
    unsetenv("WENGERT_PERF_MAP");
    BOOST_TEST(code.why_not() == "");
    std::string line;
    std::ifstream map(path);
    std::getline(map, line);
    std::remove(path.c_str());
    return line;
  };
  const std::string line = line_of("1"), name = " wengert gradient of a point, avx2";
  BOOST_TEST_REQUIRE(line.size() > name.size(), line);
  BOOST_TEST(line.substr(line.size() - name.size()) == name);
  unsigned long long address = 0, bytes = 0;
  BOOST_TEST(std::sscanf(line.c_str(), "%llx %llx", &address, &bytes) == 2);
  BOOST_TEST(address % 4096 == 0u);
  BOOST_TEST(bytes > 100u);
  BOOST_TEST(line_of("0") == "");
}

BOOST_AUTO_TEST_CASE(a_program_too_long_for_a_straight_line) {
  NaiveTape<double> tape;
  const Id x = tape.input(1.0);
  Id y = x;
  for (int k = 0; k < 1'700'000; ++k) y = tape.mul(x, y);
  Replay<double> replay(compile(tape, y), {.engine = "native"});
  const double points[2] = {1, -1};
  double values[2];
  replay.values(2, columns(points, 2), columns(values, 2));
  BOOST_TEST(values[0] == -values[1]);
  const std::string engine = replay.engine();
  BOOST_TEST(engine.starts_with("interpreter: about "), engine);
  BOOST_TEST(engine.ends_with("00 vector operations are too many for a straight line"), engine);
}

/// Forbids memory that is executable to this process. False where the system can't.
bool forbid_executable_memory() {
  const auto load = [](std::uint32_t at) { return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, at}; };
  sock_filter filter[] = {load(offsetof(seccomp_data, nr)),
                          {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_mprotect},
                          load(offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t)),
                          {BPF_JMP | BPF_JSET | BPF_K, 0, 1, PROT_EXEC},
                          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EACCES},
                          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

BOOST_AUTO_TEST_CASE(a_system_that_forbids_executable_memory) {
  const pid_t child = fork();
  if (child == 0) {
    if (!forbid_executable_memory()) _exit(2);
    Replay<double> replay(expression(), {.engine = "native"});
    const double points[4] = {0.5, 0.5, 0.5, 0.5};
    double values[2], gradients[4];
    replay.gradient(2, columns(points, 2), columns(values, 2), columns(gradients, 2));
    _exit(replay.engine() == "interpreter: the system gives no executable memory" && values[0] == values[1] ? 0 : 1);
  }
  int status = 0;
  BOOST_TEST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST_REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) BOOST_TEST_MESSAGE("this system has no seccomp filters");
  else BOOST_TEST(WEXITSTATUS(status) == 0);
}

BOOST_AUTO_TEST_CASE(code_is_freed) {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    std::size_t count = 0;
    while (std::getline(maps, line)) ++count;
    return count;
  };
  const Program<double> program = expression();
  const auto once = [&] {
    Replay<double> replay(program, {.engine = "native"});
    const double points[4] = {1, 2, 3, 4};
    double values[2];
    replay.values(2, columns(points, 2), columns(values, 2));
  };
  once();
  const std::size_t before = mappings();
  for (std::size_t k = soak(1000); k > 0; --k) once();
  BOOST_TEST(mappings() <= before + 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
