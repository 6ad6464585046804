#include "wengert/replay.hpp"

#include <string>
#include <utility>

#include "tape/compressed.hpp"
#include "tape/machine.hpp"

namespace wengert {
namespace {

template <class Real>
void load_inputs(const typename Machine<Real>::Block& block, const plan::Layout<Real>& layout,
                 Samples<const Real> inputs) {
  for (std::size_t i = 0; i < layout.inputs.size(); ++i)
    if (layout.inputs[i] != plan::no_slot) load_item(inputs, block.lanes, i, block.slot(layout.inputs[i]));
}

template <class Real>
void store_outputs(const typename Machine<Real>::Block& block, const plan::Layout<Real>& layout, Samples<Real> values) {
  if (!values.data) return;
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

/// The first derivatives that a reverse sweep left: item(seed, k) is where that of input k goes.
template <class Real, class Item>
void store_gradients(const typename Machine<Real>::Block& block, Samples<Real> to, const Item& item) {
  if (!to.data) return;
  const std::vector<plan::Slot>& gradients = block.data().gradients;
  for (std::size_t k = 0; k < gradients.size(); ++k)
    store_derivative(block.slot(gradients[k]), block.lanes, to, [&](std::size_t seed) { return item(seed, k); });
}

/// Inputs with their tangents: `tangent(k, slot)` fills that of the k-th differentiated one.
template <class Real, class Tangent>
void load_duals(const typename Machine<Real>::Block& block, const plan::Layout<Real>& layout,
                Samples<const Real> inputs, const Tangent& tangent) {
  load_inputs(block, layout, inputs);
  for (const plan::Slot slot : layout.inputs)
    if (slot != plan::no_slot) block.tangent(slot).fill(Real(0));
  const std::vector<std::uint32_t>& differentiated = block.data().differentiated;
  for (std::size_t k = 0; k < differentiated.size(); ++k)
    if (const plan::Slot slot = layout.inputs[differentiated[k]]; slot != plan::no_slot)
      tangent(k, block.tangent(slot));
}

std::size_t same_item(std::size_t, std::size_t k) { return k; }

/// What a sum of outputs is differentiated, for functions that take weights or want one output.
template <class Real>
void check_weights(const Program<Real>& program, const char* what, Samples<const Real> weights) {
  if (!weights.data && program.outputs() != 1)
    throw Error(ErrorCode::bad_argument, std::string(what) + " of a program with " + std::to_string(program.outputs()) +
                                             " outputs: give a weight for each");
}

/// Where the derivative in place k for a seed goes in a dense matrix.
struct DenseItems {
  std::size_t columns;
  bool seeds_are_columns;
  std::size_t operator()(std::size_t seed, std::size_t k) const {
    return seeds_are_columns ? k * columns + seed : seed * columns + k;
  }
};

}  // namespace

template <class Real>
Replay<Real>::Replay(Program<Real> program, const ReplayOptions& options)
    : machine_(std::make_unique<Machine<Real>>(std::move(program), options)) {}
template <class Real>
Replay<Real>::Replay(Replay&&) noexcept = default;
template <class Real>
Replay<Real>& Replay<Real>::operator=(Replay&&) noexcept = default;
template <class Real>
Replay<Real>::~Replay() = default;

template <class Real>
void Replay<Real>::values(std::size_t samples, Samples<const Real> inputs, Samples<Real> values) {
  need("inputs", samples, program().inputs(), inputs);
  UniformSide<Real>& uniform = machine_->uniform();
  machine_->begin();
  const std::span<const Real> sums = forward_pass(samples, inputs, values);
  if (uniform.any()) uniform.values_after(sums);
  machine_->finish();
}

/// Machine code ready for a batch, or null. Or all is done: a batch of one sample, its sums too.
template <class Real>
NativeRunner<Real>* Replay<Real>::begin_native(bool gradient, const NativeBatch<Real>& batch, std::size_t piece,
                                               bool& done) {
  NativeRunner<Real>* const native = machine_->native(gradient, batch.samples);
  if (!native) return nullptr;
  const Workspace<Real>* const uniform = machine_->uniform().any() ? &machine_->uniform().workspace() : nullptr;
  const bool point = batch.samples == 1;
  if (!point) native->begin(batch, machine_->threads(), uniform);
  if (!machine_->has_room_for(*native, gradient, batch.samples, piece)) return nullptr;
  if (!point) return native;
  done = native->run_point(batch, uniform);
  if (done && piece != 0)
    machine_->reduction().add(0, {0, 1}, true, [&](std::size_t q) { return native->lanes_of(0, q); });
  return nullptr;
}

/// Values of all samples, and the sums over them.
template <class Real>
std::span<const Real> Replay<Real>::forward_pass(std::size_t samples, Samples<const Real> inputs,
                                                 Samples<Real> values) {
  using Block = typename Machine<Real>::Block;
  const plan::Layout<Real>& layout = machine_->data().values;
  Reduction<Real>& reduction = machine_->reduction();
  const bool sums = !layout.terms.empty();
  const std::size_t piece = sums ? Reduction<Real>::group : 0;
  if (sums) reduction.prepare(layout.terms.size(), samples, machine_->threads());
  bool all_done = false;
  NativeRunner<Real>* const native = begin_native(false, {samples, inputs, {}, values, {}}, piece, all_done);
  const auto body = [&](const Block& block) {
    const bool done = native && native->run(block.lanes, block.worker, block.width());
    if (!done) {
      load_inputs<Real>(block, layout, inputs);
      block.values();
      store_outputs<Real>(block, layout, values);
    }
    if (sums)
      reduction.add(block.worker, block.lanes, block.last, [&](std::size_t q) -> const Real* {
        return done ? native->lanes_of(block.worker, q) : block.slot(layout.terms[q]).data;
      });
  };
  if (!all_done) machine_->each_block(layout, Numbers::plain, samples, 1, body, piece);
  return sums ? reduction.finish() : std::span<const Real>();
}

template <class Real>
void Replay<Real>::gradient(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                            Samples<Real> gradients) {
  const plan::ProgramData<Real>& data = machine_->data();
  if (data.values.outputs.size() + data.uniform.layout.outputs.size() != 1)
    throw Error(ErrorCode::bad_argument, "gradient of a program with " +
                                             std::to_string(program().outputs() + program().uniform_outputs()) +
                                             " outputs; use vjp with a weight for each, or jacobian");
  vjp(samples, inputs, {}, values, gradients);
}

template <class Real>
void Replay<Real>::vjp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> weights,
                       Samples<Real> values, Samples<Real> gradients, std::span<const Real> uniform_weights) {
  if (NativeRunner<Real>* const point = machine_->whole_point();
      point && samples == 1 && inputs.data && uniform_weights.empty()) {
    machine_->forget_departures();  // what leaves the recorded path isn't done by this
    if (point->run_point({samples, inputs, weights, values, gradients}, nullptr)) return;
  }
  UniformSide<Real>& uniform = machine_->uniform();
  if (!uniform_weights.empty() && uniform_weights.size() != program().uniform_outputs())
    throw Error(ErrorCode::bad_size, "vjp is given " + std::to_string(uniform_weights.size()) + " weights for " +
                                         std::to_string(program().uniform_outputs()) + " uniform outputs");
  need("inputs", samples, program().inputs(), inputs);
  machine_->begin();
  if (!uniform.any()) {
    backward_pass(samples, inputs, weights, values, gradients);
    return machine_->finish();
  }
  // Where the sums' adjoints depend on what follows from the sums, these have to be known first.
  const plan::ProgramData<Real>& data = machine_->data();
  const bool first = !data.uniform.linear;
  if (first) {
    uniform.values_after(forward_pass(samples, inputs, {}));
    machine_->forget_departures();  // the second pass finds them again
  }
  uniform.adjoints_before(uniform_weights);
  const std::span<const Real> sums = backward_pass(samples, inputs, weights, values, gradients);
  const std::size_t terms = data.gradient.terms.size();
  if (!first) uniform.values_after(sums.first(terms));
  uniform.adjoints_after(sums.subspan(terms));
  machine_->finish();
}

/// Values and adjoints of all samples. Returns the sums over them: terms, then adjoints of uniform variables.
template <class Real>
std::span<const Real> Replay<Real>::backward_pass(std::size_t samples, Samples<const Real> inputs,
                                                  Samples<const Real> weights, Samples<Real> values,
                                                  Samples<Real> gradients) {
  using Block = typename Machine<Real>::Block;
  const plan::ProgramData<Real>& data = machine_->data();
  const std::size_t terms = data.gradient.terms.size(), sums = terms + data.totals.size();
  const std::size_t piece = sums != 0 ? Reduction<Real>::group : 0;
  Reduction<Real>& reduction = machine_->reduction();
  if (sums != 0) reduction.prepare(sums, samples, machine_->threads());
  bool all_done = false;
  NativeRunner<Real>* const native = begin_native(true, {samples, inputs, weights, values, gradients}, piece, all_done);
  const auto body = [&](const Block& block) {
    const bool done = native && native->run(block.lanes, block.worker, block.width());
    if (!done) {
      load_inputs<Real>(block, data.gradient, inputs);
      block.forward();
      store_outputs<Real>(block, data.gradient, values);
      load_weights<Real>(block, data.seeds, weights);
      for (std::size_t k = 0; k < data.sum_seeds.size(); ++k)
        block.slot(data.sum_seeds[k]).fill(*machine_->uniform().workspace().slot(data.uniform.sum_adjoints[k]));
      block.backward();
      store_gradients<Real>(block, gradients, same_item);
    }
    if (sums != 0)
      reduction.add(block.worker, block.lanes, block.last, [&](std::size_t q) -> const Real* {
        if (done) return native->lanes_of(block.worker, q);
        return block.slot(q < terms ? data.gradient.terms[q] : data.totals[q - terms]).data;
      });
  };
  if (!all_done) machine_->each_block(data.gradient, Numbers::plain, samples, 1, body, piece);
  return sums != 0 ? reduction.finish() : std::span<const Real>();
}

template <class Real>
void Replay<Real>::refuse_sums(const char* what) const {
  if (!machine_->data().gradient.terms.empty() || program().uniform_outputs() != 0)
    throw Error(ErrorCode::unsupported, std::string(what) +
                                            " of a program with sums over samples or uniform outputs: only "
                                            "values, gradient and vjp know those");
}

template <class Real>
void Replay<Real>::refuse_calls(const char* what, const std::string& without, const char* rule) const {
  if (!without.empty())
    throw Error(ErrorCode::unsupported, std::string(what) + " of a program with the custom op " + without +
                                            ", which has no " + rule + "; give it one (CustomRule::" + rule + ")");
}

template <class Real>
void Replay<Real>::jvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions,
                       Samples<Real> values, Samples<Real> tangents) {
  refuse_sums("jvp");
  refuse_calls("jvp", machine_->data().call_without_jvp, "jvp");
  need("inputs", samples, program().inputs(), inputs);
  need("directions", samples, program().differentiated(), directions);
  need("tangents", samples, program().outputs(), tangents);
  machine_->begin();
  using Block = typename Machine<Real>::Block;
  const plan::Layout<Real>& layout = machine_->data().values;
  machine_->each_block(layout, Numbers::dual, samples, 1, [&](const Block& block) {
    load_duals<Real>(block, layout, inputs,
                     [&](std::size_t k, LaneSlot<Real> slot) { load_item(directions, block.lanes, k, slot); });
    block.values();
    store_outputs<Real>(block, layout, values);
    for (std::size_t k = 0; k < layout.outputs.size(); ++k)
      store_derivative(block.tangent(layout.outputs[k]), block.lanes, tangents, [&](std::size_t) { return k; });
  });
  machine_->finish();
}

