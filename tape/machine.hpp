// What is behind a Replay: a program bound to an instruction set, the workspaces of its threads, and the loop over blocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tape/departures.hpp"
#include "tape/in_use.hpp"
#include "tape/native_cost.hpp"
#include "tape/native_point.hpp"
#include "tape/program.hpp"
#include "tape/reduction.hpp"
#include "tape/transfer.hpp"
#include "tape/uniform.hpp"
#include "tape/worker_pool.hpp"
#include "tape/workspace.hpp"
#include "wengert/replay.hpp"

namespace wengert {

using plan::Numbers;

/// One pass over the samples.
template <class Real>
struct Pass {
  const plan::Layout<Real>& layout;
  Numbers numbers = Numbers::plain;
  std::size_t samples = 0;
  std::size_t seeds = 1;  ///< lanes of each sample
  /// Over the samples, not counting those of tangents; where there are any no block reaches across a group of the reduction.
  std::size_t sums = 0;
  std::size_t sweeps = 1;  ///< backward ones for each lane
  std::size_t times = 1;   ///< that all of it is done, once for each seed

  /// Of all samples and seeds.
  std::size_t evaluations() const { return samples * seeds * sweeps * times; }
};

template <class Real>
class Machine {
 public:
  Machine(Program<Real> program, const ReplayOptions& options);

  const Program<Real>& program() const { return program_; }
  const plan::ProgramData<Real>& data() const { return data_; }
  Isa isa() const { return isa_; }
  unsigned threads() const { return static_cast<unsigned>(workers_.size()); }
  std::size_t lanes() const { return lanes_; }
  /// Whether so many samples fill blocks by themselves, so that seeds needn't be side by side in the lanes.
  bool fill_blocks(std::size_t samples) const { return samples >= std::min<std::size_t>(lanes_ / 2, 64); }
  std::size_t bytes() const;
  /// Machine code for a pass; null where the interpreter is to do it, or `native_point` as lanes are few.
  NativeRunner<Real>* native(plan::Evaluation what, const Pass<Real>& pass);
  /// The same where there is one lane, or so few that they are done soonest one by one.
  NativePoint<Real>* native_point(plan::Evaluation what, const NativeBatch<Real>& batch, const Pass<Real>& pass);
  /// Whether that, for a pass of each_block, stays within the budget. If not, there will be no machine code from now on.
  bool has_room_for(const NativeRunner<Real>& runner, const Pass<Real>& pass);
  /// Machine code for a sample once it is there, where nothing else has to run. It is tried first, gradients and values before anything is
  /// checked.
  NativePoint<Real>* whole_point(plan::Evaluation what) const { return whole_point_[what.number()]; }
  /// What runs batches, and why it isn't machine code where that was wanted.
  std::string engine() const;

  /// A block at work: its lanes, its slots, its code.
  class Block {
   public:
    LaneRange lanes;
    std::size_t worker;
    bool last;  ///< of its group of the reduction

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
    std::size_t width() const { return width_; }
    bool dual() const { return workspace_->dual(); }
    /// Whether a table's columns go straight into slots: a sample to a lane, the samples side by side, no tangents in between.
    template <class T>
    bool takes_columns(const Samples<T>& table) const {
      return table.sample == 1 && lanes.seeds == 1 && step_ == vector_;
    }
    /// Items of such a table into their slots.
    void load_columns(const Samples<const Real>& from, const std::vector<plan::Slot>& slots) const {
      backend_->load_columns({place(from, lanes.first, 0), from.item, lanes.count, width_}, slots.data(), slots.size(),
                             workspace_->slot(0));
    }
    /// Out of them again: values, or derivatives, which are reported with +0 added and 0 where there is no slot.
    void store_columns(const std::vector<plan::Slot>& slots, const Samples<Real>& to, bool derivatives) const {
      (derivatives ? backend_->store_derivatives : backend_->store_columns)(
          {place(to, lanes.first, 0), to.item, lanes.count, width_}, slots.data(), slots.size(), workspace_->slot(0));
    }
    /// `sums`: where the block's shares of sums over the samples go.
    using Sums = typename Reduction<Real>::Block;
    void values(Sums* sums = nullptr) const { run(code_->values, data_->values, sums); }
    void forward(Sums* sums = nullptr) const { run(code_->forward, data_->gradient, sums); }
    void backward(Sums* sums = nullptr) const { code_->backward.run(*workspace_, lanes.count, ieee_, sums); }

