// Guards as ops: how many of them, in the order recorded, came out as recorded before the first that didn't. So the passes
// and the kernels know nothing of guards, and the first one that failed is a number that any backend computes.
#include <algorithm>
#include <string>

#include "tape/compile.hpp"
#include "tape/guards.hpp"
#include "tape/records.hpp"
#include "wengert/error.hpp"

namespace wengert::plan {
namespace {

/// Whether each variable differs between samples: it depends on an input other than a parameter, and not through a sum over
/// the samples alone.
template <class Real>
std::vector<std::uint8_t> varying_variables(const TapeView<Real>& tape) {
  std::vector<std::uint8_t> varying(tape.values.size(), 0);
  for (Id id : tape.inputs) varying[id] = 1;
  for (Id id : tape.parameters) varying[id] = 0;
  for (const OpRecord& record : tape.ops) {
    if (record.op == Op::sum_samples) continue;
    std::uint8_t any = 0;
    for (Id id : operands_of(tape, record)) any |= varying[id];
    for (Id j = 0; j < outputs_of(tape, record); ++j) varying[record.out + j] = any;
  }
  return varying;
}

/// Whether a variable is 1 or 0: the result of an op that answers a question, which are those without any slope.
template <class Real>
bool is_truth(const TapeView<Real>& tape, Id id) {
  const std::uint8_t op = decider(tape, id);
  if (op == op_count) return false;
  const int arity = info(static_cast<Op>(op)).arity;
  bool slope = arity == 0;
  for (int k = 0; k < arity; ++k) slope |= has_slope(static_cast<Op>(op), static_cast<std::size_t>(k));
  return !slope;
}

/// Guards of samples whose conditions are kept to the end of a block: they take a slot each.
constexpr std::size_t most_conditions = 16;

/// 1 for each guard up to the first that comes out otherwise, then 0: their sum. `no_id` where there are none.
template <class Real>
Id passed(NaiveTape<Real>& tape, const std::vector<Guard>& guards) {
  if (guards.empty()) return no_id;
  const Id one = tape.constant(1), zero = tape.constant(0);
  std::vector<Id> passes;
  passes.reserve(guards.size());
  Id so_far = one;
  for (const Guard& guard : guards) {
    if (passes.empty() && guard.outcome && is_truth(tape.view(), guard.condition)) so_far = guard.condition;
    else
      so_far = guard.outcome ? tape.select(guard.condition, so_far, zero) : tape.select(guard.condition, zero, so_far);
    passes.push_back(so_far);
  }
  return tape.sum(passes);
}

/// Of conditions that are 1 or 0: those that came out true minus those that came out false.
template <class Real>
GuardCheck sum_of(NaiveTape<Real>& tape, const std::vector<Guard>& guards) {
  GuardCheck check;
  std::vector<Id> of[2];
  for (const Guard& guard : guards) {
    check.conditions.push_back(guard.condition);
    of[guard.outcome].push_back(guard.condition);
  }
  const auto sum = [&](const std::vector<Id>& ids) { return ids.size() == 1 ? ids[0] : tape.sum(ids); };
  check.wanted = static_cast<std::uint32_t>(of[1].size());
  if (!of[1].empty()) check.sum = sum(of[1]);
  if (!of[0].empty()) check.sum = of[1].empty() ? sum(of[0]) : tape.sub(check.sum, sum(of[0]));
  return check;
}

}  // namespace

template <class Real>
GuardCounts lower_guards(NaiveTape<Real>& tape) {
  const TapeView<Real> view = tape.view();
  const std::size_t ops = view.ops.size();
  constexpr std::size_t most = std::size_t(1) << 24;  // what a float counts to
  if (view.guards.size() > most)
    throw Error(ErrorCode::out_of_ids, "compile of a tape with " + std::to_string(view.guards.size()) +
                                           " guards: a program checks at most " + std::to_string(most) +
                                           "; CompileOptions::guards = false leaves them out");
  bool uniform = !view.parameters.empty();
  for (const OpRecord& record : view.ops) uniform |= record.op == Op::sum_samples;
  const std::vector<std::uint8_t> varying = uniform ? varying_variables(view) : std::vector<std::uint8_t>();
  std::vector<Guard> of_samples, of_batch;
  for (const Guard& guard : view.guards)
    (uniform && !varying[guard.condition] ? of_batch : of_samples).push_back(guard);
  GuardCounts counts;
  counts.first_op_id = static_cast<Id>(tape.size());
  const bool kept = of_samples.size() <= most_conditions &&
                    std::all_of(of_samples.begin(), of_samples.end(),
                                [&](const Guard& guard) { return is_truth(view, guard.condition); });
  if (kept) counts.samples = sum_of(tape, of_samples);
  else counts.samples = {passed(tape, of_samples), static_cast<std::uint32_t>(of_samples.size()), {}};
  counts.batch = passed(tape, of_batch);
  counts.ops = tape.view().ops.size() - ops;
  counts.of_samples = of_samples.size();
  counts.guards = std::move(of_samples);
  counts.guards.insert(counts.guards.end(), of_batch.begin(), of_batch.end());
  return counts;
}

template GuardCounts lower_guards(NaiveTape<double>&);
template GuardCounts lower_guards(NaiveTape<float>&);

}  // namespace wengert::plan
