// What is behind a Replay: a program bound to an instruction set, the workspaces of its threads, and the loop over blocks.
#pragma once

#include <memory>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tape/program.hpp"
#include "tape/transfer.hpp"
#include "tape/worker_pool.hpp"
#include "tape/workspace.hpp"
#include "wengert/replay.hpp"

namespace wengert {

/// What a block computes with.
enum class Numbers { plain, dual };

template <class Real>
class Machine {
 public:
  Machine(Program<Real> program, const ReplayOptions& options);

  const Program<Real>& program() const { return program_; }
  const plan::ProgramData<Real>& data() const { return data_; }
  Isa isa() const { return isa_; }
  unsigned threads() const { return static_cast<unsigned>(workers_.size()); }
  std::size_t lanes() const { return lanes_; }
  std::size_t bytes() const;

  /// A block at work: its lanes, its slots, its code.
  class Block {
   public:
    LaneRange lanes;

    const plan::ProgramData<Real>& data() const { return *data_; }
    LaneSlot<Real> slot(plan::Slot slot) const {
      if (slot == plan::no_slot) return {nullptr, width_, vector_, step_};
      return {workspace_->slot(slot), width_, vector_, step_};
    }
    LaneSlot<Real> tangent(plan::Slot slot) const {
      LaneSlot<Real> lanes_of = this->slot(slot);
      if (lanes_of.data) lanes_of.data += vector_;
      return lanes_of;
    }
    void values() const { code_->values.run(workspace_->frame(ieee_)); }
    void forward() const { code_->forward.run(workspace_->frame(ieee_)); }
    void backward() const { code_->backward.run(workspace_->frame(ieee_)); }

   private:
    friend class Machine;
    struct Codes {
      BoundCode<Real> values, forward, backward;
    };
    const plan::ProgramData<Real>* data_;
    const Workspace<Real>* workspace_;
    const Codes* code_;
    std::size_t width_, vector_, step_;
    bool ieee_;
  };

  /// Calls body(Block&) for blocks that cover `lanes` lanes, on all threads.
  template <class Body>
  void each_block(const plan::Layout<Real>& layout, Numbers numbers, std::size_t samples, std::size_t seeds, const Body& body);

 private:
  using Codes = typename Block::Codes;

  void bind(Codes& codes, const kernels::InstructionTable<Real>& table);
  /// Lanes of a block that holds `lanes`: no more than that takes. Dual numbers are two each.
  std::size_t width_for(std::size_t lanes, bool dual) const {
    const std::size_t most = dual ? std::max(vector_, lanes_ / 2 / vector_ * vector_) : lanes_;
    return std::min(most, (lanes + vector_ - 1) / vector_ * vector_);
  }

  Program<Real> program_;
  const plan::ProgramData<Real>& data_;
  Isa isa_;
  std::size_t vector_, lanes_;
  std::vector<Workspace<Real>> workers_;
  std::unique_ptr<WorkerPool> pool_;
  ParallelFor parallel_for_;
  Codes many_, single_, dual_;
};

template <class Real>
template <class Body>
void Machine<Real>::each_block(const plan::Layout<Real>& layout, Numbers numbers, std::size_t samples, std::size_t seeds,
                               const Body& body) {
  const std::size_t lanes = samples * seeds;
  if (lanes == 0) return;
  const bool dual = numbers == Numbers::dual;
  const auto evaluate = [&](Workspace<Real>& workspace, std::size_t first, std::size_t count) {
    const bool alone = lanes == 1 && !dual;
    const std::size_t width = alone ? 1 : width_for(count, dual);
    workspace.prepare(layout, width, alone ? 1 : vector_, dual, data_.longest_list);
    Block block;
    block.lanes = {first, count, seeds};
    block.data_ = &data_;
    block.workspace_ = &workspace;
    block.code_ = alone ? &single_ : dual ? &dual_ : &many_;
    block.width_ = width;
    block.vector_ = dual ? vector_ : width;
    block.step_ = dual ? 2 * vector_ : width;
    block.ieee_ = data_.zero_rule == ZeroRule::ieee;
    body(block);
  };
  const std::size_t width = width_for(lanes, dual), blocks = (lanes - 1) / width + 1;
  const auto chunk = [&](unsigned worker, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) evaluate(workers_[worker], k * width, std::min(width, lanes - k * width));
  };
  if (workers_.size() == 1 || blocks == 1) chunk(0, 0, blocks);
  else if (parallel_for_) parallel_for_(blocks, chunk);
  else pool_->run(blocks, chunk);
}

extern template class Machine<double>;
extern template class Machine<float>;

}  // namespace wengert
