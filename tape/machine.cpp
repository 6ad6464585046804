#include "tape/machine.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "tape/block_lanes.hpp"
#include "tape/cores.hpp"
#include "tape/guards.hpp"
#include "tape/native_cost.hpp"
#include "wengert/error.hpp"

namespace wengert {
namespace {

/// Work, in ns of one thread, from which on others are called: that takes a microsecond or so. The thread sanitizer sees them at
/// small work, too.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WENGERT_THREADS_ALWAYS
#endif
#elif defined(__SANITIZE_THREAD__)
#define WENGERT_THREADS_ALWAYS
#endif
/// That work for which threads that sleep are woken: in one pass, or in those since they were last called.
#ifdef WENGERT_THREADS_ALWAYS
constexpr double worth_threads = 0, worth_waking = 0;
#else
constexpr double worth_threads = 20'000, worth_waking = 150'000;
#endif

/// What an instruction takes, in ns a vector, on an AMD EPYC (Zen 4): good to a factor of two or so.
constexpr double ns_of_instruction = 1.9, ns_of_dual_instruction = 5;

/// For single evaluations.
template <class Real>
const kernels::InstructionTable<Real>& single_table() {
  const kernels::Backend<Real>& scalar = kernels::backend<Real>(Isa::scalar);
  return scalar.single_instructions ? *scalar.single_instructions : *scalar.instructions;
}

}  // namespace

template <class Real>
typename Machine<Real>::Engine Machine<Real>::parse_engine(const std::string& engine) {
  if (engine == "interpreter") return Engine::interpreter;
  if (engine == "native") return Engine::native;
  if (engine == "auto") return Engine::automatic;
  throw Error(ErrorCode::bad_argument, "unknown engine \"" + engine + "\"; there are auto, interpreter and native");
}

template <class Real>
Machine<Real>::Machine(Program<Real> program, const ReplayOptions& options)
    : program_(std::move(program)),
      data_(program_.data()),
      isa_(parse_isa(options.isa)),
      backend_(kernels::backend<Real>(isa_)),
      parallel_for_(options.parallel_for),
      uniform_(data_, single_table<Real>(), *backend_.dual_instructions, isa_,
               static_cast<std::size_t>(backend_.lanes)),
      reduction_(backend_.sum_of_leaf),
      report_departures_(options.report_departures),
      budget_(options.budget),
      departures_(wanted_threads(options.threads)),
      engine_(parse_engine(options.engine)) {
  vector_ = static_cast<std::size_t>(backend_.lanes);
  const bool sums = !data_.uniform.sums.empty() || !data_.uniform.totals.empty();
  const BlockNeeds needs{.slots = data_.gradient.slots,
                         .real_bytes = sizeof(Real),
                         .vector_bytes = vector_ * sizeof(Real),
                         .second_cache = second_cache_bytes(),
                         .leaf = sums ? Reduction<Real>::leaf : 1};
  lanes_ = options.lanes ? options.lanes : program_lanes(needs);
  if (lanes_ % vector_ != 0)
    throw Error(ErrorCode::bad_size, "a block of " + std::to_string(lanes_) + " lanes: " + std::string(name(isa_)) +
                                         " takes multiples of " + std::to_string(vector_));
  const bool made_for_code = engine_ != Engine::interpreter && native_target(isa_) && options.lanes == 0;
  if (made_for_code) lanes_ = std::max(lanes_, native_lanes(needs));
  const std::size_t least_dual = made_for_code ? 2 * vector_ : vector_;  // code computes two vectors at a time
  dual_lanes_ = std::max(least_dual, lanes_ / 2 / vector_ * vector_);
  if (sums) dual_lanes_ = std::max(dual_lanes_, std::min(needs.leaf, lanes_));
  const unsigned threads = departures_.workers();
  workers_.resize(threads);
  if (threads > 1 && !parallel_for_) pool_.reset(new WorkerPool(threads));
  bind(many_, *backend_.instructions, kernels::special_kernels<Real>(isa_, false));
  bind(dual_, *backend_.dual_instructions, kernels::special_kernels<Real>(isa_, true));
  bind(single_, single_table<Real>(), kernels::special_kernels<Real>(Isa::scalar, false));
}

template <class Real>
void Machine<Real>::bind(Codes& codes, const kernels::InstructionTable<Real>& table,
                         const kernels::SpecialKernels<Real>& special) {
  codes.values = BoundCode<Real>(data_.values_code, table, special, data_.rules);
  codes.forward = BoundCode<Real>(data_.forward, table, special, data_.rules);
  codes.backward = BoundCode<Real>(data_.backward, table, special, data_.rules);
}

template <class Real>
typename Machine<Real>::Cut Machine<Real>::cut(const Pass<Real>& pass) const {
  const std::size_t lanes = pass.samples * pass.seeds;
  const bool dual = pass.numbers == Numbers::dual;
  Cut cut;
  cut.alone = lanes == 1 && !dual;
  cut.width = cut.alone ? 1 : width_for(lanes, dual);
  cut.piece = pass.sums == 0 ? cut.width : Reduction<Real>::group;
  cut.pieces = (lanes - 1) / cut.piece + 1;
  if (cut.pieces == 1 || (!parallel_for_ && ns_of(pass) < worth_threads)) cut.workers = 1;
  else cut.workers = parallel_for_ ? workers_.size() : std::min(workers_.size(), cut.pieces);
  return cut;
}

template <class Real>
WorkspaceSize Machine<Real>::size_of_workspace(const Pass<Real>& pass, const Cut& cut) const {
  return Workspace<Real>::size_for(pass.layout, cut.width, cut.alone ? 1 : vector_, pass.numbers == Numbers::dual,
                                   data_);
}

template <class Real>
bool Machine<Real>::calls_threads(const Pass<Real>& pass, const Cut& cut) {
  // The first time all get their memory, so that there are no allocations later on.
  if (!size_of_workspace(pass, cut).fits(workers_[cut.workers - 1].size())) return true;
  alone_ns_ = pool_->awake() ? worth_waking : alone_ns_ + ns_of(pass);
  if (alone_ns_ < worth_waking) return false;
  alone_ns_ = 0;
  return true;
}

/// About how long a pass takes on one thread. Where custom ops have a part in it nobody knows: without end.
template <class Real>
double Machine<Real>::ns_of(const Pass<Real>& pass) const {
  if (!data_.call.empty()) return std::numeric_limits<double>::infinity();
  const std::size_t instructions = &pass.layout == &data_.values
                                       ? data_.values_code.instructions
                                       : data_.forward.instructions + pass.sweeps * data_.backward.instructions;
  const double vectors = static_cast<double>(pass.samples * pass.seeds * pass.times) / static_cast<double>(vector_);
  return vectors * static_cast<double>(instructions) *
         (pass.numbers == Numbers::dual ? ns_of_dual_instruction : ns_of_instruction);
}

template <class Real>
std::size_t Machine<Real>::splitting(const Pass<Real>& pass) const {
  if (pass.samples == 0) return 0;
  const Cut cut = this->cut(pass);
  const bool one_block = std::min(pass.samples, cut.piece) <= cut.width;
  return one_block || cut.width % Reduction<Real>::leaf == 0 ? 0 : cut.workers;
}

template <class Real>
Reduction<Real>& Machine<Real>::begin_sums(const Pass<Real>& pass) {
  if (pass.sums != 0)
    reduction_.prepare(pass.sums, pass.samples, workers_.size(), splitting(pass), pass.numbers == Numbers::dual);
  return reduction_;
}

template <class Real>
std::size_t Machine<Real>::bytes_with(std::initializer_list<Pass<Real>> passes, bool dual, std::size_t seeds) const {
  std::size_t bytes = uniform_.bytes_in_use(dual, seeds), sums = reduction_.bytes();
  for (const Pass<Real>& pass : passes)
    if (pass.sums != 0)
      sums = std::max(sums,
                      reduction_.bytes_with(pass.sums, pass.samples, splitting(pass), pass.numbers == Numbers::dual));
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    WorkspaceSize size = workers_[w].size();
    for (const Pass<Real>& pass : passes) {
      if (pass.samples == 0 || pass.seeds == 0) continue;
      const Cut cut = this->cut(pass);
      if (w < cut.workers) size = size.or_more(size_of_workspace(pass, cut));
    }
    bytes += size.numbers() * sizeof(Real);
  }
  return bytes + sums;
}

