// A program gives the bits of the eager tape: on every instruction set, block width, number of threads, layout and split.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "kernels/dispatch.hpp"
#include "tests/graphs.hpp"
#include "tests/needs.hpp"
#include "tests/program/laid_out.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {
namespace {

/// One way to lay out and cut a batch.
template <class Real>
struct Way {
  ReplayOptions options;
  std::size_t samples = 0;
  Layout layout = Layout::rows;
  std::vector<std::size_t> cuts;  // ends of the calls

  std::string show() const {
    std::string text = options.isa + ", " + options.engine + ", " + std::to_string(options.lanes) + " lanes, " +
                       std::to_string(options.threads) + " threads, " + std::to_string(samples) + " samples in " +
                       layout_names[static_cast<std::size_t>(layout)] + ", calls to";
    for (std::size_t cut : cuts) text += " " + std::to_string(cut);
    return text;
  }
};

template <class Real>
Way<Real> random_way(Random& random) {
  Way<Real> way;
  const std::vector<Isa> isas = usable_isas();
  const Isa isa = random.of(isas);
  way.options.isa = std::string(name(isa));
  const std::size_t vector = static_cast<std::size_t>(kernels::backend<Real>(isa).lanes);
  way.options.lanes = random.chance(0.3) ? 0 : vector * (1 + random.below(isa == Isa::scalar ? 20 : 9));
  way.options.threads = random.chance(0.7) ? 1 : 1 + static_cast<unsigned>(random.below(7));
  const std::vector<std::size_t> sizes = {0, 1, 2, 7, 8, 9, 15, 17, 63, 64, 65};
  way.samples = random.chance(0.02) ? 1000 : random.of(sizes);
  way.layout = random.of(std::vector{Layout::rows, Layout::columns, Layout::apart});
  if (random.chance(0.5)) way.options.engine = "native";
  while (random.chance(0.3)) way.cuts.push_back(random.below(way.samples + 1));
  way.cuts.push_back(way.samples);
  std::sort(way.cuts.begin(), way.cuts.end());
  return way;
}

template <class Real>
void compare(RandomTape<Real>& graph, const std::vector<Id>& differentiated, const Way<Real>& way, Random& random,
             const std::string& what) {
  const Program<Real> program = compile(graph.tape, std::span<const Id>(graph.outputs), CompileOptions{differentiated});
  Replay<Real> replay(program, way.options);
  const std::vector<Id> varying = varying_outputs(graph);
  const std::size_t n = way.samples, inputs = graph.inputs.size(), outputs = varying.size();
  BOOST_TEST_REQUIRE(program.outputs() == outputs);
  LaidOut<Real> x(n, inputs, way.layout), w(n, outputs, way.layout), y(n, outputs, way.layout),
      alone(n, outputs, way.layout), g(n, differentiated.size(), way.layout);
  const double special = random.chance(0.3) ? 0.3 : 0.02;
  for (std::size_t e = 0; e < n; ++e) {
    for (std::size_t i = 0; i < inputs; ++i) x.at(e, i) = some_number<Real>(random, special);
    for (std::size_t k = 0; k < outputs; ++k) w.at(e, k) = some_number<Real>(random, special);
  }
  std::vector<Real> parameters;
  for (const Id id : graph.parameters) {
    parameters.push_back(some_number<Real>(random, special));
    graph.tape.set_input(id, parameters.back());
  }
  replay.set_parameters(parameters);
  std::size_t begin = 0;
  for (const std::size_t end : way.cuts) {
    replay.vjp(end - begin, x.from(begin), w.from(begin), y.from(begin), g.from(begin));
    replay.values(end - begin, x.from(begin), alone.from(begin));
    begin = end;
  }
  for (std::size_t e = 0; e < n; ++e) {
    std::vector<Seed<Real>> seeds;
    for (std::size_t i = 0; i < inputs; ++i) graph.tape.set_input(graph.inputs[i], x.at(e, i));
    for (std::size_t k = 0; k < outputs; ++k) seeds.push_back({varying[k], w.at(e, k)});
    graph.tape.forward();
    graph.tape.backward(seeds);
    const auto where = [&](const char* thing, std::size_t k, Real ours, Real eager) {
      return what + ", sample " + std::to_string(e) + ", " + thing + " " + std::to_string(k) + ": " + show(ours) +
             ", eager " + show(eager);
    };
    for (std::size_t k = 0; k < outputs; ++k) {
      const Real eager = graph.tape.value(varying[k]);
      BOOST_TEST_REQUIRE(same_bits(y.at(e, k), eager), where("output", k, y.at(e, k), eager));
      BOOST_TEST_REQUIRE(same_bits(alone.at(e, k), eager), where("value", k, alone.at(e, k), eager));
    }
    for (std::size_t k = 0; k < differentiated.size(); ++k) {
      const Real eager = graph.tape.grad(differentiated[k]);
      BOOST_TEST_REQUIRE(same_bits(g.at(e, k), eager), where("gradient", k, g.at(e, k), eager));
    }
  }
}

template <class Real>
void random_graphs(std::size_t count, double custom = 0) {
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    RandomTape<Real> graph =
        random_tape<Real>(random, random.chance(0.02) ? 2000 : 1 + random.below(60), 0.3, random.chance(0.3), custom);
    graph.tape.set_zero_rule(random.chance(0.2) ? ZeroRule::ieee : ZeroRule::exact);
    std::vector<Id> differentiated;
    for (Id id : graph.inputs)
      if (random.chance(0.8)) differentiated.push_back(id);
    const Way<Real> way = random_way<Real>(random);
    compare(graph, differentiated, way, random, "graph " + std::to_string(seed) + " (" + way.show() + ")");
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(same_bits_as_eager)

BOOST_AUTO_TEST_CASE(random_graphs_f64, *uses_threads()) { random_graphs<double>(soak_graphs(2000)); }
BOOST_AUTO_TEST_CASE(random_graphs_f32, *uses_threads()) { random_graphs<float>(soak_graphs(2000)); }
BOOST_AUTO_TEST_CASE(custom_ops_f64, *uses_threads()) { random_graphs<double>(soak(1000), 0.2); }
BOOST_AUTO_TEST_CASE(custom_ops_f32, *uses_threads()) { random_graphs<float>(soak(1000), 0.2); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
