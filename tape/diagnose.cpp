// Where numbers stop being finite.
#include "wengert/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tape/lane_replay.hpp"
#include "tape/program.hpp"
#include "tape/records.hpp"
#include "tape/reduction.hpp"
#include "tape/show.hpp"
#include "tape/transfer.hpp"

namespace wengert {
namespace {

std::string id_and_name(Id id, const std::string& name) {
  return "id " + std::to_string(id) + (name.empty() ? "" : ", " + name);
}

/// " of id 3 (x) = 0, id 4 = 1"
std::string operands_of(const NonFinite& found) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t k = 0; k < found.operands.size() && k < most; ++k) {
    const NonFinite::Operand& operand = found.operands[k];
    text += (k == 0 ? " of " : ", ") + ("id " + std::to_string(operand.id)) +
            (operand.name.empty() ? "" : " (" + operand.name + ")") + " = " + shortest(operand.value);
  }
  if (found.operands.size() > most) text += ", ... (" + std::to_string(found.operands.size()) + " operands)";
  return text;
}

/// When a variable is computed.
enum Phase : std::uint8_t { before = 1, in_sample = 2, after = 4 };  // before all samples; in each; from sums over them

template <class Real>
std::vector<Phase> phases_of(const TapeView<Real>& tape) {
  std::vector<Phase> phase(tape.values.size(), before);
  for (Id id : tape.inputs) phase[id] = in_sample;
  for (Id id : tape.parameters) phase[id] = before;
  for (const OpRecord& record : tape.ops) {
    Phase when = before;
    for (Id id : operands_of(tape, record)) when = std::max(when, phase[id]);
    for (Id j = 0; j < outputs_of(tape, record); ++j)
      phase[record.out + j] = record.op == Op::sum_samples ? after : when;
  }
  return phase;
}

/// A tape of the same ids that has only the ops which are to be kept; what the others compute are inputs.
template <class Real, class Keep>
NaiveTape<Real> part_of(const NaiveTape<Real>& tape, const Keep& keep) {
  const TapeView<Real> view = tape.view();
  NaiveTape<Real> part;
  part.set_zero_rule(tape.zero_rule());
  const auto inputs_until = [&](Id end) {
    for (Id id = static_cast<Id>(part.size()); id < end; ++id)
      if (std::binary_search(view.constants.begin(), view.constants.end(), id)) part.constant(view.values[id]);
      else part.input(view.values[id]);
  };
  for (const OpRecord& record : view.ops) {
    if (!keep(record)) continue;
    inputs_until(record.out);
    const Operands operands = operands_of(view, record);
    const std::span<const Id> ids(operands.begin(), operands.size());
    if (record.op == op_call) part.call(view.calls[record.c].rule, ids);
    else part.record(record.op, ids);
  }
  inputs_until(static_cast<Id>(view.values.size()));
  return part;
}

/// Values and adjoints of one evaluation, or of what there is once per batch, variable by variable.
template <class Real>
struct Sample {
  std::size_t number;
  const Real *values, *adjoints;
  std::size_t stride;

  Real value(Id id) const { return values[id * stride]; }
  Real adjoint(Id id) const { return adjoints[id * stride]; }
  bool of_batch() const { return number == Departure::every_sample; }
};

template <class Real>
class Search {
 public:
  /// `differentiated`: ascending.
  Search(const NaiveTape<Real>& tape, std::span<const Id> differentiated, std::vector<Phase> phase)
      : labels_(tape.labels()),
        view_(tape.view()),
        zero_rule_(tape.zero_rule()),
        phase_(std::move(phase)),
        watched_(view_.values.size(), 0) {
    for (Id id : view_.inputs) watched_[id] = value;
    for (Id id : differentiated) watched_[id] |= adjoint;
    for (const OpRecord& record : view_.ops) {
      std::uint8_t active = 0;
      const Operands operands = operands_of(view_, record);
      for (std::size_t k = 0; k < operands.size(); ++k)
        if (has_slope(record.op, k)) active |= watched_[operands[k]] & adjoint;
      for (Id j = 0; j < outputs_of(view_, record); ++j) watched_[record.out + j] = value | active;
    }
  }

  bool done(const Diagnosis& found) const { return found.value && found.adjoint; }