template <class Real>
std::size_t Machine<Real>::native_bytes() const {
  std::size_t sum = 0;
  each_native([&](const auto& native) {
    if (native.runner) sum += native.runner->bytes();
  });
  return sum;
}

template <class Real>
void Machine<Real>::give_up_native(std::size_t bytes) {
  over_budget_ = "with machine code the replay needs " + std::to_string(bytes) + " bytes, and its budget is " +
                 std::to_string(budget_) + " bytes";
  for (auto& native : blocks_) native.runner.reset();
  for (auto& native : points_) native.runner.reset();
}

template <class Real>
void Machine<Real>::bad_chunk(unsigned worker, std::size_t begin, std::size_t end) const {
  throw Error(ErrorCode::bad_argument, "parallel_for calls its body with chunk " + std::to_string(worker) + " from " +
                                           std::to_string(begin) + " to " + std::to_string(end) +
                                           ": chunks are below " + std::to_string(workers_.size()) +
                                           ", and no part reaches past the count");
}

template <class Real>
void Machine<Real>::bad_cover(std::size_t done, std::size_t count) const {
  throw Error(ErrorCode::bad_argument, "parallel_for's parts come to " + std::to_string(done) + " where the count is " +
                                           std::to_string(count) + ": they cover it, each once");
}

