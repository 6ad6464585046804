// Tangents and second derivatives through parameters and sums over samples.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/program/objectives.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"
#include "wengert/custom.hpp"

namespace wengert::test {
namespace {

/// Directions in the parameters and in every number of the data.
struct Directions {
  std::vector<double> w, x;
  explicit Directions(const Data& data) : w(features), x(data.x.size()) {
    Random random(data.samples + 77);
    for (double& number : w) number = random.in(-1, 1);
    for (double& number : x) number = random.in(-1, 1);
  }
  Samples<const double> of_samples() const { return rows(x.data(), features + 1); }
};

struct Second {
  double value, tangent;
  std::vector<double> gradient, product, input_gradients, input_products;
};

Second run(Replay<double>& replay, const Data& data, const Directions& directions) {
  Second r;
  r.input_gradients.resize(data.x.size());
  r.input_products.resize(data.x.size());
  replay.set_parameters(data.w);
  replay.set_parameter_directions(directions.w);
  replay.hvp(data.samples, data.inputs(), directions.of_samples(), {}, rows(r.input_gradients.data(), features + 1),
             rows(r.input_products.data(), features + 1));
  r.value = replay.uniform_outputs()[0];
  r.tangent = replay.uniform_tangents()[0];
  r.gradient.assign(replay.parameter_gradients().begin(), replay.parameter_gradients().end());
  r.product.assign(replay.parameter_products().begin(), replay.parameter_products().end());
  return r;
}

void check_close(double a, double b, double scale) {
  BOOST_TEST_REQUIRE(std::fabs(a - b) <= 1e-12 * std::fmax(1, scale), a << " and " << b);
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same_bits(x, y); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(uniform_derivatives)

BOOST_AUTO_TEST_CASE(hvp_and_jvp_equal_those_of_all_samples_recorded) {
  for (Objective objective : {logistic, nonlinear}) {
    Replay<double> replay(program_of(objective));
    for (const std::size_t n : {1, 2, 31, 33, 64, 300}) {
      const Data data(n);
      const Directions directions(data);
      const Second ours = run(replay, data, directions);

      NaiveTape<double> tape;
      const Id f = record_all(objective, data, tape);
      Replay<double> whole(compile(tape, f));
      const std::size_t all = features + data.x.size();
      std::vector<double> x = data.w, d = directions.w, gradient(all), product(all);
      x.insert(x.end(), data.x.begin(), data.x.end());
      d.insert(d.end(), directions.x.begin(), directions.x.end());
      double value, tangent;
      whole.hvp(1, rows(x.data(), all), rows(d.data(), all), rows(&value, 1), rows(gradient.data(), all),
                rows(product.data(), all));
      whole.jvp(1, rows(x.data(), all), rows(d.data(), all), {}, rows(&tangent, 1));

      const double scale = 30 * static_cast<double>(n);
      check_close(ours.value, value, scale);
      check_close(ours.tangent, tangent, scale);
      for (std::size_t i = 0; i < features; ++i) {
        check_close(ours.gradient[i], gradient[i], scale);
        check_close(ours.product[i], product[i], scale);
      }
      for (std::size_t k = 0; k < data.x.size(); ++k) {
        check_close(ours.input_gradients[k], gradient[features + k], scale);
        check_close(ours.input_products[k], product[features + k], scale);
      }

      replay.jvp(n, data.inputs(), directions.of_samples(), {}, {});
      BOOST_TEST(same_bits(replay.uniform_outputs()[0], ours.value));
      BOOST_TEST(same_bits(replay.uniform_tangents()[0], ours.tangent));
    }
  }
}

BOOST_AUTO_TEST_CASE(values_and_gradients_of_hvp_have_the_bits_of_gradient) {
  for (Objective objective : {logistic, nonlinear}) {
    Replay<double> replay(program_of(objective));
    for (const std::size_t n : {0, 1, 64, 1100}) {
      const Data data(n);
      const Second second = run(replay, data, Directions(data));
      std::vector<double> input_gradients(data.x.size());
      replay.gradient(n, data.inputs(), {}, rows(input_gradients.data(), features + 1));
      BOOST_TEST(same_bits(replay.uniform_outputs()[0], second.value));
      BOOST_TEST(same({replay.parameter_gradients().begin(), replay.parameter_gradients().end()}, second.gradient));
      BOOST_TEST(same(input_gradients, second.input_gradients));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_same_bits_however_they_are_computed, *uses_threads()) {
  for (Objective objective : {logistic, nonlinear}) {
    const Program<double> program = program_of(objective);
    for (const std::size_t n : {65, 1030, 2500}) {
      const Data data(n);
      const Directions directions(data);
      Replay<double> plain(program, {.isa = "scalar"});
      const Second expected = run(plain, data, directions);
      for (const Isa isa : usable_isas())
        for (const unsigned threads : {1u, 3u})
          for (const std::size_t lanes : {0, 16, 48, 128}) {
            Replay<double> replay(program, {.isa = std::string(name(isa)), .threads = threads, .lanes = lanes});
            const Second found = run(replay, data, directions);
            BOOST_TEST_REQUIRE(same_bits(found.value, expected.value));
            BOOST_TEST_REQUIRE(same_bits(found.tangent, expected.tangent));
            BOOST_TEST_REQUIRE(same(found.gradient, expected.gradient));
            BOOST_TEST_REQUIRE(same(found.product, expected.product));
            BOOST_TEST_REQUIRE(same(found.input_products, expected.input_products));
          }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_hessian_in_the_parameters_is_its_products_with_unit_vectors) {
  for (Objective objective : {logistic, nonlinear}) {
    Replay<double> replay(program_of(objective));
    const Data data(200);
    replay.set_parameters(data.w);
    const std::vector<double> before = {1, 2, 3};
    replay.set_parameter_directions(before);
    std::vector<double> hessian(features * features);
    replay.parameter_hessian(data.samples, data.inputs(), hessian);
    for (std::size_t i = 0; i < features; ++i)
      for (std::size_t j = 0; j < i; ++j) check_close(hessian[i * features + j], hessian[j * features + i], 1e4);
    // The directions are those that were set, after as before.
    replay.hvp(data.samples, data.inputs(), {}, {}, {}, {});
    for (std::size_t i = 0; i < features; ++i) {
      double product = 0;
      for (std::size_t j = 0; j < features; ++j) product += hessian[j * features + i] * before[j];
      check_close(replay.parameter_products()[i], product, 1e4);
    }
  }
}

// y = exp(a x) summed, its square root, and b: closed forms.
BOOST_AUTO_TEST_CASE(a_jacobian_in_the_parameters_goes_through_the_sums) {
  for (const std::size_t more : {0, 4}) {  // outputs, so that it is by rows and by columns
    NaiveTape<double> tape;
    const Id a = tape.parameter(), b = tape.parameter(), x = tape.input();
    const Id sum = tape.sum_samples(tape.exp(tape.mul(a, x)));
    std::vector<Id> outputs = {tape.mul(tape.sqrt(sum), b), sum};
    for (std::size_t k = 0; k < more; ++k) outputs.push_back(tape.mul(b, tape.constant(double(k))));
    Replay<double> replay(compile(tape, std::span<const Id>(outputs)));
    const std::vector<double> at = {0.5, 3.0}, points = {0.25, -1, 2};
    replay.set_parameters(at);
    std::vector<double> jacobian(2 * outputs.size());
    replay.parameter_jacobian(3, rows(points.data(), 1), jacobian);
    double s = 0, ds = 0;
    for (double p : points) {
      s += std::exp(0.5 * p);
      ds += p * std::exp(0.5 * p);
    }
    check_close(jacobian[0], 3 * ds / (2 * std::sqrt(s)), 1);
    check_close(jacobian[1], std::sqrt(s), 1);
    check_close(jacobian[2], ds, 1);
    BOOST_TEST(jacobian[3] == 0);
    for (std::size_t k = 0; k < more; ++k) {
      BOOST_TEST(jacobian[4 + 2 * k] == 0);
      BOOST_TEST(jacobian[5 + 2 * k] == double(k));
    }
  }
}

// Outputs of samples, and parameters, but no sum: products in the parameters are summed over the samples.
BOOST_AUTO_TEST_CASE(directions_in_parameters_without_sums) {
  NaiveTape<double> tape;
  const Id a = tape.parameter(), x = tape.input();
  Replay<double> replay(compile(tape, tape.sin(tape.mul(a, x))));
  const std::vector<double> at = {0.75}, direction = {2.0}, points = {1, -2, 0.5}, along_x = {1, 0, -1};
  replay.set_parameters(at);
  replay.set_parameter_directions(direction);
  std::vector<double> tangents(3), products(3), hessian(1), hessians(3);
  replay.jvp(3, rows(points.data(), 1), rows(along_x.data(), 1), {}, rows(tangents.data(), 1));
  replay.hvp(3, rows(points.data(), 1), rows(along_x.data(), 1), {}, {}, rows(products.data(), 1));
  double in_a = 0;
  for (std::size_t e = 0; e < 3; ++e) {
    const double p = points[e], s = std::sin(0.75 * p), c = std::cos(0.75 * p), d = along_x[e];
    check_close(tangents[e], c * (0.75 * d + 2 * p), 1);
    check_close(products[e], -0.75 * 0.75 * s * d + 2 * (c - 0.75 * p * s), 1);
    in_a += -2 * p * p * s + d * (c - 0.75 * p * s);
  }
  check_close(replay.parameter_products()[0], in_a, 1);
  replay.parameter_hessian(3, rows(points.data(), 1), hessian);
  double expected = 0;
  for (double p : points) expected -= p * p * std::sin(0.75 * p);
  check_close(hessian[0], expected, 1);
  // Hessians of the samples take no notice of directions.
  replay.hessian(3, rows(points.data(), 1), {}, {}, rows(hessians.data(), 1));
  for (std::size_t e = 0; e < 3; ++e) check_close(hessians[e], -0.75 * 0.75 * std::sin(0.75 * points[e]), 1);
}

BOOST_AUTO_TEST_CASE(hvp_along_inputs_alone_gives_what_parameters_have_of_it) {
  NaiveTape<double> tape;
  const Id p = tape.parameter(3), x = tape.input();
  Replay<double> replay(compile(tape, tape.mul(tape.square(p), x)));
  const std::vector<double> points = {1, 2, 4}, along = {1, 2, 3};
  std::vector<double> products(3);
  replay.hvp(3, rows(points.data(), 1), rows(along.data(), 1), {}, {}, rows(products.data(), 1));
  BOOST_TEST(replay.parameter_gradients()[0] == 2 * 3 * 7);
  BOOST_TEST(replay.parameter_products()[0] == 2 * 3 * 6);
  for (const double product : products) BOOST_TEST(product == 0);
}

BOOST_AUTO_TEST_CASE(misuse_says_what_is_wrong) {
  Replay<double> replay(program_of(nonlinear));
  const Data data(3);
  std::vector<double> two(2), nine(9);
  BOOST_CHECK_EXCEPTION(replay.set_parameter_directions(two), Error,
                        says(ErrorCode::bad_size, "2 numbers for 3 differentiated parameters"));
  BOOST_CHECK_EXCEPTION(replay.parameter_hessian(3, data.inputs(), two), Error,
                        says(ErrorCode::bad_size, "room for 2 numbers; there are 3 times 3"));
  BOOST_CHECK_EXCEPTION(replay.parameter_jacobian(3, data.inputs(), two), Error,
                        says(ErrorCode::bad_size, "room for 2 numbers; there are 1 times 3"));
  BOOST_CHECK_EXCEPTION(replay.parameter_hessian(3, data.inputs(), nine, {}, two), Error,
                        says(ErrorCode::bad_size, "2 weights for 1 uniform outputs"));
  BOOST_CHECK_EXCEPTION(replay.parameter_hessian(3, {}, nine), Error, says(ErrorCode::bad_argument, "inputs"));
  // It works as before.
  replay.set_parameters(data.w);
  replay.parameter_hessian(3, data.inputs(), nine);
  BOOST_TEST(std::isfinite(nine[0]));
}

BOOST_AUTO_TEST_CASE(a_custom_op_of_the_parameters_needs_its_rules) {
  NaiveTape<double> tape;
  const CustomOp<double> twice({
      .name = "twice",
      .inputs = 1,
      .outputs = 1,
      .values =
          [](std::size_t n, Samples<const double> in, Samples<double> y) {
            for (std::size_t e = 0; e < n; ++e) y(e, 0) = 2 * in(e, 0);
          },
      .vjp =
          [](std::size_t n, Samples<const double>, Samples<const double>, Samples<const double> weights,
             Samples<double> gradients) {
            for (std::size_t e = 0; e < n; ++e) gradients(e, 0) = 2 * weights(e, 0);
          },
  });
  const Id a = tape.parameter(), x = tape.input();
  const Id scaled = twice.record(tape, std::span<const Id>(&a, 1));
  Replay<double> replay(compile(tape, tape.sum_samples(tape.square(tape.mul(scaled, x)))));
  const double points[] = {1, 2};
  std::vector<double> hessian(1);
  BOOST_CHECK_EXCEPTION(replay.parameter_hessian(2, rows(points, 1), hessian), Error,
                        says(ErrorCode::unsupported, "custom op twice"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
