// What the passes of a Replay over the blocks of a batch have in common: inputs and weights into slots, results out of them, and
// the sums over the samples.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tape/machine.hpp"

namespace wengert {

/// For functions that take weights or want one output.
template <class Real>
void check_weights(const Program<Real>& program, const char* what, Samples<const Real> weights,
                   std::span<const Real> uniform_weights = {}) {
  if (!uniform_weights.empty() && uniform_weights.size() != program.uniform_outputs())
    throw Error(ErrorCode::bad_size, std::string(what) + " is given " + std::to_string(uniform_weights.size()) +
                                         " weights for " + std::to_string(program.uniform_outputs()) +
                                         " uniform outputs");
  const std::size_t outputs = program.outputs(), uniform = program.uniform_outputs();
  const bool enough = (weights.data || outputs == 0) && (!uniform_weights.empty() || uniform == 0);
  if (!enough && outputs + uniform != 1)
    throw Error(ErrorCode::bad_argument, std::string(what) + " of a program with " + std::to_string(outputs + uniform) +
                                             " outputs: give a weight for each");
}

inline std::size_t same_item(std::size_t, std::size_t k) { return k; }

template <class Real>
void load_inputs(const typename Machine<Real>::Block& block, const plan::Layout<Real>& layout,
                 Samples<const Real> inputs) {
  if (block.takes_columns(inputs)) return block.load_columns(inputs, layout.inputs);
  for (std::size_t i = 0; i < layout.inputs.size(); ++i)
    if (layout.inputs[i] != plan::no_slot) load_item(inputs, block.lanes, i, block.slot(layout.inputs[i]));
}

template <class Real>
void store_outputs(const typename Machine<Real>::Block& block, const plan::Layout<Real>& layout, Samples<Real> values) {
  if (!values.data) return;
  if (block.takes_columns(values)) return block.store_columns(layout.outputs, values, false);
  for (std::size_t k = 0; k < layout.outputs.size(); ++k)
    store_item(block.slot(layout.outputs[k]), block.lanes, values, k);
}

/// Adjoints of the outputs: one item per sample, or 1.
template <class Real>
void load_weights(const typename Machine<Real>::Block& block, const std::vector<plan::Slot>& seeds,
                  Samples<const Real> weights) {
  for (std::size_t k = 0; k < seeds.size(); ++k) {
    if (seeds[k] == plan::no_slot) continue;
    if (weights.data) load_item(weights, block.lanes, k, block.slot(seeds[k]));
    else block.slot(seeds[k]).fill(Real(1));
  }
}

/// Adjoints of the sums over the samples, the same for all.
template <class Real>
void load_sum_adjoints(const typename Machine<Real>::Block& block, const UniformSide<Real>& uniform) {
  const plan::ProgramData<Real>& data = block.data();
  for (std::size_t k = 0; k < data.sum_seeds.size(); ++k) {
    const plan::Slot from = data.uniform.sum_adjoints[k];
    block.slot(data.sum_seeds[k]).fill(*uniform.workspace().slot(from));
    if (block.dual())
      block.tangent(data.sum_seeds[k]).fill(uniform.workspace().dual() ? *uniform.workspace().tangents(from).data : 0);
  }
}

/// The first derivatives that a reverse sweep left: item(seed, k) is where that of input k goes.
template <class Real, class Item>
void store_gradients(const typename Machine<Real>::Block& block, Samples<Real> to, const Item& item) {
  if (!to.data) return;
  const std::vector<plan::Slot>& gradients = block.data().gradients;
  for (std::size_t k = 0; k < gradients.size(); ++k)
    store_derivative(block.slot(gradients[k]), block.lanes, to, [&](std::size_t seed) { return item(seed, k); });
}

/// Item k: that of input k.
template <class Real>
void store_gradients(const typename Machine<Real>::Block& block, Samples<Real> to) {
  if (to.data && block.takes_columns(to)) return block.store_columns(block.data().gradients, to, true);
  store_gradients<Real>(block, to, same_item);
}

/// Inputs with their tangents: `tangent(lanes, k, slot)` fills that of the k-th differentiated one.
template <class Real, class Tangent>
void load_duals(const typename Machine<Real>::Block& block, const plan::Layout<Real>& layout,
                Samples<const Real> inputs, const Tangent& tangent) {
  load_inputs(block, layout, inputs);
  for (const plan::Slot slot : layout.inputs)
    if (slot != plan::no_slot) block.tangent(slot).fill(Real(0));
  const std::vector<std::uint32_t>& differentiated = block.data().differentiated;
  for (std::size_t k = 0; k < differentiated.size(); ++k)
    if (const plan::Slot slot = layout.inputs[differentiated[k]]; slot != plan::no_slot)
      tangent(block.lanes, k, block.tangent(slot));
}

/// Values of all samples, and sums over them; with their tangents.
template <class Real>
Pass<Real> values_pass(const plan::ProgramData<Real>& data, std::size_t samples, Numbers numbers = Numbers::plain) {
  return {data.values, numbers, samples, 1, data.uniform.sums.size()};
}

/// Machine code ready for a pass over a batch, or null.
template <class Real>
NativeRunner<Real>* begin_native(Machine<Real>& machine, plan::Evaluation what, const NativeBatch<Real>& batch,
                                 const Pass<Real>& pass) {
  NativeRunner<Real>* const native = machine.native(what, pass);
  if (!native) return nullptr;
  native->begin(batch, machine.threads(), machine.uniform().any() ? &machine.uniform().workspace() : nullptr);
  return machine.has_room_for(*native, pass) ? native : nullptr;
}

/// Machine code for a sample, where a call of it is all that its evaluation takes. Or null.
template <class Real>
inline NativePoint<Real>* whole_point(Machine<Real>& machine, plan::Evaluation what, std::size_t samples,
                                      const Samples<const Real>& inputs) {
  NativePoint<Real>* const point = machine.whole_point(what);
  if (samples != 1 || !inputs.data || !point) return nullptr;
  machine.forget_departures();  // what leaves the recorded path isn't done by this
  return point;
}

/// Machine code for a pass whose samples are to be done one by one, or null.
template <class Real>
NativePoint<Real>* begin_points(Machine<Real>& machine, plan::Evaluation what, const NativeBatch<Real>& batch,
                                const Pass<Real>& pass) {
  NativePoint<Real>* const point = machine.native_point(what, batch, pass);
  if (point && machine.uniform().any()) point->take_uniforms_of(machine.uniform().workspace());
  return point;
}

/// All that a pass does by such code, sums too. False: nothing is done.
template <class Real>
bool run_points(Machine<Real>& machine, plan::Evaluation what, const NativeBatch<Real>& batch, const Pass<Real>& pass) {
  if (machine.whole_point(what) && pass.samples == 1) return false;  // has been tried
  NativePoint<Real>* const point = begin_points(machine, what, batch, pass);
  if (!point) return false;
  NativeBatch<Real> rest = batch;
  for (std::size_t e = 0; e < pass.samples; ++e, rest.advance())
    if (!point->run_checked(rest)) return false;
  if (pass.sums != 0) machine.reduction().add(0, {0, 1}, true, [&](std::size_t q) { return point->share_of(q); });
  return true;
}

/// Calls body(Block&) for blocks as machine code wants them, where there is any.
template <class Real, class Body>
void each_block(Machine<Real>& machine, const Pass<Real>& pass, const NativeRunner<Real>* native, const Body& body) {
  if (native) machine.each_block(pass, body, [&](std::size_t worker) { return native->widest(worker); });
  else machine.each_block(pass, body);
}

/// The sums over the samples of one pass, where there are any.
template <class Real>
class SumsOfBlocks {
 public:
  SumsOfBlocks(Machine<Real>& machine, const Pass<Real>& pass)
      : reduction_(machine.begin_sums(pass)), quantities_(pass.sums) {}

  using Block = typename Machine<Real>::Block;
  /// Calls run(where the code of the block is to put its shares).
  template <class Run>
  void collect(const Block& block, const Run& run) {
    if (quantities_ == 0) return run(static_cast<typename Reduction<Real>::Block*>(nullptr));
    typename Reduction<Real>::Block taken = reduction_.begin(block.worker, block.lanes, block.last);
    run(&taken);
    reduction_.end(block.worker, taken);
  }
  /// Those of machine code.
  void take(const Block& block, const NativeRunner<Real>& native) {
    if (quantities_ != 0)
      reduction_.add(block.worker, block.lanes, block.last,
                     [&](std::size_t q) { return native.lanes_of(block.worker, q); });
  }
  /// The sums, and those of tangents, if these are summed.
  struct Sums {
    std::span<const Real> values, tangents;
  };
  Sums finish() {
    if (quantities_ == 0) return {};
    const std::span<const Real> all = reduction_.finish();
    return {all.first(quantities_), all.subspan(quantities_)};
  }

 private:
  Reduction<Real>& reduction_;
  std::size_t quantities_;
};

}  // namespace wengert
