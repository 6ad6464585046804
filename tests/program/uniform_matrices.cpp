// Jacobians and Hessians in the inputs of samples, of programs with parameters and sums over samples.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <utility>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/program/objectives.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"

namespace wengert::test {
namespace {

constexpr std::size_t columns = features + 1, of_sample = 2;
using Row = std::vector<Id>;

/// Outputs of each sample, then of the batch: a loss, a sum that knows one input alone, one that depends on parameters alone, and,
/// if wanted, one that isn't linear in its sum.
std::vector<Id> outputs(NaiveTape<double>& tape, const std::vector<Id>& w, const std::vector<Row>& table, bool batch,
                        bool linear) {
  std::vector<Id> all, last;
  for (const Row& row : table) {
    all.push_back(tape.sin(tape.mul(row[0], row[3])));
    all.push_back(tape.exp(tape.mul(w[0], tape.square(row[1]))));
    last.push_back(tape.square(row[2]));
  }
  all.push_back(logistic(tape, w, table, batch));
  all.push_back(batch ? tape.sum_samples(last[0]) : tape.sum(last));
  all.push_back(tape.mul(w[0], w[1]));
  if (!linear) all.push_back(tape.log(tape.add(all[all.size() - 2], tape.constant(1))));
  return all;
}

Program<double> program(bool linear) {
  NaiveTape<double> tape;
  std::vector<Id> w;
  Row row;
  for (std::size_t i = 0; i < features; ++i) w.push_back(tape.parameter());
  for (std::size_t i = 0; i < columns; ++i) row.push_back(tape.input());
  return compile(tape, std::span<const Id>(outputs(tape, w, {row}, true, linear)));
}

/// Every sample recorded.
Program<double> recorded(const Data& data, bool linear) {
  NaiveTape<double> tape;
  std::vector<Id> w;
  std::vector<Row> table(data.samples);
  for (double number : data.w) w.push_back(tape.constant(number));
  for (Row& row : table)
    for (std::size_t i = 0; i < columns; ++i) row.push_back(tape.input());
  return compile(tape, std::span<const Id>(outputs(tape, w, table, false, linear)));
}

void check_close(double a, double b, double scale) {
  BOOST_TEST_REQUIRE(std::fabs(a - b) <= 1e-13 * std::fmax(1, scale), a << " and " << b);
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same_bits(x, y); });
}

std::vector<double> jacobian(Replay<double>& replay, const Data& data) {
  const std::size_t items = (replay.program().outputs() + replay.program().uniform_outputs()) * columns;
  std::vector<double> found(data.samples * items, -7);
  replay.set_parameters(data.w);
  replay.jacobian(data.samples, data.inputs(), {}, rows(found.data(), items));
  return found;
}

const std::vector<double> uniform_weights = {0.5, 2, 3};

