#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace wengert::bench {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t resamples = 4000;
constexpr std::uint64_t bootstrap_seed = 20260101;

/// Calls `statistic(indices)` for `resamples` draws, with replacement, of `n` indices; the middle 95% of what it gives.
template <class Statistic>
Estimate bootstrap(double value, std::size_t n, Statistic statistic) {
  if (n < 2) return {value, nan, nan};
  SplitMix random(bootstrap_seed);
  std::vector<std::size_t> indices(n);
  std::vector<double> results(resamples);
  for (double& result : results) {
    for (std::size_t& index : indices) index = random.below(n);
    result = statistic(indices);
  }
  return {value, quantile(results, 0.025), quantile(results, 0.975)};
}

/// `drawn` becomes as many samples, drawn with replacement.
void resample(SplitMix& random, std::span<const double> samples, std::vector<double>& drawn) {
  drawn.resize(samples.size());
  for (double& x : drawn) x = samples[random.below(samples.size())];
}

/// P(U <= u) where all orders of n + m different samples are equally likely. The number of orders with a given U obeys
/// Mann and Whitney's recurrence; it is the coefficient of q^U in a Gaussian binomial, built here factor by factor.
double mann_whitney_tail(std::size_t n, std::size_t m, std::size_t u) {
  std::vector<long double> ways(n * m + 1, 0);  // of q^U
  ways[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {  // times (1 - q^(m + i)) / (1 - q^i)
    for (std::size_t k = ways.size(); k-- > m + i;) ways[k] -= ways[k - m - i];
    for (std::size_t k = i; k < ways.size(); ++k) ways[k] += ways[k - i];
  }
  long double all = 0, below = 0;
  for (std::size_t k = 0; k < ways.size(); ++k) {
    all += ways[k];
    if (k <= u) below += ways[k];
  }
  return double(below / all);
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  if (samples.empty()) return nan;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = q * double(sorted.size() - 1);
  const auto below = std::size_t(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - double(below);
  return fraction == 0 ? sorted[below] : sorted[below] + fraction * (sorted[above] - sorted[below]);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

Estimate median_interval(std::span<const double> samples) {
  std::vector<double> drawn(samples.size());
  return bootstrap(median(samples), samples.size(), [&](const std::vector<std::size_t>& indices) {
    for (std::size_t i = 0; i < indices.size(); ++i) drawn[i] = samples[indices[i]];
    return median(drawn);
  });
}

Estimate speed_up(std::span<const double> base, std::span<const double> samples) {
  const std::size_t rounds = std::min(base.size(), samples.size());
  base = base.first(rounds);
  samples = samples.first(rounds);
  std::vector<double> drawn_base(rounds), drawn(rounds);
  return bootstrap(median(base) / median(samples), rounds, [&](const std::vector<std::size_t>& indices) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      drawn_base[i] = base[indices[i]];
      drawn[i] = samples[indices[i]];
    }
    return median(drawn_base) / median(drawn);
  });
}

Estimate ratio_of_medians(std::span<const double> base, std::span<const double> samples) {
  const double ratio = median(samples) / median(base);
  if (base.size() < 2 || samples.size() < 2) return {ratio, nan, nan};
  SplitMix random(bootstrap_seed);
  std::vector<double> drawn_base, drawn, results(resamples);
  for (double& result : results) {
    resample(random, base, drawn_base);
    resample(random, samples, drawn);
    result = median(drawn) / median(drawn_base);
  }
  return {ratio, quantile(results, 0.025), quantile(results, 0.975)};
}

Estimate ratio_of_estimates(const Estimate& base, const Estimate& estimate) {
  const double ratio = estimate.value / base.value;
  const double down = std::hypot(std::log(estimate.value / estimate.low), std::log(base.high / base.value));
  const double up = std::hypot(std::log(estimate.high / estimate.value), std::log(base.value / base.low));
  return {ratio, ratio * std::exp(-down), ratio * std::exp(up)};
}

double mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return nan;
  const std::size_t n = a.size(), m = b.size();
  std::vector<std::pair<double, bool>> all;  // the sample, and whether it is one of a
  for (double x : a) all.emplace_back(x, true);
  for (double x : b) all.emplace_back(x, false);
  std::sort(all.begin(), all.end());
  double rank_sum = 0, ties = 0;  // of a; sum of t^3 - t over groups of t equal samples
  for (std::size_t begin = 0, end; begin < all.size(); begin = end) {
    for (end = begin + 1; end < all.size() && all[end].first == all[begin].first;) ++end;
    const double rank = double(begin + 1 + end) / 2, t = double(end - begin);
    for (std::size_t i = begin; i < end; ++i) rank_sum += all[i].second ? rank : 0;
    ties += t * t * t - t;
  }
  const double nm = double(n) * double(m), u = rank_sum - double(n) * double(n + 1) / 2;
  if (ties == 0 && n <= mann_whitney_exact && m <= mann_whitney_exact)
    return std::min(1.0, 2 * mann_whitney_tail(n, m, std::size_t(std::min(u, nm - u))));
  const double total = double(n + m);
  const double variance = nm / 12 * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return 1;  // all are equal
  const double z = std::max(0.0, std::abs(u - nm / 2) - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

std::uint64_t SplitMix::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t SplitMix::below(std::uint64_t bound) {
  return std::uint64_t((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

}  // namespace wengert::bench
