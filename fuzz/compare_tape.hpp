// A tape made of bytes, with guards, evaluated as it is and as a program on each instruction set, saved and loaded too. Bits must
// agree, and so must who leaves the recorded path, and where.
#pragma once

#include <optional>

#include "fuzz/bytes.hpp"
#include "kernels/dispatch.hpp"
#include "tape/program.hpp"
#include "tests/program/program_file.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "wengert/replay.hpp"

namespace wengert::fuzz {

/// Guards on any variables, mostly as they are now. The line of each is its number.
template <class Real>
void add_guards(Bytes& bytes, NaiveTape<Real>& tape) {
  for (std::uint32_t k = bytes.chance(0.5) ? 0 : static_cast<std::uint32_t>(bytes.below(8)); k > 0; --k) {
    const Id condition = static_cast<Id>(bytes.below(tape.size()));
    const bool holds = tape.value(condition) != 0;
    tape.guard(
        {condition, bytes.chance(0.1) ? !holds : holds, static_cast<std::uint32_t>(tape.view().guards.size()), "fuzz"});
  }
}

/// The first guard of the samples, or of the batch, that comes out otherwise on the tape as it is now.
template <class Real>
std::optional<std::uint32_t> first_departure(const NaiveTape<Real>& tape, const std::vector<test::Kind>& kinds,
                                             bool of_batch) {
  const TapeView<Real> view = tape.view();
  for (const Guard& guard : view.guards) {
    const bool uniform = !view.parameters.empty() && kinds[guard.condition] != test::Kind::varying;
    if (uniform == of_batch && (view.values[guard.condition] != 0) != guard.outcome) return guard.line;
  }
  return {};
}

/// What a replay says of a sample, or of the batch.
template <class Real>
std::optional<std::uint32_t> reported(const Replay<Real>& replay, std::size_t sample) {
  for (const Departure& departure : replay.departures())
    if (departure.sample == sample) return replay.program().guard(departure.guard).line;
  return {};
}

/// The program on each instruction set; what a file of it gives, where it has no custom ops.
template <class Real, class Act>
void each_way(const Program<Real>& program, const Act& act) {
  for (const Isa isa : usable_isas())
    for (const char* const engine : {"interpreter", "native"}) {
      ReplayOptions options;
      options.isa = std::string(name(isa));
      options.engine = engine;
      if (isa == Isa::avx512 || options.engine == "interpreter") act(program, options);
    }
  ReplayOptions options;
  options.isa = "scalar";
  if (program.data().source.rules.empty()) act(test::loaded<Real>(test::saved(program)), options);
}

/// `custom`: how often an op is a custom one.
template <class Real>
void compare(Bytes& bytes, double custom) {
  test::RandomTape<Real> graph = test::random_tape<Real>(bytes, bytes.below(120), 0.2, bytes.chance(0.4), custom);
  add_guards(bytes, graph.tape);
  const std::vector<test::Kind> kinds = test::kinds(graph);
  graph.tape.set_zero_rule(bytes.chance(0.3) ? ZeroRule::ieee : ZeroRule::exact);
  std::vector<Id> differentiated;
  for (Id id : graph.inputs)
    if (bytes.chance(0.8)) differentiated.push_back(id);
  const Program<Real> program = compile(graph.tape, std::span<const Id>(graph.outputs), CompileOptions{differentiated});
  const std::vector<Id> varying = test::varying_outputs(graph);
  const std::size_t samples = 1 + bytes.below(9), n = graph.inputs.size(), m = varying.size(),
                    d = differentiated.size();
  require(program.outputs() == m, "a wrong number of outputs");

  std::vector<Real> x(samples * n), weights(samples * m), parameters;
  for (Real& number : x) number = test::some_number<Real>(bytes, 0.2);
  for (Real& number : weights) number = test::some_number<Real>(bytes, 0.2);
  for (Id id : graph.parameters) {
    parameters.push_back(test::some_number<Real>(bytes, 0.2));
    graph.tape.set_input(id, parameters.back());
  }
  const std::size_t lanes = bytes.below(5);
  each_way(program, [&](const Program<Real>& one, ReplayOptions options) {
    options.lanes = options.isa == "scalar" ? lanes : 0;
    options.report_departures = true;
    Replay<Real> replay(one, options);
    replay.set_parameters(parameters);
    std::vector<Real> values(samples * m), alone(samples * m), gradients(samples * d);
    replay.vjp(samples, rows<const Real>(x.data(), n), rows<const Real>(weights.data(), m), rows(values.data(), m),
               rows(gradients.data(), d));
    replay.values(samples, rows<const Real>(x.data(), n), rows(alone.data(), m));
    for (std::size_t e = 0; e < samples; ++e) {
      for (std::size_t i = 0; i < n; ++i) graph.tape.set_input(graph.inputs[i], x[e * n + i]);
      std::vector<Seed<Real>> seeds;
      for (std::size_t k = 0; k < m; ++k) seeds.push_back({varying[k], weights[e * m + k]});
      try {
        graph.tape.forward();
      } catch (const Error& error) {  // everything is computed all the same
        require(error.code() == ErrorCode::other_path, error.what());
      }
      require(reported(replay, e) == first_departure(graph.tape, kinds, false), "who leaves the path");
      require(reported(replay, Departure::every_sample) == first_departure(graph.tape, kinds, true),
              "where the batch does");
      graph.tape.backward(seeds);
      for (std::size_t k = 0; k < m; ++k) {
        require(test::same_bits(values[e * m + k], graph.tape.value(varying[k])), "an output");
        require(test::same_bits(alone[e * m + k], graph.tape.value(varying[k])), "a value");
      }
      for (std::size_t k = 0; k < d; ++k)
        require(test::same_bits(gradients[e * d + k], graph.tape.grad(differentiated[k])), "a gradient");
    }
  });
}

}  // namespace wengert::fuzz
