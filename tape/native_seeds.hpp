// Blocks of derivatives by machine code: of lanes that are samples, or samples with one of several seeds.
#pragma once

#include "tape/compressed.hpp"
#include "tape/passes.hpp"

namespace wengert {

/// Tangents of the differentiated inputs: along a direction for each sample, or none.
template <class Real>
struct AlongDirections {
  Samples<const Real> directions;

  void operator()(const LaneRange& lanes, std::size_t k, LaneSlot<Real> slot) const {
    if (directions.data) load_item(directions, lanes, k, slot);
    else slot.fill(Real(0));
  }
  AlongDirections at(std::size_t) const { return *this; }
};

/// For each seed those of its columns are 1.
template <class Real>
struct AlongSeeds {
  const Seeds& seeds;
  std::size_t one = no_item;  ///< the seed of all lanes; otherwise these have one each

  void operator()(const LaneRange& lanes, std::size_t k, LaneSlot<Real> slot) const {
    if (one == no_item) load_seed(lanes, seeds.of(k), slot);
    else slot.fill(seeds.of(k) == one ? Real(1) : Real(0));
  }
  AlongSeeds at(std::size_t seed) const { return {seeds, seed}; }
};

/// Calls run(tangent, item, whether it is the first) for all that a pass does with a block: for each seed, or once for all that are side
/// by side.
template <class Real, class Tangent, class Item, class Run>
void each_time(const Pass<Real>& pass, const Tangent& tangent, const Item& item, const Run& run) {
  if (pass.times == 1) return run(tangent, item, true);
  for (std::size_t seed = 0; seed < pass.times; ++seed)
    run(
        tangent.at(seed), [&item, seed](std::size_t, std::size_t k) { return item(seed, k); }, seed == 0);
}

/// A pass over the seeds of a matrix by code that does one sample and seed at a time. item(seed, k) says where derivative k goes. False:
/// nothing is done.
template <class Real, class Item>
bool run_points(Machine<Real>& machine, plan::Evaluation what, const NativeBatch<Real>& batch,
                const Samples<Real>& derivatives, const Pass<Real>& pass, const Seeds& seeds, const Item& item) {
  NativePoint<Real>* const point = begin_points(machine, what, batch, pass);
  if (!point) return false;
  NativeBatch<Real> rest = batch;
  rest.tangents = {};
  for (std::size_t e = 0; e < pass.samples; ++e, rest.advance())
    for (std::size_t seed = 0; seed < seeds.count; ++seed) {
      NativeBatch<Real> one = rest;
      if (seed != 0) one.values = one.gradients = {};
      const auto is_seeded = [&](std::size_t k) { return seeds.of(k) == seed; };
      const auto give = [&](std::size_t k, Real derivative) {
        const std::size_t to = item(seed, k);
        if (derivatives.data && to != no_item) *place(derivatives, e, to) = derivative;
      };
      if (!point->run_seed(one, is_seeded, give)) return false;
    }
  return true;
}

/// What a pass of dual numbers does by such code.
template <class Real, class Item>
bool run_points(Machine<Real>& machine, plan::Evaluation what, const NativeBatch<Real>& batch, const Pass<Real>& pass,
                const AlongDirections<Real>&, const Item&) {
  return run_points(machine, what, batch, pass);
}
template <class Real, class Item>
bool run_points(Machine<Real>& machine, plan::Evaluation what, const NativeBatch<Real>& batch, const Pass<Real>& pass,
                const AlongSeeds<Real>& tangent, const Item& item) {
  return run_points(machine, what, batch, batch.tangents, pass, tangent.seeds, item);
}

/// Inputs of a batch to where code reads them, from pointer `first` on.
template <class Real, class Memory>
void load_inputs(const plan::Layout<Real>& layout, const Memory& memory, std::size_t first, const LaneRange& lanes,
                 Samples<const Real> from) {
  for (std::size_t i = 0; i < layout.inputs.size(); ++i)
    if (layout.inputs[i] != plan::no_slot) load_item(from, lanes, i, memory(first + i));
}

/// Values that code left in memory, from pointer `first` on.
template <class Real, class Memory>
void store_outputs(const plan::Layout<Real>& layout, const Memory& memory, std::size_t first, const LaneRange& lanes,
                   Samples<Real> to) {
  for (std::size_t k = 0; to.data && k < layout.outputs.size(); ++k) store_item(memory(first + k), lanes, to, k);
}

/// Derivatives of differentiated inputs that code left in memory, from pointer `first` on; 0 where there is none.
template <class Real, class Memory, class Item>
void store_gradients(const plan::ProgramData<Real>& data, const Memory& memory, std::size_t first,
                     const LaneRange& lanes, Samples<Real> to, const Item& item) {
  for (std::size_t k = 0; to.data && k < data.gradients.size(); ++k) {
    LaneSlot<Real> from = memory(first + k);
    if (data.gradients[k] == plan::no_slot) from.data = nullptr;
    store_derivative(from, lanes, to, [&](std::size_t seed) { return item(seed, k); });
  }
}

/// A block of dual numbers, of the batch that the code was made ready for. False: nothing is done, use the interpreter. `item(seed, k)`
/// says where tangent k goes. `first`: of the block, which has values and inputs to be loaded; others go on with those.
template <class Real, class Tangent, class Item>
bool run_native(NativeRunner<Real>& native, const typename Machine<Real>::Block& block, plan::Evaluation what,
                const NativeBatch<Real>& batch, const Tangent& tangent, const Item& item, bool first) {
  const LaneRange& lanes = block.lanes;
  if constexpr (__is_same(Tangent, AlongDirections<Real>)) return native.run(lanes, block.worker, block.width());
  const plan::ProgramData<Real>& data = block.data();
  const plan::Layout<Real>& layout = what.gradient ? data.gradient : data.values;
  const plan::NativePointers<Real>& at = native.pointers();
  const auto load = [&](const auto& memory) {
    if (first) load_inputs<Real>(layout, memory, at.inputs, lanes, batch.inputs);
    for (std::size_t k = 0; k < data.differentiated.size(); ++k)
      if (layout.inputs[data.differentiated[k]] != plan::no_slot) tangent(lanes, k, memory(at.directions + k));
    for (std::size_t k = 0; first && what.gradient && k < data.seeds.size(); ++k) {
      if (data.seeds[k] == plan::no_slot) continue;
      if (batch.weights.data) load_item(batch.weights, lanes, k, memory(at.weights + k));
      else memory(at.weights + k).fill(Real(1));
    }
  };
  const auto store = [&](const auto& memory) {
    if (first) store_outputs<Real>(layout, memory, at.outputs, lanes, batch.values);
    if (what.gradient) {
      if (first)
        store_gradients<Real>(data, memory, at.gradients, lanes, batch.gradients,
                              [](std::size_t seed, std::size_t k) { return seed == 0 ? k : no_item; });
      return store_gradients<Real>(data, memory, at.tangents, lanes, batch.tangents, item);
    }
    for (std::size_t k = 0; batch.tangents.data && k < layout.outputs.size(); ++k)
      store_derivative(memory(at.tangents + k), lanes, batch.tangents, [&](std::size_t seed) { return item(seed, k); });
  };
  return native.run(lanes, block.worker, block.width(), load, store);
}

/// A block of adjoints by machine code: one sweep for each lane. `load_weight(k, lanes)` has the adjoint of output k. The rest as above.
template <class Real, class LoadWeight, class Item>
bool run_native(NativeRunner<Real>& native, const typename Machine<Real>::Block& block, const NativeBatch<Real>& batch,
                bool first, const LoadWeight& load_weight, const Item& item) {
  const LaneRange& lanes = block.lanes;
  const plan::ProgramData<Real>& data = block.data();
  const plan::NativePointers<Real>& at = native.pointers();
  const auto load = [&](const auto& memory) {
    if (first) load_inputs<Real>(data.gradient, memory, at.inputs, lanes, batch.inputs);
    for (std::size_t k = 0; k < data.seeds.size(); ++k)
      if (data.seeds[k] != plan::no_slot) load_weight(k, memory(at.weights + k));
  };
  const auto store = [&](const auto& memory) {
    if (first) store_outputs<Real>(data.gradient, memory, at.outputs, lanes, batch.values);
    store_gradients<Real>(data, memory, at.gradients, lanes, batch.gradients, item);
  };
  return native.run(lanes, block.worker, block.width(), load, store);
}

}  // namespace wengert
