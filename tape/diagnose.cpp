// Where numbers stop being finite.
#include "wengert/diagnose.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "tape/lane_replay.hpp"
#include "tape/program.hpp"
#include "tape/records.hpp"
#include "tape/transfer.hpp"

namespace wengert {
namespace {

std::string shortest(double number) {
  char buffer[32];
  return {buffer, std::to_chars(std::begin(buffer), std::end(buffer), number).ptr};
}

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

/// Values and adjoints of one evaluation, variable by variable.
template <class Real>
struct Sample {
  std::size_t number;
  const Real *values, *adjoints;
  std::size_t stride;

  Real value(Id id) const { return values[id * stride]; }
  Real adjoint(Id id) const { return adjoints[id * stride]; }
};

template <class Real>
class Search {
 public:
  /// `differentiated`: ascending.
  Search(const NaiveTape<Real>& tape, std::span<const Id> differentiated)
      : labels_(tape.labels()), view_(tape.view()), zero_rule_(tape.zero_rule()), watched_(view_.values.size(), 0) {
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

  /// Looks for what isn't found yet.
  void look(const Sample<Real>& sample, Diagnosis& found) const {
    const Id variables = static_cast<Id>(watched_.size());
    if (!found.value)
      for (Id id = 0; id < variables; ++id)
        if ((watched_[id] & value) && !std::isfinite(sample.value(id))) {
          found.value = describe(sample, id, static_cast<double>(sample.value(id)));
          if (const OpRecord* const record = op_of(id)) found.value->operands = list(sample, *record);
          break;
        }
    if (!found.adjoint && sample.adjoints)
      for (Id id = variables; id-- > 0;)
        if ((watched_[id] & adjoint) && !std::isfinite(sample.adjoint(id))) {
          found.adjoint = describe(sample, id, static_cast<double>(sample.adjoint(id)));
          blame(sample, *found.adjoint);
          break;
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
    for (Id id : operands_of(view_, record)) all.push_back({id, labels_.of(id), static_cast<double>(sample.value(id))});
    return all;
  }

  /// Finds the op, in the order of the sweep, whose contribution to the adjoint isn't finite. Those of what uses the variable
  /// are finite, or they would have been found before it.
  void blame(const Sample<Real>& sample, NonFinite& found) const {
    for (std::size_t k = view_.ops.size(); k-- > 0 && view_.ops[k].out > found.id;) {
      const OpRecord& record = view_.ops[k];
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
  std::vector<std::uint8_t> watched_;
};

}  // namespace

std::string Diagnosis::describe() const {
  if (clean()) return "every value and every adjoint is finite\n";
  std::string text;
  const auto begin = [](const NonFinite& found) { return "sample " + std::to_string(found.sample) + ": "; };
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
  Diagnosis found;
  Search<Real>(tape, view.inputs).look({0, view.values.data(), adjoints.data(), 1}, found);
  return found;
}

template <class Real>
Diagnosis diagnose(const Program<Real>& program, std::size_t samples, Samples<const std::type_identity_t<Real>> inputs,
                   std::span<const std::type_identity_t<Real>> parameters) {
  const plan::Source<Real>& source = program.data().source;
  if (!program.data().gradient.terms.empty())
    throw Error(
        ErrorCode::unsupported,
        "diagnose looks at samples one by one, and this program sums over them; diagnose a program whose output "
        "is what is summed");
  if (!parameters.empty() && parameters.size() != source.parameters.size())
    throw Error(ErrorCode::bad_size, "diagnose is given " + std::to_string(parameters.size()) + " values for " +
                                         std::to_string(source.parameters.size()) + " parameters");
  const NaiveTape<Real> tape = plan::record(source, program.data().zero_rule);
  std::vector<Id> differentiated = source.differentiated;
  std::sort(differentiated.begin(), differentiated.end());
  const Search<Real> search(tape, differentiated);
  LaneReplay<Real> replay(tape, default_isa());
  std::vector<Seed<Real>> seeds;
  for (Id id : source.outputs) seeds.push_back({id, Real(1)});

  const std::size_t lanes = replay.lanes();
  std::vector<Real> columns(source.inputs.size() * lanes);
  Diagnosis found;
  for (std::size_t first = 0; first < samples && !search.done(found); first += lanes) {
    const std::size_t count = std::min(lanes, samples - first);
    for (std::size_t i = 0, item = 0, p = 0; i < source.inputs.size(); ++i) {
      Real* const column = columns.data() + i * lanes;
      if (p < source.parameters.size() && source.parameters[p] == i) {
        std::fill_n(column, count, parameters.empty() ? source.inputs[i] : parameters[p]);
        ++p;
      } else {
        for (std::size_t e = 0; e < count; ++e) column[e] = *place(inputs, first + e, item);
        ++item;
      }
    }
    replay.load(columns.data(), lanes, count);
    replay.forward();
    replay.backward(seeds);
    for (std::size_t e = 0; e < count && !search.done(found); ++e)
      search.look({first + e, replay.values(0) + e, replay.adjoints(0) + e, lanes}, found);
  }
  return found;
}

template Diagnosis diagnose(const Program<double>&, std::size_t, Samples<const double>, std::span<const double>);
template Diagnosis diagnose(const Program<float>&, std::size_t, Samples<const float>, std::span<const float>);
template Diagnosis diagnose(const NaiveTape<double>&);
template Diagnosis diagnose(const NaiveTape<float>&);

}  // namespace wengert
