#include "wengert/replay.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tape/cores.hpp"
#include "tape/transfer.hpp"
#include "tape/worker_pool.hpp"
#include "tape/workspace.hpp"

namespace wengert {
namespace {

using kernels::Frame;

/// Samples in a block: many share the cost of an instruction, few keep the values that backward reads in the caches.
std::size_t choose_lanes(std::size_t slots, std::size_t real_bytes) {
  std::size_t lanes = 512 / real_bytes;
  constexpr std::size_t cache_bytes = std::size_t(8) << 20;
  while (lanes * real_bytes > 128 && slots * lanes * real_bytes > cache_bytes) lanes /= 2;
  return lanes;
}

}  // namespace

template <class Real>
class Replay<Real>::Machine {
 public:
  Machine(Program<Real> program, const ReplayOptions& options)
      : program_(std::move(program)), data_(program_.data()), isa_(parse_isa(options.isa)), parallel_for_(options.parallel_for) {
    const kernels::Backend<Real>& backend = kernels::backend<Real>(isa_);
    vector_ = static_cast<std::size_t>(backend.lanes);
    lanes_ = options.lanes ? options.lanes : std::max(vector_, choose_lanes(data_.gradient.slots, sizeof(Real)));
    if (lanes_ % vector_ != 0)
      throw Error(ErrorCode::bad_size, "a block of " + std::to_string(lanes_) + " lanes: " + std::string(name(isa_)) +
                                           " takes multiples of " + std::to_string(vector_));
    const unsigned threads = options.threads ? options.threads : available_cores();
    workers_.resize(threads);
    if (threads > 1 && !parallel_for_) pool_ = std::make_unique<WorkerPool>(threads);
    bind(many_, *backend.instructions);
    const kernels::Backend<Real>& scalar = kernels::backend<Real>(Isa::scalar);
    bind(single_, scalar.single_instructions ? *scalar.single_instructions : *scalar.instructions);
  }

  void values(std::size_t samples, Samples<const Real> inputs, Samples<Real> values) {
    each_block(data_.values, samples, [&](Block& block) {
      load_inputs(block, data_.values, inputs);
      block.code->values.run(block.frame);
      store_outputs(block, data_.values, values);
    });
  }

  /// Weights of the outputs, one for all samples or each its own.
  void adjoints(std::size_t samples, Samples<const Real> inputs, const Samples<const Real>* weights, Samples<Real> values,
                Samples<Real> gradients) {
    each_block(data_.gradient, samples, [&](Block& block) {
      load_inputs(block, data_.gradient, inputs);
      block.code->forward.run(block.frame);
      if (values.data) store_outputs(block, data_.gradient, values);
      for (std::size_t k = 0; k < data_.seeds.size(); ++k) {
        if (data_.seeds[k] == plan::no_slot) continue;
        Real* const seed = block.workspace->slot(data_.seeds[k]);
        if (weights) load_item(*weights, block.first, block.count, k, seed, block.frame.width);
        else std::fill_n(seed, block.frame.width, Real(1));
      }
      block.code->backward.run(block.frame);
      for (std::size_t k = 0; k < data_.gradients.size(); ++k) {
        const plan::Slot slot = data_.gradients[k];
        store_gradient(slot == plan::no_slot ? nullptr : block.workspace->slot(slot), gradients, block.first, block.count, k);
      }
    });
  }