  /// Looks for a value, if none is found yet, among variables of these phases; for an adjoint.
  void values(const Sample<Real>& sample, unsigned phases, Diagnosis& found) const {
    if (found.value) return;
    for (Id id = 0; id < watched_.size(); ++id)
      if ((watched_[id] & value) && (phase_[id] & phases) && !std::isfinite(sample.value(id))) {
        found.value = describe(sample, id, static_cast<double>(sample.value(id)));
        if (const OpRecord* const record = op_of(id)) found.value->operands = list(sample, *record);
        return;
      }
  }
  void adjoints(const Sample<Real>& sample, unsigned phases, Diagnosis& found) const {
    if (found.adjoint) return;
    for (Id id = static_cast<Id>(watched_.size()); id-- > 0;)
      if ((watched_[id] & adjoint) && (phase_[id] & phases) && !std::isfinite(sample.adjoint(id))) {
        found.adjoint = describe(sample, id, static_cast<double>(sample.adjoint(id)));
        blame(sample, *found.adjoint);
        return;
      }
  }

 private:
  enum : std::uint8_t { value = 1, adjoint = 2 };

  /// The op that computes a variable; null for inputs and constants.
  const OpRecord* op_of(Id id) const {
    const auto after = std::upper_bound(view_.ops.begin(), view_.ops.end(), id,
                                        [](Id wanted, const OpRecord& record) { return wanted < record.out; });
    if (after == view_.ops.begin()) return nullptr;
    const OpRecord& record = *(after - 1);
    return id - record.out < outputs_of(view_, record) ? &record : nullptr;
  }

  NonFinite describe(const Sample<Real>& sample, Id id, double number) const {
    NonFinite found;
    found.sample = sample.number;
    found.id = id;
    found.name = labels_.of(id);
    const OpRecord* const record = op_of(id);
    found.op = record ? name_of(view_, *record) : "input";
    found.number = number;
    return found;
  }

  std::vector<NonFinite::Operand> list(const Sample<Real>& sample, const OpRecord& record) const {
    std::vector<NonFinite::Operand> all;
    if (sample.of_batch() && record.op == Op::sum_samples) return all;  // another number in each sample
    for (Id id : operands_of(view_, record)) all.push_back({id, labels_.of(id), static_cast<double>(sample.value(id))});
    return all;
  }

  /// Finds the op, in the order of the sweep, whose contribution to the adjoint isn't finite. Those of what uses the variable
  /// are finite, or they would have been found before it.
  void blame(const Sample<Real>& sample, NonFinite& found) const {
    for (std::size_t k = view_.ops.size(); k-- > 0 && view_.ops[k].out > found.id;) {
      const OpRecord& record = view_.ops[k];
      if (sample.of_batch() != (phase_[record.out] != in_sample) || (sample.of_batch() && record.op == Op::sum_samples))
        continue;
      const Operands operands = operands_of(view_, record);
      if (std::find(operands.begin(), operands.end(), found.id) == operands.end()) continue;
      // The op alone, on a tape of its own.
      NaiveTape<Real> alone;
      alone.set_zero_rule(zero_rule_);
      std::vector<Id> inputs;
      for (Id id : operands) inputs.push_back(alone.input(sample.value(id)));
      const Id out =
          record.op == op_call ? alone.call(view_.calls[record.c].rule, inputs) : alone.record(record.op, inputs);
      std::vector<Seed<Real>> seeds;
      for (Id j = 0; j < outputs_of(view_, record); ++j) seeds.push_back({out + j, sample.adjoint(record.out + j)});
      alone.backward(seeds);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i] != found.id || std::isfinite(alone.grad(inputs[i]))) continue;
        found.through = record.out;
        found.through_name = labels_.of(record.out);
        found.through_op = name_of(view_, record);
        found.through_adjoint = static_cast<double>(sample.adjoint(record.out));
        found.operands = list(sample, record);
        return;
      }
    }
  }

  const detail::Labels& labels_;
  TapeView<Real> view_;
  ZeroRule zero_rule_;
  std::vector<Phase> phase_;
  std::vector<std::uint8_t> watched_;
};

