#include "wengert/replay.hpp"

#include <string>
#include <utility>

#include "tape/compressed.hpp"
#include "tape/passes.hpp"

namespace wengert {
namespace {

/// Values and adjoints of all samples, and sums over them.
template <class Real>
Pass<Real> gradient_pass(const plan::ProgramData<Real>& data, std::size_t samples) {
  return {data.gradient, Numbers::plain, samples, 1, data.uniform.sums.size() + data.uniform.totals.size()};
}

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
void Replay<Real>::values(std::size_t samples, const Samples<const Real>& inputs, const Samples<Real>& values) {
  NativePoint<Real>* const point = whole_point(*machine_, false, samples, inputs);
  if (point && point->run(inputs, values, {})) return;
  need("inputs", samples, program().inputs(), inputs);
  own_places<Real>(samples, {{"values", program().outputs(), values}}, {{"inputs", program().inputs(), inputs}});
  UniformSide<Real>& uniform = machine_->uniform();
  const InUse in_use = machine_->begin({values_pass(machine_->data(), samples)});
  const std::span<const Real> sums = forward_pass(samples, inputs, values);
  if (uniform.any()) uniform.values_after(sums, {});
  machine_->finish();
}

/// Values of all samples, and the sums over them.
template <class Real>
std::span<const Real> Replay<Real>::forward_pass(std::size_t samples, Samples<const Real> inputs,
                                                 Samples<Real> values) {
  using Block = typename Machine<Real>::Block;
  const plan::Layout<Real>& layout = machine_->data().values;
  const Pass<Real> pass = values_pass(machine_->data(), samples);
  SumsOfBlocks<Real> sums(*machine_, pass);
  const NativeBatch<Real> batch{samples, inputs, {}, values, {}};
  if (run_points(*machine_, false, batch, pass)) return sums.finish().values;
  NativeRunner<Real>* const native = begin_native(*machine_, false, batch, pass);
  const auto body = [&](const Block& block) {
    const bool done = native && native->run(block.lanes, block.worker, block.width());
    if (done) return sums.take(block, *native);
    load_inputs<Real>(block, layout, inputs);
    sums.collect(block, [&](auto* taken) { block.values(taken); });
    store_outputs<Real>(block, layout, values);
  };
  each_block(*machine_, pass, native, body);
  return sums.finish().values;
}

/// A pass for the sums over the samples, and what follows from them, before the pass that needs those.
template <class Real>
void Replay<Real>::sums_first(std::size_t samples, Samples<const Real> inputs) {
  machine_->uniform().values_after(forward_pass(samples, inputs, {}), {});
  machine_->forget_departures();  // the second pass finds them again
}

template <class Real>
void Replay<Real>::gradient(std::size_t samples, const Samples<const Real>& inputs, const Samples<Real>& values,
                            const Samples<Real>& gradients) {
  NativePoint<Real>* const point = whole_point(*machine_, true, samples, inputs);
  if (point && point->outputs() == 1 && point->run(inputs, values, gradients)) return;
  const plan::ProgramData<Real>& data = machine_->data();
  if (data.values.outputs.size() + data.uniform.layout.outputs.size() != 1)
    throw Error(ErrorCode::bad_argument, "gradient of a program with " +
                                             std::to_string(program().outputs() + program().uniform_outputs()) +
                                             " outputs; use vjp with a weight for each, or jacobian");
  reverse(samples, inputs, {}, values, gradients, {});
}

template <class Real>
void Replay<Real>::vjp(std::size_t samples, const Samples<const Real>& inputs, const Samples<const Real>& weights,
                       const Samples<Real>& values, const Samples<Real>& gradients,
                       std::span<const Real> uniform_weights) {
  if (uniform_weights.empty())
    if (NativePoint<Real>* const point = whole_point(*machine_, true, samples, inputs);
        point && point->run(inputs, weights, values, gradients))
      return;
  reverse(samples, inputs, weights, values, gradients, uniform_weights);
}

template <class Real>
void Replay<Real>::reverse(std::size_t samples, const Samples<const Real>& inputs, const Samples<const Real>& weights,
                           const Samples<Real>& values, const Samples<Real>& gradients,
                           std::span<const Real> uniform_weights) {
  UniformSide<Real>& uniform = machine_->uniform();
  if (!uniform_weights.empty() && uniform_weights.size() != program().uniform_outputs())
    throw Error(ErrorCode::bad_size, "vjp is given " + std::to_string(uniform_weights.size()) + " weights for " +
                                         std::to_string(program().uniform_outputs()) + " uniform outputs");
  need("inputs", samples, program().inputs(), inputs);
  own_places<Real>(samples,
                   {{"values", program().outputs(), values}, {"gradients", program().differentiated(), gradients}},
                   {{"inputs", program().inputs(), inputs}, {"weights", program().outputs(), weights}});
  const plan::ProgramData<Real>& data = machine_->data();
  // Where the sums' adjoints depend on what follows from the sums, these have to be known first.
  const bool first = uniform.any() && !data.uniform.linear;
  const Pass<Real> pass = gradient_pass(data, samples);
  const InUse in_use = machine_->begin({first ? values_pass(data, samples) : pass, pass});
  if (!uniform.any()) {
    backward_pass(samples, inputs, weights, values, gradients);
    return machine_->finish();
  }
  if (first) sums_first(samples, inputs);
  uniform.adjoints_before(uniform_weights);
  const std::span<const Real> sums = backward_pass(samples, inputs, weights, values, gradients);
  const std::size_t terms = data.uniform.sums.size();
  if (!first) uniform.values_after(sums.first(terms), {});
  uniform.adjoints_after(sums.subspan(terms), {});
  machine_->finish();
}

/// Values and adjoints of all samples. Returns the sums over them: terms, then adjoints of uniform variables.
template <class Real>
std::span<const Real> Replay<Real>::backward_pass(std::size_t samples, Samples<const Real> inputs,
                                                  Samples<const Real> weights, Samples<Real> values,
                                                  Samples<Real> gradients) {
  using Block = typename Machine<Real>::Block;
  const plan::ProgramData<Real>& data = machine_->data();
  const Pass<Real> pass = gradient_pass(data, samples);
  SumsOfBlocks<Real> sums(*machine_, pass);
  const NativeBatch<Real> batch{samples, inputs, weights, values, gradients};
  if (run_points(*machine_, true, batch, pass)) return sums.finish().values;
  NativeRunner<Real>* const native = begin_native(*machine_, true, batch, pass);
  const auto body = [&](const Block& block) {
    const bool done = native && native->run(block.lanes, block.worker, block.width());
    if (done) return sums.take(block, *native);
    load_inputs<Real>(block, data.gradient, inputs);
    sums.collect(block, [&](auto* taken) {
      block.forward(taken);
      store_outputs<Real>(block, data.gradient, values);
      load_weights<Real>(block, data.seeds, weights);
      load_sum_adjoints<Real>(block, machine_->uniform());
      block.backward(taken);
    });
    store_gradients<Real>(block, gradients);
  };
  each_block(*machine_, pass, native, body);
  return sums.finish().values;
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