   private:
    friend class Machine;
    struct Codes {
      BoundCode<Real> values, forward, backward;
    };
    /// From the inputs on. Uniform values come into their slots here, so that blocks of machine code go without.
    void run(const BoundCode<Real>& code, const plan::Layout<Real>& layout, Sums* sums) const {
      if (uniform_) workspace_->import_from(uniform_->workspace(), uniform_->batch(), whole_leaves_);
      if (code.run(*workspace_, lanes.count, ieee_, sums)) [[unlikely]]
        departures_->take(worker, lanes, slot(layout.failed));
    }

    const plan::ProgramData<Real>* data_;
    const kernels::Backend<Real>* backend_;
    Workspace<Real>* workspace_;
    const UniformSide<Real>* uniform_;  // null where there is none
    Departures* departures_;
    const Codes* code_;
    std::size_t width_, vector_, step_;
    bool ieee_, whole_leaves_;
  };

  /// Calls body(Block&) for blocks that cover all lanes, on all threads. The blocks of a group of the reduction come one after the
  /// other on one thread. `widest(worker)`: how many lanes its next block may have, whole leaves of the reduction.
  template <class Body, class Widest>
  void each_block(const Pass<Real>& pass, const Body& body, const Widest& widest);
  template <class Body>
  void each_block(const Pass<Real>& pass, const Body& body) {
    each_block(pass, body, [](std::size_t) { return std::numeric_limits<std::size_t>::max(); });
  }

  /// Around every evaluation: the part that comes before all samples, and a look at what left the recorded path. `begin` throws
  /// out_of_memory if what the passes take isn't within the budget; `finish` other_path, unless departures are to be reported.
  /// `dual`: with tangents of the uniform side. `seeds`: for which there will be adjoints of it (UniformSide::adjoints_for).
  [[nodiscard]] InUse begin(std::initializer_list<Pass<Real>> passes, bool dual = false, std::size_t seeds = 0);
  void finish();
  /// Makes the reduction ready for the sums of a pass.
  Reduction<Real>& begin_sums(const Pass<Real>& pass);
  void forget_departures() {
    if (data_.statistics.guards != 0) departures_.clear();
  }
  std::span<const Departure> departures() const { return departures_.all(); }

  UniformSide<Real>& uniform() { return uniform_; }
  Reduction<Real>& reduction() { return reduction_; }

 private:
  using Codes = typename Block::Codes;

  enum class Engine { interpreter, native, automatic };
  static Engine parse_engine(const std::string& engine);

  void bind(Codes& codes, const kernels::InstructionTable<Real>& table, const kernels::SpecialKernels<Real>& special);
  /// Lanes of a block that holds `lanes`: no more than that takes. Dual numbers are two each.
  std::size_t width_for(std::size_t lanes, bool dual) const {
    return std::min(dual ? dual_lanes_ : lanes_, (lanes + vector_ - 1) / vector_ * vector_);
  }

  /// How a batch is cut: lanes of a block, pieces, and how many workers have some.
  struct Cut {
    std::size_t width, piece, pieces, workers;
    bool alone;  ///< one lane, for which there is code of its own
  };
  Cut cut(const Pass<Real>& pass) const;
  double ns_of(const Pass<Real>& pass) const;
  /// Whether a pass of several workers gets the pool's threads, which may have to be woken. Otherwise one does it all.
  bool calls_threads(const Pass<Real>& pass, const Cut& cut);
  /// Of each worker that has a part in it.
  WorkspaceSize size_of_workspace(const Pass<Real>& pass, const Cut& cut) const;
  /// Workers whose blocks end within a leaf of the reduction that goes on in the next one.
  std::size_t splitting(const Pass<Real>& pass) const;
  bool has_budget() const { return budget_ != std::numeric_limits<std::size_t>::max(); }
  /// Bytes once the passes have been done, without machine code.
  std::size_t bytes_with(std::initializer_list<Pass<Real>> passes, bool dual, std::size_t seeds) const;
  std::size_t native_bytes() const;
  /// From now on the interpreter does it.
  void give_up_native(std::size_t bytes);
  [[noreturn]] void bad_chunk(unsigned worker, std::size_t begin, std::size_t end) const;
  [[noreturn]] void bad_cover(std::size_t done, std::size_t count) const;

