// The operations of machine code: how few they are, their order, which are computed again.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "codegen/delay.hpp"
#include "codegen/rematerialize.hpp"
#include "codegen/schedule.hpp"
#include "tests/program/native_blocks.hpp"
#include "tests/random.hpp"
#include "tests/soak.hpp"

namespace wengert::test {

BOOST_AUTO_TEST_SUITE(native_order, *needs(Isa::avx2))

BOOST_AUTO_TEST_CASE(choices_take_few_operations) {
  using codegen::Do;
  NaiveTape<double> tape;
  const Id x = tape.input(1), y = tape.input(2);
  const auto larger = compile(tape, tape.max(x, y)), smaller = compile(tape, tape.min(x, y)),
             positive = compile(tape, tape.max(x, tape.constant(0)));
  for (const Isa isa : native_isas()) {
    const auto count = [&](const Program<double>& program, bool gradient, auto which) {
      const codegen::Graph graph = plan::lower_to_graph(program.data(), {gradient, {native_target(isa), false, 1}});
      return std::count_if(graph.nodes().begin(), graph.nodes().end(), which);
    };
    const auto is = [](Do what) { return [what](const codegen::Node& node) { return node.what == what; }; };
    BOOST_TEST(count(larger, false, is(Do::max)) == 1);
    BOOST_TEST(count(smaller, false, is(Do::min)) == 1);
    BOOST_TEST(count(larger, false, is(Do::blend)) + count(smaller, false, is(Do::blend)) == 0);
    // The slope is 0 below a constant and at it: one comparison.
    const auto less_or_equal = [](const codegen::Node& node) {
      return node.what == Do::compare && node.immediate == static_cast<unsigned>(codegen::Comparison::less_equal);
    };
    BOOST_TEST(count(positive, true, less_or_equal) == 1);
    BOOST_TEST(count(larger, true, less_or_equal) == 0);
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

/// With the few registers of AVX2 numbers of tables are loaded just before they are needed, and what is short is in one order.
BOOST_AUTO_TEST_CASE(order_for_few_registers) {
  const auto scheduled = [](const NaiveTape<double>& tape, Id output, const codegen::Target& target) {
    codegen::Graph graph = plan::lower_to_graph(compile(tape, output).data(), {false, {&target, true, 1}});
    codegen::schedule(graph);
    return graph;
  };
  NaiveTape<double> functions;
  const Id y = functions.erfc(functions.input(0.5));
  // Nodes between a lookup and what reads it first, all together.
  const auto waiting = [&](const codegen::Target& target) {
    const codegen::Graph graph = scheduled(functions, y, target);
    std::size_t sum = 0;
    for (std::size_t v = 0; v < graph.nodes().size(); ++v) {
      if (graph.nodes()[v].what != codegen::Do::lookup) continue;
      std::size_t reader = v + 1;
      const auto reads = [&](const codegen::Node& node) { return node.a == v || node.b == v || node.c == v; };
      while (!reads(graph.nodes()[reader])) ++reader;
      sum += reader - v;
    }
    return sum;
  };
  BOOST_TEST(waiting(codegen::avx2) > 0u);
  BOOST_TEST(waiting(codegen::avx2) < waiting(codegen::avx512) * 3 / 4);

  // Two chains, recorded one after the other: where the second begins.
  NaiveTape<double> chains;
  const Id x[2] = {chains.input(1.0), chains.input(1.0)};
  Id last[2] = {x[0], x[1]};
  for (int c = 0; c < 2; ++c)
    for (int k = 0; k < 150; ++k) last[c] = chains.mul(last[c], x[c]);
  const auto second_begins = [&](const codegen::Target& target) {
    const codegen::Graph graph = scheduled(chains, chains.sub(last[0], last[1]), target);
    const codegen::Value second = 1;  // input
    std::size_t v = 0;
    while (graph.nodes()[v].what != codegen::Do::mul || graph.nodes()[v].a != second) ++v;
    return v;
  };
  BOOST_TEST(second_begins(codegen::avx2) < 6u);
  BOOST_TEST(second_begins(codegen::avx512) > 100u);
}
BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
