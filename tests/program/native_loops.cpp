// Programs that repeat themselves: machine code of their loops gives the bits of the interpreter.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/loops.hpp"
#include "tape/machine.hpp"
#include "tape/native_cost.hpp"
#include "tape/native_lower.hpp"
#include "tests/program/native_blocks.hpp"
#include "tests/program/random_steps.hpp"
#include "tests/soak.hpp"
#include "wengert/var.hpp"

namespace wengert::test {
namespace {

template <class Real>
std::vector<codegen::Loop> loops_of(const Program<Real>& program, const codegen::Target& target,
                                    std::uint32_t vectors) {
  codegen::Graph graph = plan::lower_to_graph(program.data(), {.shape = {&target, false, vectors}});
  codegen::find_loops(graph);
  return graph.loops();
}

/// All that a replay gives.
template <class Real>
std::vector<Real> evaluate(const Program<Real>& program, const std::vector<Real>& x, const std::vector<Real>& weights,
                           std::size_t samples, Replay<Real>& replay) {
  std::vector<Real> y(samples * program.outputs()), g(samples * program.differentiated());
  replay.vjp(samples, columns(x.data(), samples), columns(weights.data(), samples), columns(y.data(), samples),
             columns(g.data(), samples));
  y.insert(y.end(), g.begin(), g.end());
  const auto append = [&](const auto& numbers) { y.insert(y.end(), numbers.begin(), numbers.end()); };
  append(replay.parameter_gradients());
  append(replay.uniform_outputs());
  return y;
}

/// The same of dual numbers, along the inputs' numbers in another order.
template <class Real>
std::vector<Real> evaluate_duals(const Program<Real>& program, const std::vector<Real>& x,
                                 const std::vector<Real>& weights, std::size_t samples, Replay<Real>& replay) {
  std::vector<Real> along(samples * program.differentiated()), directions(program.differentiated_parameters()),
      y(samples * program.outputs()), tangents(y), g(along), products(along), ones(program.uniform_outputs(), Real(1)),
      all;
  for (std::size_t k = 0; k < along.size(); ++k) along[k] = x[x.size() - 1 - k % x.size()];
  for (std::size_t k = 0; k < directions.size(); ++k) directions[k] = static_cast<Real>(k % 3) - Real(0.5);
  const auto given = [&](const std::vector<Real>& numbers) { return columns(numbers.data(), samples); };
  const auto to = [&](std::vector<Real>& numbers) { return columns(numbers.data(), samples); };
  const auto append = [&](const auto& numbers) { all.insert(all.end(), numbers.begin(), numbers.end()); };
  replay.set_parameter_directions(directions);
  replay.jvp(samples, given(x), given(along), to(y), to(tangents));
  for (const auto* numbers : {&y, &tangents}) append(*numbers);
  append(replay.uniform_tangents());
  replay.hvp(samples, given(x), given(along), to(y), to(g), to(products), given(weights), ones);
  for (const auto* numbers : {&y, &g, &products}) append(*numbers);
  append(replay.parameter_products());
  return all;
}

/// That a replay by code has the bits of the interpreter. `nan`: the part of the inputs that are. Whether there was code.
template <class Real>
bool check_steps(const Program<Real>& program, Random& random, std::size_t samples, double nan, const std::string& what,
                 const auto& evaluate) {
  std::vector<Real> x(samples * program.inputs()), weights(samples * program.outputs());
  for (Real& number : x) number = static_cast<Real>(random.chance(nan) ? NAN : random.in(-2, 2));
  for (Real& weight : weights) weight = static_cast<Real>(random.in(-2, 2));
  Replay<Real> interpreter(program, {.engine = "interpreter"});
  const std::vector<Real> wanted = evaluate(program, x, weights, samples, interpreter);
  bool by_code = true;
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    Replay<Real> native(program, {.isa = set, .engine = "native"});
    const std::vector<Real> found = evaluate(program, x, weights, samples, native);
    by_code &= native.engine() == "native: " + set;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      BOOST_TEST_REQUIRE(same_bits(found[k], wanted[k]), what << ", " << set << ", number " << k << " of "
                                                              << wanted.size() << ": " << show(found[k])
                                                              << ", interpreter " << show(wanted[k]));
  }
  return by_code;
}

template <class Real>
bool check_steps(const Program<Real>& program, Random& random, std::size_t samples, double nan,
                 const std::string& what) {
  return check_steps(program, random, samples, nan, what, evaluate<Real>);
}

template <class Real>
void random_steps(std::size_t count) {
  std::size_t with_loops = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    const Program<Real> program = RandomSteps<Real>(random, random.chance(0.4)).program();
    BOOST_TEST(check_steps(program, random, 1 + random.below(70), 0.001, "steps " + std::to_string(seed)));
    with_loops += !loops_of(program, codegen::avx2, 2).empty();
  }
  BOOST_TEST(with_loops >= count / 10, "only " << with_loops << " programs had loops");
}
/// Tangents of long paths, with parameters and sums over the samples.
template <class Real>
void long_tangents(std::size_t count) {
  std::size_t by_code = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    const Program<Real> program = RandomSteps<Real>(random, random.chance(0.5), 10).program();
    by_code += check_steps(program, random, 2 + random.below(30), 0.05 / static_cast<double>(program.inputs() + 1),
                           "tangents of steps " + std::to_string(seed), evaluate_duals<Real>);
  }
  BOOST_TEST(by_code > count / 2, "only " << by_code << " programs by code, the others were too long for it");
}
/// Of samples alone, whose code has loops where it is long.
template <class Real>
void long_steps_alone(std::size_t count) {
  std::size_t by_code = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    const Program<Real> program = RandomSteps<Real>(random, random.chance(0.4), 60).program();
    const double nan = 0.2 / static_cast<double>(program.inputs() + 1);
    for (int call = 0; call < 3; ++call)
      by_code += check_steps(program, random, 1, nan, "long steps " + std::to_string(seed));
  }
  BOOST_TEST(by_code > 2 * count, "only " << by_code << " calls by code, the others were too long for it");
}

