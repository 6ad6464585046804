#include "tape/native.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "codegen/delay.hpp"
#include "codegen/loops.hpp"
#include "codegen/perf_map.hpp"
#include "codegen/rematerialize.hpp"
#include "codegen/schedule.hpp"
#include "tape/native_cost.hpp"
#include "tape/special_partials.hpp"
#include "tape/tables.hpp"

namespace wengert {
const codegen::Target* native_target(Isa isa) {
  switch (isa) {
    case Isa::avx2: return &codegen::avx2;
    case Isa::avx512: return &codegen::avx512;
    default: return nullptr;
  }
}

template <class Real>
NativeCode<Real>::NativeCode(const plan::ProgramData<Real>& data, Isa isa, bool gradient, bool point,
                             codegen::Chain chain, std::size_t most_bytes, plan::PointStrides strides) {
  if (!data.call.empty()) {
    why_not_ = "the custom op " + data.call + " is code, not vector operations";
    return;
  }
  const plan::NativeCost cost = plan::native_cost(data, gradient, isa);
  const plan::NativeCost::Length& length = point ? cost.alone : cost.batches;
  if (length.too_long) {
    why_not_ = "about " + std::to_string(length.operations) + " vector operations are too many for a straight line";
    return;
  }
  const codegen::Shape shape{native_target(isa), point, !point && cost.two_vectors ? 2u : 1u};
  const std::size_t nodes = shape.vectors * (2 * length.operations + plan::NativePointers<Real>(data, gradient).count);
  const bool limited = most_bytes != std::numeric_limits<std::size_t>::max();
  if (limited)
    if (const std::size_t bytes = plan::bytes_to_make(data, gradient, nodes); bytes > most_bytes) {
      why_not_ = "making machine code may take " + std::to_string(bytes) + " bytes, more than the budget leaves";
      return;
    }
  const codegen::Arena arena(plan::bytes_to_make(data, gradient, nodes));
  codegen::Graph graph =
      plan::lower_to_graph(data, {gradient, shape, chain, strides, nodes, limited, length.least_called});
  if (!graph.complete()) {
    why_not_ = limited && graph.nodes().size() >= nodes ? "making machine code takes more bytes than the budget leaves"
                                                        : "an op of the program has no vector form";
    return;
  }
  codegen::find_loops(graph);
  if (graph.loops().empty()) codegen::rematerialize(graph);
  if (!codegen::delay(graph)) codegen::schedule(graph);
  const codegen::Assembly assembly = codegen::assemble(graph);
  // A few stay in registers from one read to the next.
  const std::size_t inputs = shape.vectors * (gradient ? data.gradient : data.values).inputs.size();
  reads_again_ = inputs > shape.target->registers / 2u && assembly.reads_of_inputs > 8 * inputs;
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
                  pool(), samples / lanes_) != 0;
}

void Misses::missed(std::size_t lanes) {
  ++failed_;
  well_ = 0;
  if (lanes > narrow) widest_ = narrow;
  else to_skip_ = penalty_ = std::min<std::size_t>(2 * penalty_ + 1, 63);
}

template <class Real>
codegen::Chain more_careful(codegen::Chain chain, const plan::ProgramData<Real>& data) {
  const auto is_special = [](const plan::Run& run) {
    return plan::in_catalogue(run.kind) && plan::has_special_partials(kernels::catalogue[run.kind].op);
  };
  const bool any = std::any_of(data.backward.runs.begin(), data.backward.runs.end(), is_special);
  return chain == codegen::Chain::plain && any ? codegen::Chain::special : codegen::Chain::zero_rule;
}

/// Whether columns lie so far apart that they come to the same few sets of a cache of 64 sets of 8 lines: code that reads them again and
/// again would find them nowhere.
template <class Real>
static bool share_sets(const Samples<const Real>& table, std::size_t columns) {
  const std::size_t lines = static_cast<std::size_t>(std::abs(table.item)) * sizeof(Real) / 64;
  return lines != 0 && columns > 4 * 64 / std::gcd(std::size_t(64), lines);
}

