// Workloads: what they record, where their inputs lie, and that their numbers are worth comparing.
#include "bench/workload.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bench/reference.hpp"
#include "bench/workloads/draw.hpp"
#include "wengert/error.hpp"
#include "wengert/tape.hpp"

using namespace wengert;
using namespace wengert::bench;

namespace {

std::vector<double> inputs_of(const Workload& w, std::uint64_t evaluation) {
  std::vector<double> x;
  for (std::size_t i = 0; i < w.inputs; ++i) x.push_back(w.input(evaluation, i));
  return x;
}

/// A workload on a tape, at inputs of its own.
struct Built {
  explicit Built(const Workload& w, std::vector<double> x) {
    for (double value : x) inputs.push_back(tape.input(value));
    output = w.build(tape, std::span<const Id>(inputs));
    tape.backward(output);
  }
  NaiveTape<double> tape;
  std::vector<Id> inputs;
  Id output;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(workload)

BOOST_AUTO_TEST_CASE(expr_by_hand) {
  // softplus((1 + 2) * 1) = log(1 + e^3); d/dx = (2x + y) sigmoid(3), d/dy = x sigmoid(3).
  const Workload w = make_workload("expr");
  Built b(w, {1, 2});
  BOOST_TEST(b.tape.value(b.output) == 3.0485873515737421, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(b.tape.grad(b.inputs[0]) == 4 * 0.95257412682243336, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(b.tape.grad(b.inputs[1]) == 0.95257412682243336, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(w.recorded_ops == 3u);
}

BOOST_AUTO_TEST_CASE(west_by_hand) {
  // The first four ops, from their definitions: inputs are n[0..99].
  WorkloadOptions options;
  options.ops = 4;
  const Workload w = make_workload("west", options);
  const std::vector<double> x = inputs_of(w, 5);
  Built b(w, x);
  const double plus = std::log1p(std::exp(x[90]));
  const double sum = x[71] + x[76] + x[81] + x[86];
  const double product = x[82] * x[92];
  BOOST_TEST(b.tape.value(100) == plus, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(b.tape.value(101) == sum, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(b.tape.value(102) == product, boost::test_tools::tolerance(1e-14));
  const double e[] = {std::exp(x[99]), std::exp(plus), std::exp(sum), std::exp(product)};
  for (int k = 0; k < 4; ++k)
    BOOST_TEST(b.tape.value(103 + k) == e[k] / (e[0] + e[1] + e[2] + e[3]), boost::test_tools::tolerance(1e-14));
  BOOST_TEST(b.output == 106u);
}

BOOST_AUTO_TEST_CASE(west_sizes) {
  WorkloadOptions options;
  BOOST_TEST(make_workload("west", options).variables == 17600u);
  BOOST_TEST(make_workload("west", options).recorded_ops == 10000u);
  options.output = Output::sum;
  BOOST_TEST(make_workload("west", options).variables == 17601u);
  BOOST_TEST(make_workload("west", options).recorded_ops == 10001u);
  for (std::size_t ops = 1; ops <= 9; ++ops) {
    options.ops = ops;
    const Workload w = make_workload("west", options);
    const Built b(w, inputs_of(w, 0));
    BOOST_TEST(w.recorded_ops == ops + 1);
    BOOST_TEST(w.variables == b.tape.size());
  }
  options.ops = 2'000'000'000;  // counted without being recorded
  BOOST_TEST(make_workload("west", options).variables == 3'500'000'101u);
}

BOOST_AUTO_TEST_CASE(counts_are_the_tapes) {
  for (const WorkloadInfo& info : workloads()) {
    WorkloadOptions options;
    options.ops = 123;
    const Workload w = make_workload(info.name, options);
    const Built b(w, inputs_of(w, 0));
    const TapeStatistics statistics = b.tape.statistics();
    BOOST_TEST(statistics.ops == w.recorded_ops, info.name);
    BOOST_TEST(statistics.variables == w.variables, info.name);
    BOOST_TEST(statistics.inputs == w.inputs, info.name);
    BOOST_TEST(b.output + 1 == w.variables, info.name);
    BOOST_TEST(std::is_sorted(w.differentiated.begin(), w.differentiated.end()), info.name);
    BOOST_TEST(w.differentiated.back() < w.inputs, info.name);
    if (info.has_ops) BOOST_TEST(w.ops == 123u, info.name);
  }
}

BOOST_AUTO_TEST_CASE(inputs_depend_on_seed_evaluation_and_index_alone) {
  WorkloadOptions options, other;
  other.seed = 43;
  const Workload west = make_workload("west", options), west_other = make_workload("west", other);
  options.ops = 17;
  const Workload small = make_workload("west", options);
  int equal_seed = 0, equal_evaluation = 0, equal_index = 0;
  for (std::uint64_t e = 0; e < 50; ++e)
    for (std::size_t i = 0; i < 99; ++i) {
      BOOST_TEST(west.input(e, i) == small.input(e, i));
      equal_seed += west.input(e, i) == west_other.input(e, i);
      equal_evaluation += west.input(e, i) == west.input(e + 1, i);
      equal_index += west.input(e, i) == west.input(e, i + 1);
    }
  BOOST_TEST(equal_seed + equal_evaluation + equal_index == 0);
  BOOST_TEST(west.input(1ull << 40, 3) != west.input(0, 3));
}

BOOST_AUTO_TEST_CASE(uniform_inputs) {
  const Workload w = make_workload("west");
  double low = 1, high = -1, sum = 0, squares = 0;
  const int evaluations = 2000;
  for (int e = 0; e < evaluations; ++e)
    for (std::size_t i = 0; i < 100; ++i) {
      const double x = w.input(static_cast<std::uint64_t>(e), i);
      low = std::min(low, x);
      high = std::max(high, x);
      sum += x;
      squares += x * x;
      BOOST_REQUIRE(x * 0x1p52 == std::floor(x * 0x1p52));  // 53 bits over [-1, 1)
    }
  const double n = evaluations * 100.0;
  BOOST_TEST(low >= -1.0);
  BOOST_TEST(low < -0.9999);
  BOOST_TEST(high < 1.0);
  BOOST_TEST(high > 0.9999);
  BOOST_TEST(std::fabs(sum / n) < 5 * std::sqrt(1 / (3 * n)));                 // 5 standard deviations of a mean
  BOOST_TEST(std::fabs(squares / n - 1.0 / 3) < 5 * std::sqrt(4 / (45 * n)));  // var(x^2) = 1/5 - 1/9
}

BOOST_AUTO_TEST_CASE(ranges_of_black_scholes) {
  const double range[5][2] = {{50, 150}, {50, 150}, {0, 0.1}, {0.1, 0.5}, {0.1, 2}};
  const Workload w = make_workload("black-scholes");
  for (std::size_t i = 0; i < 5; ++i) {
    const double width = range[i][1] - range[i][0];
    double low = range[i][1], high = range[i][0];
    for (std::uint64_t e = 0; e < 2000; ++e) {
      low = std::min(low, w.input(e, i));
      high = std::max(high, w.input(e, i));
    }
    BOOST_TEST(low >= range[i][0]);
    BOOST_TEST(high <= range[i][1]);
    BOOST_TEST(low < range[i][0] + 0.01 * width);
    BOOST_TEST(high > range[i][1] - 0.01 * width);
  }
}

BOOST_AUTO_TEST_CASE(heston_normals_are_normal) {
  const Workload w = make_workload("heston");
  BOOST_TEST(w.differentiated.size() == 5u);
  double sum = 0, squares = 0, fourths = 0;
  std::size_t n = 0;
  for (std::uint64_t e = 0; e < 400; ++e)
    for (std::size_t i = 5; i < w.inputs; ++i, ++n) {
      const double z = w.input(e, i);
      sum += z;
      squares += z * z;
      fourths += z * z * z * z;
    }
  const double count = static_cast<double>(n);
  BOOST_TEST(std::fabs(sum / count) < 5 / std::sqrt(count));
  BOOST_TEST(std::fabs(squares / count - 1) < 5 * std::sqrt(2 / count));
  BOOST_TEST(std::fabs(fourths / count - 3) < 5 * std::sqrt(96 / count));
}

BOOST_AUTO_TEST_CASE(normal_quantile_inverts_the_distribution) {
  const auto distribution = [](long double x) { return 0.5L * std::erfc(-x * 0.70710678118654752440084436210484904L); };
  for (int k = -900; k <= 900; ++k) {
    // Towards 0 down to 1e-90, towards 1 up to 1 - 2^-53, both through the middle.
    const double p = k < 0 ? std::pow(10.0, k / 10.0) / 2 : 1 - std::exp2(-1 - k * 52 / 900.0);
    const double x = normal_quantile(p);
    const long double density = std::exp(-0.5L * x * x) * 0.39894228040143267793994605993438L;
    // A step from x to where the distribution is p exactly: the error of x. 1 - p is exact.
    const long double step =
        (p < 0.5 ? distribution(x) - p
                 : (1 - static_cast<long double>(p)) - distribution(-static_cast<long double>(x))) /
        density;
    BOOST_TEST(std::fabs(static_cast<double>(step)) < 1e-15 * std::max(1.0, std::fabs(x)), "p = " << p);
  }
  BOOST_TEST(normal_quantile(0.5) == 0.0);
  BOOST_TEST(normal_quantile(0.25) == -normal_quantile(0.75));
}

BOOST_AUTO_TEST_CASE(dag_numbers_are_worth_comparing) {
  for (const std::size_t ops : {100u, 1000u, 10000u})
    for (const std::uint64_t seed : {42u, 1u, 2u, 3u}) {
      WorkloadOptions options;
      options.ops = ops;
      options.seed = seed;
      const Workload w = make_workload("dag", options);
      std::size_t good = 0, all = 0, alive = 0;
      for (std::uint64_t e = 0; e < 20; ++e) {
        Built b(w, inputs_of(w, e));
        for (Id v = 0; v + 1 < w.variables; ++v) {
          BOOST_REQUIRE(std::fabs(b.tape.value(v)) < 4);
          alive += std::fabs(b.tape.value(v)) > 1e-3;
        }
        for (Id x : b.inputs) {
          const double slope = std::fabs(b.tape.grad(x));
          good += slope >= 1e-3 && slope <= 1e3;
          ++all;
        }
      }
      // An input whose one use is to be subtracted once has slope 1 - 1 = 0.
      BOOST_TEST(good >= 0.9 * static_cast<double>(all), ops << " ops, seed " << seed << ": " << good << " of " << all);
      BOOST_TEST(alive >= 0.9 * 20 * static_cast<double>(w.variables), ops << " ops, seed " << seed);
    }
}

BOOST_AUTO_TEST_CASE(dag_operands_are_recent) {
  WorkloadOptions options;
  options.ops = 2000;
  const Workload w = make_workload("dag", options);
  const RandomGraph& g = w.random_graph;
  const std::size_t constants = g.constants.size();
  std::size_t kinds[4] = {};
  for (std::size_t k = 0; k < g.steps.size(); ++k) {
    const RandomGraph::Step& s = g.steps[k];
    const std::size_t place = constants + w.inputs + k;
    ++kinds[s.kind];
    for (const std::uint32_t operand : {s.a, s.b, s.kind == RandomGraph::fma ? s.c : s.a}) {
      BOOST_TEST(operand < place);
      BOOST_TEST((operand < constants || place - operand <= 64));
    }
  }
  for (const std::size_t n : kinds) BOOST_TEST(n > 400u);  // a quarter each, about
}

BOOST_AUTO_TEST_CASE(black_scholes_against_known_price) {
  // Spot 100, strike 100, rate 5%, volatility 20%, one year: 10.450583572185567 (the closed form at 30 digits).
  const Workload w = make_workload("black-scholes");
  Built b(w, {100, 100, 0.05, 0.2, 1});
  BOOST_TEST(b.tape.value(b.output) == 10.450583572185567, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(b.tape.grad(b.inputs[0]) == 0.6368306511756191, boost::test_tools::tolerance(1e-14));  // delta
  BOOST_TEST(b.tape.grad(b.inputs[3]) == 37.524034691693788, boost::test_tools::tolerance(1e-13));  // vega
  BOOST_TEST(b.tape.grad(b.inputs[2]) == 53.232481545376340, boost::test_tools::tolerance(1e-13));  // rho
}

BOOST_AUTO_TEST_CASE(heston_prices_the_limit_of_constant_variance) {
  // With xi = 0 and v0 = theta the variance stays: the mean payoff is the Black-Scholes price, whatever the steps. 4000 paths.
  for (const std::size_t steps : {252, 20}) {
    WorkloadOptions options;
    options.size = {steps};
    const Workload w = make_workload("heston", options);
    const double variance = 0.04, rate = Heston::rate;
    double sum = 0, squares = 0;
    const int paths = 4000;
    Built b(w, std::vector<double>(w.inputs, 0.5));
    for (int e = 0; e < paths; ++e) {
      std::vector<double> x = inputs_of(w, static_cast<std::uint64_t>(e));
      const double parameters[] = {2, variance, 0, -0.5, variance};
      std::copy(std::begin(parameters), std::end(parameters), x.begin());
      for (std::size_t i = 0; i < x.size(); ++i) b.tape.set_input(b.inputs[i], x[i]);
      b.tape.forward();
      const double payoff = b.tape.value(b.output);
      sum += payoff;
      squares += payoff * payoff;
    }
    const double mean = sum / paths, deviation = std::sqrt((squares / paths - mean * mean) / paths);
    const double d1 = (rate + variance / 2) / std::sqrt(variance), d2 = d1 - std::sqrt(variance);
    const auto normal_cdf = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
    const double price = 100 * normal_cdf(d1) - 100 * std::exp(-rate) * normal_cdf(d2);
    BOOST_TEST(std::fabs(mean - price) < 4 * deviation, "mean " << mean << ", price " << price << " +- " << deviation);
  }
}

BOOST_AUTO_TEST_CASE(heston_goes_below_zero_sometimes) {
  // Or the truncation is never tried: some paths must meet max(v, 0) = 0, and gradients stay finite there.
  const Workload w = make_workload("heston");
  Built b(w, inputs_of(w, 0));
  std::size_t truncated = 0;
  for (std::uint64_t e = 0; e < 300; ++e) {
    for (std::size_t i = 0; i < w.inputs; ++i) b.tape.set_input(b.inputs[i], w.input(e, i));
    b.tape.forward();
    b.tape.backward(b.output);
    for (const OpRecord& op : b.tape.view().ops)
      if (op.op == Op::max && op.out + 1 != b.output) truncated += b.tape.value(op.out) == 0;
    for (const std::uint32_t k : w.differentiated) BOOST_REQUIRE(std::isfinite(b.tape.grad(b.inputs[k])));
  }
  BOOST_TEST(truncated > 20u);
}

BOOST_AUTO_TEST_CASE(gmm_by_hand) {
  // One component in one dimension, one point: log N(x; mean, 1/q^2) and the prior's share, from their definitions.
  WorkloadOptions options;
  options.size = {1, 1};
  options.samples = 1;
  const Workload w = make_workload("gmm", options);
  const double alpha = 0.7, mean = 0.25, log_q = 0.5, x = -1, q = std::exp(log_q), off = q * (x - mean);
  Built b(w, {alpha, mean, log_q, x});
  const double likelihood = -0.5 * std::log(2 * M_PI) + log_q - off * off / 2;  // a single weight is 1 whatever alpha
  // log of the Wishart density's constant for 2 degrees of freedom in one dimension: -log 2 - log gamma(1)
  const double prior = q * q / 2 + std::log(2.0);
  BOOST_TEST(b.tape.value(b.output) == likelihood + prior, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(std::fabs(b.tape.grad(b.inputs[0])) < 1e-15);
  BOOST_TEST(b.tape.grad(b.inputs[1]) == q * off, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(b.tape.grad(b.inputs[2]) == 1 - off * off + q * q, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(gmm_is_a_mixture_density) {
  // Three components in two dimensions: the likelihood part from densities with Q = [[a, 0], [c, b]].
  WorkloadOptions options;
  options.size = {2, 3};
  options.samples = 7;
  const Workload w = make_workload("gmm", options);
  const std::vector<double> in = inputs_of(w, 4);
  Built b(w, in);
  double weights = 0, density = 0, squares = 0;
  for (std::size_t k = 0; k < 3; ++k) weights += std::exp(in[k]);
  for (std::size_t k = 0; k < 3; ++k) {
    const double* mean = &in[3 + 2 * k];
    const double* factor = &in[9 + 3 * k];
    const double a = std::exp(factor[0]), c = factor[2], d = std::exp(factor[1]);
    const double y0 = in[18] - mean[0], y1 = in[19] - mean[1];
    const double z0 = a * y0, z1 = c * y0 + d * y1;
    density += std::exp(in[k]) / weights * a * d / (2 * M_PI) * std::exp(-(z0 * z0 + z1 * z1) / 2);
    squares += a * a + c * c + d * d;
  }
  const double log_gamma = 0.5 * std::log(M_PI) + std::lgamma(1.5) + std::lgamma(1.0);  // of two dimensions, at 3/2
  const double prior = squares / 2 - 3 * (-3 * std::log(2.0) - log_gamma);
  BOOST_TEST(b.tape.value(b.output) == std::log(density) + prior / 7, boost::test_tools::tolerance(1e-13));
}

BOOST_AUTO_TEST_CASE(logistic_rows_are_standardised) {
  const auto rows = logistic_rows();
  BOOST_TEST(rows.size() == 569u);
  const double n = static_cast<double>(rows.size());
  for (std::size_t j = 0; j < Logistic::features; ++j) {
    double sum = 0, squares = 0;
    for (const Logistic::Row& row : rows) {
      sum += row[j];
      squares += row[j] * row[j];
    }
    BOOST_TEST(std::fabs(sum) < 1e-10);
    BOOST_TEST(squares == n, boost::test_tools::tolerance(1e-12));
  }
  std::size_t malignant = 0;
  for (const Logistic::Row& row : rows) malignant += row[Logistic::features] == 1;
  BOOST_TEST(malignant == 212u);  // as the data's description says
  const Workload w = make_workload("logistic");
  BOOST_TEST(w.input(570, w.parameters + 2) == rows[1][2]);  // evaluations go round
  BOOST_TEST(w.input(0, 3) == w.input(99, 3));               // parameters are the same in all
}

BOOST_AUTO_TEST_CASE(logistic_finds_the_malignant) {
  // Newton would do better; plain gradient steps by the workload's own derivatives are enough to tell the classes apart.
  const Workload w = make_workload("logistic");
  Built b(w, inputs_of(w, 0));
  const std::size_t n = logistic_rows().size();
  std::vector<double> weights(w.parameters, 0.0);
  std::size_t right = 0;
  for (int step = 0; step < 200; ++step) {
    std::vector<double> gradient(w.parameters, 0.0);
    for (std::size_t i = 0; i < w.parameters; ++i) b.tape.set_input(b.inputs[i], weights[i]);
    right = 0;
    for (std::size_t e = 0; e < n; ++e) {
      double score = weights.back();
      for (std::size_t i = w.parameters; i < w.inputs; ++i) {
        b.tape.set_input(b.inputs[i], w.input(e, i));
        if (i + 1 < w.inputs) score += weights[i - w.parameters] * w.input(e, i);
      }
      right += (score > 0) == (w.input(e, w.inputs - 1) == 1);
      b.tape.forward();
      b.tape.backward(b.output);
      for (std::size_t i = 0; i < w.parameters; ++i) gradient[i] += b.tape.grad(b.inputs[i]);
    }
    for (std::size_t i = 0; i < w.parameters; ++i) weights[i] -= 2 * gradient[i] / static_cast<double>(n);
  }
  BOOST_TEST(right >= 530u);  // 93%
}

BOOST_AUTO_TEST_CASE(lstm_cell_by_hand) {
  WorkloadOptions options;
  options.size = {1, 1};
  const Workload w = make_workload("lstm-cell", options);
  const std::vector<double> p = inputs_of(w, 3);
  Built b(w, p);
  const double x = p[12], h = p[13], c = p[14];
  const auto score = [&](std::size_t gate) { return p[3 * gate] * x + p[3 * gate + 1] * h + p[3 * gate + 2]; };
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  const double state = sigmoid(score(1)) * c + sigmoid(score(0)) * std::tanh(score(2));
  const double after = sigmoid(score(3)) * std::tanh(state);
  BOOST_TEST(b.tape.value(b.output) == after * after, boost::test_tools::tolerance(1e-14));
  const double output = sigmoid(score(3));  // d/d offset of the output gate
  BOOST_TEST(b.tape.grad(b.inputs[11]) == 2 * after * std::tanh(state) * output * (1 - output),
             boost::test_tools::tolerance(1e-13));
}

BOOST_AUTO_TEST_CASE(rosenbrock_by_hand) {
  WorkloadOptions options;
  options.size = {3};
  const Workload w = make_workload("rosenbrock", options);
  Built b(w, {-1.2, 1, 2});
  BOOST_TEST(b.tape.value(b.output) == 24.2 + 100, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(b.tape.grad(b.inputs[0]) == -215.6, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(b.tape.grad(b.inputs[1]) == -88.0 - 400, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(b.tape.grad(b.inputs[2]) == 200.0, boost::test_tools::tolerance(1e-13));
  Built least(w, {1, 1, 1});
  for (const Id x : least.inputs) BOOST_TEST(least.tape.grad(x) == 0.0);
}

BOOST_AUTO_TEST_CASE(refusals) {
  const auto message = [](std::string_view name, std::size_t ops, std::vector<std::size_t> size = {}) -> std::string {
    try {
      WorkloadOptions options;
      options.ops = ops;
      options.size = std::move(size);
      make_workload(name, options);
    } catch (const Error& error) {
      BOOST_TEST((error.code() == ErrorCode::bad_argument));
      return error.what();
    }
    return "accepted";
  };
  BOOST_TEST(message("wset", 10) ==
             "unknown workload 'wset'; choose one of expr, west, dag, black-scholes, "
             "heston, gmm, logistic, lstm-cell, rosenbrock");
  BOOST_TEST(message("west", 0).find("0 ops") != std::string::npos);
  BOOST_TEST(message("dag", 3'000'000'000).find("3000000000 ops") != std::string::npos);
  BOOST_TEST(message("expr", 0) == "accepted");  // it has its own number
  BOOST_TEST(message("gmm", 1, {2}) == "workload gmm takes 2 sizes (dimensions,components), not 1");
  BOOST_TEST(message("gmm", 1, {0, 2}) == "workload gmm with 0 dimensions; choose 1 to 64");
  BOOST_TEST(message("lstm-cell", 1, {3, 257}) == "workload lstm-cell with 257 inputs; choose 1 to 256");
  BOOST_TEST(message("rosenbrock", 1, {1}) == "workload rosenbrock with 1 dimensions; choose 2 to 1000000");
  BOOST_TEST(message("west", 1, {1}) == "workload west has no sizes to choose");
  BOOST_TEST(message("gmm", 1, {3, 4}) == "accepted");
  BOOST_TEST(message("heston", 1, {0}) == "workload heston with 0 steps; choose 1 to 1000000");
}

BOOST_AUTO_TEST_SUITE_END()
