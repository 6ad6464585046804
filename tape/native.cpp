#include "tape/native.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "codegen/perf_map.hpp"
#include "tape/native_graph.hpp"
#include "tape/special_partials.hpp"

namespace wengert {

template <class Real>
NativeCode<Real>::NativeCode(const plan::ProgramData<Real>& data, Isa isa, plan::Evaluation what, bool point,
                             codegen::Chain chain, std::size_t most_bytes, plan::PointStrides strides) {
  if (!data.call.empty()) {
    why_not_ = "the custom op " + data.call + " is code, not vector operations";
    return;
  }
  const NativeGraph<Real> graph(data, isa, what, point, chain, most_bytes, strides);
  if (!graph.why_not().empty()) {
    why_not_ = graph.why_not();
    return;
  }
  const codegen::Shape& shape = (*graph).shape();
  const codegen::Assembly assembly = codegen::assemble(*graph);
  // A few stay in registers from one read to the next.
  const std::size_t inputs = shape.vectors * (what.gradient ? data.gradient : data.values).inputs.size();
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
  const char* const names[plan::Evaluation::count] = {"values", "gradient",      "jvp",
                                                      "hvp",    "jvp with sums", "hvp with sums"};
  const std::string called =
      std::string("wengert ") + names[what.number()] + (point ? " of a point, " : ", ") + std::string(name(isa));
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
codegen::Chain chain_after(codegen::Chain chain, std::size_t tried, std::size_t failed,
                           const plan::ProgramData<Real>& data, plan::Evaluation what) {
  const bool derivatives = what.gradient || what.dual();
  if (failed < 4 || !derivatives || data.zero_rule != ZeroRule::exact || chain == codegen::Chain::zero_rule)
    return chain;
  const auto is_special = [](const plan::Run& run) {
    return plan::in_catalogue(run.kind) && plan::has_special_partials(kernels::catalogue[run.kind].op);
  };
  const std::vector<plan::Run>& runs = (what.gradient ? data.backward : data.values_code).runs;
  const bool special = chain == codegen::Chain::plain && std::any_of(runs.begin(), runs.end(), is_special);
  // One that is done again takes some four times as long. The rule at special ops takes a few hundredths more, everywhere a third.
  const std::size_t rarely = special ? 32 : 4;
  if (rarely * failed <= tried) return chain;
  return special ? codegen::Chain::special : codegen::Chain::zero_rule;
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
void take_uniforms(const plan::ProgramData<Real>& data, plan::Evaluation what, const Workspace<Real>& from, Real* to) {
  const auto take = [&](const auto& number_in) {
    for (const plan::Import& import : (what.gradient ? data.gradient : data.values).imports)
      *to++ = number_in(import.uniform);
    if (what.gradient)
      for (const plan::Slot slot : data.uniform.sum_adjoints) *to++ = number_in(slot);
  };
  take([&](plan::Slot slot) { return *from.slot(slot); });
  if (what.uniform_tangents) take([&](plan::Slot slot) { return *from.tangents(slot).data; });
}

template <class Real>
NativeRunner<Real>::NativeRunner(const plan::ProgramData<Real>& data, Isa isa, plan::Evaluation what,
                                 std::size_t most_bytes)
    : data_(data),
      layout_(what.gradient ? data.gradient : data.values),
      at_(data, what),
      isa_(isa),
      what_(what),
      most_bytes_(most_bytes),
      code_(data, isa, what, false, chain_, most_bytes) {}

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
  if (const codegen::Chain next = chain_after(chain_, tried, failed, data_, what_); next != chain_) {
    const bool limited = most_bytes_ != std::numeric_limits<std::size_t>::max();
    NativeCode<Real> careful(data_, isa_, what_, false, next,
                             limited ? most_bytes_ - std::min(most_bytes_, bytes()) : most_bytes_);
    chain_ = next;
    if (careful.why_not().empty()) {  // otherwise it goes on as it is
      code_ = std::move(careful);
      workers_.clear();
    }
  }
  if (workers_.size() != workers) workers_.resize(workers);
  if (!uniform) return;
  uniforms_.resize(plan::NativeUniforms<Real>(data_, what_).weights);
  take_uniforms(data_, what_, *uniform, uniforms_.data());
}

template <class Real>
void NativeRunner<Real>::begin(const NativeBatch<Real>& batch, std::size_t workers, const Workspace<Real>* uniform) {
  prepare(workers, uniform);
  batch_ = batch;
  const auto column = [](const auto& s) { return !s.data || s.sample == 1; };
  inputs_in_place_ = !code_.reads_again() || !share_sets(batch.inputs, layout_.inputs.size());
  in_place_ = column(batch.inputs) && column(batch.weights) && column(batch.values) && column(batch.gradients) &&
              column(batch.directions) && column(batch.tangents);
}

template <class Real>
void NativeRunner<Real>::make_room(Worker& worker, std::size_t width) const {
  if (worker.width >= width) return;
  worker.width = 0;  // where there is no memory for more there is none left at all
  worker.staging.reserve(at_.count * column<Real>(width));
  worker.spills.reserve(code_.spill_bytes() + codegen::spill_bias);
  worker.pointers.resize(at_.count);
  worker.width = width;
}

template <class Real>
LaneSlot<Real> NativeRunner<Real>::staged(const Worker& worker, std::size_t pointer, std::size_t lanes) const {
  const std::size_t rounds = round_up(lanes);  // lanes of them
  return {worker.staging.data() + pointer * column<Real>(worker.width), rounds, rounds, rounds};
}

template <class Real>
bool NativeRunner<Real>::run(const LaneRange& lanes, std::size_t worker_number, std::size_t most) {
  Worker& worker = workers_[worker_number];
  if (worker.misses.skips()) return false;
  make_room(worker, round_up(most));
  const std::size_t round = code_.lanes();
  const bool in_place = in_place_ && lanes.count >= round;
  std::vector<Real*>& pointers = worker.pointers;
  const auto memory = [&](std::size_t pointer) { return staged(worker, pointer, lanes.count); };
  for (std::size_t k = 0; k < at_.count; ++k) pointers[k] = memory(k).data;

  const auto take = [&](Samples<const Real> from, std::size_t item, std::size_t pointer) {
    if (in_place && inputs_in_place_) pointers[pointer] = const_cast<Real*>(place(from, lanes.first, item));
    else load_item(from, lanes, item, memory(pointer));
  };
  const auto take_or = [&](Real otherwise, Samples<const Real> from, std::size_t item, std::size_t pointer) {
    if (from.data) take(from, item, pointer);
    else memory(pointer).fill(otherwise);
  };
  for (std::size_t i = 0; i < layout_.inputs.size(); ++i)
    if (layout_.inputs[i] != plan::no_slot) take(batch_.inputs, i, at_.inputs + i);
  for (std::size_t k = 0; k < at_.weights - at_.directions; ++k) take_or(0, batch_.directions, k, at_.directions + k);
  for (std::size_t k = 0; k < at_.outputs - at_.weights; ++k)
    if (data_.seeds[k] != plan::no_slot) take_or(1, batch_.weights, k, at_.weights + k);
  // Results and the pointers of each, from the first to that of the next ones.
  const auto give = [&](const Samples<Real>& to, std::size_t first, std::size_t next) {
    for (std::size_t k = 0; in_place && to.data && k < next - first; ++k)
      pointers[first + k] = place(to, lanes.first, k);
  };
  give(batch_.values, at_.outputs, at_.gradients);
  give(batch_.gradients, at_.gradients, at_.tangents);
  give(batch_.tangents, at_.tangents, at_.sums);

  const std::size_t rest = in_place ? lanes.count % round : 0;
  bool well = run_rounds(worker, in_place ? lanes.count - rest : round_up(lanes.count));
  if (well && rest != 0) {
    // The last round ends with the block. What it computes again comes out the same.
    for (Real*& pointer : pointers) pointer += lanes.count - round;
    well = run_rounds(worker, round);
  }
  if (!worker.misses.ran(well, lanes.count)) return false;

  for (std::size_t k = 0; !in_place && batch_.values.data && k < layout_.outputs.size(); ++k)
    store_item(memory(at_.outputs + k), lanes, batch_.values, k);
  const auto store = [&](const Samples<Real>& to, std::size_t first, std::size_t next, bool of_gradients) {
    for (std::size_t k = 0; to.data && k < next - first; ++k) {
      const bool zero = of_gradients && data_.gradients[k] == plan::no_slot;
      if (in_place && !zero) continue;
      LaneSlot<Real> from = memory(first + k);
      if (zero) from.data = nullptr;
      store_derivative(from, lanes, to, [&](std::size_t) { return k; });
    }
  };
  store(batch_.gradients, at_.gradients, at_.tangents, true);
  store(batch_.tangents, at_.tangents, at_.sums, what_.gradient);
  return true;
}

template <class Real>
const Real* NativeRunner<Real>::lanes_of(std::size_t worker, std::size_t q) const {
  return workers_[worker].staging.data() + (at_.sums + q) * column<Real>(workers_[worker].width);
}

template class NativeCode<double>;
template class NativeCode<float>;
template codegen::Chain chain_after(codegen::Chain, std::size_t, std::size_t, const plan::ProgramData<double>&,
                                    plan::Evaluation);
template codegen::Chain chain_after(codegen::Chain, std::size_t, std::size_t, const plan::ProgramData<float>&,
                                    plan::Evaluation);
template void take_uniforms(const plan::ProgramData<double>&, plan::Evaluation, const Workspace<double>&, double*);
template void take_uniforms(const plan::ProgramData<float>&, plan::Evaluation, const Workspace<float>&, float*);
template class NativeRunner<double>;
template class NativeRunner<float>;

}  // namespace wengert
