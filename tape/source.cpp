#include "tape/source.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tape/compile.hpp"
#include "tape/guards.hpp"
#include "tape/records.hpp"

namespace wengert::plan {

namespace {

/// Labels under the new numbers, `places`. Scopes are those of ops; an input or constant has all of its name.
template <class Real>
wengert::detail::Labels labels_of(const NaiveTape<Real>& recorded, const LargeVector<Id>& places, Id first_result) {
  using wengert::detail::Labels;
  const Labels& labels = recorded.labels();
  std::vector<Labels::Name> names;
  for (const Labels::Name& name : labels.names())
    if (const Id place = places[name.id]; place != no_id)
      names.push_back({place, place < first_result ? labels.of(name.id) : name.text});
  std::sort(names.begin(), names.end(), [](const Labels::Name& a, const Labels::Name& b) { return a.id < b.id; });
  if (labels.stretches().empty()) return {std::move(names), {}};

  // Where the results of ops from `id` on begin now.
  const std::size_t variables = places.size();
  LargeVector<Id> from(variables + 1, no_id);
  for (Id id = static_cast<Id>(variables); id-- > 0;)
    from[id] = places[id] != no_id && places[id] >= first_result ? places[id] : from[id + 1];
  Id end = first_result;
  for (Id place : places)
    if (place != no_id) end = std::max(end, place + 1);
  const auto begin_of = [&](Id id) { return id >= variables || from[id] == no_id ? end : from[id]; };
  std::vector<Labels::Stretch> stretches;
  for (const Labels::Stretch& s : labels.stretches())
    stretches.push_back({begin_of(s.begin), begin_of(s.end), s.parent, s.text});
  return {std::move(names), std::move(stretches)};
}

}  // namespace

template <class Real>
Source<Real> source_of(const NaiveTape<Real>& recorded, const Simplified& simplified, std::span<const Id> outputs,
                       std::span<const Id> differentiated, const Guards& guards) {
  const TapeView<Real> tape = recorded.view();
  const auto kept = [&](Id id) { return simplified.is(id, Simplified::live); };
  Source<Real> source;
  LargeVector<Id> place(tape.values.size(), no_id);
  Id next = 0;
  source.inputs.reserve(tape.inputs.size());
  for (Id id : tape.inputs) {
    place[id] = next++;
    source.inputs.push_back(tape.values[id]);
  }
  for (Id id : tape.parameters) source.parameters.push_back(place[id]);
  for (Id id : tape.constants) {
    if (!kept(id)) continue;
    place[id] = next++;
    source.constants.push_back(tape.values[id]);
  }
  // Counted first: the list is kept for as long as the program is.
  std::size_t words = 0;
  for (const OpRecord& record : tape.ops)
    if (kept(record.out))
      words += 1 + (record.op == op_call) + (arity_of(record.op) == 0) + operands_of(tape, record).size();
  source.words.reserve(words);
  for (const OpRecord& record : tape.ops) {
    if (!kept(record.out)) continue;
    ++source.ops;
    for (Id j = 0; j < outputs_of(tape, record); ++j) place[record.out + j] = next++;
    source.words.push_back(static_cast<std::uint32_t>(record.op));
    const Operands operands = operands_of(tape, record);
    if (record.op == op_call) {
      source.words.push_back(static_cast<std::uint32_t>(source.rules.size()));
      source.rules.push_back(tape.calls[record.c].rule);
    }
    if (arity_of(record.op) == 0) source.words.push_back(static_cast<std::uint32_t>(operands.size()));
    for (Id id : operands) source.words.push_back(place[id]);
  }
  if (!recorded.labels().empty())
    source.labels = labels_of(recorded, place, static_cast<Id>(source.inputs.size() + source.constants.size()));
  for (Id id : outputs) source.outputs.push_back(place[id]);
  for (Id id : differentiated) source.differentiated.push_back(place[id]);
  // Names are copied: the library that they are in may go.
  std::unordered_map<const char*, std::uint32_t> files;
  source.guards.reserve(guards.all.size());
  for (const Guard& guard : guards.all) {
    const auto [file, is_new] = files.try_emplace(guard.file, static_cast<std::uint32_t>(source.files.size()));
    if (is_new) source.files.emplace_back(guard.file);
    source.guards.push_back(
        {place[guard.condition], file->second, guard.line, decider(tape, guard.condition), guard.outcome});
  }
  return source;
}

template <class Real>
NaiveTape<Real> record(const Source<Real>& source, ZeroRule zero_rule) {
  NaiveTape<Real> tape;
  tape.set_zero_rule(zero_rule);
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < source.inputs.size(); ++i) {
    if (parameter < source.parameters.size() && source.parameters[parameter] == i) {
      tape.parameter(source.inputs[i]);
      ++parameter;
    } else {
      tape.input(source.inputs[i]);
    }
  }
  for (Real constant : source.constants) tape.constant(constant);
  const std::uint32_t* word = source.words.data();
  for (std::size_t k = 0; k < source.ops; ++k) {
    const Op op = static_cast<Op>(*word++);
    const std::uint32_t rule = op == op_call ? *word++ : 0;
    const std::size_t operands = arity_of(op) == 0 ? *word++ : static_cast<std::size_t>(arity_of(op));
    if (op == op_call) tape.call(source.rules[rule], {word, operands});
    else tape.record(op, {word, operands});
    word += operands;
  }
  tape.set_labels(source.labels);
  for (const auto& guard : source.guards)
    tape.guard({guard.condition, guard.outcome, guard.line, source.files[guard.file].c_str()});
  return tape;
}

template Source<double> source_of(const NaiveTape<double>&, const Simplified&, std::span<const Id>, std::span<const Id>,
                                  const Guards&);
template Source<float> source_of(const NaiveTape<float>&, const Simplified&, std::span<const Id>, std::span<const Id>,
                                 const Guards&);
template NaiveTape<double> record(const Source<double>&, ZeroRule);
template NaiveTape<float> record(const Source<float>&, ZeroRule);

}  // namespace wengert::plan
