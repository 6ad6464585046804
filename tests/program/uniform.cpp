// Parameters and sums over samples: a whole objective in one program.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/program/objectives.hpp"
#include "tests/same_bits.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {
namespace {

struct Result {
  double value;
  std::vector<double> gradient, input_gradients;
};

Result run(Replay<double>& replay, const Data& data) {
  Result r;
  r.input_gradients.resize(data.x.size());
  replay.set_parameters(data.w);
  replay.gradient(data.samples, data.inputs(), {}, rows(r.input_gradients.data(), features + 1));
  r.value = replay.uniform_outputs()[0];
  r.gradient.assign(replay.parameter_gradients().begin(), replay.parameter_gradients().end());
  return r;
}

/// The same by recording every sample.
Result recorded(Objective objective, const Data& data) {
  NaiveTape<double> tape;
  const Id f = record_all(objective, data, tape);
  tape.backward(f);
  Result r{tape.value(f), {}, {}};
  const auto inputs = tape.view().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    (i < features ? r.gradient : r.input_gradients).push_back(tape.grad(inputs[i]));
  return r;
}

void check_close(double a, double b, double scale) {
  BOOST_TEST_REQUIRE(std::fabs(a - b) <= 1e-12 * std::fmax(1, scale), a << " and " << b);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(uniform)

BOOST_AUTO_TEST_CASE(objectives_equal_those_recorded_sample_by_sample) {
  for (Objective objective : {logistic, nonlinear}) {
    Replay<double> replay(program_of(objective));
    BOOST_TEST(replay.program().parameters() == features);
    BOOST_TEST(replay.program().inputs() == features + 1);
    BOOST_TEST(replay.program().outputs() == 0);
    BOOST_TEST(replay.program().uniform_outputs() == 1);
    for (const std::size_t n : {0, 1, 2, 63, 64, 65, 1000, 3000}) {
      const Data data(n);
      const Result ours = run(replay, data), eager = recorded(objective, data);
      check_close(ours.value, eager.value, std::fabs(eager.value));
      for (std::size_t i = 0; i < features; ++i)
        check_close(ours.gradient[i], eager.gradient[i], static_cast<double>(n));
      for (std::size_t k = 0; k < data.x.size(); ++k)
        check_close(ours.input_gradients[k], eager.input_gradients[k], 10);
      replay.values(n, data.inputs(), {});
      BOOST_TEST(same_bits(replay.uniform_outputs()[0], ours.value));
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_have_the_same_bits_however_they_are_computed, *uses_threads()) {
  for (Objective objective : {logistic, nonlinear}) {
    const Program<double> program = program_of(objective);
    for (const std::size_t n : {1, 7, 64, 65, 1023, 1024, 1025, 5000}) {
      const Data data(n);
      Replay<double> plain(program, {"scalar", 1, 0, {}});
      const Result expected = run(plain, data);
      for (const Isa isa : usable_isas())
        for (const std::size_t lanes : {0, 8, 24, 64, 128})
          for (const unsigned threads : {1u, 3u}) {
            ReplayOptions options{.isa = std::string(name(isa)), .threads = threads, .lanes = lanes};
            if (threads == 3 || lanes == 0) options.engine = "native";
            Replay<double> replay(program, options);
            const Result r = run(replay, data);
            BOOST_TEST_REQUIRE(same_bits(r.value, expected.value),
                               name(isa) << " " << lanes << " lanes, " << n << " samples");
            for (std::size_t i = 0; i < features; ++i)
              BOOST_TEST_REQUIRE(same_bits(r.gradient[i], expected.gradient[i]),
                                 name(isa) << " " << lanes << " lanes, " << n << " samples");
            for (std::size_t k = 0; k < data.x.size(); ++k)
              BOOST_TEST_REQUIRE(same_bits(r.input_gradients[k], expected.input_gradients[k]));
          }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_depends_on_parameters_alone_runs_once) {
  NaiveTape<double> tape;
  const Id p = tape.parameter(2), x = tape.input(1);
  const Id y = tape.mul(tape.exp(tape.square(p)), x);
  Replay<double> replay(compile(tape, y));
  BOOST_TEST(replay.program().statistics().hoisted_ops == 2);
  BOOST_TEST(replay.program().statistics().forward_instructions == 1);
  const std::vector<double> inputs = {1, 2, -3};
  std::vector<double> values(3), gradients(3);
  replay.gradient(3, rows(inputs.data(), 1), rows(values.data(), 1), rows(gradients.data(), 1));
  for (std::size_t e = 0; e < 3; ++e) {
    check_close(values[e], std::exp(4) * inputs[e], 1e3);
    check_close(gradients[e], std::exp(4), 1e3);
  }
  check_close(replay.parameter_gradients()[0], 0, 1e3);  // 4 e^4 (1 + 2 - 3)

  // A derivative in the other inputs takes parameters as they are.
  const std::vector<double> other = {1}, direction = {2};
  std::vector<double> tangent(1);
  replay.set_parameters(other);
  replay.jvp(1, rows(inputs.data(), 1), rows(direction.data(), 1), {}, rows(tangent.data(), 1));
  check_close(tangent[0], 2 * std::exp(1), 10);
}

BOOST_AUTO_TEST_CASE(outputs_may_be_uniform_and_not) {
  NaiveTape<double> tape;
  const Id p = tape.parameter(3), x = tape.input(1), c = tape.constant(7);
  const Id y = tape.mul(p, x), total = tape.sum_samples(y), twice = tape.sum_samples(p);
  const std::vector<Id> outputs = {total, y, p, c, twice};
  Replay<double> replay(compile(tape, std::span<const Id>(outputs)));
  BOOST_TEST(replay.program().outputs() == 2);
  BOOST_TEST(replay.program().uniform_outputs() == 3);
  const std::vector<double> inputs = {1, 2, 4}, weights = {1, 0, 1, 0, 1, 0}, uniform_weights = {10, 100, 1000};
  std::vector<double> values(6), gradients(3);
  replay.vjp(3, rows(inputs.data(), 1), rows(weights.data(), 2), rows(values.data(), 2), rows(gradients.data(), 1),
             uniform_weights);
  const std::vector<double> expected_values = {3, 7, 6, 7, 12, 7}, expected_uniform = {21, 3, 9},
                            expected_gradients = {33, 33, 33};
  BOOST_TEST(values == expected_values, boost::test_tools::per_element());
  BOOST_TEST(gradients == expected_gradients, boost::test_tools::per_element());
  for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(replay.uniform_outputs()[k] == expected_uniform[k]);
  BOOST_TEST(replay.parameter_gradients()[0] == 10 * 7 + 7 + 100 + 3 * 1000);
}

BOOST_AUTO_TEST_CASE(a_sum_of_the_same_pass_is_out_of_reach) {
  NaiveTape<double> tape;
  const Id x = tape.input(1), mean = tape.sum_samples(x), centred = tape.sub(x, mean);
  const auto refused = [](ErrorCode code) { return [code](const Error& error) { return error.code() == code; }; };
  BOOST_CHECK_EXCEPTION(compile(tape, centred), Error, refused(ErrorCode::bad_argument));
  BOOST_CHECK_EXCEPTION(compile(tape, tape.sum_samples(mean)), Error, refused(ErrorCode::bad_argument));
  Replay<double> replay(compile(tape, mean));
  double number = 1;
  BOOST_CHECK_EXCEPTION(replay.set_parameters(std::span<const double>(&number, 1)), Error,
                        refused(ErrorCode::bad_size));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