  Program<Real> program_;
  const plan::ProgramData<Real>& data_;
  Isa isa_;
  const kernels::Backend<Real>& backend_;
  std::size_t vector_, lanes_, dual_lanes_;
  std::vector<Workspace<Real>> workers_;
  std::unique_ptr<WorkerPool, WorkerPool::End> pool_;
  double alone_ns_ = 0;  // of passes done without threads since they were last called
  ParallelFor parallel_for_;
  Codes many_, single_, dual_;
  UniformSide<Real> uniform_;
  Reduction<Real> reduction_;
  bool report_departures_;
  std::size_t budget_;
  std::size_t needed_ = 0;  // bytes for what is being done, without machine code, where there is a budget
  bool running_ = false;
  Departures departures_;
  Engine engine_;
  /// Machine code of one kind: made when first wanted.
  template <class Runner>
  struct Native {
    std::unique_ptr<Runner> runner;
    // So far, while it isn't there; and how many are worth it, 0: not known yet.
    std::size_t samples = 0, worth_from = 0;
    bool refused = false;  // the last pass, though samples are enough
  };
  template <class Runner>
  bool worth_making(Native<Runner>& native, plan::Evaluation what, const Pass<Real>& pass);
  bool native_allowed() const;
  bool few_lanes(plan::Evaluation what, const Pass<Real>& pass);
  /// What code saves; null where the budget has no room to find out.
  const plan::NativeCost* cost_of(plan::Evaluation what);
  std::size_t room_for_native() const;
  template <class Visit>
  void each_native(const Visit& visit) const {
    for (const auto& native : blocks_) visit(native);
    for (const auto& native : points_) visit(native);
  }
  Native<NativeRunner<Real>> blocks_[plan::Evaluation::count];
  Native<NativePoint<Real>> points_[plan::Evaluation::count];
  NativePoint<Real>* whole_point_[plan::Evaluation::count] = {};    // of these
  std::optional<plan::NativeCost> costs_[plan::Evaluation::count];  // if known so far
  std::string over_budget_;                                         // why machine code was given up, if it was
};

template <class Real>
template <class Body, class Widest>
void Machine<Real>::each_block(const Pass<Real>& pass, const Body& body, const Widest& widest) {
  const std::size_t lanes = pass.samples * pass.seeds;
  if (lanes == 0) return;
  const bool dual = pass.numbers == Numbers::dual;
  const Cut cut = this->cut(pass);
  const bool alone = cut.alone;
  const bool whole_leaves = lanes <= cut.width || cut.width % Reduction<Real>::leaf == 0;

  const auto evaluate = [&](std::size_t worker, std::size_t first, std::size_t count, bool last) {
    Workspace<Real>& workspace = workers_[worker];
    const std::size_t block_width = alone ? 1 : width_for(count, dual);
    workspace.prepare(pass.layout, block_width, alone ? 1 : vector_, dual, data_);
    Block block;
    block.lanes = {first, count, pass.seeds};
    block.worker = worker;
    block.last = last;
    block.data_ = &data_;
    block.backend_ = &backend_;
    block.workspace_ = &workspace;
    block.uniform_ = uniform_.any() ? &uniform_ : nullptr;
    block.departures_ = &departures_;
    block.code_ = alone ? &single_ : dual ? &dual_ : &many_;
    block.width_ = block_width;
    block.vector_ = dual ? vector_ : block_width;
    block.step_ = dual ? 2 * vector_ : block_width;
    block.ieee_ = data_.zero_rule == ZeroRule::ieee;
    block.whole_leaves_ = whole_leaves;
    body(block);
  };
  std::atomic<std::size_t> done = 0;
  const auto chunk = [&](unsigned worker, std::size_t begin, std::size_t end) {
    if (worker >= workers_.size() || begin > end || end > cut.pieces) bad_chunk(worker, begin, end);
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t first = k * cut.piece, stop = std::min(first + cut.piece, lanes), count; first < stop;
           first += count) {
        count = std::min({cut.width, widest(worker), stop - first});
        evaluate(worker, first, count, first + count == stop);
      }
    done += end - begin;
  };
  // By reference: a std::function of its own would be an allocation.
  if (cut.workers == 1 || (!parallel_for_ && !calls_threads(pass, cut))) chunk(0, 0, cut.pieces);
  else if (parallel_for_) parallel_for_(cut.pieces, std::ref(chunk));
  else pool_->run(cut.pieces, std::ref(chunk));
  if (done != cut.pieces) bad_cover(done, cut.pieces);
}

extern template class Machine<double>;
extern template class Machine<float>;

}  // namespace wengert