/// A path, the squares of what it passes, and what it passed a step before.
template <class Real>
Program<Real> path(std::size_t steps) {
  NaiveTape<Real> tape;
  const Var<Real> speed = input(tape, Real(0.4)), level = input(tape, Real(0.3));
  Var<Real> x = input(tape, Real(0.2)), before = x, squares = Real(0);
  for (std::size_t k = 0; k < steps; ++k) {
    const Var<Real> noise = input(tape, Real(0.1)), old = x;
    const Var<Real> above = max(x, Real(0));
    x = fma(speed, level - above, fma(sqrt(above), noise * Real(0.25), x)) * Real(0.9) + before * Real(0.1);
    squares += square(x);
    before = old;
  }
  return compile(tape, (x + squares).id());
}
template <class Real>
void path_of_many_steps() {
  constexpr std::size_t samples = 37;
  for (const Isa isa : native_isas()) {
    std::vector<std::size_t> bytes;
    for (const std::size_t steps : {300, 600}) {
      const Program<Real> program = path<Real>(steps);
      Random random(steps);
      std::vector<Real> x(samples * program.inputs()), weights(samples, Real(1));
      for (Real& number : x) number = static_cast<Real>(random.in(0.01, 0.9));
      BOOST_TEST(run_blocks(program, isa, false, samples, x, weights, std::to_string(steps) + " steps") > 0u);
      bytes.push_back(NativeCode<Real>(program.data(), isa, true, false, codegen::Chain::plain, SIZE_MAX).code_bytes());
    }
    BOOST_TEST(bytes[1] <= bytes[0] + 4096);
  }
}

