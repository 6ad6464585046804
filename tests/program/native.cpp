// Machine code is what runs, where it can be had and pays.
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

#include "tape/native_cost.hpp"
#include "tape/native_point.hpp"
#include "tests/needs.hpp"
#include "tests/program/native_blocks.hpp"
#include "tests/random.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "wengert/error.hpp"
#include "wengert/replay.hpp"
#include "wengert/var.hpp"

namespace wengert::test {

BOOST_AUTO_TEST_SUITE(native, *needs(Isa::avx2))

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
    BOOST_TEST(of_functions.batches.vectors == 2u);
    // Long code calls subroutines, short code doesn't.
    BOOST_TEST(of_products.batches.operations == of_products.operations);
    BOOST_TEST(of_longer.batches.operations < of_longer.operations / 4);
    BOOST_TEST(of_longer.alone.operations < of_longer.operations / 2);
    // No gain from code that computes functions that wait for each other: batches go to the interpreter whatever their number.
    BOOST_TEST(of_longer.worth_from == plan::NativeCost::never);
    BOOST_TEST(of_longer.worth_from_alone < 2000u);
    const std::string text = plan::describe_native(longer.data(), isa);
    BOOST_TEST(contains(text, "pays never for samples in batches, from "), text);
    BOOST_TEST(contains(text, " single ones; jvp about "), text);
    BOOST_TEST(contains(text, " single ones; hvp about "), text);
    // Of a small program a few samples are done sooner by themselves than in a round of 8 or more.
    const plan::NativeCost of_small = plan::native_cost(chains_of(Op::mul, 2, 4).data(), true, isa);
    BOOST_TEST(of_small.most_alone >= 2u);
    BOOST_TEST(of_small.most_alone < of_small.fewest);
    BOOST_TEST(of_small.fewest <= plan::NativeCost::few);
    // Of dual numbers the interpreter takes several times as long, code about twice.
    for (const bool gradient : {false, true}) {
      const plan::NativeCost of_duals = plan::native_cost(products.data(), {gradient, plan::Numbers::dual}, isa);
      BOOST_TEST(of_duals.native / of_duals.interpreter < 0.7);
      BOOST_TEST(of_duals.worth_from_alone < of_duals.worth_from);
      BOOST_TEST(of_duals.interpreter > 1.5 * plan::native_cost(products.data(), gradient, isa).interpreter);
    }
    // Backward sweeps for which the forward one is done again each time: worth it up to some number, if not any.
    BOOST_TEST(of_products.most_sweeps > 1u);
    BOOST_TEST(of_longer.most_sweeps < 2u);
    Replay<double> replay(longer, {.isa = std::string(name(isa)), .engine = "auto"});
    const std::vector<double> x(200, 0.5);
    std::vector<double> y(200);
    const auto run = [&](std::size_t samples) {
      replay.gradient(samples, columns(x.data(), samples), columns(y.data(), samples), {});
      return replay.engine();
    };
    // Few samples take less time than finding out whether code would pay.
    BOOST_TEST(run(100) == "interpreter: too few samples so far for native code");
    BOOST_TEST(run(100) == "interpreter: native code would not pay (Program::describe)");
  }
}

/// Parameters that are factors of a dot: gradients are as fast by the interpreter, which has kernels for their sums, tangents aren't.
BOOST_AUTO_TEST_CASE(costs_of_parameters) {
  NaiveTape<double> tape;
  std::vector<Id> operands;
  for (int k = 0; k < 100; ++k) operands.push_back(tape.parameter(0.5));
  for (int k = 0; k < 100; ++k) operands.push_back(tape.input(0.5));
  const Program<double> program = compile(tape, tape.sum_samples(tape.softplus(tape.dot(operands))));
  for (const Isa isa : native_isas()) {
    const auto cost = [&](plan::Evaluation what) { return plan::native_cost(program.data(), what, isa); };
    BOOST_TEST(cost(true).worth_from == plan::NativeCost::never);
    const plan::NativeCost hvp = cost({true, plan::Numbers::dual, true}),
                           without_sums = cost({true, plan::Numbers::dual});
    BOOST_TEST(hvp.native < 0.6 * hvp.interpreter);
    BOOST_TEST(hvp.interpreter > 1.2 * without_sums.interpreter);
    BOOST_TEST(hvp.native > without_sums.native);
  }
}

/// A function of one variable, one after the other.
template <class Real>
Program<Real> chain_of(Op op, std::size_t length) {
  NaiveTape<Real> tape;
  Id y = tape.input(Real(0.5));
  for (std::size_t k = 0; k < length; ++k) y = tape.record(op, std::vector<Id>{y});
  return compile(tape, y);
}

/// AVX2's doubles are looked up in tables by loads, whichever engine: code gains where there are many, not where each function waits
/// for one. And slots that the second cache of such a machine doesn't hold are a cost of the interpreter's.
BOOST_AUTO_TEST_CASE(costs_on_avx2) {
  const auto ratio = [](const auto& program, Isa isa) {
    const plan::NativeCost cost = plan::native_cost(program.data(), true, isa);
    return cost.native / cost.interpreter;
  };
  BOOST_TEST(ratio(chain_of<double>(Op::erfc, 100), Isa::avx2) < 0.9);
  BOOST_TEST(ratio(chain_of<double>(Op::log, 100), Isa::avx2) > 1);
  const auto of_an_op = [](std::size_t length, Isa isa) {
    return plan::native_cost(chain_of<double>(Op::tanh, length).data(), true, isa).interpreter /
           static_cast<double>(length);
  };
  BOOST_TEST(of_an_op(10'000, Isa::avx2) > 1.05 * of_an_op(1000, Isa::avx2));
  BOOST_TEST(of_an_op(10'000, Isa::avx512) < 1.01 * of_an_op(1000, Isa::avx512));
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
  Random random(1);
  for (int k = 0; k < 20000; ++k) {  // in no order, which loops could have
    y = tape.mul(y, x);
    y = random.chance(0.5) ? tape.min(tape.max(y, minus_one), one) : tape.max(tape.min(y, one), minus_one);
  }
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

/// Sums and products of two of the last nodes, without any order.
Program<double> without_order(std::size_t ops) {
  Random random(1);
  NaiveTape<double> tape;
  std::vector<Id> nodes{tape.input(1.0), tape.input(1.0)};
  for (std::size_t k = 0; k < ops; ++k) {
    const auto one = [&] { return nodes[nodes.size() - 1 - random.below(std::min<std::size_t>(nodes.size(), 16))]; };
    nodes.push_back(random.chance(0.5) ? tape.sub(one(), one()) : tape.max(one(), one()));
  }
  return compile(tape, nodes.back());
}

BOOST_AUTO_TEST_CASE(a_program_too_long_for_a_straight_line) {
  Replay<double> replay(without_order(2'500'000), {.engine = "native"});
  const double points[4] = {1, -1, 0.5, 0.25};
  double values[2];
  replay.values(2, columns(points, 2), columns(values, 2));
  const std::string engine = replay.engine();
  BOOST_TEST(engine.starts_with("interpreter: about "), engine);
  BOOST_TEST(engine.ends_with(" vector operations are too many for a straight line"), engine);
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
