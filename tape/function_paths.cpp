#include "tape/function_paths.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "tape/cores.hpp"
#include "tape/program.hpp"
#include "tape/records.hpp"
#include "tape/transfer.hpp"
#include "wengert/error.hpp"

namespace wengert {
namespace {

/// Samples of a group that are gathered, evaluated and scattered at a time: enough for all cores, few enough for the caches.
constexpr std::size_t most_samples = std::size_t(1) << 14, most_numbers = std::size_t(1) << 22;

[[noreturn]] void no_function() {
  throw Error(
      ErrorCode::bad_argument,
      "the code of this Function took another path when it was called again with the same inputs: it may depend "
      "on its inputs only, and not on value(x)");
}

}  // namespace

template <class Real>
FunctionPaths<Real>::FunctionPaths(std::size_t inputs, Record record, const FunctionOptions& options)
    : inputs_(inputs), record_(std::move(record)), options_(options) {
  if (inputs >= no_id)
    throw Error(ErrorCode::out_of_ids, "a Function of " + std::to_string(inputs) + " inputs: a tape has at most " +
                                           std::to_string(no_id - 1) + " variables");
  if (options_.most_paths == 0)
    throw Error(ErrorCode::bad_argument, "a Function that keeps no paths; FunctionOptions::most_paths is at least 1");
  ReplayOptions& replay = options_.replay;
  replay.report_departures = true;
  replay.threads = wanted_threads(replay.threads);
  if (replay.threads > 1 && !replay.parallel_for) {
    pool_.reset(new WorkerPool(replay.threads));
    replay.parallel_for = [pool = pool_.get()](std::size_t count, const WorkerPool::Body& body) {
      pool->run(count, body);
    };
  }
  tape_.set_zero_rule(options_.zero_rule);
}

template <class Real>
FunctionStatistics FunctionPaths<Real>::statistics() const {
  FunctionStatistics s = statistics_;
  s.paths = paths_.size();
  for (const auto& path : paths_) s.bytes += path->replay.program().statistics().bytes + path->replay.bytes();
  return s;
}

template <class Real>
void FunctionPaths<Real>::clear() {
  const InUse in_use = use();
  paths_.clear();
  planted_ = true;
}

template <class Real>
void FunctionPaths<Real>::prepare(std::size_t samples, Samples<const Real> inputs) {
  need("inputs", samples, inputs_, inputs);
  const InUse in_use = use();
  if (!planted_) plant();
  if (samples != 0 && paths_.empty()) record(inputs, 0);
}

template <class Real>
void FunctionPaths<Real>::run_code(std::span<const Var<Real>> inputs, std::vector<Var<Real>>& outputs) {
  record_(inputs, outputs);
  const TapeView<Real> tape = tape_.view();
  if (tape.inputs.size() != inputs_ || !tape.parameters.empty())
    throw Error(
        ErrorCode::bad_argument,
        "the code of this Function changed which inputs or parameters the tape of its arguments has, of which " +
            std::to_string(inputs_) + " are its own; pass it what varies, and take numbers for what doesn't");
}

/// Calls the code at a sample, and keeps the path that it takes.
template <class Real>
std::shared_ptr<typename FunctionPaths<Real>::Path> FunctionPaths<Real>::record(Samples<const Real> inputs,
                                                                                std::size_t sample) {
  if (paths_.size() >= options_.most_paths && options_.when_full == WhenFull::refuse)
    throw Error(ErrorCode::too_many_paths,
                "sample " + std::to_string(sample) + " takes a path of its own, and this Function keeps " +
                    std::to_string(options_.most_paths) +
                    " already; raise FunctionOptions::most_paths, let it forget paths (WhenFull::forget), or use "
                    "select for branches that don't need to be one");
  tape_.clear();
  std::vector<Var<Real>> x, y;
  for (std::size_t i = 0; i < inputs_; ++i) x.push_back(input(tape_, *place(inputs, sample, i)));
  ++statistics_.recorded;
  run_code(x, y);
  if (outputs_ != 0 && y.size() != outputs_)
    throw Error(ErrorCode::bad_size, "the code of this Function returns " + std::to_string(y.size()) +
                                         " outputs for sample " + std::to_string(sample) + ", and returned " +
                                         std::to_string(outputs_) + " before");
  std::vector<Id> ids;
  for (const Var<Real>& output : y) ids.push_back(output.place(tape_));
  Program<Real> program = compile(tape_, std::span<const Id>(ids));
  if (!program.data().uniform.sums.empty() || program.uniform_outputs() != 0)
    throw Error(ErrorCode::unsupported, "a Function of sums over samples: paths are chosen sample by sample");
  auto path = std::make_shared<Path>(Replay<Real>(std::move(program), options_.replay));

  const TapeView<Real> view = tape_.view();
  path->turns.reserve(view.guards.size());
  for (const Guard& guard : view.guards) {
    const auto op = std::lower_bound(view.ops.begin(), view.ops.end(), guard.condition,
                                     [](const OpRecord& record, Id id) { return record.out < id; });
    const bool compares = op != view.ops.end() && op->out == guard.condition && arity_of(op->op) == 2 &&
                          std::binary_search(view.constants.begin(), view.constants.end(), op->b);
    path->turns.push_back({guard.outcome, compares ? view.values[op->b] : Real(0)});
  }
  make_room();
  path->last_used = ++clock_;
  paths_.reserve(paths_.size() + 1);
  if (!paths_.empty()) insert(*path);
  paths_.push_back(path);
  outputs_ = ids.size();
  return path;
}

/// Forgets the path that was used the longest time ago, if there is no room for one more.
template <class Real>
void FunctionPaths<Real>::make_room() {
  if (paths_.size() < options_.most_paths) return;
  const auto oldest = std::min_element(paths_.begin(), paths_.end(),
                                       [](const auto& a, const auto& b) { return a->last_used < b->last_used; });
  paths_.erase(oldest);
  ++statistics_.forgotten;
  plant();
}

/// Finds a path's place in the tree. Two paths of one function differ at some guard.
template <class Real>
void FunctionPaths<Real>::insert(Path& path) {
  const auto alike = [](const Turn& a, const Turn& b) {
    using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
    return a.outcome == b.outcome && std::bit_cast<Bits>(a.constant) == std::bit_cast<Bits>(b.constant);
  };
  for (Path* at = paths_.front().get();;) {
    const auto [ours, its] =
        std::mismatch(at->turns.begin(), at->turns.end(), path.turns.begin(), path.turns.end(), alike);
    if (ours == at->turns.end() || its == path.turns.end()) no_function();
    Path*& next = at->next[static_cast<std::size_t>(ours - at->turns.begin())];
    if (!next) {
      next = &path;
      return;
    }
    at = next;
  }
}

/// Makes the tree anew, paths that serve many samples first: a sample of theirs needs fewest tries.
template <class Real>
void FunctionPaths<Real>::plant() {
  planted_ = false;
  ++tree_;
  std::stable_sort(paths_.begin(), paths_.end(), [](const auto& a, const auto& b) { return a->served > b->served; });
  for (const auto& path : paths_) path->next.clear();
  for (std::size_t k = 1; k < paths_.size(); ++k) insert(*paths_[k]);
  planted_ = true;
}

template <class Real>
std::shared_ptr<typename FunctionPaths<Real>::Path> FunctionPaths<Real>::shared(const Path* path) const {
  return *std::find_if(paths_.begin(), paths_.end(), [&](const auto& p) { return p.get() == path; });
}

/// After `count` samples were evaluated on a path: those that left it, by guard. `samples`: which they are, if not all.
template <class Real>
void FunctionPaths<Real>::sort_out(const std::shared_ptr<Path>& path, std::span<const std::size_t> samples,
                                   std::size_t count, std::vector<Group>& groups) {
  const std::span<const Departure> departures = path->replay.departures();
  if (departures.size() < count) {
    path->served += count - departures.size();
    path->last_used = ++clock_;
  }
  statistics_.repeated += departures.size();
  if (departures.empty()) return;
  std::unordered_map<std::size_t, std::size_t> group_of;
  for (const Departure& departure : departures) {
    const auto [group, is_new] = group_of.try_emplace(departure.guard, groups.size());
    if (is_new) groups.push_back({path, departure.guard, tree_, {}});
    groups[group->second].samples.push_back(samples.empty() ? departure.sample : samples[departure.sample]);
  }
}

template <class Real>
void FunctionPaths<Real>::run(std::size_t samples, const In& in, const Out& out, const Call& call) {
  if (samples == 0) return;
  const InUse in_use = use();
  statistics_.samples += samples;
  std::vector<Group> groups;
  const std::shared_ptr<Path> root = paths_.front();
  call(root->replay, samples, in, out);
  sort_out(root, {}, samples, groups);
  while (!groups.empty()) {
    const Group group = std::move(groups.back());
    groups.pop_back();
    run_group(group, in, out, call, groups);
  }
  const auto best = std::max_element(paths_.begin(), paths_.end(),
                                     [](const auto& a, const auto& b) { return a->served < b->served; });
  if ((*best)->served > 2 * paths_.front()->served + 64) plant();
}

template <class Real>
void FunctionPaths<Real>::run_group(const Group& group, const In& in, const Out& out, const Call& call,
                                    std::vector<Group>& groups) {
  std::shared_ptr<Path> path;
  bool is_new = false;
  if (group.tree != tree_) {
    path = paths_.front();
  } else if (const auto next = group.from->next.find(group.guard); next != group.from->next.end()) {
    path = shared(next->second);
  } else {
    path = record(in[0].samples, group.samples.front());
    is_new = true;
  }

  std::size_t each = 0;  // numbers of a sample
  for (const auto& table : in) each += table.samples.data ? table.items : 0;
  for (const auto& table : out) each += table.samples.data ? table.items : 0;
  const std::size_t piece = std::clamp(most_numbers / std::max<std::size_t>(each, 1), std::size_t(1), most_samples);
  numbers_.resize(std::max(numbers_.size(), each * std::min(piece, group.samples.size())));
  for (std::size_t first = 0; first < group.samples.size(); first += piece) {
    const std::span<const std::size_t> which =
        std::span(group.samples).subspan(first, std::min(piece, group.samples.size() - first));
    const std::size_t n = which.size();
    Real* free = numbers_.data();
    const auto take = [&](const auto& table) {
      if (!table.samples.data) return Samples<Real>();
      return columns(std::exchange(free, free + n * table.items), n);
    };
    In from;
    for (const auto& table : in) {
      const Samples<Real> copy = take(table);
      if (copy.data)
        for (std::size_t i = 0; i < table.items; ++i)
          for (std::size_t e = 0; e < n; ++e) *place(copy, e, i) = *place(table.samples, which[e], i);
      from.push_back({copy, table.items});
    }
    Out to;
    for (const auto& table : out) to.push_back({take(table), table.items});
    call(path->replay, n, from, to);
    for (std::size_t t = 0; t < out.size(); ++t) {
      if (!out[t].samples.data) continue;
      for (std::size_t i = 0; i < out[t].items; ++i)
        for (std::size_t e = 0; e < n; ++e) *place(out[t].samples, which[e], i) = *place(to[t].samples, e, i);
    }
    const std::span<const Departure> departures = path->replay.departures();
    if (is_new && first == 0 && !departures.empty() && departures.front().sample == 0) no_function();
    sort_out(path, which, n, groups);
  }
}

template class FunctionPaths<double>;
template class FunctionPaths<float>;

}  // namespace wengert
