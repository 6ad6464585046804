#include "tape/reduction.hpp"

#include <algorithm>
#include <string>

#include "wengert/error.hpp"

namespace wengert {

template <class Real>
void Reduction<Real>::prepare(std::size_t quantities, std::size_t samples, std::size_t workers, bool dual) {
  dual_ = dual;
  quantities_ = quantities *= dual ? 2 : 1;
  group_count_ = (samples + group - 1) / group;
  try {
    // -0, the zero of addition, so that a sum of one sample is that sample.
    groups_.assign(std::max<std::size_t>(group_count_, 1) * quantities, group_count_ == 0 ? Real(0) : Real(-0.0));
    open_.resize(workers);
    filled_.assign(workers, 0);
  } catch (const std::exception&) {
    throw Error(ErrorCode::out_of_memory,
                std::to_string(quantities) + " sums over " + std::to_string(samples) + " samples need " +
                    std::to_string(group_count_ * quantities * sizeof(Real)) + " bytes, which can't be had");
  }
}

template <class Real>
typename Reduction<Real>::Block Reduction<Real>::begin(std::size_t worker, const LaneRange& lanes, bool last) {
  Block block;
  block.sum_of_leaf_ = sum_of_leaf_;
  block.sums_ = groups_.data() + lanes.first / group * quantities_;
  block.filled_ = filled_[worker];
  block.count_ = lanes.count;
  block.last_ = last;
  block.dual_ = dual_;
  block.values_ = dual_ ? quantities_ / 2 : quantities_;
  // Leaves that begin and end in the block are summed where they are.
  const bool keeps = block.filled_ != 0 || (lanes.count % leaf != 0 && !last);
  if (keeps) open_[worker].resize(quantities_ * leaf);
  block.open_ = keeps ? open_[worker].data() : nullptr;
  return block;
}

template <class Real>
void Reduction<Real>::Block::take_parts(std::size_t q, const LaneSlot<Real>& of) {
  const auto copy = [&](std::size_t lane, std::size_t n, Real* to) {
    if (of.vector >= lane + n) std::copy_n(of.data + lane, n, to);
    else
      for (std::size_t k = 0; k < n; ++k) to[k] = of[lane + k];
  };
  alignas(64) Real here[leaf];
  Real sum = sums_[q];
  for (std::size_t lane = 0, filled = filled_; lane < count_;) {
    const std::size_t n = std::min(leaf - filled, count_ - lane);
    const bool ends = last_ && lane + n == count_;
    Real* const samples = open_ && (filled != 0 || (n != leaf && !ends)) ? open_ + q * leaf : here;
    copy(lane, n, samples + filled);
    lane += n;
    filled += n;
    if (ends) std::fill(samples + filled, samples + leaf, Real(-0.0));
    if (ends || filled == leaf) {
      sum += sum_of_leaf_(samples);
      filled = 0;
    }
  }
  sums_[q] = sum;
}

template <class Real>
std::span<const Real> Reduction<Real>::finish() {
  for (std::size_t step = 1; step < group_count_; step *= 2)
    for (std::size_t g = 0; g + step < group_count_; g += 2 * step)
      for (std::size_t q = 0; q < quantities_; ++q)
        groups_[g * quantities_ + q] += groups_[(g + step) * quantities_ + q];
  return {groups_.data(), quantities_};
}

template class Reduction<double>;
template class Reduction<float>;

}  // namespace wengert