/// Numbers from one column of staging memory to the next: a line of the cache more than it holds, since columns a power of two apart
/// would all come to the same few sets of the caches.
template <class Real>
static std::size_t column(std::size_t width) {
  return width + 64 / sizeof(Real);
}

template <class Real>
void take_uniforms(const plan::ProgramData<Real>& data, bool gradient, const Workspace<Real>& from, Real* to) {
  for (const plan::Import& import : (gradient ? data.gradient : data.values).imports)
    *to++ = *from.slot(import.uniform);
  if (gradient)
    for (const plan::Slot slot : data.uniform.sum_adjoints) *to++ = *from.slot(slot);
}

template <class Real>
NativeRunner<Real>::NativeRunner(const plan::ProgramData<Real>& data, Isa isa, bool gradient, std::size_t most_bytes)
    : data_(data),
      layout_(gradient ? data.gradient : data.values),
      at_(data, gradient),
      isa_(isa),
      gradient_(gradient),
      most_bytes_(most_bytes),
      code_(data, isa, gradient, false, chain_, most_bytes) {}

template <class Real>
std::size_t NativeRunner<Real>::bytes() const {
  std::size_t sum = code_.code_bytes();
  for (const Worker& worker : workers_) sum += worker.staging.bytes() + worker.spills.bytes();
  return sum;
}

template <class Real>
std::size_t NativeRunner<Real>::bytes_with(std::size_t workers, std::size_t most) const {
  const std::size_t each =
      at_.count * column<Real>(round_up(most)) * sizeof(Real) + code_.spill_bytes() + codegen::spill_bias;
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
    tried += worker.misses.tried();
    failed += worker.misses.failed();
  }
  if (wants_zero_rule(tried, failed) && gradient_ && data_.zero_rule == ZeroRule::exact &&
      chain_ != codegen::Chain::zero_rule) {
    chain_ = more_careful(chain_, data_);
    const bool limited = most_bytes_ != std::numeric_limits<std::size_t>::max();
    NativeCode<Real> careful(data_, isa_, gradient_, false, chain_,
                             limited ? most_bytes_ - std::min(most_bytes_, bytes()) : most_bytes_);
    if (careful.why_not().empty()) {  // otherwise it goes on as it is
      code_ = std::move(careful);
      workers_.clear();
    }
  }
  if (workers_.size() != workers) workers_.resize(workers);
  if (!uniform) return;
  uniforms_.resize(plan::NativeUniforms<Real>(data_, gradient_).weights);
  take_uniforms(data_, gradient_, *uniform, uniforms_.data());
}

template <class Real>
void NativeRunner<Real>::begin(const NativeBatch<Real>& batch, std::size_t workers, const Workspace<Real>* uniform) {
  prepare(workers, uniform);
  batch_ = batch;
  const auto column = [](const auto& s) { return !s.data || s.sample == 1; };
  const NamedTable<Real> inputs("inputs", layout_.inputs.size(), batch.inputs),
      weights("weights", data_.seeds.size(), batch.weights), values("values", layout_.outputs.size(), batch.values),
      gradients("gradients", data_.gradients.size(), batch.gradients);
  const auto disjoint = [&](const NamedTable<Real>& to) {
    return ends_apart(batch.samples, to, inputs) && ends_apart(batch.samples, to, weights);
  };
  inputs_in_place_ = !code_.reads_again() || !share_sets(batch.inputs, layout_.inputs.size());
  in_place_ = column(batch.inputs) && column(batch.weights) && column(batch.values) && column(batch.gradients) &&
              disjoint(values) && disjoint(gradients);
}

template <class Real>
void NativeRunner<Real>::make_room(Worker& worker, std::size_t width) const {
  if (worker.width >= width) return;
  worker.staging.reserve(at_.count * column<Real>(width));
  worker.spills.reserve(code_.spill_bytes() + codegen::spill_bias);
  worker.pointers.resize(at_.count);
  worker.width = width;
}

