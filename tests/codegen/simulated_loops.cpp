// Loops in machine code for instruction sets that this CPU needn't have: by the simulated CPU they give the bits of the interpreter.
#include <cstddef>
#include <string>
#include <vector>

#include "codegen/loops.hpp"
#include "tape/native_cost.hpp"
#include "tape/native_lower.hpp"
#include "tests/codegen/code_of.hpp"
#include "tests/program/random_steps.hpp"
#include "tests/soak.hpp"

namespace wengert::test {
namespace {

template <class Real>
void random_steps(std::size_t count, plan::Numbers of = plan::Numbers::plain) {
  std::size_t with_loops = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    const Program<Real> program = RandomSteps<Real>(random, false).program();
    codegen::Graph graph =
        plan::lower_to_graph(program.data(), {.what = {true, of}, .shape = {&codegen::avx512, false, 2}});
    codegen::find_loops(graph);
    with_loops += !graph.loops().empty();
    Numbers<Real> numbers(program, 1 + random.below(50));
    for (std::vector<Real>* all : {&numbers.inputs, &numbers.directions, &numbers.weights})
      for (Real& number : *all) number = static_cast<Real>(random.in(-2, 2));
    for (const Isa isa : {Isa::avx512, Isa::avx2})
      simulate(program, isa, false, numbers, "steps " + std::to_string(seed), codegen::Chain::plain, of);
  }
  BOOST_TEST(with_loops >= count / 10, "only " << with_loops << " programs had loops");
}

/// Code of a single sample has loops where it is long.
template <class Real>
void long_steps_alone(std::size_t count) {
  std::size_t with_loops = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    const Program<Real> program = RandomSteps<Real>(random, false, 60).program();
    Numbers<Real> numbers(program, 1);
    for (Real& number : numbers.inputs) number = static_cast<Real>(random.in(-2, 2));
    for (Real& weight : numbers.weights) weight = static_cast<Real>(random.in(-2, 2));
    for (const Isa isa : {Isa::avx512, Isa::avx2}) {
      const plan::NativeCost::Length length = plan::native_cost(program.data(), true, isa).alone;
      if (!length.has_loops()) continue;
      const CodeOf<Real> code(program, isa, true, true);
      if (code.why_not().ends_with("too many for a straight line"))
        continue;  // there are fewer loops than was expected
      simulate(program, isa, true, numbers, "long steps " + std::to_string(seed));
      with_loops += code.code().code_bytes() < 4 * length.operations;
    }
  }
  BOOST_TEST(with_loops >= count / 4, "only " << with_loops << " codes had loops");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simulated_loops)

BOOST_AUTO_TEST_CASE(random_steps_in_doubles) { random_steps<double>(soak(100)); }
BOOST_AUTO_TEST_CASE(random_steps_in_floats) { random_steps<float>(soak(100)); }
BOOST_AUTO_TEST_CASE(tangents_in_doubles) { random_steps<double>(soak(30), plan::Numbers::dual); }
BOOST_AUTO_TEST_CASE(tangents_in_floats) { random_steps<float>(soak(30), plan::Numbers::dual); }
BOOST_AUTO_TEST_CASE(long_steps_alone_in_doubles) { long_steps_alone<double>(soak(20)); }
BOOST_AUTO_TEST_CASE(long_steps_alone_in_floats) { long_steps_alone<float>(soak(20)); }

BOOST_AUTO_TEST_SUITE_END()
}  // namespace wengert::test