template <class Real>
template <class Item>
void Replay<Real>::forward_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                    Samples<Real> derivatives, std::size_t seeds, const std::uint32_t* colour,
                                    const Item& item) {
  need("inputs", samples, program().inputs(), inputs);
  machine_->begin();
  using Block = typename Machine<Real>::Block;
  const plan::Layout<Real>& layout = machine_->data().values;
  machine_->each_block(layout, Numbers::dual, samples, seeds, [&](const Block& block) {
    load_duals<Real>(block, layout, inputs,
                     [&](std::size_t k, LaneSlot<Real> slot) { load_seed(block.lanes, colour ? colour[k] : k, slot); });
    block.values();
    store_outputs<Real>(block, layout, values);
    for (std::size_t k = 0; k < layout.outputs.size(); ++k)
      store_derivative(block.tangent(layout.outputs[k]), block.lanes, derivatives,
                       [&](std::size_t seed) { return item(seed, k); });
  });
  machine_->finish();
}

template <class Real>
template <class Item>
void Replay<Real>::reverse_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                    Samples<Real> derivatives, std::size_t seeds, const std::uint32_t* colour,
                                    const Item& item) {
  need("inputs", samples, program().inputs(), inputs);
  machine_->begin();
  using Block = typename Machine<Real>::Block;
  const plan::ProgramData<Real>& data = machine_->data();
  // Many samples: one forward sweep, then a reverse sweep for each seed. Few: all seeds side by side in the lanes.
  const bool side_by_side = samples < machine_->lanes() / 2;
  machine_->each_block(data.gradient, Numbers::plain, samples, side_by_side ? seeds : 1, [&](const Block& block) {
    load_inputs<Real>(block, data.gradient, inputs);
    block.forward();
    store_outputs<Real>(block, data.gradient, values);
    for (std::size_t seed = 0; seed < (side_by_side ? 1 : seeds); ++seed) {
      for (std::size_t k = 0; k < data.seeds.size(); ++k) {
        if (data.seeds[k] == plan::no_slot) continue;
        const std::size_t wanted = colour ? colour[k] : k;
        if (side_by_side) load_seed(block.lanes, wanted, block.slot(data.seeds[k]));
        else block.slot(data.seeds[k]).fill(wanted == seed ? Real(1) : Real(0));
      }
      block.backward();
      store_gradients<Real>(block, derivatives,
                            [&](std::size_t s, std::size_t k) { return item(side_by_side ? s : seed, k); });
    }
  });
  machine_->finish();
}

