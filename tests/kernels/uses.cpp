// What a row says that its partials read (uses::) is what they read: anything else may be poisoned, and each thing named
// makes a difference somewhere. The plan keeps only what is named, so a lie here is a wrong gradient there.
#include "kernels/dispatch.hpp"
#include "tests/every_op.hpp"
#include "tests/points.hpp"
#include "tests/same_bits.hpp"

using namespace wengert;
using namespace wengert::test;

namespace {

constexpr std::size_t tries = 4000;

/// A number that isn't `x`.
double other_than(double x, Random& random) {
  static const std::vector<double> poison = edges<double>();
  for (;;)
    if (const double p = random.chance(0.5) ? random.of(poison) : random.in(-9, 9); !same_bits(p, x)) return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(uses_suite)

BOOST_DATA_TEST_CASE(fixed, boost::unit_test::data::make(fixed_ops), op) {
  const auto& backend = kernels::backend<double>(Isa::scalar);
  const OpInfo& row = info(op);
  const Columns<double> x = points<double>(op, static_cast<std::size_t>(row.arity), tries, 9);
  Random random(10);
  constexpr unsigned flags[] = {uses::A, uses::B, uses::C, uses::Y, uses::T};
  unsigned seen[3] = {};
  for (std::size_t e = 0; e < x[0].size(); ++e) {
    double in[5] = {0, 0, 0, 0, 0.5};
    for (int i = 0; i < row.arity; ++i) in[i] = x[static_cast<std::size_t>(i)][e];
    in[3] = backend.value(op, in[0], in[1], in[2]);
    double clean[3] = {}, poisoned[3] = {};
    backend.partials(op, in[0], in[1], in[2], in[3], in[4], clean);
    for (std::size_t what = 0; what < 5; ++what) {
      const double kept = in[what];
      in[what] = other_than(kept, random);
      backend.partials(op, in[0], in[1], in[2], in[3], in[4], poisoned);
      in[what] = kept;
      for (int k = 0; k < row.arity; ++k) {
        if (same_bits(clean[k], poisoned[k])) continue;
        seen[k] |= flags[what];
        BOOST_REQUIRE_MESSAGE(row.uses[k] & flags[what], name(op) << ": partial " << k << " reads "
                                                                  << "abcyt"[what] << ", which its uses don't say");
      }
    }
  }
  for (int k = 0; k < row.arity; ++k)
    BOOST_TEST(seen[k] == row.uses[k],
               name(op) << ": partial " << k << " says it uses " << row.uses[k] << " but reads only " << seen[k]);
}

BOOST_DATA_TEST_CASE(nary, boost::unit_test::data::make(nary_ops), op) {
  const auto& backend = kernels::backend<double>(Isa::scalar);
  const OpInfo& row = info(op);
  Random random(11);
  unsigned seen = 0;
  for (std::size_t round = 0; round < tries; ++round) {
    const std::size_t n = 1 + random.below(6), outputs = row.outputs(static_cast<std::uint32_t>(n));
    if (outputs == 0) continue;
    std::vector<double> x(n), y(outputs), g(outputs), clean(n), poisoned(n), scratch(n);
    for (double& v : x)
      v = random.chance(0.1) ? near_edge<double>(random, row.domain[0])
                             : random.in(row.domain[0].low, row.domain[0].high);
    for (double& v : g) v = random.in(-2, 2);
    backend.forward_op(op, n, x.data(), y.data());
    const auto backward = [&](std::vector<double>& result) {
      backend.backward_op(op, n, x.data(), y.data(), g.data(), false, false, result.data(), scratch.data());
    };
    backward(clean);
    for (const unsigned what : {uses::X, uses::Y}) {
      std::vector<double>& poison = what == uses::X ? x : y;
      const std::vector<double> kept = poison;
      for (double& v : poison) v = other_than(v, random);
      backward(poisoned);
      poison = kept;
      for (std::size_t i = 0; i < n; ++i) {
        if (same_bits(clean[i], poisoned[i])) continue;
        seen |= what;
        BOOST_REQUIRE_MESSAGE(row.uses[0] & what, name(op) << "'s backward reads "
                                                           << (what == uses::X ? "operands" : "results")
                                                           << ", which its uses don't say");
      }
    }
  }
  BOOST_TEST(seen == row.uses[0], name(op) << " says it uses " << row.uses[0] << " but reads only " << seen);
}

BOOST_AUTO_TEST_SUITE_END()
