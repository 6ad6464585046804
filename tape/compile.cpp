#include "tape/compile.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "tape/calls.hpp"
#include "tape/guards.hpp"
#include "tape/native_cost.hpp"
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
      throw Error(ErrorCode::not_an_input, "compile is asked for derivatives in id " + std::to_string(id) +
                                               ", which is not an input of the tape");
    if (k > 0 && id == sorted[k - 1])
      throw Error(ErrorCode::bad_argument,
                  "compile is asked twice for derivatives in the input " + std::to_string(id) + "; list it once");
  }
  return *options.differentiated;
}

/// A tape being compiled: the passes in order, and where their results go.
template <class Real>
class Compilation {
 public:
  /// `guards`: those that are to be checked.
  Compilation(const NaiveTape<Real>& source, std::span<const Id> outputs, const std::vector<Id>& differentiated,
              std::span<const Guard> guards)
      : recorded_(source),
        tape_(source.view()),
        outputs_(outputs),
        differentiated_(differentiated),
        recorded_guards_(guards),
        data_(std::make_shared<ProgramData<Real>>()) {
    data_->zero_rule = source.zero_rule();
  }

  std::shared_ptr<const ProgramData<Real>> run() {
    std::vector<Id> roots(outputs_.begin(), outputs_.end());
    for (const Guard& guard : recorded_guards_) roots.push_back(guard.condition);
    s_ = simplify(tape_, std::span<const Id>(roots), std::span<const Id>(differentiated_));
    guards_ = sort_guards(tape_, recorded_guards_, s_, outputs_);
    for (const OpRecord& record : tape_.ops)
      if (s_.sums_samples(record)) sums_.push_back(record.out);
    backward_ = lower_backward(tape_, s_, outputs_, std::span<const Id>(differentiated_),
                               static_cast<std::uint32_t>(sums_.size()));
    values_ = backward_.values;
    places_ = {backward_.minus_zero, values_++};
    const Items body = lower_forward(tape_, s_, guards_, places_, Phase::body, values_),
                prologue = uniform_items(Phase::prologue), epilogue = uniform_items(Phase::epilogue);

    const LargeVector<std::uint32_t> order = schedule(body, values_);
    Slots value_slots(values_), slots(values_), uniform_slots(values_);
    data_->values_code = place_body(body, order, false, value_slots, data_->values);
    keep_zero(slots, data_->gradient);
    slots.keep(backward_.waste);
    data_->forward = place_body(body, order, true, slots, data_->gradient);
    place_backward(slots);
    if (s_.has_uniform) {
      place_uniform(prologue, epilogue, uniform_slots);
      const LargeVector<std::uint8_t> whole = read_in_all_lanes({&body, &backward_.body});
      for (const auto& [layout, in] : {std::pair(&data_->values, &value_slots), std::pair(&data_->gradient, &slots)})
        for (Id id = 0; id < s_.flags.size(); ++id)
          if (s_.uniform(id) && (*in)[id] != no_slot)
            layout->imports.push_back({(*in)[id], uniform_slots[id], !whole[id]});
    }
    finish();
    return std::move(data_);
  }

 private:
  bool parameter(Id id) const { return std::binary_search(tape_.parameters.begin(), tape_.parameters.end(), id); }
  Items uniform_items(Phase phase) {
    return s_.has_uniform ? lower_forward(tape_, s_, guards_, places_, phase, values_) : Items();
  }
  static LargeVector<std::uint32_t> as_it_is(const Items& items) {
    LargeVector<std::uint32_t> order(items.items.size());
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }

  /// Per variable, whether something reads it that doesn't take its first lane for all.
  LargeVector<std::uint8_t> read_in_all_lanes(std::initializer_list<const Items*> codes) const {
    LargeVector<std::uint8_t> whole(s_.flags.size(), 0);
    for (const Items* items : codes) {
      auto special = items->specials.begin();
      for (std::uint32_t position = 0; position < items->items.size(); ++position) {
        const Item& item = items->items[position];
        while (special != items->specials.end() && special->item < position) ++special;
        const std::span<const ValueId> reads = items->reads(item);
        const bool both = item.kind == uniform_products && special->more == kernels::uniform_product_kernel(true);
        for (std::size_t k = 0; k < reads.size(); ++k) {
          // Of a product whose other factor wants its contribution too: adjoint, uniform factor, other factor, adjoint so far.
          const bool factor = item.kind == uniform_dots ? k < reads.size() / 2 : both && k % 4 == 1;
          if (reads[k] < whole.size() && !factor) whole[reads[k]] = 1;
        }
      }
    }
    return whole;
  }

