#include "tape/uniform.hpp"

namespace wengert {

template <class Real>
UniformSide<Real>::UniformSide(const plan::ProgramData<Real>& data, const kernels::InstructionTable<Real>& single)
    : data_(data),
      part_(data.uniform),
      ieee_(data.zero_rule == ZeroRule::ieee),
      prologue_(part_.prologue, single, data.rules),
      epilogue_(part_.epilogue, single, data.rules),
      epilogue_backward_(part_.epilogue_backward, single, data.rules),
      prologue_backward_(part_.prologue_backward, single, data.rules),
      parameters_(part_.initial),
      outputs_(part_.layout.outputs.size()),
      gradients_(part_.gradients.size()) {}

template <class Real>
void UniformSide<Real>::begin() {
  if (!any()) return;
  workspace_.prepare(part_.layout, 1, 1, false, data_);
  ++batch_;
  for (std::size_t k = 0; k < parameters_.size(); ++k) at(part_.layout.inputs[k]) = parameters_[k];
  run(prologue_);
}

template <class Real>
void UniformSide<Real>::values_after(std::span<const Real> sums) {
  for (std::size_t k = 0; k < part_.layout.terms.size(); ++k) at(part_.layout.terms[k]) = sums[k];
  run(epilogue_);
  for (std::size_t k = 0; k < outputs_.size(); ++k) outputs_[k] = at(part_.layout.outputs[k]);
}

template <class Real>
void UniformSide<Real>::adjoints_before(std::span<const Real> weights) {
  for (std::size_t k = 0; k < part_.seeds.size(); ++k)
    if (part_.seeds[k] != plan::no_slot) at(part_.seeds[k]) = weights.empty() ? Real(1) : weights[k];
  run(epilogue_backward_);
}

template <class Real>
void UniformSide<Real>::adjoints_after(std::span<const Real> totals) {
  for (std::size_t k = 0; k < part_.totals.size(); ++k) at(part_.totals[k]) = totals[k];
  run(prologue_backward_);
  for (std::size_t k = 0; k < gradients_.size(); ++k)
    gradients_[k] = part_.gradients[k] == plan::no_slot ? Real(0) : at(part_.gradients[k]) + Real(0);
}

template class UniformSide<double>;
template class UniformSide<float>;

}  // namespace wengert