template <class Real>
InUse Machine<Real>::begin(std::initializer_list<Pass<Real>> passes, bool dual, std::size_t seeds) {
  InUse in_use(running_, "this Replay");
  for (const Pass<Real>& pass : passes)
    if (const std::size_t each = std::max(pass.seeds, pass.times);
        each > 1 && pass.samples > std::numeric_limits<std::ptrdiff_t>::max() / each)
      throw Error(ErrorCode::bad_size, std::to_string(pass.samples) + " samples with " + std::to_string(each) +
                                           " sweeps each are more than can be counted");
  departures_.clear();
  if (has_budget()) {
    needed_ = bytes_with(passes, dual, seeds);
    if (needed_ > budget_)
      throw Error(ErrorCode::out_of_memory, "a replay needs workspaces of " + std::to_string(needed_) +
                                                " bytes, and its budget is " + std::to_string(budget_) +
                                                " bytes; ask for fewer lanes or threads");
    if (needed_ + native_bytes() > budget_) give_up_native(needed_ + native_bytes());
  }
  uniform_.begin(dual);
  return in_use;
}

template <class Real>
void Machine<Real>::finish() {
  if (data_.statistics.guards == 0) return;
  if (const std::optional<std::size_t> guard = uniform_.departed_from())
    departures_.add({Departure::every_sample, *guard});
  departures_.gather();
  if (departures_.all().empty() || report_departures_) return;
  const Departure& first = departures_.all().front();
  const GuardInfo guard = program_.guard(first.guard);
  other_path(first.sample == Departure::every_sample ? "the whole batch" : "sample " + std::to_string(first.sample),
             guard.file, guard.line, guard.condition, guard.outcome);
}

template <class Real>
bool Machine<Real>::native_allowed() const {
  return engine_ != Engine::interpreter && native_target(isa_) && over_budget_.empty();
}

template <class Real>
const plan::NativeCost* Machine<Real>::cost_of(plan::Evaluation what) {
  std::optional<plan::NativeCost>& cost = costs_[what.number()];
  if (!cost && plan::bytes_to_make(data_, what, 0) <= room_for_native()) cost = plan::native_cost(data_, what, isa_);
  return cost ? &*cost : nullptr;
}

/// Of one kind, for a pass and those so far.
template <class Real>
template <class Runner>
bool Machine<Real>::worth_making(Native<Runner>& native, plan::Evaluation what, const Pass<Real>& pass) {
  constexpr bool points = __is_same(Runner, NativePoint<Real>);
  if (engine_ != Engine::automatic) return true;
  const std::size_t now = points ? 1 : pass.evaluations();
  const bool known = costs_[what.number()].has_value();
  if (!known && native.samples + now < plan::NativeCost::worth_knowing_from(points)) {
    native.samples += now;
    return false;
  }
  const plan::NativeCost* const cost = cost_of(what);
  if (!cost) return false;
  native.worth_from = points ? cost->worth_from_alone : cost->worth_from;
  native.refused =
      !points && (pass.samples * pass.seeds < cost->fewest || (pass.sweeps > 1 && pass.sweeps > cost->most_sweeps));
  if (native.refused) return false;
  if (native.runner) return true;
  native.samples += now;
  return native.samples >= native.worth_from;
}