  void keep_zero(Slots& slots, Layout<Real>& layout) const {
    if (slots[backward_.minus_zero] == no_slot)
      layout.constants.push_back({slots.keep(backward_.minus_zero), Real(-0.0)});
  }

  /// Keeps what checks of guards read and write, if there are some.
  void keep_for_checks(std::initializer_list<const Items*> codes, Slots& slots, Layout<Real>& layout) const {
    for (const Items* items : codes)
      for (const Item& item : items->items) {
        if (!is_check(item.kind)) continue;
        layout.failed = slots.keep(places_.failed);
        const auto reads = items->reads(item);
        if (std::find(reads.begin(), reads.end(), places_.zero) != reads.end()) keep_zero(slots, layout);
      }
  }

  /// The layout of a forward sweep over samples, and its code. `keep`: values that a backward sweep reads are there to stay.
  Code place_body(const Items& items, std::span<const std::uint32_t> order, bool keep, Slots& slots,
                  Layout<Real>& layout) {
    const std::size_t variables = s_.flags.size();
    LargeVector<std::uint8_t> read(variables, 0);
    std::vector<ValueId> pinned;
    for (const Item& item : items.items)
      for (ValueId value : items.reads(item))
        if (value < variables) read[value] = 1;
    for (Id id : outputs_)
      if (!s_.uniform(id)) pinned.push_back(s_.same[id]);
    for (ValueId value : pinned) read[value] = 1;
    const auto kept = [&](ValueId value) { return keep && value < variables && s_.is(value, Simplified::kept); };

    keep_for_checks({&items}, slots, layout);
    // Constants, uniform values and kept inputs first, then kept results in the order in which they are computed, so that
    // both sweeps walk through memory.
    for (Id id = 0; id < variables; ++id) {
      if (s_.is(id, Simplified::varying) || s_.same[id] != id || !(read[id] || kept(id))) continue;
      slots.keep(id);
      if (s_.is(id, Simplified::constant)) layout.constants.push_back({slots[id], tape_.values[id]});
    }
    std::vector<ValueId> arriving;
    for (Id id : tape_.inputs) {
      if (parameter(id)) continue;
      if (kept(id)) slots.keep(id);
      if (read[id] || kept(id)) arriving.push_back(id);
    }
    for (const std::uint32_t position : order)
      for (ValueId value : items.writes(items.items[position]))
        if (kept(value)) slots.keep(value);

    Code code = slots.place(items, order, arriving, pinned);
    for (Id id : tape_.inputs)
      if (!parameter(id)) layout.inputs.push_back(read[id] || kept(id) ? slots[id] : no_slot);
    for (Id id : outputs_)
      if (!s_.uniform(id)) layout.outputs.push_back(slots[s_.same[id]]);
    layout.kept = slots.kept();
    layout.slots = slots.count();
    return code;
  }

  /// The reverse sweep over samples, in the slots after those that the forward sweep keeps.
  void place_backward(Slots& slots) {
    std::vector<ValueId> arriving, pinned;
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      if (!s_.uniform(outputs_[k]) && backward_.seeds[k] != no_value) arriving.push_back(backward_.seeds[k]);
    for (const Backward::Crossing& sum : backward_.sums) arriving.push_back(sum.to);
    for (std::size_t k = 0; k < differentiated_.size(); ++k)
      if (!s_.uniform(differentiated_[k]) && backward_.gradients[k] != no_value)
        pinned.push_back(backward_.gradients[k]);
    data_->backward = slots.place(backward_.body, schedule(backward_.body, values_), arriving, pinned);
    data_->gradient.slots = slots.count();
    const auto slot = [&](ValueId value) { return value == no_value ? no_slot : slots[value]; };
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      if (!s_.uniform(outputs_[k])) data_->seeds.push_back(slot(backward_.seeds[k]));
    for (std::size_t k = 0; k < differentiated_.size(); ++k)
      if (!s_.uniform(differentiated_[k])) data_->gradients.push_back(slot(backward_.gradients[k]));
    for (const Backward::Crossing& sum : backward_.sums) data_->sum_seeds.push_back(slots[sum.to]);
  }

