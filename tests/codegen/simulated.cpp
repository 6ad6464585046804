// Machine code for instruction sets that this CPU needn't have: by the simulated CPU it gives the bits of the interpreter. And the
// simulated CPU those of this one, with the instructions that there are here.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tests/codegen/code_of.hpp"
#include "tests/every_op.hpp"
#include "tests/needs.hpp"
#include "tests/points.hpp"
#include "tests/program/branchy.hpp"
#include "tests/program/one_op.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/soak.hpp"

namespace wengert::test {
namespace {

constexpr Isa simulated_isas[] = {Isa::avx512, Isa::avx2};

bool contains(std::span<const std::uint8_t> code, std::initializer_list<std::uint8_t> bytes) {
  return std::search(code.begin(), code.end(), bytes.begin(), bytes.end()) != code.end();
}

/// Points of an op: ordinary ones in its domain, then special ones.
template <class Real>
Numbers<Real> points_of(const Program<Real>& program, Op op, std::size_t n, std::size_t ordinary, std::size_t special) {
  const std::uint64_t seed = static_cast<std::uint64_t>(op) * 100 + n;
  Random random(seed);
  Numbers<Real> numbers(program, ordinary + special);
  const Columns<Real> drawn = points<Real>(op, n, 300, seed);
  for (std::size_t i = 0; i < program.inputs(); ++i) {
    const OpInfo::Range& range = info(op).domain[info(op).arity == 0 ? 0 : i % n];
    for (std::size_t e = 0; e < numbers.samples; ++e)
      numbers.inputs[i * numbers.samples + e] =
          e < ordinary ? static_cast<Real>(random.in(std::max(range.low, -2.5), std::min(range.high, 2.5)))
                       : drawn[i % n][(e - ordinary) * 7919 % drawn[i % n].size()];
  }
  for (std::vector<Real>* some : {&numbers.weights, &numbers.directions})
    for (Real& number : *some) number = random.chance(0.01) ? Real(0) : static_cast<Real>(random.in(-2, 2));
  return numbers;
}
/// As many as `points` has edges, and some more, of few operands.
std::size_t special_points(std::size_t n) {
  return std::clamp<std::size_t>(soak(n == 1 ? 120 : n <= 3 ? 1400 : 60), 30, 4000);
}

template <class Real>
void every_op(Op op, std::size_t n) {
  const Program<Real> program = program_of<Real>(op, n);
  const Numbers<Real> numbers = points_of(program, op, n, 32, special_points(n));
  for (const Isa isa : simulated_isas)
    for (const bool point : {false, true}) {
      const std::string what = std::string(name(op)) + " of " + std::to_string(n);
      const std::size_t done = simulate(program, isa, point, numbers, what);
      if (!looks_closer(op)) BOOST_TEST(done > 0u, what << ", " << name(isa));
    }
  const Numbers<Real> fewer = points_of(program, op, n, 32, special_points(n) / 4);
  for (const Isa isa : simulated_isas) {
    const std::size_t done = simulate(program, isa, false, fewer, std::string(name(op)) + " of " + std::to_string(n),
                                      codegen::Chain::plain, plan::Numbers::dual);
    if (!looks_closer(op)) BOOST_TEST(done > 0u, name(op) << ", " << name(isa));
  }
}

void every_op(Op op) {
  each_count(op, {1, 2, 3, 4, 9, 40}, [op](std::size_t n) { every_op<double>(op, n), every_op<float>(op, n); });
}

template <class Real>
void in_subroutines(Op op, std::size_t n) {
  static constexpr std::size_t samples = 17;
  const Program<Real> program = program_of<Real>(op, n, 5, for_subroutines);
  Numbers<Real> numbers = points_of(program, op, n, samples, 0);
  std::fill(numbers.inputs.end() - samples, numbers.inputs.end(), Real(-1));
  for (const bool point : {false, true}) {
    if (point) numbers.samples = 1;
    const std::size_t done = simulate(program, Isa::avx512, point, numbers, std::string(name(op)) + " in subroutines");
    if (!looks_closer(op)) BOOST_TEST(done > 0u, name(op));
  }
  numbers = points_of(program, op, n, samples, 0);
  std::fill(numbers.inputs.end() - samples, numbers.inputs.end(), Real(-1));
  const std::size_t done = simulate(program, Isa::avx512, false, numbers, std::string(name(op)) + " in subroutines",
                                    codegen::Chain::plain, plan::Numbers::dual);
  if (!looks_closer(op)) BOOST_TEST(done > 0u, name(op));
}

/// A random graph without parameters, and numbers for it.
template <class Real>
struct RandomCase {
  Random random;
  RandomTape<Real> graph;
  Program<Real> program;
  Numbers<Real> numbers;

