// Products with factors that are the same for all samples: what samples give to these is summed on the way, in the order and with
// the bits of adding it up afterwards.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/program/sum_in_order.hpp"
#include "tests/random.hpp"
#include "tests/same_bits.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

constexpr std::size_t parameters = 11, inputs = 7;

/// Dots and products with each parameter as a factor once, on either side, but p[7] and p[8], which are so twice.
template <class Real>
Var<Real> of_sample(std::span<const Var<Real>> p, std::span<const Var<Real>> x) {
  using List = std::vector<Var<Real>>;
  const Var<Real> a = dot(List{p[0], p[1], p[2]}, List{x[0], x[1], x[2]}), b = dot(List{x[0], x[3]}, List{p[3], p[4]}),
                  c = p[5] * x[4], d = fma(x[5], p[6], x[0]), e = fma(p[7], x[1], p[7]),
                  h = dot(List{p[8], p[8]}, List{x[0], x[1]}), m = dot(List{p[9], x[2]}, List{x[3], p[10]});
  return ((a * b + c) + d * e + h * m) * x[6];
}

template <class Real>
struct Recorded {
  NaiveTape<Real> tape;
  std::vector<Var<Real>> p, x;

  explicit Recorded(bool uniform) {
    for (std::size_t k = 0; k < parameters; ++k) p.push_back(uniform ? parameter(tape, 1) : input(tape, 1));
    for (std::size_t k = 0; k < inputs; ++k) x.push_back(input(tape, 1));
  }
  Var<Real> y() { return of_sample<Real>(p, x); }
};

template <class Real>
struct Data {
  std::size_t samples;
  std::vector<Real> p, x;

  Data(std::size_t n, bool special) : samples(n), p(parameters), x(n * inputs) {
    Random random(n + 3);
    for (Real& number : p) number = static_cast<Real>(random.in(-2, 2));
    for (Real& number : x) number = static_cast<Real>(random.in(-2, 2));
    if (!special) return;
    constexpr Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
    p[2] = inf;
    for (std::size_t e = 0; e < n; e += 5) {
      x[e * inputs + 6] = 0;  // nothing goes back through this sample, whatever else is in it
      x[e * inputs + e % 6] = e % 2 ? inf : nan;
    }
  }
};

/// Of the sum over the samples, in the parameters.
template <class Real>
std::vector<Real> expected_gradient(const Data<Real>& data, std::vector<Real>& input_gradients) {
  Recorded<Real> recorded(false);
  Replay<Real> replay(compile(recorded.tape, recorded.y().id()), {.isa = "scalar", .engine = "interpreter"});
  constexpr std::size_t all = parameters + inputs;
  std::vector<Real> x, gradients(data.samples * all);
  for (std::size_t e = 0; e < data.samples; ++e) {
    x.insert(x.end(), data.p.begin(), data.p.end());
    x.insert(x.end(), data.x.begin() + e * inputs, data.x.begin() + (e + 1) * inputs);
  }
  replay.gradient(data.samples, rows(x.data(), all), {}, rows(gradients.data(), all));
  std::vector<Real> sums;
  for (std::size_t k = 0; k < parameters; ++k) {
    std::vector<Real> terms;
    for (std::size_t e = 0; e < data.samples; ++e) terms.push_back(gradients[e * all + k]);
    sums.push_back(sum_in_order(terms) + Real(0));
  }
  for (std::size_t e = 0; e < data.samples; ++e)
    input_gradients.insert(input_gradients.end(), gradients.begin() + e * all + parameters,
                           gradients.begin() + (e + 1) * all);
  return sums;
}

template <class Real>
void check_all_machines(bool data_wanted) {
  Recorded<Real> recorded(true);
  const Var<Real> loss = sum_samples(recorded.y());
  std::vector<Id> differentiated;
  for (const Var<Real>& p : recorded.p) differentiated.push_back(p.id());
  CompileOptions options;
  if (!data_wanted) options.differentiated = differentiated;
  const Program<Real> program = compile(recorded.tape, loss.id(), options);
  for (const bool special : {false, true})
    for (const std::size_t n : {0, 1, 7, 63, 64, 65, 128, 200, 1000, 1100}) {
      const Data<Real> data(n, special);
      std::vector<Real> of_data;
      const std::vector<Real> expected = expected_gradient(data, of_data);
      for (const Isa isa : usable_isas())
        for (const std::size_t lanes :
             {std::size_t(0), std::size_t(kernels::backend<Real>(isa).lanes), std::size_t(64), std::size_t(128)})
          for (const char* engine : {"interpreter", "native"})
            for (const unsigned threads : {1u, 3u}) {
              Replay<Real> replay(
                  program, {.isa = std::string(name(isa)), .threads = threads, .lanes = lanes, .engine = engine});
              const auto where = [&] {
                return std::string(name(isa)) + ", " + std::to_string(lanes) + " lanes, " + engine + ", " +
                       std::to_string(threads) + " threads, " + std::to_string(n) + " samples";
              };
              std::vector<Real> gradients(data_wanted ? data.x.size() : 0);
              replay.set_parameters(data.p);
              replay.gradient(n, rows(data.x.data(), inputs), {},
                              data_wanted ? rows(gradients.data(), inputs) : Samples<Real>());
              for (std::size_t k = 0; k < parameters; ++k)
                BOOST_TEST_REQUIRE(same_bits(replay.parameter_gradients()[k], expected[k]),
                                   "in parameter " << k << ": " << show(replay.parameter_gradients()[k]) << " and "
                                                   << show(expected[k]) << ", " << where());
              for (std::size_t k = 0; k < gradients.size(); ++k)
                BOOST_TEST_REQUIRE(same_bits(gradients[k], of_data[k]), "of the data: " << where());
            }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(uniform_products)

BOOST_AUTO_TEST_CASE(sums_on_the_way_are_sums_of_what_each_sample_gives, *uses_threads()) {
  for (const bool data_wanted : {true, false}) {
    check_all_machines<double>(data_wanted);
    check_all_machines<float>(data_wanted);
  }
}

/// What has tangents takes the way of all other products.
BOOST_AUTO_TEST_CASE(second_derivatives_are_those_of_the_same_program_with_inputs) {
  const std::size_t n = 200;
  const Data<double> data(n, false);
  std::vector<double> directions(parameters);
  for (std::size_t k = 0; k < parameters; ++k) directions[k] = 1.0 / static_cast<double>(k + 1);

  Recorded<double> one(true), other(false);
  Replay<double> uniform(compile(one.tape, sum_samples(one.y()).id())), single(compile(other.tape, other.y().id()));
  uniform.set_parameters(data.p);
  uniform.set_parameter_directions(directions);
  uniform.hvp(n, rows(data.x.data(), inputs), {}, {}, {}, {});

  constexpr std::size_t all = parameters + inputs;
  std::vector<double> x, along, products(n * all);
  for (std::size_t e = 0; e < n; ++e) {
    x.insert(x.end(), data.p.begin(), data.p.end());
    x.insert(x.end(), data.x.begin() + e * inputs, data.x.begin() + (e + 1) * inputs);
    along.insert(along.end(), directions.begin(), directions.end());
    along.resize(along.size() + inputs);
  }
  single.hvp(n, rows(x.data(), all), rows(along.data(), all), {}, {}, rows(products.data(), all));
  for (std::size_t k = 0; k < parameters; ++k) {
    double sum = 0, size = 0;
    for (std::size_t e = 0; e < n; ++e) sum += products[e * all + k], size += std::fabs(products[e * all + k]);
    BOOST_TEST(std::fabs(uniform.parameter_products()[k] - sum) <= 1e-13 * size);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
