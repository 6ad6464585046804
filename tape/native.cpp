#include "tape/native.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codegen/perf_map.hpp"
#include "tape/native_cost.hpp"

namespace wengert {
namespace {

/// Whether two tables of samples have no memory in common, as far as their ends tell.
template <class A, class B>
bool apart(const Samples<A>& a, std::size_t items_a, const Samples<B>& b, std::size_t items_b, std::size_t samples) {
  const auto range = [&](const auto& s, std::size_t items) {
    const std::ptrdiff_t last_sample = static_cast<std::ptrdiff_t>(samples - 1) * s.sample,
                         last_item = static_cast<std::ptrdiff_t>(items - 1) * s.item;
    const auto at = reinterpret_cast<std::uintptr_t>(s.data);
    const std::ptrdiff_t low = std::min<std::ptrdiff_t>(last_sample, 0) + std::min<std::ptrdiff_t>(last_item, 0),
                         high = std::max<std::ptrdiff_t>(last_sample, 0) + std::max<std::ptrdiff_t>(last_item, 0) + 1;
    return std::pair(at + static_cast<std::uintptr_t>(low) * sizeof(*s.data),
                     at + static_cast<std::uintptr_t>(high) * sizeof(*s.data));
  };
  if (!a.data || !b.data || items_a == 0 || items_b == 0 || samples == 0) return true;
  const auto [a_low, a_high] = range(a, items_a);
  const auto [b_low, b_high] = range(b, items_b);
  return a_high <= b_low || b_high <= a_low;
}

}  // namespace

const codegen::Target* native_target(Isa isa) {
  switch (isa) {
    case Isa::avx2: return &codegen::avx2;
    case Isa::avx512: return &codegen::avx512;
    default: return nullptr;
  }
}

template <class Real>
NativeCode<Real>::NativeCode(const plan::ProgramData<Real>& data, Isa isa, bool gradient, bool point,
                             codegen::Chain chain, std::size_t most_bytes) {
  if (!data.call.empty()) {
    why_not_ = "the custom op " + data.call + " is code, not vector operations";
    return;
  }
  const plan::NativeCost cost = plan::native_cost(data, gradient, isa);
  if (cost.too_long) {
    why_not_ = "about " + std::to_string(cost.operations) + " vector operations are too many for a straight line";
    return;
  }
  const codegen::Shape shape{native_target(isa), point, !point && cost.two_vectors ? 2u : 1u};
  const std::size_t nodes = 2 * shape.vectors * cost.operations;
  const bool limited = most_bytes != std::numeric_limits<std::size_t>::max();
  if (limited)
    if (const std::size_t bytes = plan::bytes_to_make(data, gradient, nodes); bytes > most_bytes) {
      why_not_ = "making machine code may take " + std::to_string(bytes) + " bytes, more than the budget leaves";
      return;
    }
  const codegen::Graph graph = plan::lower_to_graph(data, gradient, shape, chain, nodes, limited);
  if (!graph.complete()) {
    why_not_ = limited && graph.nodes().size() >= nodes ? "making machine code takes more bytes than the budget leaves"
                                                        : "an op of the program has no vector form";
    return;
  }
  const codegen::Assembly assembly = codegen::assemble(graph);
  const std::size_t pool = std::max(assembly.pool.size(),
                                    static_cast<std::size_t>(codegen::bias_of_numbers(sizeof(Real)))),
                    bytes = codegen::ExecutableMemory::bytes_for(assembly.code.size()) + pool;
  if (bytes > most_bytes) {
    why_not_ = std::to_string(bytes) + " bytes of machine code are more than the budget leaves";
    return;
  }
  pool_.reserve(pool);
  memory_ = codegen::ExecutableMemory(assembly.code);
  if (!memory_) {
    why_not_ = "the system gives no executable memory";
    return;
  }
  std::copy(assembly.pool.begin(), assembly.pool.end(), pool_.data());
  const std::string called = std::string("wengert ") + (gradient ? "gradient" : "values") +
                             (point ? " of a point, " : ", ") + std::string(name(isa));
  codegen::name_for_profilers(memory_.data(), assembly.code.size(), called.c_str());
  lanes_ = shape.samples(sizeof(Real));
  spill_bytes_ = assembly.spill_bytes;
}

template <class Real>
bool NativeCode<Real>::run(Real* const* pointers, const Real* uniforms, std::byte* spills, std::size_t samples) const {
  const auto function = reinterpret_cast<codegen::Function>(reinterpret_cast<std::uintptr_t>(memory_.data()));
  return function(reinterpret_cast<void* const*>(const_cast<Real**>(pointers)), uniforms, spills + codegen::spill_bias,
                  pool_.data() + codegen::bias_of_numbers(sizeof(Real)), samples / lanes_) != 0;
}

template <class Real>
bool NativeCode<Real>::run_point(Real* numbers, const Real* uniforms, std::byte* spills) const {
  const auto function = reinterpret_cast<codegen::Function>(reinterpret_cast<std::uintptr_t>(memory_.data()));
  constexpr std::ptrdiff_t bias = codegen::bias_of_numbers(sizeof(Real));
  return function(reinterpret_cast<void* const*>(reinterpret_cast<std::byte*>(numbers) + bias), uniforms,
                  spills + codegen::spill_bias, pool_.data() + bias, 1) != 0;
}

template <class Real>
NativeRunner<Real>::NativeRunner(const plan::ProgramData<Real>& data, Isa isa, bool gradient, bool point,
                                 std::size_t most_bytes)
    : data_(data),
      layout_(gradient ? data.gradient : data.values),
      at_(data, gradient),
      isa_(isa),
      gradient_(gradient),
      point_(point),
      most_bytes_(most_bytes),
      code_(data, isa, gradient, point, chain_, most_bytes) {}

template <class Real>
std::size_t NativeRunner<Real>::bytes() const {
  std::size_t sum = code_.code_bytes();
  for (const Worker& worker : workers_) sum += worker.staging.bytes() + worker.spills.bytes();
  return sum;
}

template <class Real>
std::size_t NativeRunner<Real>::bytes_with(std::size_t workers, std::size_t most) const {
  const std::size_t each =
      numbers_in_staging(round_up(most)) * sizeof(Real) + code_.spill_bytes() + codegen::spill_bias;
  std::size_t sum = code_.code_bytes();
  for (std::size_t w = 0; w < std::max(workers, workers_.size()); ++w) {
    const std::size_t has = w < workers_.size() ? workers_[w].staging.bytes() + workers_[w].spills.bytes() : 0;
    sum += std::max(has, w < workers ? each : 0);
  }
  return sum;
}

template <class Real>
void NativeRunner<Real>::prepare(std::size_t workers, const Workspace<Real>* uniform) {
  std::size_t tried = 0, failed = 0;
  for (const Worker& worker : workers_) {
    tried += worker.tried;
    failed += worker.failed;
  }
  // Where derivatives come out NaN often, the rule at every product is cheaper than doing blocks again.
  if (failed >= 4 && 4 * failed > tried && gradient_ && data_.zero_rule == ZeroRule::exact &&
      chain_ == codegen::Chain::plain) {
    const bool limited = most_bytes_ != std::numeric_limits<std::size_t>::max();
    NativeCode<Real> careful(data_, isa_, gradient_, point_, codegen::Chain::zero_rule,
                             limited ? most_bytes_ - std::min(most_bytes_, bytes()) : most_bytes_);
    chain_ = codegen::Chain::zero_rule;
    if (careful.why_not().empty()) {  // otherwise it goes on as it is
      code_ = std::move(careful);
      workers_.clear();
    }
  }
  if (workers_.size() != workers) workers_.resize(workers);
  if (!uniform) return;
  uniforms_.clear();
  for (const plan::Import& import : layout_.imports) uniforms_.push_back(*uniform->slot(import.uniform));
  if (gradient_)
    for (const plan::Slot slot : data_.uniform.sum_adjoints) uniforms_.push_back(*uniform->slot(slot));
}

template <class Real>
void NativeRunner<Real>::begin(const NativeBatch<Real>& batch, std::size_t workers, const Workspace<Real>* uniform) {
  prepare(workers, uniform);
  batch_ = batch;
  const std::size_t inputs = layout_.inputs.size(), outputs = layout_.outputs.size(), weights = data_.seeds.size(),
                    gradients = data_.gradients.size();
  const auto column = [](const auto& s) { return !s.data || s.sample == 1; };
  const auto disjoint = [&](const Samples<Real>& to, std::size_t items) {
    return apart(to, items, batch.inputs, inputs, batch.samples) &&
           apart(to, items, batch.weights, weights, batch.samples);
  };
  in_place_ = column(batch.inputs) && column(batch.weights) && column(batch.values) && column(batch.gradients) &&
              disjoint(batch.values, outputs) && disjoint(batch.gradients, gradients);
}

template <class Real>
LaneSlot<Real> NativeRunner<Real>::slot(Worker& worker, std::size_t pointer) const {
  return {worker.staging.data() + pointer * worker.width, worker.width, worker.width, worker.width};
}

template <class Real>
bool NativeRunner<Real>::Worker::skips() {
  if (to_skip == 0) return false;
  --to_skip;
  return true;
}
template <class Real>
bool NativeRunner<Real>::Worker::ran(bool well) {
  ++tried;
  if (well) {
    penalty = 0;
  } else {
    ++failed;
    to_skip = penalty = std::min<std::size_t>(2 * penalty + 1, 63);
  }
  return well;
}

template <class Real>
std::size_t NativeRunner<Real>::numbers_in_staging(std::size_t width) const {
  return std::max(at_.count * width, static_cast<std::size_t>(codegen::bias_of_numbers(1)));
}

template <class Real>
void NativeRunner<Real>::make_room(Worker& worker, std::size_t width) const {
  if (worker.width >= width) return;
  worker.staging.reserve(numbers_in_staging(width));
  worker.spills.reserve(code_.spill_bytes() + codegen::spill_bias);
  worker.pointers.resize(at_.count);
  worker.width = width;
}

template <class Real>
bool NativeRunner<Real>::run(const LaneRange& lanes, std::size_t worker_number, std::size_t most) {
  Worker& worker = workers_[worker_number];
  if (worker.skips()) return false;
  make_room(worker, round_up(most));
  const bool in_place = in_place_ && lanes.count % code_.lanes() == 0;
  std::vector<Real*>& pointers = worker.pointers;
  for (std::size_t k = 0; k < at_.count; ++k) pointers[k] = slot(worker, k).data;

  const auto take = [&](Samples<const Real> from, std::size_t item, std::size_t pointer) {
    if (in_place) pointers[pointer] = const_cast<Real*>(place(from, lanes.first, item));
    else load_item(from, lanes, item, slot(worker, pointer));
  };
  for (std::size_t i = 0; i < layout_.inputs.size(); ++i)
    if (layout_.inputs[i] != plan::no_slot) take(batch_.inputs, i, at_.inputs + i);
  if (gradient_)
    for (std::size_t k = 0; k < data_.seeds.size(); ++k) {
      if (data_.seeds[k] == plan::no_slot) continue;
      if (batch_.weights.data) take(batch_.weights, k, at_.weights + k);
      else slot(worker, at_.weights + k).fill(Real(1));
    }
  const std::size_t outputs = layout_.outputs.size(), gradients = gradient_ ? data_.gradients.size() : 0;
  if (in_place) {
    for (std::size_t k = 0; k < outputs && batch_.values.data; ++k)
      pointers[at_.outputs + k] = place(batch_.values, lanes.first, k);
    for (std::size_t k = 0; k < gradients && batch_.gradients.data; ++k)
      pointers[at_.gradients + k] = place(batch_.gradients, lanes.first, k);
  }

  if (!worker.ran(code_.run(pointers.data(), uniforms_.data(), worker.spill_memory(), round_up(lanes.count))))
    return false;

  if (!in_place && batch_.values.data)
    for (std::size_t k = 0; k < outputs; ++k) store_item(slot(worker, at_.outputs + k), lanes, batch_.values, k);
  if (batch_.gradients.data)
    for (std::size_t k = 0; k < gradients; ++k) {
      const bool zero = data_.gradients[k] == plan::no_slot;
      if (in_place && !zero) continue;
      LaneSlot<Real> from = slot(worker, at_.gradients + k);
      if (zero) from.data = nullptr;
      store_derivative(from, lanes, batch_.gradients, [&](std::size_t) { return k; });
    }
  return true;
}

template <class Real>
bool NativeRunner<Real>::run_point(const NativeBatch<Real>& batch, const Workspace<Real>* uniform) {
  prepare(1, uniform);
  Worker& worker = workers_[0];
  if (worker.skips()) return false;
  make_room(worker, 1);
  Real* const numbers = worker.staging.data();
  // A loop where a call of memcpy would take longer.
  constexpr std::size_t few = 16;
  const auto take = [&](const Samples<const Real>& from, std::size_t count, Real* to) {
    if (from.item == 1 && count > few) std::copy_n(from.data, count, to);
    else
      for (std::size_t k = 0; k < count; ++k) to[k] = from.data[static_cast<std::ptrdiff_t>(k) * from.item];
  };
  const auto give = [&](const Real* from, std::size_t count, const Samples<Real>& to) {
    if (!to.data) return;
    if (to.item == 1 && count > few) std::copy_n(from, count, to.data);
    else
      for (std::size_t k = 0; k < count; ++k) to.data[static_cast<std::ptrdiff_t>(k) * to.item] = from[k];
  };
  take(batch.inputs, layout_.inputs.size(), numbers + at_.inputs);
  if (gradient_) {
    if (batch.weights.data) take(batch.weights, data_.seeds.size(), numbers + at_.weights);
    else std::fill_n(numbers + at_.weights, data_.seeds.size(), Real(1));
  }
  if (!worker.ran(code_.run_point(numbers, uniforms_.data(), worker.spill_memory()))) return false;
  give(numbers + at_.outputs, layout_.outputs.size(), batch.values);
  if (gradient_) give(numbers + at_.gradients, data_.gradients.size(), batch.gradients);
  return true;
}

template <class Real>
const Real* NativeRunner<Real>::lanes_of(std::size_t worker, std::size_t q) const {
  return workers_[worker].staging.data() + (at_.sums + q) * workers_[worker].width;
}

template class NativeCode<double>;
template class NativeCode<float>;
template class NativeRunner<double>;
template class NativeRunner<float>;

}  // namespace wengert
