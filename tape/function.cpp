#include "wengert/function.hpp"

#include "tape/function_paths.hpp"

namespace wengert {

template <class Real>
Function<Real>::Function(std::size_t inputs, Record record, const FunctionOptions& options, int)
    : paths_(std::make_unique<FunctionPaths<Real>>(inputs, std::move(record), options)) {}
template <class Real>
Function<Real>::Function(Function&&) noexcept = default;
template <class Real>
Function<Real>& Function<Real>::operator=(Function&&) noexcept = default;
template <class Real>
Function<Real>::~Function() = default;

template <class Real>
std::size_t Function<Real>::inputs() const {
  return paths_->inputs();
}
template <class Real>
std::size_t Function<Real>::outputs() const {
  return paths_->outputs();
}
template <class Real>
FunctionStatistics Function<Real>::statistics() const {
  return paths_->statistics();
}
template <class Real>
void Function<Real>::clear() {
  paths_->clear();
}

template <class Real>
void Function<Real>::values(std::size_t samples, Samples<const Real> inputs, Samples<Real> values) {
  paths_->prepare(samples, inputs);
  const std::size_t n = this->inputs(), m = outputs();
  paths_->run(samples, {{inputs, n}}, {{values, m}},
              [](Replay<Real>& replay, std::size_t count, const auto& in, const auto& out) {
                replay.values(count, in[0].samples, out[0].samples);
              });
}

template <class Real>
void Function<Real>::gradient(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                              Samples<Real> gradients) {
  paths_->prepare(samples, inputs);
  const std::size_t n = this->inputs(), m = outputs();
  paths_->run(samples, {{inputs, n}}, {{values, m}, {gradients, n}},
              [](Replay<Real>& replay, std::size_t count, const auto& in, const auto& out) {
                replay.gradient(count, in[0].samples, out[0].samples, out[1].samples);
              });
}

template <class Real>
void Function<Real>::vjp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> weights,
                         Samples<Real> values, Samples<Real> gradients) {
  paths_->prepare(samples, inputs);
  const std::size_t n = this->inputs(), m = outputs();
  paths_->run(samples, {{inputs, n}, {weights, m}}, {{values, m}, {gradients, n}},
              [](Replay<Real>& replay, std::size_t count, const auto& in, const auto& out) {
                replay.vjp(count, in[0].samples, in[1].samples, out[0].samples, out[1].samples);
              });
}

template <class Real>
void Function<Real>::jvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions,
                         Samples<Real> values, Samples<Real> tangents) {
  paths_->prepare(samples, inputs);
  const std::size_t n = this->inputs(), m = outputs();
  paths_->run(samples, {{inputs, n}, {directions, n}}, {{values, m}, {tangents, m}},
              [](Replay<Real>& replay, std::size_t count, const auto& in, const auto& out) {
                replay.jvp(count, in[0].samples, in[1].samples, out[0].samples, out[1].samples);
              });
}

template <class Real>
void Function<Real>::jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                              Samples<Real> jacobians) {
  paths_->prepare(samples, inputs);
  const std::size_t n = this->inputs(), m = outputs();
  paths_->run(samples, {{inputs, n}}, {{values, m}, {jacobians, m * n}},
              [](Replay<Real>& replay, std::size_t count, const auto& in, const auto& out) {
                replay.jacobian(count, in[0].samples, out[0].samples, out[1].samples);
              });
}

template <class Real>
void Function<Real>::hvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions,
                         Samples<Real> values, Samples<Real> gradients, Samples<Real> products,
                         Samples<const Real> weights) {
  paths_->prepare(samples, inputs);
  const std::size_t n = this->inputs(), m = outputs();
  paths_->run(samples, {{inputs, n}, {directions, n}, {weights, m}}, {{values, m}, {gradients, n}, {products, n}},
              [](Replay<Real>& replay, std::size_t count, const auto& in, const auto& out) {
                replay.hvp(count, in[0].samples, in[1].samples, out[0].samples, out[1].samples, out[2].samples,
                           in[2].samples);
              });
}

template <class Real>
void Function<Real>::hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                             Samples<Real> gradients, Samples<Real> hessians, Samples<const Real> weights) {
  paths_->prepare(samples, inputs);
  const std::size_t n = this->inputs(), m = outputs();
  paths_->run(samples, {{inputs, n}, {weights, m}}, {{values, m}, {gradients, n}, {hessians, n * n}},
              [](Replay<Real>& replay, std::size_t count, const auto& in, const auto& out) {
                replay.hessian(count, in[0].samples, out[0].samples, out[1].samples, out[2].samples, in[1].samples);
              });
}

template class Function<double>;
template class Function<float>;

}  // namespace wengert
