#include "tape/native_lower.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "codegen/assemble.hpp"
#include "tape/native_subroutines.hpp"

namespace wengert {

const codegen::Target* native_target(Isa isa) {
  switch (isa) {
    case Isa::avx2: return &codegen::avx2;
    case Isa::avx512: return &codegen::avx512;
    default: return nullptr;
  }
}

namespace plan {
namespace {

using codegen::DualValue;
using codegen::Value;

/// What is written to a slot at one time.
using Version = std::uint32_t;

/// A program's numbers: vectors, or pairs of them.
Value value_of(Value x) { return x; }
Value value_of(DualValue x) { return x.v; }
Value tangent_of(Value) { return codegen::no_value; }
Value tangent_of(DualValue x) { return x.d; }
template <class Number>
constexpr Number no_number = codegen::no_value;
template <>
constexpr DualValue no_number<DualValue> = {};

/// Which of the numbers of NativeUniforms that have a tangent may have one that isn't 0: what depends on differentiated parameters or on
/// sums over the samples. Without the zero rule what an op makes of tangents that are 0 may be NaN.
template <class Real>
std::vector<bool> uniforms_with_tangents(const ProgramData<Real>& data, Evaluation what) {
  const Uniform<Real>& part = data.uniform;
  std::vector<bool> has(part.layout.slots), result;
  const auto go_on = [&](const Code& code) {
    each_instruction(code, [&](const Instruction& instruction) {
      const bool any = data.zero_rule == ZeroRule::ieee ||
                       std::any_of(instruction.reads.begin(), instruction.reads.end(), [&](Slot s) { return has[s]; });
      for (const Slot slot : instruction.writes) has[slot] = any;
    });
  };
  for (const std::uint32_t k : part.differentiated) has[part.layout.inputs[k]] = true;
  go_on(part.prologue);
  for (const Import& import : (what.gradient ? data.gradient : data.values).imports)
    result.push_back(has[import.uniform]);
  if (!what.gradient) return result;
  for (const Slot slot : part.sums) has[slot] = true;
  // Where adjoints don't depend on what follows from the sums they come before it.
  if (!part.linear) go_on(part.epilogue);
  for (const Slot slot : part.seeds)
    if (slot != no_slot) has[slot] = false;
  go_on(part.epilogue_backward);
  for (const Slot slot : part.sum_adjoints) result.push_back(has[slot]);
  return result;
}

template <class Real, class Number>
class NativeLowering {
 public:
  NativeLowering(const ProgramData<Real>& data, const Lowering& how)
      : data_(data),
        layout_(how.what.gradient ? data.gradient : data.values),
        pointers_(data, how.what),
        uniforms_(data, how.what),
        strides_(how.strides),
        gradient_(how.what.gradient),
        sums_(how.what.has_sums()),
        graph_(how.shape, sizeof(Real), data.zero_rule == ZeroRule::ieee ? codegen::Chain::ieee : how.chain,
               how.expected, how.no_more),
        subroutines_(graph_, how.least_called),
        now_(layout_.slots, 0) {
    if (how.what.uniform_tangents) uniforms_with_tangents_ = uniforms_with_tangents(data, how.what);
  }

  codegen::Graph run() {
    for (const Constant<Real>& constant : layout_.constants)
      arrive(constant.slot, graph_.constant(static_cast<double>(constant.value)));
    std::size_t uniform = 0;
    for (const Import& import : layout_.imports) arrive_uniform(import.slot, uniform++);
    arrive_all(layout_.inputs, [&](std::size_t k) {
      return graph_.input(place(pointers_.inputs, k, strides_.inputs), codegen::Table::inputs);
    });
    if constexpr (dual)
      for (std::size_t k = 0; k < data_.differentiated.size(); ++k)
        if (const Slot slot = layout_.inputs[data_.differentiated[k]]; slot != no_slot)
          values_[now_[slot]].d = given(uniforms_.directions, pointers_.directions, k);
    std::vector<Result> results;
    for (std::size_t k = 0; k < layout_.outputs.size(); ++k) {
      results.push_back({layout_.outputs[k], place(pointers_.outputs, k, strides_.values), codegen::Table::values});
      if (dual && !gradient_) tangent_goes_out(results, layout_.outputs[k], k);
    }
    run_code(gradient_ ? data_.forward : data_.values_code, results);
    if (!gradient_) return std::move(graph_);

    for (const Slot slot : data_.sum_seeds) arrive_uniform(slot, uniform++);
    arrive_all(data_.seeds, [&](std::size_t k) { return given(uniforms_.weights, pointers_.weights, k); });
    results.clear();
    for (std::size_t k = 0; k < data_.gradients.size(); ++k) {
      const std::uint32_t at = place(pointers_.gradients, k, strides_.gradients);
      if (data_.gradients[k] == no_slot) {
        if (point()) graph_.output(graph_.constant(0.0), at, codegen::Table::gradients);
        if (point() && dual) graph_.output(graph_.constant(0.0), place_of_tangent(k), codegen::Table::uniforms);
        continue;
      }
      results.push_back({data_.gradients[k], at, codegen::Table::gradients, Result::derivative});
      if (dual) tangent_goes_out(results, data_.gradients[k], k);
    }
    run_code(data_.backward, results);
    return std::move(graph_);
  }

