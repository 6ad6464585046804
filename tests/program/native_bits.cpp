// Machine code of every op, and of random graphs, gives the bits of the interpreter.
#include <algorithm>
#include <cstddef>
#include <string>

#include "tests/every_op.hpp"
#include "tests/program/native_blocks.hpp"
#include "tests/program/one_op.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/soak.hpp"

namespace wengert::test {
namespace {

template <class Real>
void every_op(Op op, std::size_t n) {
  const Program<Real> program = program_of<Real>(op, n);
  if (has_no_vector_form(op)) {
    for (const Isa isa : native_isas()) BOOST_TEST(NativeRunner<Real>(program.data(), isa, true).why_not() != "");
    return;
  }
  Random random(static_cast<std::uint64_t>(op) * 100 + n);
  // Of ten samples four are ordinary, three of the whole domain, three have edges among them.
  const std::size_t samples = std::clamp<std::size_t>(soak(1003), 103, 10'003), ordinary = samples * 4 / 10,
                    edges = samples * 7 / 10;
  std::vector<Real> x(samples * n), weights(samples * program.outputs());
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
  const Program<Real> program = program_of<Real>(op, n, times, for_subroutines);
  Random random(static_cast<std::uint64_t>(op) * 10 + n);
  std::vector<Real> x(samples * program.inputs()), weights(samples * program.outputs());
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

void every_op(Op op) {
  each_count(op, {1, 2, 3, 4, 6, 8, 12, 40}, [op](std::size_t n) { every_op<double>(op, n), every_op<float>(op, n); });
}
void many_of_one_op(Op op) {
  if (has_no_vector_form(op)) return;
  each_count(op, {3, 4, 7, 9}, [op](std::size_t n) { many_of_one_op<double>(op, n), many_of_one_op<float>(op, n); });
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

BOOST_DATA_TEST_CASE(fixed_op, boost::unit_test::data::make(fixed_ops), op) { every_op(op); }
BOOST_DATA_TEST_CASE(nary_op, boost::unit_test::data::make(nary_ops), op) { every_op(op); }
BOOST_DATA_TEST_CASE(fixed_op_in_subroutines, boost::unit_test::data::make(fixed_ops), op) { many_of_one_op(op); }
BOOST_DATA_TEST_CASE(nary_op_in_subroutines, boost::unit_test::data::make(nary_ops), op) { many_of_one_op(op); }

BOOST_AUTO_TEST_CASE(random_graphs_f64) { random_graphs<double>(soak(400)); }
BOOST_AUTO_TEST_CASE(random_graphs_f32) { random_graphs<float>(soak(400)); }
BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