template <class Real>
void Replay<Real>::values_if_wanted(std::size_t samples, Samples<const Real> inputs, Samples<Real> to) {
  if (to.data || program().statistics().guards != 0) values(samples, inputs, to);
}

template <class Real>
void Replay<Real>::jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                            Samples<Real> jacobians) {
  refuse_sums("jacobian");
  const std::size_t rows = program().outputs(), columns = program().differentiated();
  const bool may_go_forward = machine_->data().call_without_jvp.empty();
  need("jacobians", samples, rows * columns, jacobians);
  if (columns == 0) values_if_wanted(samples, inputs, values);
  else if (columns < rows && may_go_forward)
    forward_jacobian(samples, inputs, values, jacobians, columns, nullptr, DenseItems{columns, true});
  else reverse_jacobian(samples, inputs, values, jacobians, rows, nullptr, DenseItems{columns, false});
}

template <class Real>
void Replay<Real>::sparse_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                   Samples<Real> nonzeros) {
  refuse_sums("sparse_jacobian");
  if (!jacobian_)
    jacobian_ = std::make_unique<Compressed>(
        compress_jacobian(program().jacobian_sparsity(), machine_->data().call_without_jvp.empty()));
  const Compressed& plan = *jacobian_;
  if (!nonzeros.data) need("nonzeros", samples, plan.nonzeros(), nonzeros);
  const auto item = [&](std::size_t seed, std::size_t k) { return plan.item(seed, k); };
  if (plan.seeds == 0) values_if_wanted(samples, inputs, values);
  else if (plan.seeds_are_columns)
    forward_jacobian(samples, inputs, values, nonzeros, plan.seeds, plan.colour.data(), item);
  else reverse_jacobian(samples, inputs, values, nonzeros, plan.seeds, plan.colour.data(), item);
}