 private:
  static constexpr bool dual = __is_same(Number, DualValue);

  // Values are the first vector's; a second one repeats what it does.
  /// One without a tangent.
  Number number(Value value) {
    if constexpr (dual) return {value, graph_.nothing()};
    else return value;
  }
  void arrive(Slot slot, Value value) {
    values_.push_back(number(value));
    now_[slot] = static_cast<Version>(values_.size() - 1);
  }
  void arrive_uniform(Slot slot, std::size_t number) {
    const auto at = [&](std::size_t k) { return graph_.uniform(static_cast<std::uint32_t>(k)); };
    arrive(slot, at(number));
    if constexpr (dual)
      if (number < uniforms_with_tangents_.size() && uniforms_with_tangents_[number])
        values_.back().d = at(uniforms_.tangents + number);
  }
  template <class Get>
  void arrive_all(const std::vector<Slot>& slots, const Get& get) {
    for (std::size_t k = 0; k < slots.size(); ++k)
      if (slots[k] != no_slot) arrive(slots[k], get(k));
  }
  bool point() const { return graph_.shape().point; }
  /// Item k of what is given besides inputs: for a point among the uniforms.
  Value given(std::size_t first_uniform, std::size_t first_pointer, std::size_t k) {
    if (point()) return graph_.uniform(static_cast<std::uint32_t>(first_uniform + k));
    return graph_.input(static_cast<std::uint32_t>(first_pointer + k), codegen::Table::inputs);
  }
  /// Item k of a group: which pointer it has, or where in a point's table it is.
  std::uint32_t place(std::size_t first_pointer, std::size_t k, std::uint32_t stride) const {
    return static_cast<std::uint32_t>(point() ? k * stride : first_pointer + k);
  }

  /// What goes out: the number that is in a slot at the end, or its tangent, or a block's share of a sum, by its version.
  struct Result {
    std::uint32_t slot_or_version;
    std::uint32_t at;
    codegen::Table table;
    enum Kind { value, derivative, tangent, total, tangent_of_sum } kind = value;
  };
  std::uint32_t place_of_tangent(std::size_t k) const {
    return static_cast<std::uint32_t>((point() ? uniforms_.tangents_of_results : pointers_.tangents) + k);
  }
  void tangent_goes_out(std::vector<Result>& results, Slot slot, std::size_t k) const {
    results.push_back(
        {slot, place_of_tangent(k), point() ? codegen::Table::uniforms : codegen::Table::gradients, Result::tangent});
  }
  void put(const Result& result, Version version) {
    const bool is_tangent = result.kind == Result::tangent || result.kind == Result::tangent_of_sum;
    Value x = is_tangent ? tangent_of(values_[version]) : value_of(values_[version]);
    if (result.kind == Result::derivative || result.kind == Result::tangent)
      x = graph_.binary(codegen::Do::add, x, graph_.constant(0.0));
    graph_.output(x, result.at, result.table);
    // Adjoints and tangents by plain products are right unless one is NaN, and then so is a derivative that it leads to, if no zero
    // comes in between, with which it would have been nothing anyway.
    const bool has_zero_rule = dual || data_.zero_rule == ZeroRule::exact;
    if (result.kind != Result::value && has_zero_rule && graph_.chain() != codegen::Chain::zero_rule)
      graph_.refuse_nan(x, x);
  }
  Value sum(Value a, Value b) { return graph_.binary(codegen::Do::add, a, b); }
  DualValue sum(DualValue a, DualValue b) { return {sum(a.v, b.v), sum(a.d, b.d)}; }

  /// An instruction in few bytes: they are written in one order and read in another. Its versions are among words_, from `first` on
  /// those that it reads, then those that it writes.
  struct Step {
    std::uint32_t first, reads, writes, adjoints, sources;
    kernels::Kind kind;
    bool no_tie, is_check, outcome;
  };
  std::span<const Version> reads(const Step& step) const { return {words_.data() + step.first, step.reads}; }
  std::span<const Version> writes(const Step& step) const {
    return {words_.data() + step.first + step.reads, step.writes};
  }

