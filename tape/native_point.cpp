#include "tape/native_point.hpp"

#include <algorithm>
#include <utility>

namespace wengert {

template <class Real>
NativePoint<Real>::NativePoint(const plan::ProgramData<Real>& data, Isa isa, plan::Evaluation what,
                               const NativeBatch<Real>& like, std::size_t most_bytes)
    : data_(data),
      uniforms_(data, what),
      isa_(isa),
      what_(what),
      most_bytes_(most_bytes),
      inputs_(table((what.gradient ? data.gradient : data.values).inputs.size(), like.inputs.data, like.inputs.item)),
      values_(table((what.gradient ? data.gradient : data.values).outputs.size(), like.values.data, like.values.item)),
      gradients_(table(what.gradient ? data.gradients.size() : 0, like.gradients.data, like.gradients.item)),
      inputs_to_values_(inputs_, values_),
      inputs_to_gradients_(inputs_, gradients_),
      values_to_gradients_(values_, gradients_),
      code_(make(chain_, most_bytes)) {
  if (!why_not().empty()) return;
  spills_ = spills_for(code_);
  lay_out();
}

template <class Real>
typename NativePoint<Real>::Table NativePoint<Real>::table(std::size_t items, const void* data, std::ptrdiff_t stride) {
  // Offsets in code have 31 bits.
  const std::size_t most = (std::size_t(1) << 31) / sizeof(Real) / std::max<std::size_t>(items, 1);
  const bool good = data && stride >= 1 && static_cast<std::size_t>(stride) < most;
  const std::ptrdiff_t step = good ? stride : 1;
  return {items, step, items == 0 ? 0 : (items - 1) * static_cast<std::size_t>(step) + 1, nullptr};
}

template <class Real>
NativeCode<Real> NativePoint<Real>::make(codegen::Chain chain, std::size_t most_bytes) const {
  const auto stride = [](const Table& table) { return static_cast<std::uint32_t>(table.stride); };
  return NativeCode<Real>(data_, isa_, what_, true, chain, most_bytes,
                          {stride(inputs_), stride(values_), stride(gradients_)});
}

template <class Real>
AlignedArray<std::uint8_t> NativePoint<Real>::spills_for(const NativeCode<Real>& code) {
  AlignedArray<std::uint8_t> spills;
  spills.reserve(code.spill_bytes() + codegen::spill_bias);
  return spills;
}

template <class Real>
void NativePoint<Real>::lay_out() {
  std::size_t numbers = uniforms_.count;
  for (const Table* table : {&inputs_, &values_, &gradients_}) numbers += table->reach;
  numbers_.reserve(numbers);
  std::fill(weights().begin(), weights().end(), Real(1));
  Real* copy = numbers_.data() + uniforms_.count;
  for (Table* table : {&inputs_, &values_, &gradients_}) copy = (table->copy = copy) + table->reach;
}

/// Where derivatives come out NaN often the code gets the zero rule.
template <class Real>
void NativePoint<Real>::take_care() {
  const codegen::Chain next = chain_after(chain_, misses_.tried(), misses_.failed(), data_, what_);
  if (next == chain_) return;
  const bool limited = most_bytes_ != std::numeric_limits<std::size_t>::max();
  NativeCode<Real> careful = make(next, limited ? most_bytes_ - std::min(most_bytes_, bytes()) : most_bytes_);
  const bool well = careful.why_not().empty();  // otherwise it goes on as it is
  AlignedArray<std::uint8_t> spills;
  if (well) spills = spills_for(careful);
  chain_ = next;
  if (!well) return;
  code_ = std::move(careful);
  spills_ = std::move(spills);
  misses_ = {};
}

template <class Real>
bool NativePoint<Real>::run_copies(const NativeBatch<Real>& batch) {
  const auto take = [](const Samples<const Real>& from, std::span<Real> to) {
    for (std::size_t k = 0; k < to.size() && from.data; ++k) to[k] = *place(from, 0, k);
  };
  take(batch.weights, weights());
  take(batch.directions, directions());
  for (std::size_t k = 0; k < inputs_.items; ++k) inputs_.item(k) = *place(batch.inputs, 0, k);
  const bool well = call(inputs_.copy, values_.copy, gradients_.copy);
  std::fill(weights().begin(), weights().end(), Real(1));
  std::fill(directions().begin(), directions().end(), Real(0));
  return ran(well);
}

template <class Real>
void NativePoint<Real>::give_copies(const NativeBatch<Real>& batch) {
  const auto give = [](const Table& from, const Samples<Real>& to) {
    for (std::size_t k = 0; k < from.items && to.data; ++k) *place(to, 0, k) = from.item(k);
  };
  give(values_, batch.values);
  give(gradients_, batch.gradients);
  const std::span<const Real> from = tangents();
  for (std::size_t k = 0; k < from.size() && batch.tangents.data; ++k) *place(batch.tangents, 0, k) = from[k];
}

/// Of tables that needn't have been looked at.
template <class Real>
bool NativePoint<Real>::run_by_copies(const NativeBatch<Real>& batch) {
  own_places<Real>(1, {{"values", values_.items, batch.values}, {"gradients", gradients_.items, batch.gradients}},
                   {{"inputs", inputs_.items, batch.inputs}, {"weights", values_.items, batch.weights}});
  if (!run_copies(batch)) return false;
  give_copies(batch);
  return true;
}

template class NativePoint<double>;
template class NativePoint<float>;

}  // namespace wengert
