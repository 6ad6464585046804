#include "tape/compile.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "tape/records.hpp"
#include "wengert/error.hpp"

namespace wengert {
namespace plan {
namespace {

template <class Real>
std::vector<Id> differentiated_inputs(const TapeView<Real>& tape, const CompileOptions& options) {
  if (!options.differentiated) return {tape.inputs.begin(), tape.inputs.end()};
  std::vector<Id> sorted = *options.differentiated;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const Id id = sorted[k];
    if (!std::binary_search(tape.inputs.begin(), tape.inputs.end(), id))
      throw Error(ErrorCode::not_an_input,
                  "compile is asked for derivatives in id " + std::to_string(id) + ", which is not an input of the tape");
    if (k > 0 && id == sorted[k - 1])
      throw Error(ErrorCode::bad_argument,
                  "compile is asked twice for derivatives in the input " + std::to_string(id) + "; list it once");
  }
  return *options.differentiated;
}

/// The layout of a forward sweep, and its code. Values flagged `kept` are there to stay.
template <class Real>
Code place_forward(const TapeView<Real>& tape, const Simplified& s, const Items& items,
                   std::span<const std::uint32_t> order, std::span<const Id> outputs, bool keep, Slots& slots,
                   Layout<Real>& layout) {
  std::vector<std::uint8_t> read(s.flags.size(), 0);
  const auto mark = [&](ValueId value) {
    if (value < read.size()) read[value] = 1;
  };
  for (const Item& item : items.items)
    for (ValueId value : items.reads(item)) mark(value);
  for (Id id : outputs) mark(s.same[id]);

  // Constants and kept inputs first, then kept results in the order in which they are computed, so that both sweeps walk
  // through memory.
  const auto kept = [&](ValueId value) { return keep && value < s.flags.size() && (s.flags[value] & Simplified::kept); };
  const std::size_t variables = s.flags.size();
  for (Id id = 0; id < variables; ++id)
    if ((s.flags[id] & Simplified::constant) && s.same[id] == id && (read[id] || kept(id)))
      layout.constants.push_back({slots.keep(id), tape.values[id]});
  for (Id id : tape.inputs)
    if (kept(id)) slots.keep(id);
  for (const std::uint32_t position : order)
    for (ValueId value : items.writes(items.items[position]))
      if (kept(value)) slots.keep(value);

  std::vector<ValueId> arriving, pinned;
  for (Id id : tape.inputs)
    if (read[id] || kept(id)) arriving.push_back(id);
  for (Id id : outputs) pinned.push_back(s.same[id]);
  Code code = slots.place(items, order, arriving, pinned);
  for (Id id : tape.inputs) layout.inputs.push_back(read[id] || kept(id) ? slots[id] : no_slot);
  for (Id id : outputs) layout.outputs.push_back(slots[s.same[id]]);
  layout.kept = slots.kept();
  return code;
}

template <class Real>
std::shared_ptr<const ProgramData<Real>> make_program(const NaiveTape<Real>& source, std::span<const Id> outputs,
                                                      const CompileOptions& options) {
  const TapeView<Real> tape = source.view();
  if (outputs.empty()) throw Error(ErrorCode::bad_argument, "compile is asked for no outputs; it takes at least one");
  for (Id id : outputs)
    if (id >= tape.values.size())
      throw Error(ErrorCode::stale_id, "compile is asked for output " + std::to_string(id) + ", but the tape has only " +
                                           std::to_string(tape.values.size()) + " variables");
  const std::vector<Id> differentiated = differentiated_inputs(tape, options);

  auto data = std::make_shared<ProgramData<Real>>();
  data->zero_rule = source.zero_rule();
  Simplified s = simplify(tape, outputs, std::span<const Id>(differentiated));
  Backward backward = lower_backward(tape, s, outputs, std::span<const Id>(differentiated));
  ValueId values = backward.values;
  const Items forward = lower_forward(tape, s, values);

  const std::vector<std::uint32_t> forward_order = schedule(forward, values);
  {
    Slots slots(values);
    data->values_code = place_forward(tape, s, forward, forward_order, outputs, false, slots, data->values);
    data->values.slots = slots.count();
  }
  Slots slots(values);
  data->gradient.constants.push_back({slots.keep(backward.minus_zero), Real(-0.0)});
  slots.keep(backward.waste);
  data->forward = place_forward(tape, s, forward, forward_order, outputs, true, slots, data->gradient);

  std::vector<ValueId> seeds, gradients;
  for (ValueId seed : backward.seeds)
    if (seed != no_value) seeds.push_back(seed);
  for (ValueId gradient : backward.gradients)
    if (gradient != no_value) gradients.push_back(gradient);
  data->backward = slots.place(backward.code, schedule(backward.code, values), seeds, gradients);
  data->gradient.slots = slots.count();
  for (ValueId seed : backward.seeds) data->seeds.push_back(seed == no_value ? no_slot : slots[seed]);
  for (ValueId gradient : backward.gradients) data->gradients.push_back(gradient == no_value ? no_slot : slots[gradient]);

  for (Id id : differentiated)
    data->differentiated.push_back(static_cast<std::uint32_t>(
        std::lower_bound(tape.inputs.begin(), tape.inputs.end(), id) - tape.inputs.begin()));
  for (const OpRecord& record : tape.ops)
    if (info(record.op).arity == 0) data->longest_list = std::max<std::size_t>(data->longest_list, record.b);

  ProgramStatistics& n = data->statistics;
  n.inputs = tape.inputs.size();
  n.outputs = outputs.size();
  n.differentiated = differentiated.size();
  n.recorded_ops = tape.ops.size();
  n.dead_ops = s.dead_ops;
  n.constant_ops = s.constant_ops;
  n.common_ops = s.common_ops;
  n.passive_ops = s.passive_ops;
  n.forward_instructions = data->forward.instructions;
  n.backward_instructions = data->backward.instructions;
  n.forward_runs = data->forward.runs.size();
  n.backward_runs = data->backward.runs.size();
  n.variables = tape.values.size();
  n.value_slots = data->gradient.kept;
  n.working_slots = data->gradient.slots - data->gradient.kept;
  n.slots_for_values = data->values.slots;
  for (const Code* code : {&data->values_code, &data->forward, &data->backward})
    n.bytes += code->words.size() * sizeof(std::uint32_t) + code->runs.size() * (sizeof(Run) + sizeof(std::size_t));
  return data;
}

}  // namespace
}  // namespace plan

