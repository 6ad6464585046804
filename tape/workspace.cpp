#include "tape/workspace.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "tape/calls.hpp"
#include "wengert/error.hpp"

namespace wengert {

template <class Real>
void AlignedArray<Real>::reserve(std::size_t count) {
  if (count <= size_) return;
  data_.reset();  // first, so that there never is more than what is asked for
  size_ = 0;
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
BoundCode<Real>::BoundCode(const plan::Code& code, const kernels::InstructionTable<Real>& table,
                           const kernels::SpecialKernels<Real>& special,
                           std::span<const std::shared_ptr<const CustomRule<Real>>> rules)
    : table_(&table), uniform_products_(special.uniform_products) {
  stretches_.reserve(code.runs.size());
  for (std::size_t k = 0; k < code.runs.size(); ++k) {
    const plan::Run& run = code.runs[k];
    const std::uint32_t* words = code.words.data() + code.first_word[k];
    const bool dots = run.kind == plan::uniform_dots;
    if (dots || plan::in_catalogue(run.kind)) {
      const kernels::Instruction<Real> of_catalogue = table.run[dots ? kernels::uniform_dot_kernel : run.kind];
      stretches_.push_back({dots && special.uniform_dots ? special.uniform_dots : of_catalogue, words, run.count});
      continue;
    }
    if (!plan::is_call(run.kind)) {
      const kernels::Check<Real> check =
          plan::is_check(run.kind) ? (*special.checks)[run.kind - plan::first_check] : nullptr;
      specials_.push_back({run.kind, stretches_.size(), nullptr, check, words, run.count});
      continue;
    }
    for (std::uint32_t c = 0; c < run.count; ++c) {
      specials_.push_back({run.kind, stretches_.size(), rules[words[0]].get(), nullptr, words, 1});
      words += plan::call_words + words[2] + words[3];
    }
  }
}

template <class Real>
void BoundCode<Real>::call(const Special& call, const Workspace<Real>& workspace, std::size_t samples,
                           bool ieee) const {
  const plan::Slot *const writes = call.words + plan::call_words, *const reads = writes + call.words[2];
  const auto values = [&](const plan::Slot* first) {
    return [&workspace, first](std::size_t k) { return workspace.lanes(first[k]); };
  };
  const auto tangents = [&](const plan::Slot* first) {
    return [&workspace, first](std::size_t k) { return workspace.tangents(first[k]); };
  };
  RunningCall<Real> running(*call.rule, samples, workspace.call_room());
  if (call.kind == plan::call_values) {
    if (!workspace.dual()) running.values(values(reads), values(writes));
    else running.dual_values(ieee, values(reads), tangents(reads), values(writes), tangents(writes));
    return;
  }
  const plan::Slot *const weights = reads, *const x = weights + call.rule->outputs, *const y = x + call.rule->inputs;
  if (!workspace.dual()) running.adjoint(ieee, values(x), values(y), values(weights), values(writes));
  else
    running.dual_adjoint(ieee, values(x), tangents(x), values(y), values(weights), tangents(weights), values(writes),
                         tangents(writes));
}

/// The share that a slot holds of a sum.
template <class Real>
static void take_slot(const Workspace<Real>& workspace, std::uint32_t sum, plan::Slot slot,
                      typename Reduction<Real>::Block& sums) {
  sums.take(sum, workspace.lanes(slot));
  if (sums.dual() && workspace.dual()) sums.take_tangent(sum, workspace.tangents(slot));
}

template <class Real>
void BoundCode<Real>::take(const Special& all, const Workspace<Real>& workspace, Sums& sums) const {
  for (const std::uint32_t *words = all.words, *end = words + 2 * all.count; words != end; words += 2)
    take_slot(workspace, words[0], words[1], sums);
}

template <class Real>
void BoundCode<Real>::multiply(const Special& all, const kernels::Frame<Real>& frame, const Workspace<Real>& workspace,
                               std::size_t samples, Sums* sums) const {
  const bool at_once = uniform_products_ && (!sums || sums->whole_leaves());
  const std::uint32_t* words = all.words;
  for (std::size_t k = 0; k < all.count; ++k) {
    const std::uint32_t sum = words[0], terms = words[1];
    const std::uint16_t kernel = static_cast<std::uint16_t>(words[2]);
    const bool both = kernel == kernels::uniform_product_kernel(true);
    words += kernels::uniform_products_header;
    const std::uint32_t* const end = words + terms * kernels::uniform_product_words(both);
    if (at_once) {
      uniform_products_(frame, words, terms, both, sums ? sums->sums() + sum : nullptr, samples);
    } else {
      table_->run[kernel](frame, words, terms);
      if (sums)
        for (std::uint32_t term = 0; term < terms; ++term)
          take_slot(workspace, sum + term, words[term * kernels::uniform_product_words(both)], *sums);
    }
    words = end;
  }
}

template <class Real>
void Workspace<Real>::prepare(const plan::Layout<Real>& layout, std::size_t lanes, std::size_t vector, bool dual,
                              const plan::ProgramData<Real>& program) {
  const std::size_t width = dual ? 2 * lanes : lanes;
  if (layout_ == &layout && width_ == width && dual_ == dual) return;
  layout_ = nullptr;
  const WorkspaceSize size = size_for(layout, lanes, vector, dual, program);
  slots_.reserve(size.slots);
  scratch_.reserve(size.scratch);
  call_room_.reserve(size.call_room);
  width_ = width;
  vector_ = vector;
  dual_ = dual;
  batch_ = 0;
  for (const plan::Constant<Real>& constant : layout.constants) fill(constant.slot, constant.value);
  if (layout.failed != plan::no_slot) fill(layout.failed, std::numeric_limits<Real>::infinity());
  layout_ = &layout;
}

template <class Real>
void Workspace<Real>::fill(plan::Slot to, Real value) {
  std::fill_n(slot(to), width_, value);
  if (dual_)
    for (std::size_t w = vector_; w < width_; w += 2 * vector_) std::fill_n(slot(to) + w, vector_, Real(0));
}

template <class Real>
void Workspace<Real>::import_from(const Workspace& uniform, std::uint64_t batch, bool whole_leaves) {
  const bool factors = whole_leaves && !dual_;
  if (batch_ == batch && factors_ == factors) return;
  factors_ = factors;
  for (const plan::Import& import : layout_->imports) {
    const Real value = *uniform.slot(import.uniform);
    if (factors && import.factor) *slot(import.slot) = value;
    else fill(import.slot, value);
    if (dual_ && uniform.dual_) tangents(import.slot).fill(*uniform.tangents(import.uniform).data);
  }
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
