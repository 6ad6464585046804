// Random numbers of the workloads: a function of seed, stream, row and index alone.
#pragma once

#include <cstdint>

#include "bench/philox.hpp"

namespace wengert::bench {

/// What a number is for. Rows: the evaluation; the step of a dag; 0.
enum class Stream : std::uint32_t { inputs = 0, dag = 1, parameters = 2 };

/// The inverse of the normal distribution function, for 0 < p < 1. The library's own: the same bits on every machine.
double normal_quantile(double p);

/// One draw, as the number that is wanted.
class Draw {
 public:
  Draw(std::uint64_t seed, Stream stream, std::uint64_t row, std::size_t index)
      : bits_(random_bits(seed, static_cast<std::uint32_t>(stream), row, static_cast<std::uint32_t>(index))) {}

  /// Of [low, high).
  double uniform(double low, double high) const {
    return low + (high - low) * (static_cast<double>(bits_ >> 11) * 0x1p-53);
  }
  /// Standard normal.
  double normal() const { return normal_quantile((static_cast<double>(bits_ >> 12) + 0.5) * 0x1p-52); }
  /// Of 0 ... n - 1.
  std::uint32_t below(std::uint32_t n) const { return static_cast<std::uint32_t>((bits_ >> 32) * n >> 32); }

 private:
  std::uint64_t bits_;
};

}  // namespace wengert::bench
