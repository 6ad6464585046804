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
void Workspace<Real>::prepare(const plan::Layout<Real>& layout, std::size_t width, std::size_t longest_list) {
  if (layout_ == &layout && width_ == width) return;
  layout_ = nullptr;
  slots_.reserve(layout.slots * width);
  scratch_.reserve(longest_list * (128 / sizeof(Real)));
  layout_ = &layout;
  width_ = width;
  for (const plan::Constant<Real>& constant : layout.constants) std::fill_n(slot(constant.slot), width, constant.value);
}

template class AlignedArray<double>;
template class AlignedArray<float>;
template class BoundCode<double>;
template class BoundCode<float>;
template class Workspace<double>;
template class Workspace<float>;

}  // namespace wengert