  /// What runs once per batch. Every value has a slot to itself: there is one lane of it.
  void place_uniform(const Items& prologue, const Items& epilogue, Slots& slots) {
    Uniform<Real>& uniform = data_->uniform;
    Layout<Real>& layout = uniform.layout;
    uniform.any = true;
    const auto keep_constant = [&](Id id) {
      if (slots[id] == no_slot) layout.constants.push_back({slots.keep(id), tape_.values[id]});
    };
    const std::size_t variables = s_.flags.size();
    keep_zero(slots, layout);
    slots.keep(backward_.waste);
    keep_for_checks({&prologue, &epilogue}, slots, layout);
    for (Id id : tape_.parameters) {
      layout.inputs.push_back(slots.keep(id));
      uniform.initial.push_back(tape_.values[id]);
    }
    for (Id sum : sums_) uniform.sums.push_back(slots.keep(sum));
    for (ValueId seed : backward_.seeds)
      if (seed != no_value) slots.keep(seed);
    for (ValueId total : backward_.totals) uniform.totals.push_back(slots.keep(total));
    for (const Items* items :
         std::initializer_list<const Items*>{&prologue, &epilogue, &backward_.epilogue, &backward_.prologue})
      for (const Item& item : items->items) {
        for (ValueId value : items->writes(item)) slots.keep(value);
        for (ValueId value : items->reads(item)) {
          if (value >= variables) continue;
          if (s_.is(value, Simplified::constant)) keep_constant(value);
          if (items == &backward_.epilogue && s_.is(value, Simplified::late)) uniform.linear = false;
        }
      }
    const auto place = [&](const Items& items) { return slots.place(items, as_it_is(items), {}, {}); };
    uniform.prologue = place(prologue);
    uniform.epilogue = place(epilogue);
    uniform.epilogue_backward = place(backward_.epilogue);
    uniform.prologue_backward = place(backward_.prologue);
    layout.slots = layout.kept = slots.kept();
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (!s_.uniform(outputs_[k])) continue;
      layout.outputs.push_back(slots[s_.same[outputs_[k]]]);
      uniform.seeds.push_back(backward_.seeds[k] == no_value ? no_slot : slots[backward_.seeds[k]]);
    }
    for (const Backward::Crossing& sum : backward_.sums) uniform.sum_adjoints.push_back(slots[sum.from]);
    for (std::size_t k = 0; k < differentiated_.size(); ++k)
      if (s_.uniform(differentiated_[k])) {
        const auto at = std::lower_bound(tape_.parameters.begin(), tape_.parameters.end(), differentiated_[k]);
        uniform.differentiated.push_back(static_cast<std::uint32_t>(at - tape_.parameters.begin()));
        uniform.gradients.push_back(backward_.gradients[k] == no_value ? no_slot : slots[backward_.gradients[k]]);
      }
  }

  void finish() {
    data_->source = source_of(recorded_, s_, outputs_, std::span<const Id>(differentiated_), guards_);
    data_->rules.resize(tape_.calls.size());
    std::vector<Id> inputs;
    for (Id id : tape_.inputs)
      if (!parameter(id)) inputs.push_back(id);
    for (Id id : differentiated_)
      if (!parameter(id))
        data_->differentiated.push_back(
            static_cast<std::uint32_t>(std::lower_bound(inputs.begin(), inputs.end(), id) - inputs.begin()));
    for (const OpRecord& record : tape_.ops)
      if (record.op != op_call && info(record.op).arity == 0) {
        const std::uint32_t length = record.op == Op::sum ? std::min(record.b, kernels::most_operands) : record.b;
        data_->longest_list = std::max<std::size_t>(data_->longest_list, length);
      }

    for (const OpRecord& record : tape_.ops) {
      if (record.op != op_call || !s_.is(record.out, Simplified::live) || s_.is(record.out, Simplified::constant))
        continue;
      const CustomRule<Real>& rule = rule_of(tape_, record);
      data_->rules[record.c] = tape_.calls[record.c].rule;
      data_->call_room = std::max(data_->call_room, room_for(rule));
      const bool active = s_.is(record.out, Simplified::active), varying = s_.is(record.out, Simplified::varying);
      std::string &jvp = varying ? data_->call_without_jvp : data_->uniform.call_without_jvp,
                  &hvp = varying ? data_->call_without_hvp : data_->uniform.call_without_hvp;
      if (active && !rule.jvp && jvp.empty()) jvp = rule.name;
      if (active && !rule.hvp && hvp.empty()) hvp = rule.name;
      if (varying && data_->call.empty()) data_->call = rule.name;
    }

    ProgramStatistics& n = data_->statistics;
    n.inputs = inputs.size();
    n.parameters = tape_.parameters.size();
    n.outputs = data_->values.outputs.size();
    n.uniform_outputs = data_->uniform.layout.outputs.size();
    n.differentiated = data_->differentiated.size();
    n.differentiated_parameters = data_->uniform.gradients.size();
    n.guards = guards_.all.size();
    n.recorded_ops = tape_.ops.size();
    n.dead_ops = s_.dead_ops;
    n.constant_ops = s_.constant_ops;
    n.common_ops = s_.common_ops;
    n.passive_ops = s_.passive_ops;
    n.hoisted_ops = s_.hoisted_ops;
    n.forward_instructions = data_->forward.instructions;
    n.backward_instructions = data_->backward.instructions;
    n.forward_runs = data_->forward.runs.size();
    n.backward_runs = data_->backward.runs.size();
    n.variables = tape_.values.size();
    n.value_slots = data_->gradient.kept;
    n.working_slots = data_->gradient.slots - data_->gradient.kept;
    n.slots_for_values = data_->values.slots;
    n.bytes = data_->source.bytes();
    const Uniform<Real>& uniform = data_->uniform;
    for (const Code* code :
         std::initializer_list<const Code*>{&data_->values_code, &data_->forward, &data_->backward, &uniform.prologue,
                                            &uniform.epilogue, &uniform.epilogue_backward, &uniform.prologue_backward})
      n.bytes += code->words.size() * sizeof(std::uint32_t) + code->runs.size() * (sizeof(Run) + sizeof(std::size_t));
  }

  const NaiveTape<Real>& recorded_;
  const TapeView<Real> tape_;
  const std::span<const Id> outputs_;
  const std::vector<Id>& differentiated_;
  const std::span<const Guard> recorded_guards_;
  std::shared_ptr<ProgramData<Real>> data_;
  Simplified s_;
  Guards guards_;
  Backward backward_;
  ValueId values_ = 0;
  CheckPlaces places_{no_value, no_value};
  std::vector<Id> sums_;  // over samples
};

