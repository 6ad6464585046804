// The same bits: random graphs, each on one random combination of instruction set, block width and batch size, against
// the tape replayed one evaluation at a time.
#include "tests/same_bits.hpp"

#include <boost/test/unit_test.hpp>

#include "tape/lane_replay.hpp"
#include "tests/backends.hpp"
#include "tests/graphs.hpp"
#include "tests/op_batch.hpp"
#include "tests/program/random_tape.hpp"

using namespace wengert;
using namespace wengert::test;

namespace {

/// All values and adjoints of one evaluation, by variable.
template <class Real>
struct Evaluation {
  std::vector<Real> values, adjoints;
};

template <class Real>
std::vector<Seed<Real>> seeds_of(const RandomTape<Real>& graph) {
  std::vector<Seed<Real>> seeds;
  for (std::size_t k = 0; k < graph.outputs.size(); ++k)
    seeds.push_back({graph.outputs[k], Real(1) - Real(0.75) * static_cast<Real>(k)});
  return seeds;
}

template <class Real>
Evaluation<Real> on_tape(RandomTape<Real>& graph, const std::vector<Real>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) graph.tape.set_input(graph.inputs[i], inputs[i]);
  graph.tape.forward();
  const auto seeds = seeds_of(graph);
  graph.tape.backward(seeds);
  Evaluation<Real> e;
  for (Id id = 0; id < graph.tape.size(); ++id) {
    e.values.push_back(graph.tape.value(id));
    e.adjoints.push_back(graph.tape.grad(id));
  }
  return e;
}

/// The op that made a variable, with what it read.
template <class Real>
std::string origin(const TapeView<Real>& tape, Id id, const std::vector<Real>& values) {
  for (const OpRecord& record : tape.ops) {
    if (id < record.out || id >= record.out + outputs_of(tape, record)) continue;
    std::string text = name_of(tape, record) + "(";
    for (Id operand : operands_of(tape, record))
      text += (text.back() == '(' ? "" : ", ") + std::to_string(operand) + ": " + show(values[operand]);
    return text + "), output " + std::to_string(id - record.out);
  }
  return "an input or a constant";
}

/// Complains about the first op, in the order of the sweeps, whose bits differ.
template <class Real, class Value, class Adjoint>
bool same(const TapeView<Real>& tape, const Evaluation<Real>& expected, Value value, Adjoint adjoint,
          const std::string& where) {
  const std::size_t n = expected.values.size();
  for (Id id = 0; id < n; ++id)
    if (!same_bits(value(id), expected.values[id])) {
      BOOST_ERROR(where << ": value " << id << " first differs: " << show(value(id)) << " instead of "
                        << show(expected.values[id]) << " from " << origin(tape, id, expected.values));
      return false;
    }
  for (Id id = static_cast<Id>(n); id-- > 0;)
    if (!same_bits(adjoint(id), expected.adjoints[id])) {
      BOOST_ERROR(where << ": adjoint " << id << " first differs: " << show(adjoint(id)) << " instead of "
                        << show(expected.adjoints[id]) << ", of " << origin(tape, id, expected.values)
                        << ", through one of its uses");
      return false;
    }
  return true;
}

/// By the plain scalar build, which the library wouldn't choose here.
template <class Real>
bool same_plain(RandomTape<Real>& graph, const Evaluation<Real>& expected, const std::string& where) {
  const TapeView<Real> tape = graph.tape.view();
  std::vector<Real> values(expected.values), adjoints(values.size(), Real(-0.0)), scratch(4096);
  for (const OpRecord& record : tape.ops) values[record.out] = 77;
  const kernels::Sweep<Real> sweep{tape.ops.data(),
                                   tape.ops.size(),
                                   tape.operands.data(),
                                   values.data(),
                                   adjoints.data(),
                                   scratch.data(),
                                   1,
                                   graph.tape.zero_rule() == ZeroRule::ieee,
                                   nullptr};
  const kernels::Backend<Real>& plain = *backends<Real>().front().backend;
  plain.forward(sweep);
  for (const Seed<Real>& seed : seeds_of(graph)) adjoints[seed.id] += seed.weight;
  plain.backward(sweep);
  return same(
      tape, expected, [&](Id id) { return values[id]; }, [&](Id id) { return adjoints[id] + Real(0); },
      where + ", plain scalar");
}

