// Sums over the samples of a batch, in an order that depends on the numbers of the samples alone: 64 by halves, 16 such
// leaves one after the other, and those groups in pairs, pairs of pairs, ... A thread has whole groups.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tape/transfer.hpp"

namespace wengert {

template <class Real>
class Reduction {
 public:
  static constexpr std::size_t leaf = 64, group = 16 * leaf;  // samples

  explicit Reduction(Real (*sum_of_leaf)(const Real*)) : sum_of_leaf_(sum_of_leaf) {}

  /// For `quantities` sums over `samples`, by `workers` threads.
  void prepare(std::size_t quantities, std::size_t samples, std::size_t workers);

  /// Adds the lanes of a block to the sums of its group. `lanes_of(q)`: those of quantity q, side by side. `last`: the group
  /// ends with them.
  template <class LanesOf>
  void add(std::size_t worker, const LaneRange& lanes, bool last, const LanesOf& lanes_of) {
    Real* const sums = groups_.data() + lanes.first / group * quantities_;
    Leaf& open = leaves_[worker];
    for (std::size_t lane = 0; lane < lanes.count;) {
      const std::size_t n = std::min(leaf - open.filled, lanes.count - lane);
      if (n == leaf) {
        for (std::size_t q = 0; q < quantities_; ++q) sums[q] += sum_of_leaf_(lanes_of(q) + lane);
      } else if (last && open.filled == 0) {  // no more will come: nothing to keep
        alignas(64) Real samples[leaf];
        std::fill(samples + n, samples + leaf, Real(-0.0));
        for (std::size_t q = 0; q < quantities_; ++q) {
          std::copy_n(lanes_of(q) + lane, n, samples);
          sums[q] += sum_of_leaf_(samples);
        }
      } else {
        open.samples.resize(quantities_ * leaf);
        for (std::size_t q = 0; q < quantities_; ++q)
          std::copy_n(lanes_of(q) + lane, n, open.samples.data() + q * leaf + open.filled);
        open.filled += n;
        if (open.filled == leaf) close(open, sums);
      }
      lane += n;
    }
    if (last && open.filled != 0) close(open, sums);
  }

  /// All groups' sums, once all samples are in. Of no samples: 0.
  std::span<const Real> finish();

 private:
  /// Samples whose leaf isn't full.
  struct Leaf {
    std::vector<Real> samples;  // [quantity][leaf]
    std::size_t filled = 0;
  };
  void close(Leaf& open, Real* sums);

  Real (*sum_of_leaf_)(const Real*);
  std::size_t quantities_ = 0, group_count_ = 0;
  std::vector<Real> groups_;  // [group][quantity]
  std::vector<Leaf> leaves_;  // per thread
};

extern template class Reduction<double>;
extern template class Reduction<float>;

}  // namespace wengert
