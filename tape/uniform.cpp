#include "tape/uniform.hpp"

#include <limits>

namespace wengert {

template <class Real>
UniformSide<Real>::UniformSide(const plan::ProgramData<Real>& data, const kernels::InstructionTable<Real>& single,
                               const kernels::InstructionTable<Real>& dual, Isa isa, std::size_t vector)
    : data_(data),
      part_(data.uniform),
      ieee_(data.zero_rule == ZeroRule::ieee),
      vector_(vector),
      single_(bind(single, kernels::special_kernels<Real>(Isa::scalar, false))),
      dual_(bind(dual, kernels::special_kernels<Real>(isa, true))),
      parameters_(part_.initial),
      directions_(part_.differentiated.size()),
      outputs_(part_.layout.outputs.size()),
      gradients_(part_.gradients.size()),
      tangents_(outputs_.size()),
      products_(gradients_.size()) {}

template <class Real>
typename UniformSide<Real>::Codes UniformSide<Real>::bind(const kernels::InstructionTable<Real>& table,
                                                          const kernels::SpecialKernels<Real>& special) const {
  const auto bound = [&](const plan::Code& code) { return BoundCode<Real>(code, table, special, data_.rules); };
  return {bound(part_.prologue), bound(part_.epilogue), bound(part_.epilogue_backward), bound(part_.prologue_backward)};
}

template <class Real>
void UniformSide<Real>::set(plan::Slot slot, Real value, Real tangent) const {
  workspace_.lanes(slot).fill(value);
  if (workspace_.dual()) workspace_.tangents(slot).fill(tangent);
}

template <class Real>
void UniformSide<Real>::begin(bool dual) {
  if (!any()) return;
  workspace_.prepare(part_.layout, dual ? vector_ : 1, dual ? vector_ : 1, dual, data_);
  ++batch_;
  if (departs_) workspace_.lanes(part_.layout.failed).fill(std::numeric_limits<Real>::infinity());
  departs_ = false;
  for (std::size_t k = 0; k < parameters_.size(); ++k) set(part_.layout.inputs[k], parameters_[k]);
  if (dual)
    for (std::size_t k = 0; k < directions_.size(); ++k)
      workspace_.tangents(part_.layout.inputs[part_.differentiated[k]]).fill(directions_[k]);
  run(&Codes::prologue);
}

template <class Real>
void UniformSide<Real>::values_after(std::span<const Real> sums, std::span<const Real> tangents) {
  const bool dual = workspace_.dual();
  for (std::size_t k = 0; k < part_.sums.size(); ++k) set(part_.sums[k], sums[k], dual ? tangents[k] : Real(0));
  run(&Codes::epilogue);
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    outputs_[k] = at(part_.layout.outputs[k]);
    if (dual) tangents_[k] = tangent_at(part_.layout.outputs[k]) + Real(0);
  }
}

template <class Real>
void UniformSide<Real>::adjoints_before(std::span<const Real> weights) {
  sweep_back([&](std::size_t k) { return weights.empty() ? Real(1) : weights[k]; });
}

template <class Real>
void UniformSide<Real>::adjoints_after(std::span<const Real> totals, std::span<const Real> tangents) {
  const bool dual = workspace_.dual();
  for (std::size_t k = 0; k < part_.totals.size(); ++k) set(part_.totals[k], totals[k], dual ? tangents[k] : Real(0));
  run(&Codes::prologue_backward);
  for (std::size_t k = 0; k < gradients_.size(); ++k) {
    const plan::Slot slot = part_.gradients[k];
    gradients_[k] = slot == plan::no_slot ? Real(0) : at(slot) + Real(0);
    if (dual) products_[k] = slot == plan::no_slot ? Real(0) : tangent_at(slot) + Real(0);
  }
}

template class UniformSide<double>;
template class UniformSide<float>;

}  // namespace wengert
