#include "tape/reduction.hpp"

#include <algorithm>
#include <string>

#include "wengert/error.hpp"

namespace wengert {

template <class Real>
void Reduction<Real>::prepare(std::size_t quantities, std::size_t samples, std::size_t workers) {
  quantities_ = quantities;
  group_count_ = (samples + group - 1) / group;
  try {
    // -0, the zero of addition, so that a sum of one sample is that sample.
    groups_.assign(std::max<std::size_t>(group_count_, 1) * quantities, group_count_ == 0 ? Real(0) : Real(-0.0));
    leaves_.resize(workers);
  } catch (const std::exception&) {
    throw Error(ErrorCode::out_of_memory,
                std::to_string(quantities) + " sums over " + std::to_string(samples) + " samples need " +
                    std::to_string(group_count_ * quantities * sizeof(Real)) + " bytes, which can't be had");
  }
  for (Leaf& open : leaves_) open.filled = 0;
}

template <class Real>
void Reduction<Real>::close(Leaf& open, Real* sums) {
  for (std::size_t q = 0; q < quantities_; ++q) {
    Real* const samples = open.samples.data() + q * leaf;
    std::fill(samples + open.filled, samples + leaf, Real(-0.0));
    sums[q] += sum_of_leaf_(samples);
  }
  open.filled = 0;
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