/// Whether code gives the bits of the interpreter, and has loops, of at most as many steps as there are registers for.
template <class Real>
void check_loops(const NaiveTape<Real>& tape, Id output) {
  constexpr std::size_t samples = 37;
  const Program<Real> program = compile(tape, output);
  Random random(1);
  std::vector<Real> x(samples * program.inputs()), weights(samples, Real(1));
  for (Real& number : x) number = static_cast<Real>(random.in(0.1, 0.9));
  const std::vector<codegen::Loop> loops = loops_of(program, codegen::avx2, 2);
  BOOST_TEST(!loops.empty());
  for (const codegen::Loop& loop : loops) BOOST_TEST(loop.steps.size() <= codegen::Loop::most_steps);
  for (const Isa isa : native_isas()) BOOST_TEST(run_blocks(program, isa, false, samples, x, weights, "loops") > 0u);
}

/// That code gives the bits of the interpreter, and what computes so many samples at a time.
void check_long(const Program<double>& program, std::size_t vectors) {
  constexpr std::size_t samples = 9;
  Random random(1);
  std::vector<double> x(samples * program.inputs());
  const std::vector<double> weights(samples, 1.0);
  for (double& number : x) number = random.in(0.01, 0.9);
  Replay<double> interpreter(program, {.engine = "interpreter"});
  const std::vector<double> wanted = evaluate(program, x, weights, samples, interpreter);
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    BOOST_TEST(NativeCode<double>(program.data(), isa, true, false, codegen::Chain::plain, SIZE_MAX).lanes() ==
               vectors * native_target(isa)->vector_bytes / sizeof(double));
    Replay<double> native(program, {.isa = set, .threads = 1, .engine = "native"});
    const std::vector<double> found = evaluate(program, x, weights, samples, native);
    BOOST_TEST(native.engine() == "native: " + set);
    for (std::size_t k = 0; k < wanted.size(); ++k) BOOST_TEST_REQUIRE(same_bits(found[k], wanted[k]), set << " " << k);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(native_loops, *needs(Isa::avx2))

BOOST_AUTO_TEST_CASE(random_steps_in_doubles) { random_steps<double>(soak(300)); }
BOOST_AUTO_TEST_CASE(random_steps_in_floats) { random_steps<float>(soak(300)); }
BOOST_AUTO_TEST_CASE(long_steps_alone_in_doubles) { long_steps_alone<double>(soak(20)); }
BOOST_AUTO_TEST_CASE(long_steps_alone_in_floats) { long_steps_alone<float>(soak(20)); }
BOOST_AUTO_TEST_CASE(long_tangents_in_doubles) { long_tangents<double>(soak(20)); }
BOOST_AUTO_TEST_CASE(long_tangents_in_floats) { long_tangents<float>(soak(20)); }
BOOST_AUTO_TEST_CASE(paths_code_does_not_grow) {
  path_of_many_steps<double>();
  path_of_many_steps<float>();
}

/// Straight code of it would be too long.
BOOST_AUTO_TEST_CASE(a_path_of_very_many_steps) {
  const Program<double> program = path<double>(50'000);
  for (const Isa isa : native_isas()) {
    const plan::NativeCost cost = plan::native_cost(program.data(), true, isa);
    BOOST_TEST(cost.batches.has_loops());
    BOOST_TEST(!cost.batches.too_long);
    BOOST_TEST(cost.batches.with(cost.batches.operations, isa).too_long);
    BOOST_TEST(plan::describe_native(program.data(), isa).find(" vector operations, of which loops leave some ") !=
               std::string::npos);
    BOOST_TEST(cost.alone.has_loops());
    BOOST_TEST(!cost.alone.too_long);
    BOOST_TEST(cost.worth_from < 10'000u);
    const NativeCode<double> alone(program.data(), isa, true, true, codegen::Chain::plain, SIZE_MAX);
    BOOST_TEST(alone.why_not() == "");
    BOOST_TEST(alone.code_bytes() < 1'000'000u);
  }
  check_long(program, 2);
  Random random(1);
  BOOST_TEST(check_steps(program, random, 1, 0, "many steps"));
}
/// A loop reads any number of inputs: what is at hand isn't written. And a block of tangents has lanes for a round of the code, which
/// else would do a part of it again and again in copies of all columns.
BOOST_AUTO_TEST_CASE(tangents_of_very_many_steps) {
  const Program<double> program = path<double>(40'000);
  for (const Isa isa : native_isas()) {
    const plan::Evaluation tangents(false, plan::Numbers::dual);
    const std::size_t round =
        NativeCode<double>(program.data(), isa, tangents, false, codegen::Chain::plain, SIZE_MAX).lanes();
    BOOST_TEST(round == 2 * native_target(isa)->vector_bytes / sizeof(double));
    Machine<double> machine(program, {.isa = std::string(name(isa)), .engine = "native"});
    machine.each_block({program.data().values, plan::Numbers::dual, round},
                       [&](const auto& block) { BOOST_TEST(block.lanes.count == round); });
  }
}
/// Loops are expected, since its operations repeat themselves, but which inputs they read has no order.
BOOST_AUTO_TEST_CASE(inputs_without_order) {
  const auto program = [](std::size_t steps) {
    Random random(1);
    NaiveTape<double> tape;
    std::vector<Id> x;
    for (std::size_t k = 0; k < 1000; ++k) x.push_back(tape.input(0.5));
    Id y = x[0];
    const auto any = [&] { return x[1 + random.below(x.size() - 1)]; };
    for (std::size_t k = 0; k < steps; ++k) y = tape.fma(y, any(), tape.mul(any(), any()));
    return compile(tape, y, {std::vector<Id>{x[0]}});
  };
  const Program<double> some = program(50'000);
  for (const Isa isa : native_isas()) BOOST_TEST(plan::native_cost(some.data(), true, isa).batches.vectors == 2u);
  check_long(some, 1);
  const Program<double> more = program(350'000);
  for (const Isa isa : native_isas()) {
    BOOST_TEST(!plan::native_cost(more.data(), true, isa).batches.too_long);
    const NativeCode<double> code(more.data(), isa, true, false, codegen::Chain::plain, SIZE_MAX);
    BOOST_TEST(code.why_not().ends_with(" vector operations are too many for a straight line"), code.why_not());
  }
}

/// What is computed again elsewhere alone, from what was there an iteration before.
BOOST_AUTO_TEST_CASE(needed_later_alone) {
  constexpr std::size_t steps = 400;
  NaiveTape<double> tape;
  std::vector<Id> x, s, w, z;
  for (std::size_t k = 0; k < steps; ++k) x.push_back(tape.input(0.5));
  const Id half = tape.constant(0.5);
  Id sum = x[0], root = x[1], u = x[2];
  for (std::size_t k = 0; k < steps; ++k) {
    sum = tape.fma(sum, half, x[k]);
    const Id before = root;
    root = tape.sqrt(sum);
    s.push_back(sum);
    w.push_back(root);
    z.push_back(tape.mul(before, sum));
  }
  for (std::size_t k = steps; k-- > 0;) u = tape.fma(u, half, tape.sqrt(tape.fma(s[k], w[k], z[k])));
  check_loops(tape, tape.add(u, root));
}

/// What is computed again would take more registers for steps than there are.
BOOST_AUTO_TEST_CASE(many_steps) {
  constexpr std::size_t steps = 400;
  NaiveTape<double> tape;
  std::vector<Id> x, s, y, roots;
  for (std::size_t k = 0; k < 8 * steps + 8; ++k) x.push_back(tape.input(0.5));
  const Id half = tape.constant(0.5), all = tape.record(Op::sum, x);
  Id a = x[0], u = x[1], w = x[2];
  for (std::size_t k = 0; k < steps; ++k) {
    a = tape.fma(a, half, x[k]);
    y.push_back(tape.fma(a, x[3 * k], x[5 * k]));
    u = tape.sqrt(tape.fma(u, half, y.back()));
    s.push_back(a);
    roots.push_back(u);
  }
  for (std::size_t k = 0; k < steps; ++k) {
    w = tape.fma(w, half, tape.mul(s[k], y[k]));
    w = tape.fma(w, x[2 * k], x[7 * k]);
    w = tape.sqrt(tape.mul(tape.fma(w, half, roots[k]), half));
  }
  check_loops(tape, tape.add(w, all));
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace wengert::test
