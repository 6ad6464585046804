#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
