// Where the results of evaluations go: into the columns of a batch, or, for a workload with parameters, into sums. These
// are taken in the order of Replay (tape/reduction.hpp), which the number of evaluations alone decides.
#pragma once

#include <algorithm>

#include "bench/level.hpp"
#include "kernels/dispatch.hpp"
#include "tape/reduction.hpp"

namespace wengert::bench {

template <class Real>
class Results {
 public:
  /// Evaluations that belong to one thread, one after the other, where results are summed.
  static constexpr std::size_t piece = Reduction<Real>::group;

  explicit Results(const Workload& workload)
      : summed_(workload.summed()),
        gradients_(workload.differentiated.size()),
        reduction_(kernels::backend<Real>(usable_isas().back()).sum_of_leaf) {}

  bool summed() const { return summed_; }

  void begin(const Batch<Real>& batch, std::size_t workers = 1) {
    if (summed_) reduction_.prepare(1 + gradients_, batch.evaluations, workers, workers);
  }

  /// Takes `count` evaluations from `first` on, side by side: their values, and `gradient(k)`, their derivatives in the k-th
  /// differentiated input.
  template <class Gradient>
  void take(const Batch<Real>& batch, std::size_t worker, std::size_t first, std::size_t count, const Real* values,
            const Gradient& gradient) {
    if (summed_) {
      const std::size_t end = first + count;
      reduction_.add(worker, {first, count}, end % piece == 0 || end == batch.evaluations,
                     [&](std::size_t q) { return q == 0 ? values : gradient(q - 1); });
      return;
    }
    std::copy_n(values, count, batch.values + first);
    for (std::size_t k = 0; k < gradients_; ++k) {
      const Real* from = gradient(k);
      Real* to = batch.gradients + k * batch.stride + first;
      for (std::size_t lane = 0; lane < count; ++lane) to[lane] = from[lane] + Real(0);  // -0 is 0
    }
  }
  /// One evaluation: `gradient(k)` is a number.
  template <class Gradient>
  void take(const Batch<Real>& batch, std::size_t evaluation, Real value, const Gradient& gradient) {
    Real number;
    take(batch, 0, evaluation, 1, &value, [&](std::size_t k) -> const Real* {
      number = gradient(k);
      return &number;
    });
  }

  void end(const Batch<Real>& batch) {
    if (!summed_) return;
    const std::span<const Real> sums = reduction_.finish();
    batch.values[0] = sums[0];
    for (std::size_t k = 0; k < gradients_; ++k) batch.gradients[k] = sums[1 + k] + Real(0);
  }

 private:
  bool summed_;
  std::size_t gradients_;
  Reduction<Real> reduction_;
};

}  // namespace wengert::bench
