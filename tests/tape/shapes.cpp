// Graphs of unusual shape: very long, very wide, degenerate.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "wengert/tape.hpp"

using namespace wengert;
using namespace wengert::test;

namespace {
std::size_t million() { return std::min<std::size_t>(soak(1'000'000), 1'000'000); }
}  // namespace

BOOST_AUTO_TEST_SUITE(shapes)

BOOST_AUTO_TEST_CASE(a_chain_of_a_million_ops) {
  NaiveTape<double> tape;
  const Id x = tape.input(0.5);
  const Id scale = tape.constant(1 + 0x1p-20);
  Id y = x;
  for (std::size_t k = 0; k < million(); ++k) y = tape.mul(y, scale);
  tape.backward(y);
  const double expected = std::exp(static_cast<double>(million()) * std::log1p(0x1p-20));
  BOOST_TEST(std::fabs(tape.grad(x) - expected) < 1e-9 * expected);
  BOOST_TEST(std::fabs(tape.value(y) - 0.5 * expected) < 1e-9 * expected);
  tape.set_input(x, 2);
  tape.forward();
  BOOST_TEST(std::fabs(tape.value(y) - 2 * expected) < 1e-8 * expected);
}

BOOST_AUTO_TEST_CASE(an_input_used_a_million_times) {
  NaiveTape<double> tape;
  const Id x = tape.input(3);
  Id y = tape.constant(0);
  for (std::size_t k = 0; k < million(); ++k) y = tape.add(y, x);
  tape.backward(y);
  BOOST_TEST(tape.grad(x) == static_cast<double>(million()));
  const std::vector<Id> same(million(), x);
  const Id total = tape.sum(same);
  tape.backward(total);
  BOOST_TEST(tape.value(total) == 3.0 * static_cast<double>(million()));
  BOOST_TEST(tape.grad(x) == static_cast<double>(million()));
}

BOOST_AUTO_TEST_CASE(a_softmax_of_many) {
  NaiveTape<double> tape;
  std::vector<Id> x;
  const std::size_t n = million() / 10;
  for (std::size_t k = 0; k < n; ++k) x.push_back(tape.input(0));
  const Id y = tape.softmax(x);
  tape.backward(tape.output(y, n - 1));
  const double share = 1 / static_cast<double>(n);
  BOOST_TEST(std::fabs(tape.value(tape.output(y, 0)) - share) < 1e-9 * share);
  BOOST_TEST(std::fabs(tape.grad(x[n - 1]) - share * (1 - share)) < 1e-9 * share);
  BOOST_TEST(std::fabs(tape.grad(x[0]) + share * share) < 1e-9 * share * share);
}

BOOST_AUTO_TEST_CASE(an_output_that_is_an_input) {
  NaiveTape<double> tape;
  const Id x = tape.input(3), y = tape.input(4);
  tape.mul(x, y);
  tape.backward(x);
  BOOST_TEST(tape.grad(x) == 1);
  BOOST_TEST(tape.grad(y) == 0);
}

BOOST_AUTO_TEST_CASE(an_output_that_is_a_constant) {
  NaiveTape<double> tape;
  const Id x = tape.input(3), c = tape.constant(4);
  tape.mul(x, c);
  tape.backward(c);
  BOOST_TEST(tape.grad(x) == 0);
  BOOST_TEST(tape.grad(c) == 1);
}

BOOST_AUTO_TEST_CASE(an_output_listed_twice_counts_twice) {
  NaiveTape<double> tape;
  const Id x = tape.input(3), y = tape.square(x);
  const Seed<double> seeds[] = {{y, 2}, {y, 0.5}, {x, 1}};
  tape.backward(seeds);
  BOOST_TEST(tape.grad(x) == 2.5 * 6 + 1);
}

BOOST_AUTO_TEST_CASE(an_unused_input_has_gradient_plus_0) {
  NaiveTape<double> tape;
  const Id x = tape.input(3), unused = tape.input(std::nan("")), y = tape.neg(x);
  tape.backward(y);
  BOOST_TEST((tape.grad(unused) == 0 && !std::signbit(tape.grad(unused))));
  BOOST_TEST(tape.grad(x) == -1);
}

BOOST_AUTO_TEST_CASE(no_seed_at_all) {
  NaiveTape<double> tape;
  const Id x = tape.input(3);
  tape.square(x);
  tape.backward(std::span<const Seed<double>>());
  BOOST_TEST(tape.grad(x) == 0);
}

BOOST_AUTO_TEST_CASE(an_infinite_or_nan_seed) {
  NaiveTape<double> tape;
  const Id x = tape.input(3), y = tape.input(0), p = tape.mul(x, y);
  const Seed<double> seed{p, INFINITY};
  tape.backward(std::span(&seed, 1));
  BOOST_TEST(tape.grad(x) == 0);  // inf times the slope 0
  BOOST_TEST(tape.grad(y) == INFINITY);
}

BOOST_AUTO_TEST_CASE(ops_after_the_output_do_not_count) {
  NaiveTape<double> tape;
  const Id x = tape.input(0), y = tape.exp(x);
  tape.log(x);  // slope infinite
  tape.sqrt(tape.neg(y));
  tape.backward(y);
  BOOST_TEST(tape.grad(x) == 1);
}

BOOST_AUTO_TEST_CASE(n_ary_ops_of_nothing) {
  NaiveTape<double> tape;
  BOOST_TEST(tape.value(tape.sum({})) == 0);
  BOOST_TEST(tape.value(tape.prod({})) == 1);
  BOOST_TEST(tape.value(tape.dot({})) == 0);
  BOOST_TEST(tape.value(tape.sqnorm({})) == 0);
  BOOST_TEST(tape.value(tape.norm({})) == 0);
  tape.forward();
  tape.backward(0);
}

// Under the plain rule 0 times an infinite slope is NaN, but only on the way from an input to an output.
BOOST_AUTO_TEST_CASE(the_ieee_rule_multiplies) {
  for (const ZeroRule rule : {ZeroRule::exact, ZeroRule::ieee}) {
    NaiveTape<double> tape;
    tape.set_zero_rule(rule);
    const Id x = tape.input(0), c = tape.constant(0), z = tape.input(2);
    const Id root = tape.sqrt(x);
    const Id off = tape.mul(root, c);  // adjoint of root: 1 * 0, then 0 * inf
    const Id dead = tape.log(x);       // nothing depends on it
    const Id passive = tape.sqrt(c);   // depends on no input
    const Id y = tape.sum(std::vector<Id>{off, passive, z});
    tape.log(dead);
    tape.backward(y);
    BOOST_TEST(tape.grad(z) == 1);
    if (rule == ZeroRule::exact) BOOST_TEST(tape.grad(x) == 0);
    else BOOST_TEST(std::isnan(tape.grad(x)));
  }
  NaiveTape<double> tape;
  tape.set_zero_rule(ZeroRule::ieee);
  const Id x = tape.input(0);
  tape.sqrt(x);
  const Id y = tape.exp(x);
  tape.backward(y);
  BOOST_TEST(tape.grad(x) == 1);  // the root is not on the way
}

BOOST_AUTO_TEST_SUITE_END()