template <class Real>
template <class Tangent, class Item>
void Replay<Real>::second_order(std::size_t samples, std::size_t seeds, Samples<const Real> inputs,
                                Samples<const Real> weights, Samples<Real> values, Samples<Real> gradients,
                                Samples<Real> products, const Tangent& tangent, const Item& item) {
  need("inputs", samples, program().inputs(), inputs);
  machine_->begin();
  using Block = typename Machine<Real>::Block;
  const plan::ProgramData<Real>& data = machine_->data();
  machine_->each_block(data.gradient, Numbers::dual, samples, seeds, [&](const Block& block) {
    load_duals<Real>(block, data.gradient, inputs,
                     [&](std::size_t k, LaneSlot<Real> slot) { tangent(block.lanes, k, slot); });
    block.forward();
    store_outputs<Real>(block, data.gradient, values);
    load_weights<Real>(block, data.seeds, weights);
    for (const plan::Slot seed : data.seeds)
      if (seed != plan::no_slot) block.tangent(seed).fill(Real(0));
    block.backward();
    store_gradients<Real>(block, gradients, [](std::size_t seed, std::size_t k) { return seed == 0 ? k : no_item; });
    for (std::size_t k = 0; k < data.gradients.size(); ++k)
      store_derivative(block.tangent(data.gradients[k]), block.lanes, products,
                       [&](std::size_t seed) { return item(seed, k); });
  });
  machine_->finish();
}

