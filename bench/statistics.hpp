// Medians and their intervals: what a report says of repeated timings.
#pragma once

#include <cstdint>
#include <span>

namespace wengert::bench {

/// A number with a 95% interval. Both bounds are NaN where the samples can't tell (fewer than two).
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// Middle of the sorted samples, the mean of the two middle ones where their count is even; NaN of none.
double median(std::span<const double> samples);

/// The q-quantile (0 <= q <= 1), linear between order statistics; NaN of none.
double quantile(std::span<const double> samples, double q);

/// Percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13) of the median.
/// The resampling has a fixed seed: the same samples give the same interval.
Estimate median_interval(std::span<const double> samples);

/// median(base) / median(samples): how many times faster than `base` these samples are. Sample r of both was taken in
/// the same round of an interleaved run, so rounds are what is resampled: what slowed a whole round cancels. Rounds that
/// only one of them has are left out.
Estimate speed_up(std::span<const double> base, std::span<const double> samples);

/// median(samples) / median(base), of two runs that had no rounds in common: each is resampled by itself.
Estimate ratio_of_medians(std::span<const double> base, std::span<const double> samples);

/// The same ratio of two medians of which nothing but their 95% intervals is left, all of it positive: MOVER (G. Y. Zou,
/// A. Donner, "Construction of confidence limits about effect measures: a general approach", Stat. Med. 27, 2008) on the
/// logarithms.
Estimate ratio_of_estimates(const Estimate& base, const Estimate& estimate);

/// Two-sided p-value of the test of H. B. Mann and D. R. Whitney ("On a test of whether one of two random variables is
/// stochastically larger than the other", Ann. Math. Stat. 18, 1947): how likely two sets of samples of one distribution
/// are at least so far apart. Exact where no two samples are equal and there are at most `mann_whitney_exact` in each;
/// else by the normal approximation, corrected for ties and continuity. NaN if either is empty.
double mann_whitney(std::span<const double> a, std::span<const double> b);
inline constexpr std::size_t mann_whitney_exact = 50;

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014): shuffling and
/// resampling, the same on every standard library.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Uniform in [0, bound), bound > 0. Its bias, bound / 2^64, is far below anything measured here.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t state_;
};

}  // namespace wengert::bench