template <class Real>
bool check_graph(std::uint64_t seed, double custom) {
  Random random(seed);
  const std::size_t ops = random.chance(0.02) ? 1000 : 1 + random.below(60);
  RandomTape<Real> graph = random_tape<Real>(random, ops, 0.3, false, custom);
  const bool ieee = random.chance(0.1);
  if (ieee) graph.tape.set_zero_rule(ZeroRule::ieee);

  static constexpr std::size_t batches[] = {0, 1, 7, 8, 9, 15, 17, 63, 64, 65, 1000};
  const std::size_t batch = batches[random.below(random.chance(0.05) ? 11 : 10)];
  const std::vector<Isa> isas = usable_isas();
  const Isa isa = random.of(isas);
  std::size_t width;
  do width = std::size_t(8) << random.below(5);
  while (width > 512 / sizeof(Real) || width % static_cast<std::size_t>(kernels::backend<Real>(isa).lanes) != 0);
  const std::string where = std::string(precision_name<Real>()) + ", graph " + std::to_string(seed) + ", " +
                            std::string(name(isa)) + ", blocks of " + std::to_string(width) + ", batch of " +
                            std::to_string(batch);

  // Recording itself gave these numbers first.
  {
    std::vector<Real> recorded;
    for (Id id = 0; id < graph.tape.size(); ++id) recorded.push_back(graph.tape.value(id));
    graph.tape.forward();
    for (Id id = 0; id < graph.tape.size(); ++id)
      if (!same_bits(recorded[id], graph.tape.value(id))) {
        BOOST_ERROR(where << ": replay of the tape differs from its recording at "
                          << origin(graph.tape.view(), id, recorded));
        return false;
      }
  }

  const double special = random.chance(0.5) ? 0.1 : 0;
  Columns<Real> x(graph.inputs.size());
  for (auto& column : x)
    for (std::size_t e = 0; e < batch; ++e) column.push_back(some_number<Real>(random, special));
  const auto seeds = seeds_of(graph);
  LaneReplay<Real> replay(graph.tape, isa, width);
  std::vector<Real> block(graph.inputs.size() * width);
  for (std::size_t first = 0; first < batch;) {
    // Any split: a block needn't be full.
    const std::size_t count = std::min(batch - first, random.chance(0.3) ? 1 + random.below(width) : width);
    for (std::size_t i = 0; i < x.size(); ++i)
      std::copy_n(x[i].begin() + static_cast<std::ptrdiff_t>(first), count,
                  block.begin() + static_cast<std::ptrdiff_t>(i * width));
    replay.load(block.data(), width, count);
    replay.forward();
    replay.backward(seeds);
    // A few lanes of large blocks, all of small ones.
    for (std::size_t lane = random.below(1 + count / 8); lane < count; lane += 1 + random.below(1 + count / 4)) {
      std::vector<Real> inputs;
      for (const auto& column : x) inputs.push_back(column[first + lane]);
      const Evaluation<Real> expected = on_tape(graph, inputs);
      if (!same(
              graph.tape.view(), expected, [&](Id id) { return replay.values(id)[lane]; },
              [&](Id id) { return replay.adjoints(id)[lane] + Real(0); },
              where + ", evaluation " + std::to_string(first + lane)))
        return false;
      if (!ieee && custom == 0 && first == 0 && !same_plain(graph, expected, where)) return false;
    }
    first += count;
  }
  return true;
}

template <class Real>
void check_graphs(std::size_t count, double custom = 0) {
  int failures = 0;
  for (std::uint64_t seed = 0; seed < count && failures < 5; ++seed) failures += !check_graph<Real>(seed, custom);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(same_bits_suite)

BOOST_AUTO_TEST_CASE(random_graphs_f64) { check_graphs<double>(soak_graphs(5000)); }
BOOST_AUTO_TEST_CASE(random_graphs_f32) { check_graphs<float>(soak_graphs(5000)); }
BOOST_AUTO_TEST_CASE(custom_ops_f64) { check_graphs<double>(soak(500), 0.2); }
BOOST_AUTO_TEST_CASE(custom_ops_f32) { check_graphs<float>(soak(500), 0.2); }

BOOST_AUTO_TEST_SUITE_END()
