// TimeLoop: a step done many times, against one tape of all steps; memory and bits.
#include "wengert/time_loop.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/random.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"

namespace wengert::test {
namespace {

using V = Var<double>;

/// A pendulum with friction that is driven, and a branch: three numbers of state, two parameters.
std::array<V, 3> pendulum(std::span<const V> x) {
  const V &angle = x[0], &speed = x[1], &time = x[2], &friction = x[3], &push = x[4];
  const double dt = 0.01;
  const V force = angle < 0 ? V(push * sin(time)) : V(0);
  const V next = speed + dt * (force - sin(angle) - friction * speed);
  return {angle + dt * next, next, time + dt};
}

/// Angle after the loop and its derivatives, by one tape of all steps.
std::vector<double> one_tape(const double* at, std::size_t steps) {
  NaiveTape<double> tape;
  std::vector<V> x;
  for (int i = 0; i < 5; ++i) x.push_back(input(tape, at[i]));
  std::vector<V> now = x;
  for (std::size_t k = 0; k < steps; ++k) {
    const auto next = pendulum(now);
    std::copy(next.begin(), next.end(), now.begin());
  }
  backward(now[0] + 0.5 * now[1]);
  std::vector<double> result = {value(now[0]), value(now[1]), value(now[2])};
  for (const V& v : x) result.push_back(grad(v));
  return result;
}

std::vector<double> points(std::size_t samples) {
  Random random(samples);
  std::vector<double> x;
  for (std::size_t e = 0; e < samples; ++e)
    for (const double v : {random.in(-2, 2), random.in(-1, 1), 0.0, random.in(0, 0.5), random.in(0, 2)}) x.push_back(v);
  return x;
}

std::vector<double> by_loop(TimeLoop<double>& loop, std::size_t samples, std::size_t steps,
                            const std::vector<double>& x) {
  std::vector<double> weights, values(3 * samples), gradients(5 * samples), all;
  for (std::size_t e = 0; e < samples; ++e) weights.insert(weights.end(), {1, 0.5, 0});
  loop.vjp(samples, steps, rows(x.data(), 5), rows(weights.data(), 3), rows(values.data(), 3),
           rows(gradients.data(), 5));
  for (std::size_t e = 0; e < samples; ++e) {
    all.insert(all.end(), values.begin() + std::ptrdiff_t(3 * e), values.begin() + std::ptrdiff_t(3 * e + 3));
    all.insert(all.end(), gradients.begin() + std::ptrdiff_t(5 * e), gradients.begin() + std::ptrdiff_t(5 * e + 5));
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(time_loop)

BOOST_AUTO_TEST_CASE(as_one_tape_of_all_steps) {
  for (const std::size_t steps : {0u, 1u, 2u, 3u, 7u, 100u, 257u}) {
    const std::vector<double> x = points(5);
    TimeLoop<double> loop(3, 2, pendulum);
    const std::vector<double> all = by_loop(loop, 5, steps, x);
    std::vector<double> end(15);
    loop.values(5, steps, rows(x.data(), 5), rows(end.data(), 3));
    for (std::size_t e = 0; e < 5; ++e) {
      const std::vector<double> tape = one_tape(x.data() + 5 * e, steps);
      for (std::size_t k = 0; k < 3; ++k) {
        BOOST_TEST(same_bits(all[8 * e + k], tape[k]), steps << " steps, value " << k);
        BOOST_TEST(same_bits(end[3 * e + k], tape[k]), steps << " steps, value " << k);
      }
      // Sums for the parameters are added up step by step.
      for (std::size_t k = 3; k < 8; ++k)
        BOOST_TEST(std::fabs(all[8 * e + k] - tape[k]) <= 1e-13 * (1 + std::fabs(tape[k])),
                   steps << " steps, derivative " << k - 3 << ": " << all[8 * e + k] << ", tape " << tape[k]);
    }
  }
}

BOOST_AUTO_TEST_CASE(bits_do_not_depend_on_memory_threads_or_instruction_set, *uses_threads()) {
  const std::size_t samples = 70, steps = 300;
  const std::vector<double> x = points(samples);
  TimeLoop<double> all_kept(3, 2, pendulum);
  const std::vector<double> wanted = by_loop(all_kept, samples, steps, x);
  BOOST_TEST(all_kept.levels() == 1u);
  std::size_t levels = 1;
  for (const std::size_t bytes : {1u << 20, 60000u, 20000u, 3000u, 500u}) {
    TimeLoopOptions options;
    options.most_bytes = bytes;
    options.function.replay.isa = std::string(name(usable_isas()[bytes % usable_isas().size()]));
    options.function.replay.threads = bytes == 60000u ? 3 : 1;
    TimeLoop<double> loop(3, 2, pendulum, options);
    const std::vector<double> all = by_loop(loop, samples, steps, x);
    BOOST_TEST(loop.bytes() <= bytes);
    levels = std::max(levels, loop.levels());
    for (std::size_t k = 0; k < all.size(); ++k)
      BOOST_TEST_REQUIRE(same_bits(all[k], wanted[k]), bytes << " bytes, number " << k);
  }
  BOOST_TEST(levels >= 4u);
}

BOOST_AUTO_TEST_CASE(many_steps_in_little_memory) {
  // A geometric series: x' = a x + b, whose derivatives are known.
  TimeLoopOptions options;
  options.most_bytes = 4000;
  TimeLoop<double> loop(
      1, 2, [](std::span<const V> x) { return x[1] * x[0] + x[2]; }, options);
  const std::size_t steps = 20000;
  const double a = 1 - 1e-4, at[3] = {1, a, 1e-4}, weight = 1;
  double end = 0, gradient[3];
  loop.vjp(1, steps, rows(at, 3), rows(&weight, 1), rows(&end, 1), rows(gradient, 3));
  BOOST_TEST(loop.bytes() <= 4000u);
  BOOST_TEST(loop.levels() == 2u);
  const double power = std::pow(a, double(steps));
  BOOST_TEST(end == 1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(gradient[0] == power, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(gradient[2] == (1 - power) / 1e-4, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(gradient[1] == (1 - power) / 1e-4, boost::test_tools::tolerance(1e-9));  // x stays 1
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  BOOST_CHECK_EXCEPTION(TimeLoop<double>(0, 1, pendulum), Error, says(ErrorCode::bad_argument, "without a state"));
  const double at[3] = {1, 2, 3};
  double out[3];
  TimeLoop<double> other(2, 1, [](std::span<const V> x) { return x[0]; });
  BOOST_CHECK_EXCEPTION(other.values(1, 3, rows(at, 3), rows(out, 2)), Error,
                        says(ErrorCode::bad_size, "returns 1 numbers for a state of 2"));
  BOOST_CHECK_EXCEPTION(other.vjp(1, 3, rows(at, 3), rows(at, 2), {}, rows(out, 3)), Error,
                        says(ErrorCode::bad_size, "returns 1 numbers for a state of 2"));
  TimeLoopOptions options;
  options.most_bytes = 100;
  TimeLoop<double> little(
      1, 0, [](std::span<const V> x) { return x[0]; }, options);
  BOOST_CHECK_EXCEPTION(little.vjp(1, 1000000, rows(at, 1), rows(at, 1), {}, rows(out, 1)), Error,
                        says(ErrorCode::out_of_memory, "most_bytes is 100"));
  little.vjp(1, 8, rows(at, 1), rows(at + 1, 1), {}, rows(out, 1));  // usable as before
  BOOST_TEST(out[0] == 2);
  little.vjp(0, 8, {}, {}, {}, {});
  little.values(0, 8, {}, {});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
