// The memory of one block, and code bound to the functions of an instruction set and to custom ops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tape/program.hpp"
#include "tape/reduction.hpp"
#include "tape/transfer.hpp"

namespace wengert {

/// Numbers on cache lines of their own. Throws out_of_memory, saying how many bytes were asked for.
template <class Real>
class AlignedArray {
 public:
  /// What was there is lost where it grows.
  void reserve(std::size_t count);
  Real* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(Real); }

 private:
  struct Free {
    void operator()(Real* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<Real, Free> data_;
  std::size_t size_ = 0;
};

/// How many numbers a workspace has room for, array by array.
struct WorkspaceSize {
  std::size_t slots = 0, scratch = 0, call_room = 0;

  std::size_t numbers() const { return slots + scratch + call_room; }
  bool fits(const WorkspaceSize& room) const {
    return slots <= room.slots && scratch <= room.scratch && call_room <= room.call_room;
  }
  /// What there is once there is room for either.
  WorkspaceSize or_more(const WorkspaceSize& other) const {
    return {std::max(slots, other.slots), std::max(scratch, other.scratch), std::max(call_room, other.call_room)};
  }
};

/// The slots of one block. Each thread has its own.
template <class Real>
class Workspace {
 public:
  /// Makes room for `layout` at `lanes` lanes, with its constants in place. Does nothing if that is how it is already.
  void prepare(const plan::Layout<Real>& layout, std::size_t lanes, std::size_t vector, bool dual,
               const plan::ProgramData<Real>& program);
  /// What `prepare` makes room for.
  static WorkspaceSize size_for(const plan::Layout<Real>& layout, std::size_t lanes, std::size_t vector, bool dual,
                                const plan::ProgramData<Real>& program) {
    return {layout.slots * (dual ? 2 * lanes : lanes), program.longest_list * 2 * vector, program.call_room * lanes};
  }
  /// Puts uniform values in place, once per `batch`. `whole_leaves`: all blocks of the batch are such (Reduction::Block), so that
  /// factors of products have kernels that read one lane.
  void import_from(const Workspace& uniform, std::uint64_t batch, bool whole_leaves);

  Real* slot(plan::Slot slot) const { return slots_.data() + std::size_t(slot) * width_; }
  bool dual() const { return dual_; }
  /// The values of a slot, and its tangents.
  LaneSlot<Real> lanes(plan::Slot slot) const {
    return dual_ ? LaneSlot<Real>{this->slot(slot), width_ / 2, vector_, 2 * vector_}
                 : LaneSlot<Real>{this->slot(slot), width_, width_, width_};
  }
  LaneSlot<Real> tangents(plan::Slot slot) const {
    return {this->slot(slot) + vector_, width_ / 2, vector_, 2 * vector_};
  }
  Real* call_room() const { return call_room_.data(); }
  kernels::Frame<Real> frame(bool ieee) const { return {slots_.data(), width_, scratch_.data(), ieee}; }
  WorkspaceSize size() const { return {slots_.size(), scratch_.size(), call_room_.size()}; }
  std::size_t bytes() const { return size().numbers() * sizeof(Real); }

 private:
  AlignedArray<Real> slots_, scratch_, call_room_;
  void fill(plan::Slot slot, Real value);

  const plan::Layout<Real>* layout_ = nullptr;
  std::size_t width_ = 0;  // numbers of a slot
  std::size_t vector_ = 0;
  bool dual_ = false;
  std::uint64_t batch_ = 0;  // of the uniform values that are in place
  bool factors_ = false;     // of which factors are so in their first lane
};

/// Code whose kinds are functions.
template <class Real>
class BoundCode {
 public:
  BoundCode() = default;
  /// `rules`: of custom ops, as instructions count them; must outlive it.
  BoundCode(const plan::Code& code, const kernels::InstructionTable<Real>& table,
            const kernels::SpecialKernels<Real>& special,
            std::span<const std::shared_ptr<const CustomRule<Real>>> rules);

  using Sums = typename Reduction<Real>::Block;
  /// `samples`: lanes that are of any interest. `sums`: null where none are wanted. Whether a guard came out otherwise than recorded
  /// in some lane.
  bool run(const Workspace<Real>& workspace, std::size_t samples, bool ieee, Sums* sums) const {
    const kernels::Frame<Real> frame = workspace.frame(ieee);
    const Stretch* s = stretches_.data();
    bool departs = false;
    for (const Special& special : specials_) {
      for (; s != stretches_.data() + special.before; ++s) s->run(frame, s->words, s->count);
      if (special.check) departs |= special.check(frame, special.words, special.count);
      else if (special.kind == plan::uniform_products) multiply(special, frame, workspace, samples, sums);
      else if (special.kind != plan::take_sum) call(special, workspace, samples, ieee);
      else if (sums) take(special, workspace, *sums);
    }
    for (; s != stretches_.data() + stretches_.size(); ++s) s->run(frame, s->words, s->count);
    return departs;
  }

 private:
  struct Stretch {
    kernels::Instruction<Real> run;
    const std::uint32_t* words;
    std::size_t count;
  };
  /// A custom op, or a stretch of sums to take, of products to sum, or of guards to check by one question.
  struct Special {
    std::uint16_t kind;
    std::size_t before;            // stretches
    const CustomRule<Real>* rule;  // of a custom op
    kernels::Check<Real> check;    // of guards
    const std::uint32_t* words;
    std::size_t count;
  };
  void call(const Special& call, const Workspace<Real>& workspace, std::size_t samples, bool ieee) const;
  void take(const Special& all, const Workspace<Real>& workspace, Sums& sums) const;
  void multiply(const Special& all, const kernels::Frame<Real>& frame, const Workspace<Real>& workspace,
                std::size_t samples, Sums* sums) const;

  std::vector<Stretch> stretches_;
  std::vector<Special> specials_;
  const kernels::InstructionTable<Real>* table_ = nullptr;
  kernels::UniformProducts<Real> uniform_products_ = nullptr;
};

}  // namespace wengert
