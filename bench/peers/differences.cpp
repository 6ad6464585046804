// Levels differences and differences-threads: central differences, the rival of every derivative where inputs are few. Of
// the fastest values there are here: the program of v5 without its backward pass, on whole batches, in lanes and on cores.
// Two batches for each differentiated input, and one for the value.
#include <cmath>
#include <limits>

#include "bench/peers/peers.hpp"
#include "bench/planned.hpp"

namespace wengert::bench {
namespace {

template <class Real>
class DifferencesLevel final : public CompiledLevel<Real> {
 public:
  DifferencesLevel(const Workload& workload, const LevelOptions& options, unsigned threads)
      : CompiledLevel<Real>(workload, false, options, threads), differentiated_(workload.differentiated) {}

  void evaluate(const Batch<Real>& batch) override { recorded_.parameters == 0 ? of_each(batch) : of_sum(batch); }

 private:
  using CompiledLevel<Real>::recorded_, CompiledLevel<Real>::replay_;

  /// The step that balances rounding (eps / h) and what the series leaves out (h^2).
  static Real step(Real x) {
    static const Real root = std::cbrt(std::numeric_limits<Real>::epsilon());
    return root * std::max(std::fabs(x), Real(1));
  }

  void of_each(const Batch<Real>& batch) {
    const std::size_t n = batch.evaluations, stride = batch.stride;
    moved_.assign(batch.inputs, batch.inputs + recorded_.inputs.size() * stride - (stride - n));
    up_.resize(n);
    down_.resize(n);
    const auto values = [&](Real* to) {
      replay_.values(n, columns(std::as_const(moved_).data(), stride), columns(to, n));
    };
    values(batch.values);
    for (std::size_t k = 0; k < differentiated_.size(); ++k) {
      const Real* from = batch.inputs + differentiated_[k] * stride;
      Real *column = moved_.data() + differentiated_[k] * stride, *gradient = batch.gradients + k * stride;
      for (std::size_t e = 0; e < n; ++e) column[e] = from[e] + step(from[e]);
      values(up_.data());
      for (std::size_t e = 0; e < n; ++e) column[e] = from[e] - step(from[e]);
      values(down_.data());
      for (std::size_t e = 0; e < n; ++e) {
        const Real high = from[e] + step(from[e]), low = from[e] - step(from[e]);  // as rounded
        gradient[e] = (up_[e] - down_[e]) / (high - low);
        column[e] = from[e];
      }
    }
  }

  void of_sum(const Batch<Real>& batch) {
    moved_.assign(batch.parameters.begin(), batch.parameters.end());
    const auto value = [&] {
      replay_.set_parameters(moved_);
      replay_.values(batch.evaluations, columns(batch.inputs, batch.stride), {});
      return replay_.uniform_outputs()[0];
    };
    batch.values[0] = value();
    for (std::size_t k = 0; k < differentiated_.size(); ++k) {
      const Real x = batch.parameters[differentiated_[k]], high = x + step(x), low = x - step(x);
      Real& moved = moved_[differentiated_[k]];
      moved = high;
      const Real up = value();
      moved = low;
      batch.gradients[k] = (up - value()) / (high - low);
      moved = x;
    }
  }

  const std::vector<std::uint32_t> differentiated_;
  std::vector<Real> moved_, up_, down_;  // the inputs, of which one is moved; values with it moved up and down
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_differences(const Workload& workload, const LevelOptions& options) {
  return std::make_unique<DifferencesLevel<Real>>(workload, options, 1);
}
template <class Real>
std::unique_ptr<Level<Real>> make_differences_threads(const Workload& workload, const LevelOptions& options) {
  return std::make_unique<DifferencesLevel<Real>>(workload, options, static_cast<unsigned>(options.threads));
}
template std::unique_ptr<Level<double>> make_differences(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_differences(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<double>> make_differences_threads(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_differences_threads(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