template <class Real>
Program<Real> compile(const NaiveTape<Real>& tape, std::span<const Id> outputs, const CompileOptions& options) {
  try {
    return Program<Real>(plan::make_program(tape, outputs, options));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "compiling a tape of " + std::to_string(tape.view().ops.size()) +
                                              " ops takes about " + std::to_string(tape.view().ops.size() * 300) +
                                              " bytes, which can't be had");
  }
}

template <class Real>
const ProgramStatistics& Program<Real>::statistics() const {
  return data_->statistics;
}

template <class Real>
std::string Program<Real>::describe() const {
  const ProgramStatistics& n = statistics();
  const auto s = [](std::size_t x) { return std::to_string(x); };
  return s(n.recorded_ops) + " recorded ops: " + s(n.dead_ops) + " dead, " + s(n.constant_ops) + " constant, " +
         s(n.common_ops) + " repeated, " + s(n.passive_ops) + " without derivatives\n" +
         s(n.forward_instructions) + " forward instructions in " + s(n.forward_runs) + " runs, " +
         s(n.backward_instructions) + " backward in " + s(n.backward_runs) + "\n" +
         s(n.variables) + " variables: " + s(n.value_slots) + " slots for values that backward reads, " +
         s(n.working_slots) + " for adjoints and the rest; values alone take " + s(n.slots_for_values) + "\n" +
         s(n.bytes) + " bytes of instructions\n";
}

template class Program<double>;
template class Program<float>;
template Program<double> compile(const NaiveTape<double>&, std::span<const Id>, const CompileOptions&);
template Program<float> compile(const NaiveTape<float>&, std::span<const Id>, const CompileOptions&);

}  // namespace wengert