template <class Real>
void Replay<Real>::hvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions,
                       Samples<Real> values, Samples<Real> gradients, Samples<Real> products,
                       Samples<const Real> weights) {
  refuse_sums("hvp");
  refuse_calls("hvp", machine_->data().call_without_jvp, "jvp");
  refuse_calls("hvp", machine_->data().call_without_hvp, "hvp");
  check_weights(program(), "hvp", weights);
  need("directions", samples, program().differentiated(), directions);
  need("products", samples, program().differentiated(), products);
  second_order(
      samples, 1, inputs, weights, values, gradients, products,
      [&](const LaneRange& lanes, std::size_t k, LaneSlot<Real> slot) { load_item(directions, lanes, k, slot); },
      same_item);
}

template <class Real>
void Replay<Real>::hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                           Samples<Real> gradients, Samples<Real> hessians, Samples<const Real> weights) {
  refuse_sums("hessian");
  refuse_calls("hessian", machine_->data().call_without_jvp, "jvp");
  refuse_calls("hessian", machine_->data().call_without_hvp, "hvp");
  check_weights(program(), "hessian", weights);
  const std::size_t n = program().differentiated();
  need("hessians", samples, n * n, hessians);
  if (n == 0) return vjp(samples, inputs, weights, values, gradients);
  second_order(
      samples, n, inputs, weights, values, gradients, hessians,
      [](const LaneRange& lanes, std::size_t k, LaneSlot<Real> slot) { load_seed(lanes, k, slot); },
      DenseItems{n, true});
}

template <class Real>
void Replay<Real>::sparse_hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                  Samples<Real> gradients, Samples<Real> nonzeros, Samples<const Real> weights) {
  refuse_sums("sparse_hessian");
  refuse_calls("sparse_hessian", machine_->data().call_without_jvp, "jvp");
  refuse_calls("sparse_hessian", machine_->data().call_without_hvp, "hvp");
  check_weights(program(), "sparse_hessian", weights);
  if (!hessian_) hessian_ = std::make_unique<Compressed>(compress_hessian(program().hessian_sparsity()));
  const Compressed& plan = *hessian_;
  if (!nonzeros.data) need("nonzeros", samples, plan.nonzeros(), nonzeros);
  if (plan.seeds == 0) return vjp(samples, inputs, weights, values, gradients);
  second_order(
      samples, plan.seeds, inputs, weights, values, gradients, nonzeros,
      [&](const LaneRange& lanes, std::size_t k, LaneSlot<Real> slot) { load_seed(lanes, plan.colour[k], slot); },
      [&](std::size_t seed, std::size_t k) { return plan.item(seed, k); });
  for (std::size_t e = 0; e < samples; ++e)
    for (const auto& [to, from] : plan.copies) *place(nonzeros, e, to) = *place(nonzeros, e, from);
}

template <class Real>
void Replay<Real>::set_parameters(std::span<const Real> values) {
  if (values.size() != program().parameters())
    throw Error(ErrorCode::bad_size, "set_parameters is given " + std::to_string(values.size()) + " values for " +
                                         std::to_string(program().parameters()) + " parameters");
  machine_->uniform().set_parameters(values);
}
template <class Real>
std::span<const Real> Replay<Real>::uniform_outputs() const {
  return machine_->uniform().outputs();
}
template <class Real>
std::span<const Real> Replay<Real>::parameter_gradients() const {
  return machine_->uniform().gradients();
}

template <class Real>
std::span<const Departure> Replay<Real>::departures() const {
  return machine_->departures();
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
std::string Replay<Real>::engine() const {
  return machine_->engine();
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
