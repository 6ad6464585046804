// Batches of any size by machine code: whole rounds where the caller's columns are, and a last one that ends with the batch.
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/needs.hpp"
#include "tests/program/native_blocks.hpp"
#include "tests/random.hpp"
#include "tests/same_bits.hpp"
#include "wengert/replay.hpp"
#include "wengert/var.hpp"

namespace wengert::test {

BOOST_AUTO_TEST_SUITE(native_batches, *needs(Isa::avx2))

template <class Real>
struct Summand {
  Program<Real> program;
  bool summed;
};

/// A function of two columns and a parameter, of each sample or summed over them.
template <class Real>
Summand<Real> function_of_columns(bool summed) {
  NaiveTape<Real> tape;
  const Var<Real> p = parameter(tape, 0.7), x = input(tape, 0.3), y = input(tape, 0.4);
  const Var<Real> f = p * exp(x) / y + square(y - x);
  return {compile(tape, summed ? tape.sum_samples(f.id()) : f.id()), summed};
}

/// Columns with more room than samples, all of it compared: values, two derivatives, then those in the parameter and the sum.
template <class Real>
std::vector<Real> evaluate(const Summand<Real>& function, const std::vector<Real>& points, std::size_t samples,
                           Replay<Real>& replay) {
  const std::size_t stride = samples + 3;
  std::vector<Real> results(3 * stride, Real(-77));
  const Samples<const Real> inputs = columns(points.data() + 1, stride);
  const Samples<Real> values = columns(results.data(), stride), gradients = columns(results.data() + stride, stride);
  replay.gradient(samples, inputs, function.summed ? Samples<Real>{} : values, gradients);
  results.insert(results.end(), replay.parameter_gradients().begin(), replay.parameter_gradients().end());
  results.insert(results.end(), replay.uniform_outputs().begin(), replay.uniform_outputs().end());
  return results;
}

/// `odd`: which of the samples code leaves to the interpreter.
template <class Real, class Odd>
void compare(const Summand<Real>& function, std::size_t samples, unsigned threads, int times, const Odd& odd) {
  Random random(5);
  std::vector<Real> points(1 + 2 * (samples + 3));
  for (Real& number : points) number = static_cast<Real>(random.in(0.1, 2));
  for (std::size_t e = 0; e < samples; ++e)
    if (odd(e)) points[1 + e] = std::numeric_limits<Real>::infinity();
  Replay<Real> interpreter(function.program, {.engine = "interpreter"});
  const std::vector<Real> wanted = evaluate(function, points, samples, interpreter);
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    Replay<Real> native(function.program, {.isa = set, .threads = threads, .engine = "native"});
    for (int time = 0; time < times; ++time) {
      const std::vector<Real> ours = evaluate(function, points, samples, native);
      BOOST_TEST_REQUIRE(native.engine() == "native: " + set);
      for (std::size_t k = 0; k < wanted.size(); ++k)
        BOOST_TEST_REQUIRE(same_bits(ours[k], wanted[k]), set << ", " << samples << " samples, number " << k << ": "
                                                              << ours[k] << ", not " << wanted[k]);
    }
  }
}

template <class Real>
void any_number_of_samples() {
  for (const bool summed : {false, true}) {
    const Summand<Real> function = function_of_columns<Real>(summed);
    for (std::size_t samples = 2; samples < 100; ++samples) {
      compare(function, samples, 1, 1, [](std::size_t) { return false; });
      compare(function, samples, 1, 1, [=](std::size_t e) { return e == samples - 1 - samples / 7; });
    }
  }
}
BOOST_AUTO_TEST_CASE(any_number_of_samples_f64) { any_number_of_samples<double>(); }
BOOST_AUTO_TEST_CASE(any_number_of_samples_f32) { any_number_of_samples<float>(); }

template <class Real>
void odd_samples_among_others() {
  for (const bool summed : {false, true}) {
    const Summand<Real> function = function_of_columns<Real>(summed);
    for (const unsigned threads : {1u, 3u})
      for (const std::size_t every : {50, 700, 9000})
        compare(function, 20'011, threads, 3, [=](std::size_t e) { return e % every == every / 2; });
  }
}
BOOST_AUTO_TEST_CASE(odd_samples_among_others_f64, *uses_threads()) { odd_samples_among_others<double>(); }
BOOST_AUTO_TEST_CASE(odd_samples_among_others_f32, *uses_threads()) { odd_samples_among_others<float>(); }

BOOST_AUTO_TEST_CASE(blocks_after_one_that_was_left) {
  Misses misses;
  const std::size_t unlimited = misses.widest();
  BOOST_TEST(!misses.ran(false, 1024));
  BOOST_TEST(misses.widest() == Misses::narrow);
  BOOST_TEST(!misses.skips());
  std::size_t blocks = 0;
  for (std::size_t widest = Misses::narrow; misses.widest() != unlimited; ++blocks) {
    BOOST_TEST(misses.ran(true, misses.widest()));
    BOOST_TEST((misses.widest() == widest || misses.widest() == 2 * widest || misses.widest() == unlimited));
    widest = misses.widest();
    BOOST_TEST_REQUIRE(blocks < 1000u);
  }
  BOOST_TEST(blocks > 100u);
  // Narrow ones that are left: the interpreter gets more and more at once.
  misses.ran(false, 1024);
  std::size_t skipped = 0;
  for (int left = 0; left < 6; ++left) {
    misses.ran(false, Misses::narrow);
    std::size_t these = 0;
    while (misses.skips()) ++these;
    BOOST_TEST(these > skipped);
    skipped = these;
  }
  BOOST_TEST(misses.tried() == blocks + 8);
  BOOST_TEST(misses.failed() == 8u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
