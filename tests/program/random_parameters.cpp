// Random programs with parameters and sums over the samples: the bits of the eager tape and of sums in the documented order, on every
// instruction set, engine, block width, number of threads, division of the work and layout.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/program/laid_out.hpp"
#include "tests/program/random_objective.hpp"
#include "tests/program/some_number.hpp"
#include "tests/program/sum_in_order.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {
namespace {

/// Numbers of a batch, sample by sample. What wasn't asked for is empty.
template <class Real>
struct Results {
  std::vector<Real> values, gradients, tangents, products;
  std::vector<Real> outputs, in_parameters, uniform_tangents, parameter_products;
};

template <class Real>
struct Batch {
  std::size_t samples;
  std::vector<Real> parameters, inputs, weights, uniform_weights, directions, parameter_directions;
  bool ones;  // all weights are 1
};

template <class Real>
std::vector<Real> numbers(Random& random, std::size_t count, double special) {
  std::vector<Real> all(count);
  for (Real& number : all) number = some_number<Real>(random, special);
  return all;
}

template <class Real>
Batch<Real> random_batch(Random& random, const Program<Real>& program) {
  const std::vector<std::size_t> sizes = {0, 1, 7, 63, 64, 65, 200, 1000, 1023, 1024, 1025, 1100, 2048, 3000, 5000};
  const double special = random.chance(0.3) ? 0.02 : 0;
  Batch<Real> b{random.of(sizes), {}, {}, {}, {}, {}, {}, random.chance(0.4)};
  b.parameters = numbers<Real>(random, program.parameters(), special);
  b.inputs = numbers<Real>(random, b.samples * program.inputs(), special);
  b.weights = numbers<Real>(random, b.samples * program.outputs(), special);
  b.uniform_weights = numbers<Real>(random, program.uniform_outputs(), special);
  b.directions = numbers<Real>(random, b.samples * program.differentiated(), special);
  b.parameter_directions = numbers<Real>(random, program.differentiated_parameters(), special);
  if (random.chance(0.3)) std::fill(b.parameter_directions.begin(), b.parameter_directions.end(), Real(0));
  if (b.ones)
    for (std::vector<Real>* weights : {&b.weights, &b.uniform_weights})
      std::fill(weights->begin(), weights->end(), Real(1));
  return b;
}

/// Values and derivatives by the eager tape, sample by sample, and sums in their order.
template <class Real>
Results<Real> expected(std::uint64_t seed, const Batch<Real>& data, const std::vector<bool>& differentiated) {
  Recorded<Real> sample = record<Real>(seed, Part::sample), batch = record<Real>(seed, Part::batch);
  const std::size_t n = data.samples, inputs = sample.inputs.size(), outputs = sample.outputs.size();
  const auto set = [](Recorded<Real>& part, const std::vector<Id>& ids, const Real* to) {
    for (const Id id : ids) part.tape.set_input(id, *to++);
  };
  Results<Real> r;
  set(batch, batch.parameters, data.parameters.data());
  batch.tape.forward();
  for (std::size_t k = 0; k < sample.uniforms.size(); ++k)
    sample.tape.set_input(sample.uniforms[k], batch.tape.value(batch.uniforms[k]));
  std::vector<std::vector<Real>> terms(sample.terms.size()), totals(sample.uniforms.size());
  for (std::size_t e = 0; e < n; ++e) {
    set(sample, sample.inputs, &data.inputs[e * inputs]);
    sample.tape.forward();
    for (const Id id : sample.outputs) r.values.push_back(sample.tape.value(id));
    for (std::size_t k = 0; k < terms.size(); ++k) terms[k].push_back(sample.tape.value(sample.terms[k]));
  }
  for (std::size_t k = 0; k < terms.size(); ++k) batch.tape.set_input(batch.sums[k], sum_in_order(terms[k]));
  batch.tape.forward();
  std::vector<Seed<Real>> of_batch, of_sample(outputs);
  for (std::size_t k = 0; k < batch.uniform_outputs.size(); ++k) {
    r.outputs.push_back(batch.tape.value(batch.uniform_outputs[k]));
    of_batch.push_back({batch.uniform_outputs[k], data.uniform_weights[k]});
  }
  batch.tape.backward(of_batch);
  for (std::size_t k = terms.size(); k-- > 0;) {
    const auto& all = batch.uniform_outputs;
    if (!batch.plain || std::find(all.begin(), all.end(), batch.sums[k]) != all.end())
      of_sample.push_back({sample.terms[k], batch.tape.grad(batch.sums[k])});
  }
  for (std::size_t e = 0; e < n; ++e) {
    set(sample, sample.inputs, &data.inputs[e * inputs]);
    sample.tape.forward();
    for (std::size_t k = 0; k < outputs; ++k) of_sample[k] = {sample.outputs[k], data.weights[e * outputs + k]};
    sample.tape.backward(of_sample);
    for (std::size_t i = 0; i < inputs; ++i)
      if (differentiated[batch.parameters.size() + i]) r.gradients.push_back(sample.tape.grad(sample.inputs[i]));
    for (std::size_t k = 0; k < totals.size(); ++k) totals[k].push_back(sample.tape.grad(sample.uniforms[k]));
  }
  for (std::size_t k = 0; k < totals.size(); ++k) {
    batch.tape.set_input(batch.totals[k], sum_in_order(totals[k]));
    of_batch.push_back({batch.taps[k], 1});
  }
  batch.tape.forward();
  batch.tape.backward(of_batch);
  for (std::size_t k = 0; k < batch.parameters.size(); ++k)
    if (differentiated[k]) r.in_parameters.push_back(batch.tape.grad(batch.parameters[k]));
  return r;
}

/// Cuts the work where nobody would, and gives parts to chunks as it comes; each chunk's thread takes its own.
ParallelFor oddly(std::uint64_t seed, unsigned threads) {
  return [seed, threads](std::size_t count, const auto& body) {
    Random random(seed);
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> parts(threads);
    for (std::size_t begin = 0, end; begin < count; begin = end) {
      end = begin + 1 + random.below(std::min<std::size_t>(count - begin, 3));
      std::vector<std::pair<std::size_t, std::size_t>>& mine = parts[random.below(threads)];
      mine.insert(random.chance(0.5) ? mine.begin() : mine.end(), {begin, end});
    }
    std::vector<std::jthread> beside;
    for (unsigned chunk = 0; chunk < threads; ++chunk)
      beside.emplace_back([&, chunk] {
        for (const auto& [begin, end] : parts[chunk]) body(chunk, begin, end);
      });
  };
}

enum class Call { values, vjp, jvp, hvp };

template <class Real>
Results<Real> run(Replay<Real>& replay, const Batch<Real>& data, Call call, Layout from, Layout into,
                  bool sums_alone = false) {
  const Program<Real>& program = replay.program();
  const std::size_t n = data.samples;
  const bool second = call == Call::jvp || call == Call::hvp, back = call == Call::vjp || call == Call::hvp;
  const auto filled = [&](const std::vector<Real>& of, std::size_t items) {
    auto table = std::make_unique<LaidOut<Real>>(n, items, from);
    for (std::size_t k = 0; k < of.size(); ++k) table->at(k / items, k % items) = of[k];
    return table;
  };
  const auto inputs = filled(data.inputs, program.inputs()), weights = filled(data.weights, program.outputs()),
             directions = filled(data.directions, program.differentiated());
  LaidOut<Real> values(n, program.outputs(), into), gradients(n, program.differentiated(), into),
      along(n, call == Call::jvp ? program.outputs() : program.differentiated(), into);
  const auto to = [&](const LaidOut<Real>& table) { return sums_alone ? Samples<Real>() : table.from(); };
  // Where nothing is the same for all samples but parameters they may have no directions, and what goes along samples' is asked for.
  const Samples<Real> to_along = program.uniform_outputs() == 0 ? along.from() : to(along);
  const std::span<const Real> uniform_weights = data.uniform_weights;
  replay.set_parameters(data.parameters);
  replay.set_parameter_directions(data.parameter_directions);
  switch (call) {
    case Call::values: replay.values(n, inputs->from(), to(values)); break;
    case Call::vjp:
      if (!data.ones) replay.vjp(n, inputs->from(), weights->from(), to(values), to(gradients), uniform_weights);
      else if (program.outputs() + program.uniform_outputs() == 1)
        replay.gradient(n, inputs->from(), to(values), to(gradients));
      else replay.vjp(n, inputs->from(), {}, to(values), to(gradients));
      break;
    case Call::jvp: replay.jvp(n, inputs->from(), directions->from(), to(values), to_along); break;
    case Call::hvp:
      replay.hvp(n, inputs->from(), directions->from(), to(values), to(gradients), to_along, weights->from(),
                 uniform_weights);
      break;
  }
  const auto taken = [&](LaidOut<Real>& table, std::size_t items, bool wanted) {
    std::vector<Real> all(wanted && !sums_alone ? n * items : 0);
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = table.at(k / items, k % items);
    return all;
  };
  const auto copy = [](std::span<const Real> from, bool wanted) {
    return wanted ? std::vector<Real>(from.begin(), from.end()) : std::vector<Real>();
  };
  return {taken(values, program.outputs(), true),
          taken(gradients, program.differentiated(), back),
          taken(along, program.outputs(), call == Call::jvp),
          taken(along, program.differentiated(), call == Call::hvp),
          copy(replay.uniform_outputs(), true),
          copy(replay.parameter_gradients(), back),
          copy(replay.uniform_tangents(), second),
          copy(replay.parameter_products(), call == Call::hvp)};
}

template <class Real>
void compare(const Results<Real>& ours, const Results<Real>& other, const std::string& where) {
  const auto check = [&](const char* what, const std::vector<Real>& a, const std::vector<Real>& b) {
    if (a.empty() || b.empty()) return;
    BOOST_TEST_REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k)
      if (!same_bits(a[k], b[k]))  // an assertion for each would be most of the time
        BOOST_FAIL(what << ' ' << k << ": " << show(a[k]) << ", not " << show(b[k]) << ", " << where);
  };
  check("uniform output", ours.outputs, other.outputs);
  check("in parameter", ours.in_parameters, other.in_parameters);
  check("tangent of uniform output", ours.uniform_tangents, other.uniform_tangents);
  check("product in parameter", ours.parameter_products, other.parameter_products);
  check("value", ours.values, other.values);
  check("gradient", ours.gradients, other.gradients);
  check("tangent", ours.tangents, other.tangents);
  check("product", ours.products, other.products);
}