template <class Real>
std::shared_ptr<const ProgramData<Real>> make_program(const NaiveTape<Real>& tape, std::span<const Id> outputs,
                                                      const CompileOptions& options) {
  if (outputs.empty()) throw Error(ErrorCode::bad_argument, "compile is asked for no outputs; it takes at least one");
  for (Id id : outputs) {
    if (id == no_id)
      throw Error(ErrorCode::stale_id,
                  "compile is asked for an output that is on no tape: a Var that is a constant, since "
                  "nothing it was computed from is an input; tape.constant(value) has an id");
    if (id >= tape.size())
      throw Error(ErrorCode::stale_id, "compile is asked for output " + std::to_string(id) +
                                           ", but the tape has only " + std::to_string(tape.size()) + " variables");
  }
  const std::vector<Id> differentiated = differentiated_inputs(tape.view(), options);
  constexpr std::size_t bytes_of_op = 200;  // about, of all passes together
  const codegen::Arena arena(bytes_of_op * tape.view().ops.size());
  return Compilation<Real>(tape, outputs, differentiated,
                           options.guards ? tape.view().guards : std::span<const Guard>())
      .run();
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
GuardInfo Program<Real>::guard(std::size_t k) const {
  const plan::Source<Real>& source = data_->source;
  if (k >= source.guards.size())
    throw Error(ErrorCode::bad_argument,
                "guard " + std::to_string(k) + " of a program with " + std::to_string(source.guards.size()));
  const auto& guard = source.guards[k];
  return {source.files[guard.file], guard.line, name_of_decider(guard.decider), guard.outcome};
}

template <class Real>
std::string Program<Real>::describe() const {
  const ProgramStatistics& n = statistics();
  const auto s = [](std::size_t x) { return std::to_string(x); };
  std::map<std::string, std::size_t> calls;
  for (const auto& rule : data_->source.rules) ++calls[rule->name];
  std::string custom;
  for (const auto& [op, count] : calls) custom += (custom.empty() ? " " : ", ") + s(count) + " of " + op;
  return s(n.recorded_ops) + " recorded ops: " + s(n.dead_ops) + " dead, " + s(n.constant_ops) + " constant, " +
         s(n.common_ops) + " repeated, " + s(n.hoisted_ops) + " uniform, " + s(n.passive_ops) +
         " without derivatives; " + s(n.guards) + " guards\n" + s(n.forward_instructions) +
         " forward instructions in " + s(n.forward_runs) + " runs, " + s(n.backward_instructions) + " backward in " +
         s(n.backward_runs) + "\n" + s(n.variables) + " variables: " + s(n.value_slots) +
         " slots for values that backward reads, " + s(n.working_slots) +
         " for adjoints and the rest; values alone take " + s(n.slots_for_values) + "\n" + s(n.bytes) + " bytes\n" +
         (custom.empty() ? "" : "custom ops:" + custom + "\n") + plan::describe_native(data(), default_isa()) + "\n";
}

template class Program<double>;
template class Program<float>;
template Program<double> compile(const NaiveTape<double>&, std::span<const Id>, const CompileOptions&);
template Program<float> compile(const NaiveTape<float>&, std::span<const Id>, const CompileOptions&);

}  // namespace wengert