  const Program<Real>& program() const { return program_; }
  Isa isa() const { return isa_; }
  unsigned threads() const { return static_cast<unsigned>(workers_.size()); }
  std::size_t lanes() const { return lanes_; }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Workspace<Real>& workspace : workers_) sum += workspace.bytes();
    return sum;
  }

 private:
  struct Codes {
    BoundCode<Real> values, forward, backward;
  };
  struct Block {
    Workspace<Real>* workspace;
    const Codes* code;
    Frame<Real> frame;
    std::size_t first, count;  // samples
  };

  void bind(Codes& codes, const kernels::InstructionTable<Real>& table) {
    codes.values = BoundCode<Real>(data_.values_code, table);
    codes.forward = BoundCode<Real>(data_.forward, table);
    codes.backward = BoundCode<Real>(data_.backward, table);
  }

  /// Lanes for blocks of `samples`: no more than hold them.
  std::size_t width_for(std::size_t samples) const {
    return std::min(lanes_, (samples + vector_ - 1) / vector_ * vector_);
  }

  template <class Body>
  void each_block(const plan::Layout<Real>& layout, std::size_t samples, const Body& body) {
    if (samples == 0) return;
    const bool ieee = data_.zero_rule == ZeroRule::ieee;
    const auto evaluate = [&](Workspace<Real>& workspace, const Codes& codes, std::size_t first, std::size_t count,
                              std::size_t width) {
      workspace.prepare(layout, width, data_.longest_list);
      Block block{&workspace, &codes, workspace.frame(ieee), first, count};
      body(block);
    };
    if (samples == 1) return evaluate(workers_[0], single_, 0, 1, 1);

    const std::size_t width = width_for(samples), blocks = (samples + width - 1) / width;
    const auto chunk = [&](unsigned worker, std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t first = k * width, count = std::min(width, samples - first);
        evaluate(workers_[worker], many_, first, count, width_for(count));
      }
    };
    if (workers_.size() == 1 || blocks == 1) chunk(0, 0, blocks);
    else if (parallel_for_) parallel_for_(blocks, chunk);
    else pool_->run(blocks, chunk);
  }

  void load_inputs(const Block& block, const plan::Layout<Real>& layout, Samples<const Real> inputs) {
    for (std::size_t i = 0; i < layout.inputs.size(); ++i)
      if (layout.inputs[i] != plan::no_slot)
        load_item(inputs, block.first, block.count, i, block.workspace->slot(layout.inputs[i]), block.frame.width);
  }
  void store_outputs(const Block& block, const plan::Layout<Real>& layout, Samples<Real> values) {
    for (std::size_t k = 0; k < layout.outputs.size(); ++k)
      store_item(block.workspace->slot(layout.outputs[k]), values, block.first, block.count, k);
  }

  Program<Real> program_;
  const plan::ProgramData<Real>& data_;
  Isa isa_;
  std::size_t vector_, lanes_;
  std::vector<Workspace<Real>> workers_;
  std::unique_ptr<WorkerPool> pool_;
  ParallelFor parallel_for_;
  Codes many_, single_;
};

template <class Real>
Replay<Real>::Replay(Program<Real> program, const ReplayOptions& options)
    : machine_(std::make_unique<Machine>(std::move(program), options)) {}
template <class Real>
Replay<Real>::Replay(Replay&&) noexcept = default;
template <class Real>
Replay<Real>& Replay<Real>::operator=(Replay&&) noexcept = default;
template <class Real>
Replay<Real>::~Replay() = default;

template <class Real>
void Replay<Real>::values(std::size_t samples, Samples<const Real> inputs, Samples<Real> values) {
  machine_->values(samples, inputs, values);
}

template <class Real>
void Replay<Real>::gradient(std::size_t samples, Samples<const Real> inputs, Samples<Real> values, Samples<Real> gradients) {
  if (program().outputs() != 1)
    throw Error(ErrorCode::bad_argument, "gradient of a program with " + std::to_string(program().outputs()) +
                                             " outputs; use vjp with a weight for each, or jacobian");
  machine_->adjoints(samples, inputs, nullptr, values, gradients);
}

template <class Real>
void Replay<Real>::vjp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> weights, Samples<Real> values,
                       Samples<Real> gradients) {
  machine_->adjoints(samples, inputs, &weights, values, gradients);
}

template <class Real>
const Program<Real>& Replay<Real>::program() const {
  return machine_->program();
}
template <class Real>
std::string Replay<Real>::isa() const {
  return std::string(name(machine_->isa()));
}
template <class Real>
unsigned Replay<Real>::threads() const {
  return machine_->threads();
}
template <class Real>
std::size_t Replay<Real>::lanes() const {
  return machine_->lanes();
}
template <class Real>
std::size_t Replay<Real>::bytes() const {
  return machine_->bytes();
}

template class Replay<double>;
template class Replay<float>;

}  // namespace wengert
