#include "bench/batch.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "wengert/error.hpp"

namespace wengert::bench {
namespace {

/// One step of a hash: the finaliser of splitmix64, which every bit of `word` reaches.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  std::uint64_t z = (hash ^ word) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

template <class Real>
BatchData<Real>::BatchData(const Workload& workload, std::size_t evaluations)
    : inputs_per_evaluation_(workload.inputs), gradients_per_result_(workload.differentiated.size()) {
  const std::size_t parameters = workload.parameters, columns = inputs_per_evaluation_ - parameters;
  batch_.evaluations = evaluations;
  batch_.stride = column_stride<Real>(evaluations);
  results_ = workload.summed() ? 1 : evaluations;
  gradient_stride_ = workload.summed() ? 1 : batch_.stride;
  const double wanted =
      (double(evaluations) * double(columns) + double(results_) * double(gradients_per_result_ + 1)) * sizeof(Real);
  try {
    if (wanted > double(std::numeric_limits<std::ptrdiff_t>::max())) throw std::bad_alloc();
    inputs_.resize(columns * batch_.stride);
    values_.resize(results_);
    gradients_.resize(gradients_per_result_ * gradient_stride_);
  } catch (const std::exception&) {  // bad_alloc, or length_error from resize
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("a batch of {} evaluations with {} inputs and {} gradients needs {:.1f} GB, more than can be had; "
                    "ask for fewer evaluations",
                    evaluations, columns, gradients_per_result_, wanted * 1e-9));
  }
  for (std::size_t i = 0; i < parameters; ++i) parameters_.push_back(Real(workload.input(0, i)));
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t e = 0; e < evaluations; ++e)
      inputs_[i * batch_.stride + e] = Real(workload.input(e, parameters + i));
  batch_.parameters = parameters_;
  batch_.inputs = inputs_.data();
  batch_.values = values_.data();
  batch_.gradients = gradients_.data();
  poison();
}

template <class Real>
std::vector<Real> BatchData<Real>::row(std::size_t evaluation) const {
  std::vector<Real> row(inputs_per_evaluation_);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = input(evaluation, i);
  return row;
}

template <class Real>
void BatchData<Real>::poison() {
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  std::fill(values_.begin(), values_.end(), nan);
  std::fill(gradients_.begin(), gradients_.end(), nan);
}

template <class Real>
template <class Visit>
void BatchData<Real>::each_result(Visit visit) const {
  for (std::size_t e = 0; e < results_; ++e) visit(value(e));
  for (std::size_t k = 0; k < gradients_per_result_; ++k)
    for (std::size_t e = 0; e < results_; ++e) visit(gradient(e, k));
}

template <class Real>
double BatchData<Real>::checksum() const {
  long double sum = 0;
  each_result([&](Real x) { sum += x; });
  return double(sum);
}

template <class Real>
std::string BatchData<Real>::bits() const {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  std::uint64_t hash = 0;
  each_result([&](Real x) {
    hash = mix(hash, std::bit_cast<Bits>(std::isnan(x) ? std::numeric_limits<Real>::quiet_NaN() : x));
  });
  return fmt::format("{:016x}", hash);
}

template class BatchData<double>;
template class BatchData<float>;

}  // namespace wengert::bench
