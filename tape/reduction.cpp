#include "tape/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "wengert/error.hpp"

namespace wengert {

template <class Real>
void Reduction<Real>::prepare(std::size_t quantities, std::size_t samples, std::size_t workers, std::size_t split,
                              bool dual) {
  dual_ = dual;
  quantities_ = dual ? 2 * quantities : quantities;
  group_count_ = samples == 0 ? 0 : groups_of(samples);
  // What doesn't fit goes first, so that there never is more than what is asked for.
  const auto make_room = [](std::vector<Real>& numbers, std::size_t count) {
    if (count > numbers.capacity()) std::vector<Real>().swap(numbers);
    numbers.reserve(count);
  };
  try {
    make_room(groups_, groups_of(samples) * quantities_);
    open_.resize(workers);
    filled_.assign(workers, 0);
    for (std::size_t w = 0; w < split; ++w) {
      make_room(open_[w], quantities_ * leaf);
      open_[w].resize(quantities_ * leaf);
    }
    // -0, the zero of addition, so that a sum of one sample is that sample.
    groups_.assign(groups_of(samples) * quantities_, group_count_ == 0 ? Real(0) : Real(-0.0));
  } catch (const std::exception&) {
    throw Error(ErrorCode::out_of_memory,
                std::to_string(quantities_) + " sums over " + std::to_string(samples) + " samples need " +
                    std::to_string(bytes_with(quantities, samples, split, dual)) + " bytes, which can't be had");
  }
}

template <class Real>
std::size_t Reduction<Real>::bytes_with(std::size_t quantities, std::size_t samples, std::size_t split,
                                        bool dual) const {
  const std::size_t each = dual ? 2 * quantities : quantities;
  std::size_t numbers = std::max(groups_.capacity(), groups_of(samples) * each);
  for (std::size_t w = 0; w < std::max(open_.size(), split); ++w)
    numbers += std::max(w < open_.size() ? open_[w].capacity() : 0, w < split ? each * leaf : 0);
  return numbers * sizeof(Real);
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
  block.open_ = keeps ? open_[worker].data() : nullptr;
  return block;
}

/// n lanes, vectors of `bytes` with others in between.
template <std::size_t bytes, class Real>
static void copy_vectors(const Real* from, std::size_t step, std::size_t n, Real* to) {
  constexpr std::size_t vector = bytes / sizeof(Real);
  for (std::size_t lane = 0; lane < n; lane += vector, from += step) std::memcpy(to + lane, from, bytes);
}
/// By vectors of the sizes that there are; where lanes don't fill them it does nothing.
template <class Real>
static bool copy_vectors(const LaneSlot<Real>& of, std::size_t lane, std::size_t n, Real* to) {
  if (lane % of.vector != 0 || n % of.vector != 0) return false;
  switch (of.vector * sizeof(Real)) {
    case 32: copy_vectors<32>(&of[lane], of.step, n, to); return true;
    case 64: copy_vectors<64>(&of[lane], of.step, n, to); return true;
    default: return false;
  }
}

template <class Real>
void Reduction<Real>::Block::take_parts(std::size_t q, const LaneSlot<Real>& of) {
  const auto copy = [&](std::size_t lane, std::size_t n, Real* to) {
    if (of.vector >= lane + n) std::copy_n(of.data + lane, n, to);
    else if (!copy_vectors(of, lane, n, to))
      for (std::size_t k = 0; k < n; ++k) to[k] = of[lane + k];
  };
  alignas(64) Real here[leaf];
  Real sum = sums_[q];
  for (std::size_t lane = 0, filled = filled_; lane < count_;) {
    const std::size_t n = std::min(leaf - filled, count_ - lane);
    if (n == leaf && of.vector >= lane + n) {  // where it is
      sum += sum_of_leaf_(of.data + lane);
      lane += n;
      continue;
    }
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
