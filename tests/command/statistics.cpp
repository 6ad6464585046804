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

// First outputs of the generator's reference implementation (prng.di.unimi.it/splitmix64.c) from seed 1234567.
BOOST_AUTO_TEST_CASE(splitmix_known_answers) {
  SplitMix random(1234567);
  BOOST_TEST(random.next() == 6457827717110365317u);
  BOOST_TEST(random.next() == 3203168211198807973u);
  BOOST_TEST(random.next() == 9817491932198370423u);
}

BOOST_AUTO_TEST_SUITE_END()
