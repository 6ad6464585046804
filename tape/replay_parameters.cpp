// Of a Replay: parameters, and derivatives in them.
#include <algorithm>
#include <string>

#include "tape/passes.hpp"

namespace wengert {
namespace {

template <class Real>
void check_table(const char* what, std::span<Real> given, std::size_t rows, std::size_t columns) {
  if (given.size() != rows * columns)
    throw Error(ErrorCode::bad_size, std::string(what) + " is given room for " + std::to_string(given.size()) +
                                         " numbers; there are " + std::to_string(rows) + " times " +
                                         std::to_string(columns));
}

/// Directions of parameters for the time of a call; then those that were set before.
template <class Real>
class OneDirection {
 public:
  explicit OneDirection(UniformSide<Real>& uniform)
      : uniform_(uniform), before_(uniform.directions().begin(), uniform.directions().end()), now_(before_.size()) {}
  ~OneDirection() { uniform_.set_directions(before_); }
  OneDirection(const OneDirection&) = delete;
  OneDirection& operator=(const OneDirection&) = delete;

  void along(std::size_t k) {
    std::fill(now_.begin(), now_.end(), Real(0));
    now_[k] = 1;
    uniform_.set_directions(now_);
  }

 private:
  UniformSide<Real>& uniform_;
  std::vector<Real> before_, now_;
};

}  // namespace

template <class Real>
void Replay<Real>::set_parameters(std::span<const Real> values) {
  if (values.size() != program().parameters())
    throw Error(ErrorCode::bad_size, "set_parameters is given " + std::to_string(values.size()) + " values for " +
                                         std::to_string(program().parameters()) + " parameters");
  machine_->uniform().set_parameters(values);
}
template <class Real>
std::span<const Real> Replay<Real>::uniform_outputs() const {
  return machine_->uniform().outputs();
}
template <class Real>
std::span<const Real> Replay<Real>::parameter_gradients() const {
  return machine_->uniform().gradients();
}

template <class Real>
void Replay<Real>::set_parameter_directions(std::span<const Real> directions) {
  if (directions.size() != program().differentiated_parameters())
    throw Error(ErrorCode::bad_size, "set_parameter_directions is given " + std::to_string(directions.size()) +
                                         " numbers for " + std::to_string(program().differentiated_parameters()) +
                                         " differentiated parameters");
  machine_->uniform().set_directions(directions);
}
template <class Real>
std::span<const Real> Replay<Real>::uniform_tangents() const {
  return machine_->uniform().tangents();
}
template <class Real>
std::span<const Real> Replay<Real>::parameter_products() const {
  return machine_->uniform().products();
}

template <class Real>
void Replay<Real>::parameter_jacobian(std::size_t samples, Samples<const Real> inputs, std::span<Real> jacobian) {
  const std::size_t rows = program().uniform_outputs(), columns = program().differentiated_parameters();
  check_table("parameter_jacobian", jacobian, rows, columns);
  const plan::ProgramData<Real>& data = machine_->data();
  if (columns < rows && data.call_without_jvp.empty() && data.uniform.call_without_jvp.empty()) {
    OneDirection<Real> direction(machine_->uniform());
    for (std::size_t k = 0; k < columns; ++k) {
      direction.along(k);
      jvp(samples, inputs, {}, {}, {});
      for (std::size_t row = 0; row < rows; ++row) jacobian[row * columns + k] = uniform_tangents()[row];
    }
    return;
  }
  std::vector<Real> weights(rows);
  const Real none = 0;  // outputs of samples are no part of it
  for (std::size_t row = 0; row < rows; ++row) {
    std::fill(weights.begin(), weights.end(), Real(0));
    weights[row] = 1;
    vjp(samples, inputs, {&none, 0, 0}, {}, {}, weights);
    std::copy_n(parameter_gradients().begin(), columns, jacobian.begin() + std::ptrdiff_t(row * columns));
  }
}

template <class Real>
void Replay<Real>::parameter_hessian(std::size_t samples, Samples<const Real> inputs, std::span<Real> hessian,
                                     Samples<const Real> weights, std::span<const Real> uniform_weights) {
  const std::size_t n = program().differentiated_parameters();
  check_table("parameter_hessian", hessian, n, n);
  check_weights(program(), "parameter_hessian", weights, uniform_weights);
  OneDirection<Real> direction(machine_->uniform());
  for (std::size_t k = 0; k < n; ++k) {
    direction.along(k);
    if (k == 0) refuse_second("parameter_hessian");
    hvp(samples, inputs, {}, {}, {}, {}, weights, uniform_weights);
    std::copy_n(parameter_products().begin(), n, hessian.begin() + std::ptrdiff_t(k * n));
  }
}

#define WENGERT_PARAMETERS(Real)                                                                     \
  template void Replay<Real>::set_parameters(std::span<const Real>);                                 \
  template std::span<const Real> Replay<Real>::uniform_outputs() const;                              \
  template std::span<const Real> Replay<Real>::parameter_gradients() const;                          \
  template void Replay<Real>::set_parameter_directions(std::span<const Real>);                       \
  template std::span<const Real> Replay<Real>::uniform_tangents() const;                             \
  template std::span<const Real> Replay<Real>::parameter_products() const;                           \
  template void Replay<Real>::parameter_jacobian(std::size_t, Samples<const Real>, std::span<Real>); \
  template void Replay<Real>::parameter_hessian(std::size_t, Samples<const Real>, std::span<Real>,   \
                                                Samples<const Real>, std::span<const Real>);
WENGERT_PARAMETERS(double)
WENGERT_PARAMETERS(float)
#undef WENGERT_PARAMETERS

}  // namespace wengert
