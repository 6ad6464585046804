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

  /// For `quantities` sums over `samples`, by `workers` threads. `split`: how many of these, the first ones, get blocks that end
  /// within a leaf that goes on in the next. `dual`: and as many of their tangents, after them.
  void prepare(std::size_t quantities, std::size_t samples, std::size_t workers, std::size_t split, bool dual = false);
  /// Bytes that there are after that.
  std::size_t bytes_with(std::size_t quantities, std::size_t samples, std::size_t split, bool dual) const;
  std::size_t bytes() const { return bytes_with(0, 0, 0, false); }

  /// A block on its way into the sums of its group.
  class Block {
   public:
    /// Adds its lanes of quantity q. Once for each quantity, in any order.
    void take(std::size_t q, const LaneSlot<Real>& of) {
      if (filled_ == 0 && count_ == leaf && of.vector >= leaf) sums_[q] += sum_of_leaf_(of.data);
      else take_parts(q, of);
    }

    /// Whether its lanes are whole leaves, of which the last may end early with the group: so that sums of leaves can be added to
    /// sums()[q] for quantity q.
    bool whole_leaves() const { return filled_ == 0 && (count_ % leaf == 0 || last_); }
    Real* sums() const { return sums_; }

    /// Where tangents are summed too: those of quantity q.
    void take_tangent(std::size_t q, const LaneSlot<Real>& of) { take_parts(values_ + q, of); }
    bool dual() const { return dual_; }

   private:
    friend class Reduction;
    void take_parts(std::size_t q, const LaneSlot<Real>& of);

    Real (*sum_of_leaf_)(const Real*);
    Real* sums_;
    Real* open_;          // samples whose leaf isn't full, [quantity][leaf]; null where none will be kept
    std::size_t filled_;  // of each, before this block
    std::size_t count_;   // lanes
    bool last_;           // the group ends with them
    bool dual_;
    std::size_t values_;  // quantities that aren't tangents
  };
  /// Before its quantities are taken: a worker's blocks follow one another up to the `last` of a group.
  Block begin(std::size_t worker, const LaneRange& lanes, bool last);
  /// Once they all are.
  void end(std::size_t worker, const Block& block) {
    filled_[worker] = block.last_ ? 0 : (block.filled_ + block.count_) % leaf;
  }
  /// All quantities at once, whose lanes lie side by side from `lanes_of(q)` on.
  template <class LanesOf>
  void add(std::size_t worker, const LaneRange& lanes, bool last, const LanesOf& lanes_of) {
    Block block = begin(worker, lanes, last);
    for (std::size_t q = 0; q < quantities_; ++q)
      block.take(q, {const_cast<Real*>(lanes_of(q)), lanes.count, lanes.count, lanes.count});
    end(worker, block);
  }

  /// All groups' sums, once all samples are in. Of no samples: 0.
  std::span<const Real> finish();

 private:
  static std::size_t groups_of(std::size_t samples) { return samples == 0 ? 1 : (samples - 1) / group + 1; }

  Real (*sum_of_leaf_)(const Real*);
  std::size_t quantities_ = 0, group_count_ = 0;
  bool dual_ = false;
  std::vector<Real> groups_;             // [group][quantity]
  std::vector<std::vector<Real>> open_;  // per thread: samples whose leaf isn't full, [quantity][leaf]
  std::vector<std::size_t> filled_;      // of them, per thread
};

extern template class Reduction<double>;
extern template class Reduction<float>;

}  // namespace wengert
