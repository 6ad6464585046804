// Which samples of a batch left the recorded path, gathered by all threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tape/program.hpp"
#include "tape/transfer.hpp"
#include "wengert/replay.hpp"

namespace wengert {

/// Whether n numbers are `value`: by their bits, in steps that a compiler makes vectors of.
template <class Real>
bool all_are(Real value, const Real* p, std::size_t n) {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  constexpr std::size_t step = 64 / sizeof(Real);
  const Bits wanted = std::bit_cast<Bits>(value);
  Bits differ[step] = {};
  std::size_t k = 0;
  for (; k + step <= n; k += step)
    for (std::size_t j = 0; j < step; ++j) differ[j] |= std::bit_cast<Bits>(p[k + j]) ^ wanted;
  for (; k < n; ++k) differ[0] |= std::bit_cast<Bits>(p[k]) ^ wanted;
  for (std::size_t j = 1; j < step; ++j) differ[0] |= differ[j];
  return differ[0] == 0;
}

class Departures {
 public:
  explicit Departures(unsigned workers) : of_worker_(workers) {}
  unsigned workers() const { return static_cast<unsigned>(of_worker_.size()); }

  void clear() {
    all_.clear();
    for (std::vector<Departure>& some : of_worker_) some.clear();
  }
  void add(Departure departure) { all_.push_back(departure); }

  /// Looks at a block: `slot_of(slot)` are the lanes of one. Workers may call it at a time.
  template <class Real, class SlotOf>
  void look(std::size_t worker, const LaneRange& lanes, const plan::Check<Real>& guards, const SlotOf& slot_of) {
    const LaneSlot<Real> sum = slot_of(guards.sum);
    bool stay = true;
    sum.each_piece(lanes.count,
                   [&](std::size_t, const Real* p, std::size_t n) { stay = stay && all_are(guards.wanted, p, n); });
    if (stay) return;
    for (std::size_t e = 0; e < lanes.count; ++e) {
      if (sum[e] == guards.wanted || lanes.seed(e) != 0) continue;
      std::size_t failed = guards.conditions.empty() ? static_cast<std::size_t>(sum[e]) : 0;
      if (!guards.conditions.empty())
        while ((slot_of(guards.conditions[failed])[e] != 0) == (guards.outcomes[failed] != 0)) ++failed;
      of_worker_[worker].push_back({lanes.sample(e), failed});
    }
  }

  /// Those of all workers, by sample.
  void gather() {
    const auto first = static_cast<std::ptrdiff_t>(all_.size());
    for (const std::vector<Departure>& some : of_worker_) all_.insert(all_.end(), some.begin(), some.end());
    const auto before = [](const Departure& a, const Departure& b) { return a.sample < b.sample; };
    if (!std::is_sorted(all_.begin() + first, all_.end(), before)) std::sort(all_.begin() + first, all_.end(), before);
  }
  std::span<const Departure> all() const { return all_; }

 private:
  std::vector<std::vector<Departure>> of_worker_;
  std::vector<Departure> all_;
};

}  // namespace wengert