/// A program evaluated op by op: what there is once per batch on one tape, what there is for each sample on another, in lanes.
template <class Real>
class Evaluation {
 public:
  Evaluation(const NaiveTape<Real>& tape, const std::vector<Phase>& phase)
      : phase_(phase),
        once_(part_of(tape, [&](const OpRecord& r) { return r.op != Op::sum_samples && phase[r.out] != in_sample; })),
        each_(part_of(tape, [&](const OpRecord& r) { return phase[r.out] == in_sample; })),
        lanes_(each_, default_isa()),
        reduction_(kernels::backend<Real>(lanes_.isa()).sum_of_leaf) {
    for (const OpRecord& record : tape.view().ops)
      if (record.op == Op::sum_samples) sums_.push_back({record.out, record.a});
    for (Id id : each_.view().inputs)
      if (phase[id] == before) shared_.push_back(id);
    columns_.resize(each_.view().inputs.size() * lanes_.lanes());
  }

  struct Sum {
    Id out, term;
  };
  const std::vector<Sum>& sums() const { return sums_; }
  NaiveTape<Real>& once() { return once_; }

  /// Sets an input of every sample, or what a sum came to.
  void set(Id id, Real number) { once_.set_input(id, number); }
  /// What there is once per batch.
  Sample<Real> batch() {
    const TapeView<Real> view = once_.view();
    adjoints_.resize(view.values.size());
    for (Id id = 0; id < adjoints_.size(); ++id) adjoints_[id] = once_.grad(id);
    return {Departure::every_sample, view.values.data(), adjoints_.data(), 1};
  }

  /// Values of all samples, and adjoints where there are `seeds`, until look(sample) says that it has seen enough.
  template <class Look>
  void samples(std::size_t samples, Samples<const Real> inputs, const std::vector<Seed<Real>>* seeds,
               const Look& look) {
    const TapeView<Real> view = each_.view();
    const std::size_t width = lanes_.lanes();
    for (std::size_t i = 0; i < view.inputs.size(); ++i)
      if (phase_[view.inputs[i]] != in_sample)
        std::fill_n(columns_.begin() + static_cast<std::ptrdiff_t>(i * width), width, once_.value(view.inputs[i]));
    reduction_.prepare(seeds ? shared_.size() : sums_.size(), samples, 1, 1);
    for (std::size_t first = 0; first < samples; first += width) {
      const std::size_t count = std::min(width, samples - first);
      for (std::size_t i = 0, item = 0; i < view.inputs.size(); ++i) {
        if (phase_[view.inputs[i]] != in_sample) continue;
        for (std::size_t e = 0; e < count; ++e) columns_[i * width + e] = *place(inputs, first + e, item);
        ++item;
      }
      lanes_.load(columns_.data(), width, count);
      lanes_.forward();
      if (seeds) lanes_.backward(*seeds);
      for (std::size_t e = 0; e < count; ++e)
        if (!look(Sample<Real>{first + e, lanes_.values(0) + e, lanes_.adjoints(0) + e, width})) return;
      reduction_.add(0, {first, count, 1}, (first + count) % Reduction<Real>::group == 0 || first + count == samples,
                     [&](std::size_t q) { return seeds ? lanes_.adjoints(shared_[q]) : lanes_.values(sums_[q].term); });
    }
  }
  /// Of the last `samples`, which wasn't stopped: without seeds the sums, each as an input of what follows; with seeds the
  /// adjoints of what all samples share.
  void take_sums() {
    const std::span<const Real> totals = reduction_.finish();
    for (std::size_t q = 0; q < sums_.size(); ++q) once_.set_input(sums_[q].out, totals[q]);
  }
  void add_totals(std::vector<Seed<Real>>& seeds) {
    const std::span<const Real> totals = reduction_.finish();
    for (std::size_t q = 0; q < shared_.size(); ++q) seeds.push_back({shared_[q], totals[q]});
  }

 private:
  const std::vector<Phase>& phase_;
  NaiveTape<Real> once_, each_;
  LaneReplay<Real> lanes_;
  Reduction<Real> reduction_;
  std::vector<Sum> sums_;
  std::vector<Id> shared_;  // variables of the batch that samples may use
  std::vector<Real> columns_, adjoints_;
};

}  // namespace