std::vector<double> hessian(Replay<double>& replay, const Data& data) {
  std::vector<double> found(data.samples * columns * columns, -7), weights(data.samples * of_sample, 0.75);
  replay.set_parameters(data.w);
  replay.hessian(data.samples, data.inputs(), {}, {}, rows(found.data(), columns * columns),
                 rows(weights.data(), of_sample), uniform_weights);
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(uniform_matrices)

BOOST_AUTO_TEST_CASE(a_jacobian_has_the_rows_of_outputs_then_of_uniform_ones) {
  for (const bool linear : {true, false}) {
    Replay<double> replay(program(linear));
    const std::size_t uniform = replay.program().uniform_outputs(), rows_of_one = of_sample + uniform;
    BOOST_TEST(uniform == (linear ? 3u : 4u));
    for (const std::size_t n : {1, 2, 31, 33, 70}) {
      const Data data(n);
      const std::vector<double> ours = jacobian(replay, data);
      Replay<double> whole(recorded(data, linear));
      const std::size_t all = n * columns;
      std::vector<double> theirs((n * of_sample + uniform) * all), values(n * of_sample + uniform);
      whole.jacobian(1, rows(data.x.data(), all), rows(values.data(), 1), rows(theirs.data(), 1));
      for (std::size_t e = 0; e < n; ++e)
        for (std::size_t k = 0; k < rows_of_one; ++k)
          for (std::size_t i = 0; i < columns; ++i) {
            const std::size_t row = k < of_sample ? e * of_sample + k : n * of_sample + k - of_sample;
            check_close(ours[(e * rows_of_one + k) * columns + i], theirs[row * all + e * columns + i], 10);
          }
      for (std::size_t u = 0; u < uniform; ++u)
        check_close(replay.uniform_outputs()[u], values[n * of_sample + u], 30 * double(n));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_row_of_a_sum_has_the_bits_of_its_gradient) {
  for (Objective objective : {logistic, nonlinear}) {
    Replay<double> replay(program_of(objective));
    for (const std::size_t n : {0, 1, 64, 1100}) {
      const Data data(n);
      std::vector<double> gradients(data.x.size());
      const std::vector<double> rows_of_it = jacobian(replay, data);
      const double value = replay.uniform_outputs()[0];
      replay.gradient(n, data.inputs(), {}, rows(gradients.data(), columns));
      BOOST_TEST(same(rows_of_it, gradients));
      BOOST_TEST(same_bits(value, replay.uniform_outputs()[0]));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_hessian_is_that_of_each_sample) {
  Replay<double> replay(program(true));
  for (const std::size_t n : {1, 2, 31, 33, 70}) {
    const Data data(n);
    const std::vector<double> ours = hessian(replay, data);
    Replay<double> whole(recorded(data, true));
    const std::size_t all = n * columns;
    std::vector<double> theirs(all * all), weights(n * of_sample, 0.75);
    weights.insert(weights.end(), uniform_weights.begin(), uniform_weights.end());
    whole.hessian(1, rows(data.x.data(), all), {}, {}, rows(theirs.data(), 1), rows(weights.data(), 1));
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t i = 0; i < all; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
          const double other = theirs[i * all + e * columns + j];
          if (i / columns == e) check_close(ours[(e * columns + i % columns) * columns + j], other, 10);
          else BOOST_TEST_REQUIRE(other == 0);
        }
  }
}

BOOST_AUTO_TEST_CASE(sparse_ones_are_the_dense_ones) {
  Replay<double> replay(program(true));
  const SparsityPattern first = replay.program().jacobian_sparsity(), second = replay.program().hessian_sparsity();
  BOOST_TEST(first.rows == of_sample + 3);
  const std::vector<std::size_t> starts = {0, 2, 3, 7, 8, 8};
  BOOST_TEST(first.row_start == starts, boost::test_tools::per_element());
  const Data data(70);
  const std::vector<double> dense = jacobian(replay, data), curved = hessian(replay, data);
  std::vector<double> slopes(data.samples * first.nonzeros()), curves(data.samples * second.nonzeros()),
      weights(data.samples * of_sample, 0.75);
  replay.sparse_jacobian(data.samples, data.inputs(), {}, rows(slopes.data(), first.nonzeros()));
  replay.sparse_hessian(data.samples, data.inputs(), {}, {}, rows(curves.data(), second.nonzeros()),
                        rows(weights.data(), of_sample), uniform_weights);
  const auto check = [&](const SparsityPattern& pattern, const std::vector<double>& of,
                         const std::vector<double>& full) {
    std::vector<double> spread(full.size());
    for (std::size_t e = 0; e < data.samples; ++e)
      for (std::size_t r = 0; r < pattern.rows; ++r)
        for (std::size_t k = pattern.row_start[r]; k < pattern.row_start[r + 1]; ++k)
          spread[(e * pattern.rows + r) * columns + pattern.column[k]] = of[e * pattern.nonzeros() + k];
    for (std::size_t k = 0; k < full.size(); ++k) check_close(spread[k], full[k], 10);
  };
  check(first, slopes, dense);
  check(second, curves, curved);
}

BOOST_AUTO_TEST_CASE(the_same_bits_however_they_are_computed, *uses_threads()) {
  for (const std::size_t n : {3, 65, 1030}) {
    const Data data(n);
    Replay<double> plain(program(false), {.isa = "scalar"}), plain_linear(program(true), {.isa = "scalar"});
    const std::vector<double> slopes = jacobian(plain, data), curves = hessian(plain_linear, data);
    for (const Isa isa : usable_isas())
      for (const unsigned threads : {1u, 3u})
        for (const std::size_t lanes : {0, 16, 48, 128}) {
          const ReplayOptions options = {.isa = std::string(name(isa)), .threads = threads, .lanes = lanes};
          Replay<double> replay(program(false), options), linear(program(true), options);
          BOOST_TEST_REQUIRE(same(jacobian(replay, data), slopes));
          BOOST_TEST_REQUIRE(same(hessian(linear, data), curves));
        }
  }
}

// More outputs than inputs, none of them uniform, and a guard that looks at a sum: forward, after a pass for the sum.
BOOST_AUTO_TEST_CASE(a_guard_of_the_batch_is_checked) {
  NaiveTape<double> tape;
  const Id x = tape.input(1.0), positive = tape.lt(tape.constant(0), tape.sum_samples(x));
  tape.guard(positive);
  const std::vector<Id> out = {tape.square(x), tape.sin(x), tape.neg(x)};
  Replay<double> replay(compile(tape, std::span<const Id>(out)), {.report_departures = true});
  const std::vector<double> points = {0.5, -0.25}, negative = {-0.5, 0.25};
  std::vector<double> slopes(6), curves(2);
  replay.jacobian(2, rows(points.data(), 1), {}, rows(slopes.data(), 3));
  BOOST_TEST(replay.departures().empty());
  const std::vector<double> expected = {1, std::cos(0.5), -1, -0.5, std::cos(0.25), -1};
  for (std::size_t k = 0; k < 6; ++k) check_close(slopes[k], expected[k], 1);
  replay.jacobian(2, rows(negative.data(), 1), {}, rows(slopes.data(), 3));
  BOOST_TEST_REQUIRE(replay.departures().size() == 1u);
  BOOST_TEST(replay.departures()[0].sample == Departure::every_sample);
  const std::vector<double> weights = {1, 0, 0, 1, 0, 0};
  replay.hessian(2, rows(points.data(), 1), {}, {}, rows(curves.data(), 1), rows(weights.data(), 3));
  BOOST_TEST(replay.departures().empty());
  for (const double curve : curves) BOOST_TEST(curve == 2);
  replay.hessian(2, rows(negative.data(), 1), {}, {}, rows(curves.data(), 1), rows(weights.data(), 3));
  BOOST_TEST(replay.departures().size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_has_no_hessian_of_one_sample_says_so) {
  Replay<double> replay(program(false)), linear(program(true));
  const Data data(3);
  std::vector<double> numbers(3 * columns * columns), weights(3 * of_sample, 1);
  const auto refused = says(ErrorCode::unsupported, "aren't linear in its sums over samples");
  const auto hessians = rows(numbers.data(), columns * columns);
  const auto weight = rows(std::as_const(weights).data(), of_sample);
  BOOST_CHECK_EXCEPTION(replay.hessian(3, data.inputs(), {}, {}, hessians, weight), Error, refused);
  BOOST_CHECK_EXCEPTION(replay.sparse_hessian(3, data.inputs(), {}, {}, hessians, weight), Error, refused);
  BOOST_CHECK_EXCEPTION(linear.hessian(3, data.inputs(), {}, {}, hessians, weight), Error,
                        says(ErrorCode::bad_argument, "hessian of a program with 5 outputs: give a weight for each"));
  BOOST_CHECK_EXCEPTION(
      linear.hessian(3, data.inputs(), {}, {}, hessians, weight, std::span<const double>(weights).first(2)), Error,
      says(ErrorCode::bad_size, "2 weights for 3 uniform outputs"));
  BOOST_CHECK_EXCEPTION(linear.jacobian(3, data.inputs(), {}, {}), Error,
                        says(ErrorCode::bad_argument, "no table of jacobians is given for 3 samples; there are 20"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
