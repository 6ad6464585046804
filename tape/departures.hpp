// Which samples of a batch left the recorded path, gathered by all threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "tape/transfer.hpp"
#include "wengert/replay.hpp"

namespace wengert {

class Departures {
 public:
  explicit Departures(unsigned workers) : of_worker_(workers) {}
  unsigned workers() const { return static_cast<unsigned>(of_worker_.size()); }

  void clear() {
    all_.clear();
    for (std::vector<Departure>& some : of_worker_) some.clear();
  }
  void add(Departure departure) { all_.push_back(departure); }

  /// Takes those of a block's lanes, and clears them: of each lane the first guard that came out otherwise, infinity where none
  /// did. Workers may call it at a time.
  template <class Real>
  void take(std::size_t worker, const LaneRange& lanes, const LaneSlot<Real>& failed) {
    constexpr Real none = std::numeric_limits<Real>::infinity();
    for (std::size_t e = 0; e < lanes.count; ++e)
      if (failed[e] != none && lanes.seed(e) == 0)
        of_worker_[worker].push_back({lanes.sample(e), static_cast<std::size_t>(failed[e])});
    failed.fill(none);
  }

  /// Those of all workers, by sample, each once.
  void gather() {
    const auto first = static_cast<std::ptrdiff_t>(all_.size());
    for (const std::vector<Departure>& some : of_worker_) all_.insert(all_.end(), some.begin(), some.end());
    const auto before = [](const Departure& a, const Departure& b) { return a.sample < b.sample; };
    if (!std::is_sorted(all_.begin() + first, all_.end(), before)) std::sort(all_.begin() + first, all_.end(), before);
    const auto same = [](const Departure& a, const Departure& b) { return a.sample == b.sample; };
    all_.erase(std::unique(all_.begin() + first, all_.end(), same), all_.end());
  }
  std::span<const Departure> all() const { return all_; }

 private:
  std::vector<std::vector<Departure>> of_worker_;
  std::vector<Departure> all_;
};

}  // namespace wengert