std::string Diagnosis::describe() const {
  if (clean()) return "every value and every adjoint is finite\n";
  std::string text;
  const auto begin = [](const NonFinite& found) {
    return found.sample == Departure::every_sample ? std::string("the batch: ")
                                                   : "sample " + std::to_string(found.sample) + ": ";
  };
  if (value)
    text += begin(*value) + value->op + " (" + id_and_name(value->id, value->name) + ") is " + shortest(value->number) +
            (value->operands.empty() ? "" : "," + operands_of(*value)) + "\n";
  if (adjoint) {
    text += begin(*adjoint) + "the adjoint of " + adjoint->op + " (" + id_and_name(adjoint->id, adjoint->name) +
            ") is " + shortest(adjoint->number);
    if (adjoint->through == no_id) text += ", the sum of what several ops contribute\n";
    else
      text += ", by " + adjoint->through_op + " (" + id_and_name(adjoint->through, adjoint->through_name) +
              ") with adjoint " + shortest(adjoint->through_adjoint) + "," + operands_of(*adjoint) + "\n";
  }
  return text;
}

template <class Real>
Diagnosis diagnose(const NaiveTape<Real>& tape) {
  const TapeView<Real> view = tape.view();
  std::vector<Real> adjoints(view.values.size());
  for (Id id = 0; id < adjoints.size(); ++id) adjoints[id] = tape.grad(id);
  const Search<Real> search(tape, view.inputs, std::vector<Phase>(view.values.size(), in_sample));
  const Sample<Real> all{0, view.values.data(), adjoints.data(), 1};
  Diagnosis found;
  search.values(all, in_sample, found);
  search.adjoints(all, in_sample, found);
  return found;
}

template <class Real>
Diagnosis diagnose(const Program<Real>& program, std::size_t samples, Samples<const std::type_identity_t<Real>> inputs,
                   std::span<const std::type_identity_t<Real>> parameters) {
  const plan::Source<Real>& source = program.data().source;
  need("inputs", samples, program.inputs(), inputs);
  if (!parameters.empty() && parameters.size() != source.parameters.size())
    throw Error(ErrorCode::bad_size, "diagnose is given " + std::to_string(parameters.size()) + " values for " +
                                         std::to_string(source.parameters.size()) + " parameters");
  const NaiveTape<Real> tape = plan::record(source, program.data().zero_rule);
  std::vector<Id> differentiated = source.differentiated;
  std::sort(differentiated.begin(), differentiated.end());
  const std::vector<Phase> phase = phases_of(tape.view());
  const Search<Real> search(tape, differentiated, phase);
  Evaluation<Real> run(tape, phase);
  std::vector<Seed<Real>> of_batch, of_sample;
  for (Id id : source.outputs) (phase[id] == in_sample ? of_sample : of_batch).push_back({id, Real(1)});

  Diagnosis found;
  for (std::size_t p = 0; p < parameters.size(); ++p) run.set(source.parameters[p], parameters[p]);
  run.once().forward();
  search.values(run.batch(), before, found);
  if (!run.sums().empty()) {
    run.samples(samples, inputs, nullptr, [&](const Sample<Real>& sample) {
      search.values(sample, in_sample, found);
      return true;
    });
    run.take_sums();
    run.once().forward();
    search.values(run.batch(), after, found);
    run.once().backward(of_batch);
    search.adjoints(run.batch(), after, found);
    for (const auto& sum : run.sums()) of_sample.push_back({sum.term, run.once().grad(sum.out)});
  }
  if (search.done(found)) return found;
  run.samples(samples, inputs, &of_sample, [&](const Sample<Real>& sample) {
    search.values(sample, in_sample, found);
    search.adjoints(sample, in_sample | before, found);  // what the sample adds to that of what comes before
    return !search.done(found);
  });
  if (search.done(found)) return found;
  run.add_totals(of_batch);
  run.once().backward(of_batch);
  search.adjoints(run.batch(), before, found);
  return found;
}

template Diagnosis diagnose(const Program<double>&, std::size_t, Samples<const double>, std::span<const double>);
template Diagnosis diagnose(const Program<float>&, std::size_t, Samples<const float>, std::span<const float>);
template Diagnosis diagnose(const NaiveTape<double>&);
template Diagnosis diagnose(const NaiveTape<float>&);

}  // namespace wengert
