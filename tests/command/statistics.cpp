#include "bench/statistics.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

using namespace wengert::bench;

BOOST_AUTO_TEST_SUITE(statistics)

BOOST_AUTO_TEST_CASE(median_of_odd_even_one_and_none) {
  BOOST_TEST(median(std::vector{3.0, 1.0, 2.0}) == 2.0);
  BOOST_TEST(median(std::vector{4.0, 1.0, 2.0, 3.0}) == 2.5);
  BOOST_TEST(median(std::vector{7.0}) == 7.0);
  BOOST_TEST(std::isnan(median(std::vector<double>{})));
}

BOOST_AUTO_TEST_CASE(quantiles_are_linear_between_order_statistics) {
  const std::vector samples{50.0, 10.0, 30.0, 20.0, 40.0};
  BOOST_TEST(quantile(samples, 0) == 10.0);
  BOOST_TEST(quantile(samples, 1) == 50.0);
  BOOST_TEST(quantile(samples, 0.25) == 20.0);
  BOOST_TEST(quantile(samples, 0.1) == 14.0, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(interval_holds_the_median_and_stays_within_the_samples) {
  const std::vector samples{1.0, 1.1, 1.2, 1.05, 9.0, 1.15, 1.07};
  const Estimate e = median_interval(samples);
  BOOST_TEST(e.value == 1.1);
  BOOST_TEST(e.low >= 1.0);
  BOOST_TEST(e.low < 1.1);
  BOOST_TEST(e.high > 1.1);
  BOOST_TEST(e.high <= 9.0);
}

BOOST_AUTO_TEST_CASE(same_samples_same_interval) {
  const std::vector samples{5.0, 6.0, 5.5, 5.2, 5.9};
  const Estimate a = median_interval(samples), b = median_interval(samples);
  BOOST_TEST(a.low == b.low);
  BOOST_TEST(a.high == b.high);
}

BOOST_AUTO_TEST_CASE(one_sample_has_no_interval) {
  const Estimate e = median_interval(std::vector{2.0});
  BOOST_TEST(e.value == 2.0);
  BOOST_TEST(std::isnan(e.low));
  BOOST_TEST(std::isnan(e.high));
}

// Of 400 sets of 15 samples from a known distribution, about 95% of the intervals must hold its median.
BOOST_AUTO_TEST_CASE(interval_covers_the_true_median_about_as_often_as_it_says) {
  SplitMix random(1);
  int covered = 0;
  for (int set = 0; set < 400; ++set) {
    std::vector<double> samples(15);
    for (double& x : samples) x = -std::log((double(random.below(1u << 30)) + 0.5) / double(1u << 30));  // exponential
    const Estimate e = median_interval(samples);
    covered += e.low <= std::log(2.0) && std::log(2.0) <= e.high;
  }
  BOOST_TEST(covered >= 360);  // 90%
  BOOST_TEST(covered <= 396);  // 99%: it isn't merely wide
}

BOOST_AUTO_TEST_CASE(speed_up_is_the_ratio_of_medians) {
  const Estimate e = speed_up(std::vector{8.0, 10.0, 12.0}, std::vector{2.0, 2.5, 4.0});
  BOOST_TEST(e.value == 4.0);
}

// Rounds that slow both alike leave their ratio alone: an exact factor 3 has an interval of no width, however wild the
// rounds are.
BOOST_AUTO_TEST_CASE(drift_that_both_share_cancels) {
  const std::vector level{1.0, 1.5, 0.9, 4.0, 2.0, 1.1, 1.25};
  std::vector<double> base;
  for (double x : level) base.push_back(3 * x);
  const Estimate e = speed_up(base, level);
  BOOST_TEST(e.low == 3.0, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(e.high == 3.0, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(speed_up_of_an_unfinished_round_leaves_it_out) {
  const Estimate e = speed_up(std::vector{4.0, 4.0, 4.0, 400.0}, std::vector{2.0, 2.0, 2.0});
  BOOST_TEST(e.value == 2.0);
  BOOST_TEST(e.high == 2.0);
}

BOOST_AUTO_TEST_CASE(ratio_of_medians_of_separate_runs) {
  const Estimate e =
      ratio_of_medians(std::vector{10.0, 10.5, 9.5, 10.2, 9.8}, std::vector{20.0, 21.0, 19.0, 20.4, 19.6});
  BOOST_TEST(e.value == 2.0);
  BOOST_TEST(e.low > 1.8);
  BOOST_TEST(e.low < 2.0);
  BOOST_TEST(e.high > 2.0);
  BOOST_TEST(e.high < 2.22);
  const Estimate one = ratio_of_medians(std::vector{1.0}, std::vector{3.0, 3.1});
  BOOST_TEST(one.value == 3.05);
  BOOST_TEST((std::isnan(one.low) && std::isnan(one.high)));
}

// Of 300 pairs of sets whose medians are as 1 to 2, about 95% of the intervals hold the 2.
BOOST_AUTO_TEST_CASE(ratio_of_medians_covers_the_true_ratio) {
  SplitMix random(2);
  const auto draw = [&](double scale) {
    std::vector<double> samples(15);
    for (double& x : samples) x = scale * (1 + double(random.below(1000)) / 1000);
    return samples;
  };
  int covered = 0;
  for (int set = 0; set < 300; ++set) {
    const Estimate e = ratio_of_medians(draw(1), draw(2));
    covered += e.low <= 2 && 2 <= e.high;
  }
  BOOST_TEST(covered >= 270);
  BOOST_TEST(covered <= 298);
}

BOOST_AUTO_TEST_CASE(ratio_of_intervals_alone) {
  // one of them certain: the other's interval, divided
  const Estimate scaled = ratio_of_estimates({2, 2, 2}, {6, 5, 8});
  BOOST_TEST(scaled.value == 3.0);
  BOOST_TEST(scaled.low == 2.5, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(scaled.high == 4.0, boost::test_tools::tolerance(1e-14));
  // alike: sqrt(2) times as wide in the logarithm
  const Estimate alike = ratio_of_estimates({1, 0.9, 1 / 0.9}, {1, 0.9, 1 / 0.9});
  BOOST_TEST(alike.low == std::pow(0.9, std::sqrt(2.0)), boost::test_tools::tolerance(1e-14));
  BOOST_TEST(alike.high == std::pow(0.9, -std::sqrt(2.0)), boost::test_tools::tolerance(1e-14));
  BOOST_TEST(std::isnan(ratio_of_estimates({1, std::nan(""), std::nan("")}, {1, 1, 1}).low));
}

// U and the p-values of the example in SciPy's documentation of scipy.stats.mannwhitneyu (ages of diabetics): exact, and
// by the approximation where there are ties. The tail of n = m = 5, U = 2 is in Mann and Whitney's own table.
BOOST_AUTO_TEST_CASE(mann_whitney_known_values) {
  const auto tolerance = boost::test_tools::tolerance(1e-12);
  const std::vector males{19.0, 22.0, 16.0, 29.0, 24.0}, females{20.0, 11.0, 17.0, 12.0};
  BOOST_TEST(mann_whitney(males, females) == 1 / 9.0, tolerance);
  BOOST_TEST(mann_whitney(females, males) == 1 / 9.0, tolerance);
  // 1 2 3 | 4 5 6: one order of 20 is so far apart, and its mirror image
  BOOST_TEST(mann_whitney(std::vector{1.0, 2.0, 3.0}, std::vector{4.0, 5.0, 6.0}) == 0.1, tolerance);
  BOOST_TEST(mann_whitney(std::vector{1.0, 2.0, 3.0, 4.0}, std::vector{5.0, 6.0, 7.0, 8.0}) == 2 / 70.0, tolerance);
  // U = 2: of C(10, 5) = 252 orders 1 + 1 + 2 have no larger one
  BOOST_TEST(mann_whitney(std::vector{1.0, 2.0, 3.0, 4.0, 7.5}, std::vector{5.0, 6.0, 7.0, 8.0, 9.0}) > 0.03);
  BOOST_TEST(mann_whitney(std::vector{1.0, 2.0, 3.0, 4.0, 6.5}, std::vector{5.0, 6.0, 7.0, 8.0, 9.0}) == 8 / 252.0,
             tolerance);
  BOOST_TEST(mann_whitney(std::vector{1.0, 4.0}, std::vector{2.0, 3.0}) == 1.0, tolerance);
}

BOOST_AUTO_TEST_CASE(mann_whitney_with_ties_and_many_samples) {
  // by hand: ranks 1.5 1.5 3 | 4.5 4.5 6, U = 0, variance 9/12 (7 - 12/30)
  BOOST_TEST(mann_whitney(std::vector{1.0, 1.0, 2.0}, std::vector{3.0, 3.0, 4.0}) ==
                 std::erfc(4 / std::sqrt(9 / 12.0 * (7 - 12 / 30.0)) / std::sqrt(2.0)),
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(mann_whitney(std::vector{1.0, 1.0}, std::vector{1.0, 1.0, 1.0}) == 1.0);
  BOOST_TEST(std::isnan(mann_whitney(std::vector<double>{}, std::vector{1.0})));
  // where exact ends, the approximation goes on
  const auto shifted = [](std::size_t n, double by) {
    std::vector<double> samples(n);
    for (std::size_t i = 0; i < n; ++i) samples[i] = double((i * 37) % n) / double(n) + by;
    return samples;
  };
  const double exact = mann_whitney(shifted(50, 0), shifted(49, 0.1)),
               beyond = mann_whitney(shifted(51, 0), shifted(50, 0.1));
  BOOST_TEST(exact > 0.01);
  BOOST_TEST(exact < 0.2);
  BOOST_TEST(std::abs(beyond / exact - 1) < 0.2);
}

// First outputs of the generator's reference implementation (prng.di.unimi.it/splitmix64.c) from seed 1234567.
BOOST_AUTO_TEST_CASE(splitmix_known_answers) {
  SplitMix random(1234567);
  BOOST_TEST(random.next() == 6457827717110365317u);
  BOOST_TEST(random.next() == 3203168211198807973u);
  BOOST_TEST(random.next() == 9817491932198370423u);
}

BOOST_AUTO_TEST_SUITE_END()