  explicit RandomCase(std::uint64_t seed)
      : random(seed * 2 + sizeof(Real)),
        graph(random_tape<Real>(random, random.chance(0.1) ? 600 : 1 + random.below(60), 0.05)),
        program(with_rule()),
        numbers(program, 1 + random.below(40)) {
    for (Real& number : numbers.inputs) number = some_number<Real>(random, 0.002);
    for (Real& weight : numbers.weights) weight = some_number<Real>(random, 0.002);
    for (Real& direction : numbers.directions) direction = some_number<Real>(random, 0.002);
  }
  bool has_code() const { return CodeOf<Real>(program, Isa::avx512, true, false).why_not().empty(); }

 private:
  Program<Real> with_rule() {
    graph.tape.set_zero_rule(random.chance(0.5) ? ZeroRule::ieee : ZeroRule::exact);
    return compile(graph.tape, std::span<const Id>(graph.outputs));
  }
};

template <class Real>
void random_graphs(std::size_t count) {
  std::size_t done = 0, spilling = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const RandomCase<Real> any(seed);
    if (!any.has_code()) continue;
    spilling += CodeOf<Real>(any.program, Isa::avx512, true, false).code().spill_bytes() != 0;
    for (const Isa isa : simulated_isas)
      for (const bool point : {false, true})
        for (const codegen::Chain chain : {codegen::Chain::plain, codegen::Chain::special, codegen::Chain::zero_rule}) {
          if (chain != codegen::Chain::plain && any.program.data().zero_rule == ZeroRule::ieee) continue;
          for (const plan::Numbers of : {plan::Numbers::plain, plan::Numbers::dual})
            if (!point || of == plan::Numbers::plain)
              done += simulate(any.program, isa, point, any.numbers, "graph " + std::to_string(seed), chain, of);
        }
  }
  BOOST_TEST(done >= count, "only " << done << " rounds were met");
  if (count > 50) BOOST_TEST(spilling >= count / 20, "only " << spilling << " graphs spill");
}

/// `size` functions of functions whose numbers stay tame, of values just made and of old ones. And products, of the last input.
template <class Real>
Program<Real> tame(std::size_t size, std::size_t products) {
  Random random(size);
  NaiveTape<Real> tape;
  std::vector<Id> x;
  for (int i = 0; i < 20; ++i) x.push_back(tape.input(Real(1)));
  const Id one = tape.constant(1), sign = tape.input(Real(1));
  while (x.size() < size) {
    const Id a = x[x.size() - 1 - random.below(20)], b = x[random.below(x.size())];
    switch (random.below(7)) {
      case 0: x.push_back(tape.sin(a)); break;
      case 1: x.push_back(tape.tanh(tape.mul(a, b))); break;
      case 2: x.push_back(tape.mul(a, tape.sigmoid(b))); break;
      case 3: x.push_back(tape.max(a, b)); break;
      case 4: x.push_back(tape.log(tape.add(one, tape.square(a)))); break;
      case 5: x.push_back(tape.sub(tape.div(a, tape.add(one, tape.square(b))), tape.atan(b))); break;
      default: x.push_back(tape.select(tape.lt(a, b), tape.softplus(a), tape.neg(b)));
    }
  }
  std::vector<Id> signs(8, sign);
  for (std::size_t k = 0; k < products; ++k) {  // in no order, which loops could have
    Id& some = signs[random.below(8)];
    some = tape.mul(some, sign);
  }
  x.insert(x.end(), signs.begin(), signs.end());
  return compile(tape, tape.record(Op::sum, x));
}

/// Code of many values, of which few have a register: a straight line, one that calls, one so long that it computes one vector.
template <class Real>
void many_values(std::size_t size, std::size_t products) {
  const Program<Real> program = tame<Real>(size, products);
  const CodeOf<Real> code(program, Isa::avx512, true, false);
  BOOST_TEST(code.lanes() == (products == 0 ? 128 : 64) / sizeof(Real));
  BOOST_TEST(code.code().spill_bytes() > 1000u);
  BOOST_TEST(contains(code.code().code(), {0x48, 0x81, 0xc1}) == (size > 100));  // subroutines, which add to rcx
  Numbers<Real> numbers(program, 2 * code.lanes() + 1);
  Random random(1);
  for (Real& number : numbers.inputs) number = static_cast<Real>(random.in(-2, 2));
  std::fill_n(numbers.inputs.rbegin(), numbers.samples, Real(-1));
  for (const bool point : {false, true})
    BOOST_TEST(simulate(program, Isa::avx512, point, numbers, std::to_string(size)) == (point ? numbers.samples : 3));
}

/// Of what branches: guards refuse samples that leave the recorded path.
template <class Real>
void guards(std::size_t count) {
  std::size_t done = 0, rounds = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed);
    NaiveTape<Real> tape;
    std::vector<Var<Real>> inputs;
    for (int i = 0; i < 3; ++i) inputs.push_back(input(tape, some_number<Real>(random, 0)));
    const std::vector<Var<Real>> outputs = branchy<Real>(random, 12, std::span<const Var<Real>>(inputs));
    std::vector<Id> ids;
    for (const Var<Real>& output : outputs) ids.push_back(output.place(tape));
    const Program<Real> program = compile(tape, std::span<const Id>(ids));
    Numbers<Real> numbers(program, 32);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t e = 0; e < 32; ++e)
        numbers.inputs[i * 32 + e] = value(inputs[i]) * static_cast<Real>(e % 8 == 0 ? 1 : random.in(0.7, 1.3));
    for (const bool point : {false, true}) {
      done += simulate(program, Isa::avx512, point, numbers, "function " + std::to_string(seed));
      rounds += point ? 32 : 32 / CodeOf<Real>(program, Isa::avx512, true, false).lanes();
    }
  }
  BOOST_TEST(done >= rounds / 4);
  if (count > 10) BOOST_TEST(done < rounds);
}

