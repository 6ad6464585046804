#include "tape/workspace.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "wengert/error.hpp"

namespace wengert {

template <class Real>
void AlignedArray<Real>::reserve(std::size_t count) {
  if (count <= size_) return;
  void* memory = nullptr;
  if (count <= std::size_t(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(Real))
    memory = ::operator new(count * sizeof(Real), std::align_val_t(64), std::nothrow);
  if (!memory)
    throw Error(ErrorCode::out_of_memory, "a block's workspace of " + std::to_string(count) + " numbers of " +
                                              std::to_string(sizeof(Real)) +
                                              " bytes each can't be had; ask for fewer lanes or threads");
  data_.reset(static_cast<Real*>(memory));
  size_ = count;
  std::fill_n(data_.get(), count, Real(0));
}

template <class Real>
BoundCode<Real>::BoundCode(const plan::Code& code, const kernels::InstructionTable<Real>& table) {
  stretches_.reserve(code.runs.size());
  for (std::size_t k = 0; k < code.runs.size(); ++k)
    stretches_.push_back({table.run[code.runs[k].kind], code.words.data() + code.first_word[k], code.runs[k].count});
}

template <class Real>
void Workspace<Real>::prepare(const plan::Layout<Real>& layout, std::size_t lanes, std::size_t vector, bool dual,
                              std::size_t longest_list) {
  const std::size_t width = dual ? 2 * lanes : lanes;
  if (layout_ == &layout && width_ == width && dual_ == dual) return;
  layout_ = nullptr;
  slots_.reserve(layout.slots * width);
  scratch_.reserve(longest_list * 2 * vector);
  width_ = width;
  vector_ = vector;
  dual_ = dual;
  batch_ = 0;
  for (const plan::Constant<Real>& constant : layout.constants) fill(constant.slot, constant.value);
  layout_ = &layout;
}

template <class Real>
void Workspace<Real>::fill(plan::Slot to, Real value) {
  std::fill_n(slot(to), width_, value);
  if (dual_)
    for (std::size_t w = vector_; w < width_; w += 2 * vector_) std::fill_n(slot(to) + w, vector_, Real(0));
}

template <class Real>
void Workspace<Real>::import_from(const Workspace& uniform, std::uint64_t batch) {
  if (batch_ == batch) return;
  for (const plan::Import& import : layout_->imports) fill(import.slot, *uniform.slot(import.uniform));
  batch_ = batch;
}

template class AlignedArray<double>;
template class AlignedArray<float>;
template class AlignedArray<std::uint8_t>;
template class BoundCode<double>;
template class BoundCode<float>;
template class Workspace<double>;
template class Workspace<float>;

}  // namespace wengert