  /// In the order of the tape, which keeps few values in use at a time; but checks of guards wait.
  void run_code(const Code& code, std::vector<Result> results) {
    words_.clear();
    words_.reserve(code.words.size());
    const Version before = static_cast<Version>(values_.size());
    values_.reserve(before + code.words.size());
    codegen::LargeVector<Step> steps;
    steps.reserve(code.instructions);
    codegen::LargeVector<std::uint32_t> first_step;  // of each of the code's instructions
    first_step.reserve(code.instructions + 1);
    std::vector<Result> sums;
    each_instruction(code, [&](const Instruction& instruction) {
      if (instruction.kind.op == Op::sum_samples && sums_) {
        const auto goes_out = [&](std::size_t first, typename Result::Kind kind) {
          sums.push_back({now_[instruction.reads[0]], static_cast<std::uint32_t>(first + instruction.sum),
                          codegen::Table::uniforms, kind});
        };
        goes_out(point() ? uniforms_.sums : pointers_.sums,
                 instruction.sum < data_.uniform.sums.size() ? Result::value : Result::total);
        if (dual) goes_out(point() ? uniforms_.tangents_of_sums : pointers_.tangents_of_sums, Result::tangent_of_sum);
      }
      if (instruction.item == first_step.size()) first_step.push_back(static_cast<std::uint32_t>(steps.size()));
      const auto count = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
      steps.push_back({count(words_.size()), count(instruction.reads.size()), count(instruction.writes.size()),
                       count(instruction.adjoints().size()), count(instruction.sources().size()), instruction.kind,
                       instruction.no_tie, instruction.is_check, instruction.outcome});
      words_.resize(words_.size() + instruction.reads.size() + instruction.writes.size());
      Version* to = words_.data() + steps.back().first;
      for (const Slot slot : instruction.reads) *to++ = now_[slot];
      Version version = static_cast<Version>(values_.size());
      values_.resize(version + instruction.writes.size(), no_number<Number>);
      for (const Slot slot : instruction.writes) *to++ = now_[slot] = version++;
    });
    first_step.push_back(static_cast<std::uint32_t>(steps.size()));
    codegen::LargeVector<std::uint32_t> order;
    order.resize(code.instructions);
    for (std::uint32_t k = 0; k < order.size(); ++k) order[code.recorded[k]] = k;
    let_checks_wait(steps, first_step, order);
    for (Result& result : results) result.slot_or_version = now_[result.slot_or_version];
    results.insert(results.end(), sums.begin(), sums.end());
    // Results go out as soon as they are there: first of each version's, and the next of the same.
    constexpr std::uint32_t none = 0xffffffffu;
    codegen::LargeVector<std::uint32_t> first;
    first.resize(values_.size());
    std::fill(first.begin(), first.end(), none);
    std::vector<std::uint32_t> next(results.size(), none);
    for (std::uint32_t k = static_cast<std::uint32_t>(results.size()); k-- > 0;) {
      next[k] = first[results[k].slot_or_version];
      first[results[k].slot_or_version] = k;
    }
    const auto put_all = [&](Version version) {
      for (std::uint32_t k = first[version]; k != none; k = next[k]) put(results[k], version);
    };
    for (Version version = 0; version < before; ++version) put_all(version);
    graph_.repeat_for_second_vector();
    for (const std::uint32_t k : order)
      for (std::uint32_t s = first_step[k]; s < first_step[k + 1]; ++s) {
        if (!graph_.complete()) return;
        record(steps[s]);
        for (const Version version : writes(steps[s])) put_all(version);
        graph_.repeat_for_second_vector();
      }
  }

  /// Until one of what they compare is read for the last time: it is in a register then, and there without being waited for.
  void let_checks_wait(const codegen::LargeVector<Step>& steps, const codegen::LargeVector<std::uint32_t>& first_step,
                       codegen::LargeVector<std::uint32_t>& order) const {
    const auto is_check = [&](std::uint32_t k) { return steps[first_step[k]].is_check; };
    if (std::none_of(order.begin(), order.end(), is_check)) return;
    const auto at_hand = [&](Version version) {
      const Value value = value_of(values_[version]);
      return value != codegen::no_value && graph_.nodes()[value].what < codegen::Do::input;
    };
    std::vector<std::uint32_t> last_read(values_.size(), 0);
    for (std::uint32_t at = 0; at < order.size(); ++at)
      for (std::uint32_t s = first_step[order[at]]; s < first_step[order[at] + 1] && !is_check(order[at]); ++s)
        for (const Version version : reads(steps[s])) last_read[version] = at;
    struct Place {
      std::uint32_t after, instruction;
    };
    std::vector<Place> places;
    places.reserve(order.size());
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      places.push_back({at, order[at]});
      if (!is_check(order[at])) continue;
      std::uint32_t least = static_cast<std::uint32_t>(order.size());
      for (const Version version : reads(steps[first_step[order[at]]]))
        if (!at_hand(version)) least = std::min(least, last_read[version]);
      if (least < order.size()) places.back().after = std::max(at, least);
    }
    // Of those in one place the instruction itself comes first.
    std::stable_sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
      return a.after != b.after ? a.after < b.after : !is_check(a.instruction) && is_check(b.instruction);
    });
    std::transform(places.begin(), places.end(), order.begin(), [](const Place& place) { return place.instruction; });
  }