/// Parameters and sums over samples: the uniform side apart. With both instruction sets each sample comes out alike.
template <class Real>
void parameters(std::size_t count) {
  std::size_t done = 0, read = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    const RandomTape<Real> graph = random_tape<Real>(random, 1 + random.below(60), 0.05, true);
    const Program<Real> program = compile(graph.tape, std::span<const Id>(graph.outputs));
    Numbers<Real> numbers(program, 8);
    for (std::vector<Real>* some : {&numbers.inputs, &numbers.directions, &numbers.weights, &numbers.uniforms})
      for (Real& number : *some) number = some_number<Real>(random, 0.002);
    struct Kind {
      plan::Evaluation what;
      bool point = false;
    };
    for (const auto& [kind, point] : {Kind{true}, Kind{true, true}, Kind{{false, plan::Numbers::dual, true}},
                                      Kind{{true, plan::Numbers::dual, true}}}) {
      const CodeOf<Real> wide(program, Isa::avx512, kind, point), narrow(program, Isa::avx2, kind, point);
      for (std::size_t e = 0; e < numbers.samples && wide.why_not().empty(); ++e) {
        const Results<Real> ours = wide.run(numbers, e, 1), wanted = narrow.run(numbers, e, 1);
        if (!ours.well || !wanted.well) continue;
        check_bits(ours, wanted, 0, 1, "graph " + std::to_string(seed) + ", sample " + std::to_string(e));
        ++done;
        read += !numbers.uniforms.empty() && !ours.shares.empty();
      }
    }
  }
  BOOST_TEST(done >= 8 * count, "only " << done << " samples went well");
  BOOST_TEST(read >= 2 * count, "only " << read << " samples have to do with parameters");
}

/// What comes of a call on this CPU comes of it on the simulated one. (Where requirements aren't met integers may be made of a NaN, whose
/// sign is the CPU's own.)
template <class Real>
void same_as_here(const Program<Real>& program, Isa isa, const Numbers<Real>& numbers, const std::string& what) {
  for (const bool point : {false, true})
    for (const bool gradient : {true, false}) {
      const CodeOf<Real> code(program, isa, gradient, point);
      BOOST_TEST_REQUIRE(code.why_not() == "", what);
      const std::size_t round = code.lanes();
      for (std::size_t first = 0; first < numbers.samples; first += round) {
        const std::size_t count = std::min(round, numbers.samples - first);
        const Results<Real> ours = code.run(numbers, first, count);
        const Results<Real> here = code.run(numbers, first, count, CodeOf<Real>::here);
        if (ours.well != here.well) BOOST_FAIL(what << ", sample " << first);
        check_bits(ours, here, 0, count, what + ", from sample " + std::to_string(first));
      }
    }
}

