// A batch in memory: the columns that a caller of a level has.
#pragma once

#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "bench/level.hpp"
#include "bench/workload.hpp"

namespace wengert::bench {

/// Owns the inputs and the results of a batch of evaluations of a workload.
template <class Real>
class BatchData {
 public:
  /// Fills the inputs. Throws out_of_memory, saying how much was asked for.
  BatchData(const Workload& workload, std::size_t evaluations);
  BatchData(BatchData&&) noexcept = default;

  const Batch<Real>& batch() const { return batch_; }
  Real input(std::size_t evaluation, std::size_t index) const { return batch_.input(evaluation, index); }
  /// How many values there are, and gradients in each differentiated input: one of each evaluation, or of them all.
  std::size_t results() const { return results_; }
  Real value(std::size_t result) const { return values_[result]; }
  Real gradient(std::size_t result, std::size_t k) const { return gradients_[k * gradient_stride_ + result]; }
  /// The inputs of one evaluation, in a row.
  std::vector<Real> row(std::size_t evaluation) const;

  /// NaN into every result, so that a level which doesn't write one is found out.
  void poison();
  /// Sum of all values, then all gradients, in a fixed order: a number to compare runs by.
  double checksum() const;
  /// Hash of the same numbers' bits (every NaN alike), 16 hexadecimal digits: equal if and only if, for all that matters,
  /// the results are equal bit for bit.
  std::string bits() const;

 private:
  template <class Visit>
  void each_result(Visit visit) const;

  std::size_t inputs_per_evaluation_, gradients_per_result_, results_ = 0, gradient_stride_ = 0;
  std::vector<Real> parameters_, inputs_, values_, gradients_;
  Batch<Real> batch_;
};

/// Evaluations between two columns: whole cache lines, and never a multiple of the 4096 bytes after which the addresses
/// of two columns fall on the same set of a first-level cache.
template <class Real>
constexpr std::size_t column_stride(std::size_t evaluations) {
  constexpr std::size_t line = 64 / sizeof(Real);
  const std::size_t stride = (evaluations + line - 1) / line * line;
  return stride * sizeof(Real) % 4096 == 0 ? stride + line : stride;
}

extern template class BatchData<double>;
extern template class BatchData<float>;

}  // namespace wengert::bench
