#include "tape/machine.hpp"

#include <algorithm>
#include <string>

#include "tape/cores.hpp"
#include "tape/guards.hpp"
#include "wengert/error.hpp"

namespace wengert {
namespace {

/// Samples in a block: many share the cost of an instruction, few keep the values that backward reads in the caches.
std::size_t choose_lanes(std::size_t slots, std::size_t real_bytes) {
  std::size_t lanes = 512 / real_bytes;
  constexpr std::size_t cache_bytes = std::size_t(8) << 20;
  while (lanes * real_bytes > 128 && slots * lanes * real_bytes > cache_bytes) lanes /= 2;
  return lanes;
}

/// For single evaluations.
template <class Real>
const kernels::InstructionTable<Real>& single_table() {
  const kernels::Backend<Real>& scalar = kernels::backend<Real>(Isa::scalar);
  return scalar.single_instructions ? *scalar.single_instructions : *scalar.instructions;
}

}  // namespace

template <class Real>
Machine<Real>::Machine(Program<Real> program, const ReplayOptions& options)
    : program_(std::move(program)),
      data_(program_.data()),
      isa_(parse_isa(options.isa)),
      parallel_for_(options.parallel_for),
      uniform_(data_, single_table<Real>()),
      reduction_(kernels::backend<Real>(isa_).sum_of_leaf),
      report_departures_(options.report_departures),
      departures_(options.threads ? options.threads : available_cores()) {
  const kernels::Backend<Real>& backend = kernels::backend<Real>(isa_);
  vector_ = static_cast<std::size_t>(backend.lanes);
  lanes_ = options.lanes ? options.lanes : std::max(vector_, choose_lanes(data_.gradient.slots, sizeof(Real)));
  if (lanes_ % vector_ != 0)
    throw Error(ErrorCode::bad_size, "a block of " + std::to_string(lanes_) + " lanes: " + std::string(name(isa_)) +
                                         " takes multiples of " + std::to_string(vector_));
  const unsigned threads = departures_.workers();
  workers_.resize(threads);
  if (threads > 1 && !parallel_for_) pool_ = std::make_unique<WorkerPool>(threads);
  bind(many_, *backend.instructions);
  bind(dual_, *backend.dual_instructions);
  bind(single_, single_table<Real>());
}

template <class Real>
void Machine<Real>::bind(Codes& codes, const kernels::InstructionTable<Real>& table) {
  codes.values = BoundCode<Real>(data_.values_code, table);
  codes.forward = BoundCode<Real>(data_.forward, table);
  codes.backward = BoundCode<Real>(data_.backward, table);
}

template <class Real>
void Machine<Real>::begin() {
  departures_.clear();
  uniform_.begin();
}

template <class Real>
void Machine<Real>::finish() {
  const std::size_t guards = data_.statistics.guards;
  if (guards == 0) return;
  if (const std::size_t of_batch = guards - data_.guards_of_samples, passed = uniform_.passed(of_batch);
      passed != of_batch)
    departures_.add({Departure::every_sample, data_.guards_of_samples + passed});
  departures_.gather();
  if (departures_.all().empty() || report_departures_) return;
  const Departure& first = departures_.all().front();
  const GuardInfo guard = program_.guard(first.guard);
  other_path(first.sample == Departure::every_sample ? "the whole batch" : "sample " + std::to_string(first.sample),
             guard.file, guard.line, guard.condition, guard.outcome);
}

template <class Real>
std::size_t Machine<Real>::bytes() const {
  std::size_t sum = 0;
  for (const Workspace<Real>& workspace : workers_) sum += workspace.bytes();
  return sum;
}

template class Machine<double>;
template class Machine<float>;

}  // namespace wengert