template <class Real>
void every_op_here(Op op, std::size_t n) {
  const Program<Real> program = program_of<Real>(op, n);
  const Numbers<Real> numbers = points_of(program, op, n, 32, special_points(n));
  for (const Isa isa : simulated_isas)
    if (why_not(isa).empty()) same_as_here(program, isa, numbers, std::string(name(op)));
}

template <class Real>
void random_graphs_here(std::size_t count) {
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const RandomCase<Real> any(seed);
    for (const Isa isa : simulated_isas)
      if (any.has_code() && why_not(isa).empty())
        same_as_here(any.program, isa, any.numbers, "graph " + std::to_string(seed));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simulated)

BOOST_DATA_TEST_CASE(fixed_op, boost::unit_test::data::make(fixed_ops), op) {
  if (!has_no_vector_form(op)) every_op(op);
}
BOOST_DATA_TEST_CASE(nary_op, boost::unit_test::data::make(nary_ops), op) { every_op(op); }

BOOST_DATA_TEST_CASE(fixed_op_in_subroutines, boost::unit_test::data::make(fixed_ops), op) {
  if (has_no_vector_form(op)) return;
  if (soak(10) < 10 && static_cast<std::size_t>(op) % 5 != 0) return;  // code that long takes a while to be made
  each_count(op, {}, [op](std::size_t n) { in_subroutines<double>(op, n), in_subroutines<float>(op, n); });
}

BOOST_AUTO_TEST_CASE(random_graphs_f64) { random_graphs<double>(soak(150)); }
BOOST_AUTO_TEST_CASE(random_graphs_f32) { random_graphs<float>(soak(150)); }

BOOST_AUTO_TEST_CASE(many_values_f64) {
  many_values<double>(60, 0);
  many_values<double>(1000, 0);
  many_values<double>(500, 80'000);
}
BOOST_AUTO_TEST_CASE(many_values_f32) {
  many_values<float>(60, 0);
  many_values<float>(1000, 0);
  many_values<float>(500, 80'000);
}
BOOST_AUTO_TEST_CASE(guards_f64) { guards<double>(soak(100)); }
BOOST_AUTO_TEST_CASE(guards_f32) { guards<float>(soak(100)); }
BOOST_AUTO_TEST_CASE(parameters_f64) { parameters<double>(soak(100)); }
BOOST_AUTO_TEST_CASE(parameters_f32) { parameters<float>(soak(100)); }

/// Conditions that wait for the backward sweep, more of them than there are registers for masks.
BOOST_AUTO_TEST_CASE(masks_in_memory) {
  NaiveTape<double> tape;
  std::vector<Id> x, y;
  for (int i = 0; i < 20; ++i) x.push_back(tape.input(1.0));
  for (std::size_t i = 0; i < 20; ++i)
    y.push_back(tape.select(tape.lt(x[i], x[(i + 7) % 20]), tape.mul(x[i], x[i]), tape.max(x[i], x[(i + 3) % 20])));
  const Program<double> program = compile(tape, tape.record(Op::sum, y));
  const CodeOf<double> code(program, Isa::avx512, true, false);
  BOOST_TEST(contains(code.code().code(), {0xc4, 0xe1, 0xf8, 0x91}));  // kmovq into memory
  Random random(1);
  Numbers<double> numbers(program, 100);
  for (double& number : numbers.inputs) number = std::floor(random.in(-3, 3));
  for (const bool point : {false, true}) BOOST_TEST(simulate(program, Isa::avx512, point, numbers, "masks") > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(simulated_and_here, *needs(Isa::avx2))

BOOST_DATA_TEST_CASE(fixed_op, boost::unit_test::data::make(fixed_ops), op) {
  if (has_no_vector_form(op)) return;
  each_count(op, {}, [op](std::size_t n) { every_op_here<double>(op, n), every_op_here<float>(op, n); });
}
BOOST_AUTO_TEST_CASE(random_graphs_f64) { random_graphs_here<double>(soak(100)); }
BOOST_AUTO_TEST_CASE(random_graphs_f32) { random_graphs_here<float>(soak(100)); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
