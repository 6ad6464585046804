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
struct Shares {
  Program<Real> program;
  bool summed;
};

/// A function of two columns and a parameter, of each sample or summed over them.
template <class Real>
Shares<Real> function_of_columns(bool summed) {
  NaiveTape<Real> tape;
  const Var<Real> p = parameter(tape, 0.7), x = input(tape, 0.3), y = input(tape, 0.4);
  const Var<Real> f = p * exp(x) / y + square(y - x);
  return {compile(tape, summed ? tape.sum_samples(f.id()) : f.id()), summed};
}

/// Columns with more room than samples, all of it compared: values, two derivatives, then those in the parameter and the sum.
template <class Real>
std::vector<Real> evaluate(const Shares<Real>& shares, const std::vector<Real>& points, std::size_t samples,
                           const ReplayOptions& options, bool& native) {
  const std::size_t stride = samples + 3;
  std::vector<Real> results(3 * stride, Real(-77));
  Replay<Real> replay(shares.program, options);
  replay.set_parameters(std::vector<Real>{Real(0.7)});
  const Samples<const Real> inputs = columns(points.data() + 1, stride);
  const Samples<Real> values = columns(results.data(), stride), gradients = columns(results.data() + stride, stride);
  replay.gradient(samples, inputs, shares.summed ? Samples<Real>{} : values, gradients);
  native = replay.engine().starts_with("native");
  results.insert(results.end(), replay.parameter_gradients().begin(), replay.parameter_gradients().end());
  results.insert(results.end(), replay.uniform_outputs().begin(), replay.uniform_outputs().end());
  return results;
}

template <class Real>
void any_number_of_samples() {
  Random random(5);
  for (const bool summed : {false, true}) {
    const Shares<Real> shares = function_of_columns<Real>(summed);
    for (std::size_t samples = 2; samples < 100; ++samples)
      for (const bool odd : {false, true}) {
        std::vector<Real> points(1 + 2 * (samples + 3));
        for (Real& number : points) number = static_cast<Real>(random.in(0.1, 2));
        if (odd)
          points[1 + samples - 1 - samples / 7] =
              std::numeric_limits<Real>::infinity();  // code leaves it to the interpreter
        bool native = false;
        const std::vector<Real> wanted = evaluate(shares, points, samples, {.engine = "interpreter"}, native);
        for (const Isa isa : native_isas()) {
          const std::string set(name(isa));
          const std::vector<Real> ours = evaluate(shares, points, samples, {.isa = set, .engine = "native"}, native);
          BOOST_TEST_REQUIRE(native);
          for (std::size_t k = 0; k < wanted.size(); ++k)
            BOOST_TEST_REQUIRE(same_bits(ours[k], wanted[k]), set << ", " << samples << " samples, number " << k << ": "
                                                                  << ours[k] << ", not " << wanted[k]);
        }
      }
  }
}
BOOST_AUTO_TEST_CASE(any_number_of_samples_f64) { any_number_of_samples<double>(); }
BOOST_AUTO_TEST_CASE(any_number_of_samples_f32) { any_number_of_samples<float>(); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