  void record(const Step& step) {
    const kernels::Kind& kind = step.kind;
    if (kind.op == Op::sum_samples) return;  // goes out as its operand's version
    const Instruction instruction{kind, writes(step), reads(step), step.adjoints, step.sources, step.no_tie};
    if (reads_.size() < step.reads) reads_.resize(step.reads);
    for (std::size_t k = 0; k < step.reads; ++k) reads_[k] = values_[instruction.reads[k]];
    if (step.is_check) return refuse_if_other(kind.op, step.outcome);
    if (writes_.size() < std::max<std::size_t>(step.writes, 3)) writes_.resize(std::max<std::size_t>(step.writes, 3));
    if (!subroutines_.call(instruction, reads_.data(), writes_.data()))
      record_instruction<Real>(graph_, instruction, reads_.data(), writes_.data());
    const Number* source = reads_.data() + step.reads - step.sources;
    unsigned active = kind.active;
    for (std::size_t k = 0; k < step.writes; ++k) {
      const bool first = !kind.adjoint || (active != 0 && (kind.assign >> std::countr_zero(active) & 1));
      values_[instruction.writes[k]] = first ? writes_[k] : sum(*source++, writes_[k]);
      active &= active - 1;
    }
  }

  /// Whoever leaves the recorded path is the interpreter's to report.
  void refuse_if_other(Op asks, bool outcome) {
    using enum codegen::Comparison;
    const codegen::Comparison other = asks == Op::lt   ? outcome ? not_less : less
                                      : asks == Op::le ? outcome ? not_less_equal : less_equal
                                      : outcome        ? not_equal
                                                       : equal;
    graph_.refuse(graph_.compare(other, value_of(reads_[0]), value_of(reads_[1])));
  }

  const ProgramData<Real>& data_;
  const Layout<Real>& layout_;
  const NativePointers<Real> pointers_;
  const NativeUniforms<Real> uniforms_;
  const PointStrides strides_;
  const bool gradient_, sums_;
  std::vector<bool> uniforms_with_tangents_;
  codegen::Graph graph_;
  Subroutines<Real, Number> subroutines_;
  std::vector<Version> now_;             // in each slot
  codegen::LargeVector<Number> values_;  // [version]
  codegen::LargeVector<Version> words_;
  std::vector<Number> reads_, writes_;
};

}  // namespace

template <class Real>
codegen::Graph lower_to_graph(const ProgramData<Real>& data, const Lowering& how) {
  if (how.what.dual()) return NativeLowering<Real, DualValue>(data, how).run();
  return NativeLowering<Real, Value>(data, how).run();
}

template <class Real>
std::size_t bytes_to_make(const ProgramData<Real>& data, Evaluation what, std::size_t nodes) {
  const Layout<Real>& layout = what.gradient ? data.gradient : data.values;
  std::size_t instructions = 0, words = 0;
  for (const Code* code :
       {what.gradient ? &data.forward : &data.values_code, what.gradient ? &data.backward : nullptr}) {
    if (!code) continue;
    instructions = std::max(instructions, code->instructions);
    words += code->words.size();
  }
  // Of a node: itself; its second one, its use of each operand, its state, its code. What grows is held twice meanwhile, once in
  // its old size.
  constexpr std::size_t node =
      sizeof(codegen::Node) + 3 * sizeof(Value) + 3 * sizeof(std::uint32_t) + 12 + 5 * codegen::most_bytes_of_node / 2;
  constexpr std::size_t step = 40;
  const std::size_t word = 3 * (sizeof(Version) + (what.dual() ? sizeof(DualValue) : sizeof(Value))) + 3 * 4;
  constexpr std::size_t tables = std::size_t(64) << 10;  // of nodes by hash, of elementary functions
  constexpr std::size_t chunks = 8;                      // of an arena, that end with part of a huge page
  const std::size_t bytes = tables + node * nodes + step * instructions + word * (words + layout.slots) +
                            64 * (NativePointers<Real>(data, what).count + layout.constants.size() +
                                  NativeUniforms<Real>(data, what).weights);
  return bytes + (codegen::worth_huge_pages(bytes) ? chunks * codegen::huge_page : 0);
}

template codegen::Graph lower_to_graph(const ProgramData<double>&, const Lowering&);
template codegen::Graph lower_to_graph(const ProgramData<float>&, const Lowering&);
template std::size_t bytes_to_make(const ProgramData<double>&, Evaluation, std::size_t);
template std::size_t bytes_to_make(const ProgramData<float>&, Evaluation, std::size_t);

}  // namespace plan
}  // namespace wengert
