// Machine code of dual numbers: for every op and random graphs, tangents of values and of gradients have the interpreter's bits.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/every_op.hpp"
#include "tests/points.hpp"
#include "tests/program/native_blocks.hpp"
#include "tests/program/one_op.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/soak.hpp"

namespace wengert::test {
namespace {

/// Columns of a batch.
template <class Real>
struct Batch {
  std::size_t samples;
  std::vector<Real> inputs, directions, weights;

  template <class Draw>
  Batch(const Program<Real>& program, std::size_t samples_, Random& random, const Draw& input)
      : samples(samples_),
        inputs(samples * program.inputs()),
        directions(samples * program.differentiated()),
        weights(samples * program.outputs()) {
    for (std::size_t k = 0; k < inputs.size(); ++k) inputs[k] = input(k / samples, k % samples);
    for (std::vector<Real>* numbers : {&directions, &weights})
      for (Real& number : *numbers)
        number = random.chance(0.002) ? some_number<Real>(random, 0.5) : static_cast<Real>(random.in(-2, 2));
  }
};

template <class Real>
struct Derivatives {
  std::vector<Real> values, gradients, tangents;

  Derivatives(const Program<Real>& program, bool gradient, std::size_t samples)
      : values(samples * program.outputs()),
        gradients(gradient ? samples * program.differentiated() : 0),
        tangents(samples * (gradient ? program.differentiated() : program.outputs())) {}
};

template <class Real>
Derivatives<Real> interpreted(const Program<Real>& program, bool gradient, const Batch<Real>& x) {
  const std::size_t n = x.samples;
  Derivatives<Real> all(program, gradient, n);
  Replay<Real> replay(program);
  if (gradient)
    replay.hvp(n, columns(x.inputs.data(), n), columns(x.directions.data(), n), columns(all.values.data(), n),
               columns(all.gradients.data(), n), columns(all.tangents.data(), n), columns(x.weights.data(), n));
  else
    replay.jvp(n, columns(x.inputs.data(), n), columns(x.directions.data(), n), columns(all.values.data(), n),
               columns(all.tangents.data(), n));
  return all;
}

/// Blocks of a batch, then each sample by itself, by machine code alone, against the interpreter. Returns how many it did, of all kinds.
struct Done {
  std::size_t blocks = 0, samples = 0;
};
template <class Real>
Done run_blocks(const Program<Real>& program, Isa isa, const Batch<Real>& x, const std::string& what) {
  Done done;
  const std::size_t n = x.samples;
  for (const bool gradient : {false, true}) {
    const plan::Evaluation kind(gradient, plan::Numbers::dual);
    const Derivatives<Real> wanted = interpreted(program, gradient, x);
    Derivatives<Real> ours(program, gradient, n);
    const NativeBatch<Real> batch{n,
                                  columns(x.inputs.data(), n),
                                  columns(x.weights.data(), n),
                                  columns(ours.values.data(), n),
                                  columns(ours.gradients.data(), n),
                                  columns(x.directions.data(), n),
                                  columns(ours.tangents.data(), n)};
    const auto check_samples = [&](std::size_t first, std::size_t count, const char* by) {
      const auto check = [&](const char* thing, const std::vector<Real>& a, const std::vector<Real>& b) {
        for (std::size_t k = 0; k < a.size(); ++k)
          if (k % n >= first && k % n < first + count && !same_bits(a[k], b[k]))
            BOOST_FAIL(what << ", " << name(isa) << (gradient ? ", hvp" : ", jvp") << by << ", sample " << k % n << ", "
                            << thing << ' ' << k / n << ": " << show(a[k]) << ", interpreter " << show(b[k]));
      };
      check("value", ours.values, wanted.values);
      check("gradient", ours.gradients, wanted.gradients);
      check("tangent", ours.tangents, wanted.tangents);
    };
    NativeRunner<Real> code(program.data(), isa, kind);
    BOOST_TEST_REQUIRE(code.why_not() == "", what);
    const std::size_t block = code.code().lanes();
    for (std::size_t first = 0; first < n; first += block) {
      code.begin(batch, 1, nullptr);
      const std::size_t count = std::min(block, n - first);
      if (!code.run({first, count}, 0, block)) continue;
      ++done.blocks;
      check_samples(first, count, "");
    }
    for (std::vector<Real>* results : {&ours.values, &ours.gradients, &ours.tangents})
      std::fill(results->begin(), results->end(), Real(-77));
    NativePoint<Real> point(program.data(), isa, kind, batch);
    BOOST_TEST_REQUIRE(point.why_not() == "", what);
    NativeBatch<Real> rest = batch;
    for (std::size_t e = 0; e < n; ++e, rest.advance()) {
      if (!point.run_checked(rest)) continue;
      ++done.samples;
      check_samples(e, 1, ", alone");
    }
  }
  return done;
}

template <class Real>
Real ordinary(Random& random, Op op, std::size_t i) {
  const OpInfo::Range& range = info(op).domain[info(op).arity == 0 ? 0 : i];
  return static_cast<Real>(random.in(std::max(range.low, -2.5), std::min(range.high, 2.5)));
}

/// At ordinary points, then at all its special ones.
template <class Real>
void every_op(Op op, std::size_t n) {
  const Program<Real> program = program_of<Real>(op, n);
  if (has_no_vector_form(op)) {
    for (const Isa isa : native_isas())
      BOOST_TEST(NativeRunner<Real>(program.data(), isa, {true, plan::Numbers::dual}).why_not() != "");
    return;
  }
  const std::uint64_t seed = static_cast<std::uint64_t>(op) * 100 + n;
  Random random(seed);
  const Columns<Real> special = points<Real>(op, n, 300, seed);
  const std::size_t samples = std::clamp<std::size_t>(soak(1003), 103, 10'003), tame = samples * 4 / 10;
  const Batch<Real> x(program, samples, random, [&](std::size_t i, std::size_t e) {
    return e < tame ? ordinary<Real>(random, op, i) : special[i][(e - tame) * 7919 % special[i].size()];
  });
  for (const Isa isa : native_isas()) {
    const Done done = run_blocks(program, isa, x, std::string(name(op)) + " of " + std::to_string(n));
    const std::size_t blocks = 2 * tame / (64 / sizeof(Real));
    if (looks_closer(op)) continue;
    BOOST_TEST(done.blocks >= blocks / 2, name(op) << ", " << name(isa) << ": only " << done.blocks << " blocks");
    BOOST_TEST(done.samples >= tame, name(op) << ", " << name(isa) << ": only " << done.samples << " samples");
  }
}

/// In code so long that ops which take many operations are subroutines.
template <class Real>
void many_of_one_op(Op op, std::size_t n) {
  const Program<Real> program = program_of<Real>(op, n, 5, for_subroutines);
  Random random(static_cast<std::uint64_t>(op) * 10 + n);
  const Batch<Real> x(program, 35, random, [&](std::size_t i, std::size_t) {
    return i + 1 == program.inputs() ? Real(-1) : ordinary<Real>(random, op, i % n);
  });
  for (const Isa isa : native_isas()) {
    const Done done = run_blocks(program, isa, x, std::string(name(op)) + " in subroutines");
    if (!looks_closer(op)) BOOST_TEST((done.blocks > 0u && done.samples > 0u), name(isa));
  }
}

void every_op(Op op) {
  each_count(op, {1, 2, 3, 4, 6, 8, 12, 40}, [op](std::size_t n) { every_op<double>(op, n), every_op<float>(op, n); });
}
void many_of_one_op(Op op) {
  if (has_no_vector_form(op)) return;
  each_count(op, {2, 3, 4}, [op](std::size_t n) { many_of_one_op<double>(op, n), many_of_one_op<float>(op, n); });
}

template <class Real>
void random_graphs(std::size_t count) {
  std::size_t done = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    RandomTape<Real> graph = random_tape<Real>(random, random.chance(0.1) ? 600 : 1 + random.below(60), 0.05);
    graph.tape.set_zero_rule(random.chance(0.5) ? ZeroRule::ieee : ZeroRule::exact);
    const std::string what = "graph " + std::to_string(seed);
    CompileOptions options;
    if (random.chance(0.3)) options.differentiated.emplace(graph.inputs.begin(), graph.inputs.begin() + 1);
    const Program<Real> program = compile(graph.tape, std::span<const Id>(graph.outputs), options);
    if (!NativeRunner<Real>(program.data(), native_isas()[0], true).why_not().empty()) continue;
    const Batch<Real> x(program, 1 + random.below(70), random,
                        [&](std::size_t, std::size_t) { return some_number<Real>(random, 0.002); });
    for (const Isa isa : native_isas()) done += run_blocks(program, isa, x, what).blocks;
  }
  BOOST_TEST(done >= count / 2, "machine code did only " << done << " blocks");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(native_duals, *needs(Isa::avx2))

BOOST_DATA_TEST_CASE(fixed_op, boost::unit_test::data::make(fixed_ops), op) { every_op(op); }
BOOST_DATA_TEST_CASE(nary_op, boost::unit_test::data::make(nary_ops), op) { every_op(op); }
BOOST_DATA_TEST_CASE(fixed_op_in_subroutines, boost::unit_test::data::make(fixed_ops), op) { many_of_one_op(op); }
BOOST_DATA_TEST_CASE(nary_op_in_subroutines, boost::unit_test::data::make(nary_ops), op) { many_of_one_op(op); }

BOOST_AUTO_TEST_CASE(random_graphs_f64) { random_graphs<double>(soak(400)); }
BOOST_AUTO_TEST_CASE(random_graphs_f32) { random_graphs<float>(soak(400)); }
BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