template <class Real>
bool NativeRunner<Real>::run(const LaneRange& lanes, std::size_t worker_number, std::size_t most) {
  Worker& worker = workers_[worker_number];
  if (worker.misses.skips()) return false;
  make_room(worker, round_up(most));
  const std::size_t round = code_.lanes();
  const bool in_place = in_place_ && lanes.count >= round;
  std::vector<Real*>& pointers = worker.pointers;
  const std::size_t rounds = round_up(lanes.count);  // lanes of them
  const auto staged = [&](std::size_t pointer) {
    return LaneSlot<Real>{worker.staging.data() + pointer * column<Real>(worker.width), rounds, rounds, rounds};
  };
  for (std::size_t k = 0; k < at_.count; ++k) pointers[k] = staged(k).data;

  const auto take = [&](Samples<const Real> from, std::size_t item, std::size_t pointer) {
    if (in_place && inputs_in_place_) pointers[pointer] = const_cast<Real*>(place(from, lanes.first, item));
    else load_item(from, lanes, item, staged(pointer));
  };
  for (std::size_t i = 0; i < layout_.inputs.size(); ++i)
    if (layout_.inputs[i] != plan::no_slot) take(batch_.inputs, i, at_.inputs + i);
  if (gradient_)
    for (std::size_t k = 0; k < data_.seeds.size(); ++k) {
      if (data_.seeds[k] == plan::no_slot) continue;
      if (batch_.weights.data) take(batch_.weights, k, at_.weights + k);
      else staged(at_.weights + k).fill(Real(1));
    }
  const std::size_t outputs = layout_.outputs.size(), gradients = gradient_ ? data_.gradients.size() : 0;
  if (in_place) {
    for (std::size_t k = 0; k < outputs && batch_.values.data; ++k)
      pointers[at_.outputs + k] = place(batch_.values, lanes.first, k);
    for (std::size_t k = 0; k < gradients && batch_.gradients.data; ++k)
      pointers[at_.gradients + k] = place(batch_.gradients, lanes.first, k);
  }

  const auto run_rounds = [&](std::size_t samples) {
    return code_.run(pointers.data(), uniforms_.data(), worker.spill_memory(), samples);
  };
  const std::size_t rest = in_place ? lanes.count % round : 0;
  bool well = run_rounds(in_place ? lanes.count - rest : rounds);
  if (well && rest != 0) {
    // The last round ends with the block. What it computes again comes out the same.
    for (Real*& pointer : pointers) pointer += lanes.count - round;
    well = run_rounds(round);
  }
  if (!worker.misses.ran(well, lanes.count)) return false;

  if (!in_place && batch_.values.data)
    for (std::size_t k = 0; k < outputs; ++k) store_item(staged(at_.outputs + k), lanes, batch_.values, k);
  if (batch_.gradients.data)
    for (std::size_t k = 0; k < gradients; ++k) {
      const bool zero = data_.gradients[k] == plan::no_slot;
      if (in_place && !zero) continue;
      LaneSlot<Real> from = staged(at_.gradients + k);
      if (zero) from.data = nullptr;
      store_derivative(from, lanes, batch_.gradients, [&](std::size_t) { return k; });
    }
  return true;
}

template <class Real>
const Real* NativeRunner<Real>::lanes_of(std::size_t worker, std::size_t q) const {
  return workers_[worker].staging.data() + (at_.sums + q) * column<Real>(workers_[worker].width);
}

template class NativeCode<double>;
template class NativeCode<float>;
template codegen::Chain more_careful(codegen::Chain, const plan::ProgramData<double>&);
template codegen::Chain more_careful(codegen::Chain, const plan::ProgramData<float>&);
template void take_uniforms(const plan::ProgramData<double>&, bool, const Workspace<double>&, double*);
template void take_uniforms(const plan::ProgramData<float>&, bool, const Workspace<float>&, float*);
template class NativeRunner<double>;
template class NativeRunner<float>;

}  // namespace wengert