template <class Real>
ReplayOptions random_options(Random& random) {
  ReplayOptions options;
  const Isa isa = random.of(usable_isas());
  const std::size_t vector = static_cast<std::size_t>(kernels::backend<Real>(isa).lanes);
  const std::vector<std::size_t> lanes = {0, 0, 1, 3 * vector, 24, 64, 96, 128, 192, 704, 2048};
  options.isa = std::string(name(isa));
  options.lanes = (random.of(lanes) + vector - 1) / vector * vector;
  options.threads = random.of(std::vector{1u, 2u, 3u, 7u});
  options.engine = random.of(std::vector<std::string>{"interpreter", "native", "auto"});
  if (options.threads > 1 && random.chance(0.5)) options.parallel_for = oddly(random.bits(), options.threads);
  return options;
}

template <class Real>
void random_programs(std::size_t count) {
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(2 * seed + (sizeof(Real) == 4));
    const std::uint64_t of_program = random.bits();
    const Recorded<Real> whole = record<Real>(of_program, Part::whole);
    std::vector<Id> outputs = whole.outputs, differentiated;
    outputs.insert(outputs.end(), whole.uniform_outputs.begin(), whole.uniform_outputs.end());
    std::vector<bool> is_differentiated;
    const bool all = random.chance(0.5);
    for (const std::vector<Id>* ids : {&whole.parameters, &whole.inputs})
      for (const Id id : *ids) {
        is_differentiated.push_back(all || random.chance(0.7));
        if (is_differentiated.back()) differentiated.push_back(id);
      }
    const Program<Real> program = compile(whole.tape, std::span<const Id>(outputs), CompileOptions{differentiated});
    std::vector<Batch<Real>> batches;
    std::vector<Results<Real>> eager, tangents, products;
    Replay<Real> scalar(program, {.isa = "scalar"});
    for (int k = 0; k < 2; ++k) {
      const Batch<Real>& data = batches.emplace_back(random_batch(random, program));
      eager.push_back(expected<Real>(of_program, data, is_differentiated));
      tangents.push_back(run(scalar, data, Call::jvp, Layout::rows, Layout::rows));
      products.push_back(run(scalar, data, Call::hvp, Layout::rows, Layout::rows));
    }
    for (int way = 0; way < 5; ++way) {
      const ReplayOptions options = random_options<Real>(random);
      Replay<Real> replay(program, options);
      for (int turn = 0; turn < 3; ++turn) {
        const std::size_t k = random.below(batches.size());
        const Call call = random.of(std::vector{Call::values, Call::vjp, Call::vjp, Call::jvp, Call::hvp});
        const std::vector<Layout> layouts = {Layout::columns, Layout::rows, Layout::columns, Layout::apart};
        const Layout from = random.of(layouts), into = random.chance(0.5) ? from : random.of(layouts);
        const Results<Real> ours = run(replay, batches[k], call, from, into, random.chance(0.3));
        const std::string where =
            "program " + std::to_string(seed) + ", call " + std::to_string(static_cast<int>(call)) + ", " +
            options.isa + ", " + options.engine + ", " + std::to_string(options.lanes) + " lanes, " +
            std::to_string(options.threads) + (options.parallel_for ? " chunks, " : " threads, ") +
            std::to_string(batches[k].samples) + " samples in " + layout_names[static_cast<std::size_t>(from)] +
            " into " + layout_names[static_cast<std::size_t>(into)];
        compare(ours, eager[k], where);
        if (call == Call::jvp) compare(ours, tangents[k], where);
        if (call == Call::hvp) compare(ours, products[k], where);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_parameters)

BOOST_AUTO_TEST_CASE(programs_f64, *uses_threads()) { random_programs<double>(soak(150)); }
BOOST_AUTO_TEST_CASE(programs_f32, *uses_threads()) { random_programs<float>(soak(150)); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