template <class Real>
std::size_t Machine<Real>::room_for_native() const {
  if (!has_budget()) return std::numeric_limits<std::size_t>::max();
  return budget_ - std::min(budget_, needed_ + native_bytes());
}

template <class Real>
NativeRunner<Real>* Machine<Real>::native(plan::Evaluation what, const Pass<Real>& pass) {
  if (!native_allowed() || few_lanes(what, pass)) return nullptr;
  auto& native = blocks_[what.number()];
  if (!worth_making(native, what, pass)) return nullptr;
  if (!native.runner) native.runner = std::make_unique<NativeRunner<Real>>(data_, isa_, what, room_for_native());
  return native.runner->why_not().empty() ? native.runner.get() : nullptr;
}

template <class Real>
bool Machine<Real>::few_lanes(plan::Evaluation what, const Pass<Real>& pass) {
  const std::size_t lanes = pass.evaluations();
  // Sums over several samples are taken of what is side by side.
  if (lanes <= 1 || lanes > plan::NativeCost::few || pass.sums != 0) return lanes <= 1;
  // What isn't known yet isn't worth knowing.
  const bool known = engine_ != Engine::automatic || costs_[what.number()];
  const plan::NativeCost* const cost = known ? cost_of(what) : nullptr;
  return cost && lanes <= cost->most_alone;
}

template <class Real>
NativePoint<Real>* Machine<Real>::native_point(plan::Evaluation what, const NativeBatch<Real>& batch,
                                               const Pass<Real>& pass) {
  if (!native_allowed() || pass.samples == 0 || !few_lanes(what, pass)) return nullptr;
  auto& native = points_[what.number()];
  if (!native.runner) {
    if (!worth_making(native, what, pass)) return nullptr;
    native.runner = std::make_unique<NativePoint<Real>>(data_, isa_, what, batch, room_for_native());
  }
  if (!native.runner->why_not().empty()) return nullptr;
  if (has_budget()) {
    if (const std::size_t needed = needed_ + native_bytes(); needed > budget_) {
      give_up_native(needed);
      return nullptr;
    }
  } else if (!uniform_.any()) {
    whole_point_[what.number()] = native.runner.get();
  }
  return native.runner.get();
}

template <class Real>
bool Machine<Real>::has_room_for(const NativeRunner<Real>& runner, const Pass<Real>& pass) {
  if (!has_budget()) return true;
  // The interpreter's workspaces have to be there too: it does the blocks that machine code leaves.
  const Cut cut = this->cut(pass);
  const std::size_t needed = needed_ + native_bytes() - runner.bytes() + runner.bytes_with(cut.workers, cut.width);
  if (needed <= budget_) return true;
  give_up_native(needed);
  return false;
}

template <class Real>
std::string Machine<Real>::engine() const {
  if (engine_ == Engine::interpreter) return "interpreter";
  if (!native_target(isa_))
    return "interpreter: native code is for avx2 and avx512, this is " + std::string(name(isa_));
  if (!over_budget_.empty()) return "interpreter: " + over_budget_;
  std::string why_not = "too few samples so far for native code";
  bool any = false;
  each_native([&](const auto& native) {
    if (!native.runner) {
      if (native.refused || native.worth_from == plan::NativeCost::never)
        why_not = "native code would not pay (Program::describe)";
    } else if (native.runner->why_not().empty()) {
      any = true;
    } else {
      why_not = native.runner->why_not();
    }
  });
  return any ? "native: " + std::string(name(isa_)) : "interpreter: " + why_not;
}

template <class Real>
std::size_t Machine<Real>::bytes() const {
  std::size_t sum = native_bytes() + uniform_.bytes() + reduction_.bytes();
  for (const Workspace<Real>& workspace : workers_) sum += workspace.bytes();
  return sum;
}

template class Machine<double>;
template class Machine<float>;

}  // namespace wengert
