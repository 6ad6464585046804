#include "tape/native_cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "codegen/record.hpp"
#include "tape/decode.hpp"
#include "tape/native_lower.hpp"
#include "tape/native_repeats.hpp"

namespace wengert::plan {
namespace {

/// ns on AMD EPYCs, those of AVX-512 on a Zen 4, those of AVX2 on a Zen 3, fitted to the ladder's workloads and to chains of single
/// ops: good to a third or so.
struct Rates {
  // A sample's share (f64). What the interpreter loads, stores and dispatches goes on beside the operations of an instruction.
  double instruction, operation, native_operation;
  double wait, wait_for_bits;  // until the result of an operation is there, and of one on bits, masks or integers
  double uniform_product;      // by the interpreter, its share of a sum included
  // Machine code's part of a sum over samples, which it leaves in memory, and a uniform factor of a dot, which it gets from there.
  double native_sum, native_uniform;
  double fetch;  // an operation of code that the caches don't have at once
  double slot;   // by the interpreter, where even the narrowest blocks have more slots than the second cache holds
  // In operations of a vector that are written: the longest code, the longest for two vectors side by side, and the longest of that
  // kind that the caches have at once. Code for AVX2 runs twice as often.
  std::size_t most, most_of_two_vectors, in_caches;
  std::size_t slots_in_caches;
};
constexpr Rates rates_avx512{0.235, 0.029, 0.026, 1.6,       1.6,     0.17,    0.165,
                             0.03,  0.005, 0,     1'600'000, 200'000, 200'000, 8000},
    rates_avx2{0.2, 0.0445, 0.035, 0.9, 0.2, 0.22, 0.35, 0.05, 0.006, 0.3, 800'000, 75'000, 40'000, 8000};
/// By the interpreter, of dual numbers: an instruction, and an operation of one, as it looks at every product of a tangent (fitted as
/// the above, to AVX2).
constexpr double dual_instruction = 3, dual_operation = 1.15;
constexpr double dual_sum = 1.7,    // by the interpreter, a sample's share of a sum over samples and of its tangent
    dual_factor = 0.4,              // the same, an operand of a dot: more than its operations
    native_uniform_tangent = 0.05;  // machine code's, of a uniform factor of a dot
constexpr double native_instruction = 0.03,  // what it reads and leaves in memory
    call_alone = 60,                         // of a single evaluation by the interpreter: more than by code
    instruction_alone = 1.4,                 // of a single evaluation by the interpreter
    operation_alone = 0.25,                  // of either
    to_record = 45, to_write = 60,           // an operation: to find loops among all, and as code
    to_begin = 50000;                        // any code: pages, tables
// Few samples: what it takes to call the interpreter, code of batches and that of a point (besides what it takes to call any), and for each
// column, whose numbers are copied; and by the interpreter each instruction once.
constexpr double interpreter_of_few = 120, instruction_of_few = 3, dual_instruction_of_few = 7, code_of_few = 110,
                 column_of_few = 15, point_of_few = 10, column_of_point = 0.5;
constexpr double wait_for_division = 4;  // until the result is there
// A lookup by loads, its share of taking the indices out included: operations besides its own that take as long and as many bytes,
// by either engine; and until the result is there.
constexpr double more_for_loads = 3.5, wait_for_loads = 6;
constexpr double division_alone = 1.75;      // of a single evaluation
constexpr double in_caches_alone = 800'000;  // operations of code for single evaluations
// From so many on it isn't in the second cache, and has loops. Straight code is a few hundredths faster as long as it is.
constexpr std::size_t loops_alone_from = 50'000;
constexpr double from_memory_alone = 1.2;  // longer code comes from memory: an operation of it
// Longer code (in operations) than the first cache holds calls subroutines. An op that takes so many operations or more has one: a call costs a
// single evaluation, which waits for each op, more than a batch.
constexpr std::size_t short_code = 4096, least_called = 20, least_called_alone = 30;
constexpr std::size_t most_recorded = 8;   // times the longest code, where most of it is iterations of loops
constexpr double ahead = 300;              // operations that a core looks ahead
constexpr double worth_mentioning = 0.95;  // of the interpreter's time

Rates rates_of(Isa isa, Numbers numbers = Numbers::plain) {
  Rates rates = isa == Isa::avx512 ? rates_avx512 : rates_avx2;
  if (numbers == Numbers::dual) rates.instruction *= dual_instruction, rates.operation *= dual_operation;
  return rates;
}

/// What divisions and roots take: a unit of its own, which does one after the other and is as wide for both instruction sets. A
/// sample's share in ns. Everything else goes on beside it, in either engine.
template <class Real>
constexpr double division = sizeof(Real) == 8 ? 0.31 : 0.105;
template <class Real>
constexpr double root = sizeof(Real) == 8 ? 0.54 : 0.167;

/// Whose result is there at once, where masks are vectors.
bool is_on_bits(codegen::Do what) {
  return what == codegen::Do::blend || (what >= codegen::Do::bit_and && what <= codegen::Do::mask_not);
}

/// What an instruction takes, or an operand of an n-ary op's.
struct Cost {
  double operations = 0;  ///< in vectors
  double loads = 0;       ///< of these, lookups by loads
  double dividing = 0;    ///< ns, a sample's share
  double divisions = 0;   ///< and roots
  double wait = 0;        ///< ns from the operand that is there last, or from the adjoint, to the result
};

/// What the instructions of each kind take: they are recorded, as for code.
template <class Real>
class Costs {
 public:
  Costs(Isa isa, Numbers numbers)
      : rates_(rates_of(isa, numbers)),
        graph_({native_target(isa), false, 1}, sizeof(Real)),
        dual_(numbers == Numbers::dual),
        known_(kernels::kind_count) {}

  bool complete() const { return graph_.complete(); }
  std::size_t most_given() const { return graph_.most_given(); }
  const Cost& of(std::uint16_t kind) {
    static constexpr Cost one{1, 0, 0, 0, 0};
    if (!in_catalogue(kind)) return one;
    std::optional<Cost>& cost = known_[kind];
    if (!cost)
      cost = dual_ ? recorded<codegen::DualValue>(kernels::catalogue[kind])
                   : recorded<codegen::Value>(kernels::catalogue[kind]);
    return *cost;
  }

 private:
  using Value = codegen::Value;

  void arrive(Value& value) { value = graph_.input(inputs_++, codegen::Table::inputs); }
  void arrive(codegen::DualValue& value) {
    arrive(value.v);
    arrive(value.d);
  }

  template <class Number>
  Cost recorded(const kernels::Kind& kind) {
    const OpInfo& row = info(kind.op);
    std::uint32_t n = static_cast<std::uint32_t>(row.arity);
    if (n == 0)  // of an n-ary op some that it takes
      for (n = 4; row.outputs(n) == 0;) n = n == 4 ? 1 : n + 1;
    const std::uint32_t m = row.outputs(n);
    const auto inputs = [&](std::size_t count) {
      std::vector<Number> values(count);
      for (Number& value : values) arrive(value);
      return values;
    };
    const Value first_operand = static_cast<Value>(graph_.nodes().size());
    const std::vector<Number> x = inputs(3 + n), y = inputs(m);
    const Value first_adjoint = static_cast<Value>(graph_.nodes().size());
    const std::vector<Number> g = inputs(m);
    const Value first = static_cast<Value>(graph_.nodes().size());
    std::vector<Number> results(3 + n + m);
    const codegen::Operands<Number> operands{n, x.data(), y.data(), g.data(), false, false};
    if (kind.adjoint) codegen::record_adjoint<Real>(graph_, kind.op, operands, kind.active, results.data());
    else codegen::record_value<Real>(graph_, kind.op, operands, results.data());
    Cost cost = of_nodes(first, kind.adjoint ? first_adjoint : first_operand);
    if (row.arity == 0) cost.operations /= n, cost.loads /= n, cost.dividing /= n, cost.divisions /= n;
    return cost;
  }

  /// Of those from `first` on. What they wait for: the nodes between `last` and `first`.
  Cost of_nodes(Value first, Value last) const {
    const auto& nodes = graph_.nodes();
    std::vector<double> ready(nodes.size() - last, -1);  // -1: before the others
    std::fill_n(ready.begin(), first - last, 0);
    Cost cost;
    for (Value v = first; v < nodes.size(); ++v) {
      const codegen::Node& node = nodes[v];
      if (codegen::at_hand(node.what)) continue;
      const bool divides = node.what == codegen::Do::div || node.what == codegen::Do::sqrt;
      const bool loads = node.what == codegen::Do::items;
      cost.operations += 1;
      cost.loads += loads;
      cost.divisions += divides;
      if (divides) cost.dividing += node.what == codegen::Do::div ? division<Real> : root<Real>;
      double& at = ready[v - last];
      const Value operands[] = {node.a, node.b, node.c};
      for (int k = 0; k < codegen::operand_count(node.what); ++k)
        if (operands[k] >= last) at = std::max(at, ready[operands[k] - last]);
      if (at < 0) continue;
      at += divides                 ? wait_for_division
            : loads                 ? wait_for_loads
            : is_on_bits(node.what) ? rates_.wait_for_bits
                                    : rates_.wait;
      if (!codegen::has_effect(node.what)) cost.wait = std::max(cost.wait, at);
    }
    return cost;
  }

  const Rates rates_;
  codegen::Graph graph_;
  const bool dual_;
  std::uint32_t inputs_ = 0;
  std::vector<std::optional<Cost>> known_;
};

/// Of a program. `wait`: of the longest chain of instructions of which each needs the one before.
struct Work {
  double operations = 0, dividing = 0, divisions = 0, wait = 0;
  double with_calls = 0, with_calls_alone = 0;  ///< operations
  double beside_dividing = 0;                   ///< by the interpreter, ns: a sample's share
  double left_to_memory = 0;                    ///< by machine code, ns: a sample's share (f64)
  std::size_t instructions = 0;
};

template <class Real>
void add_work(Work& work, const Code& code, std::size_t slots, Costs<Real>& costs, const Rates& rates,
              Evaluation what) {
  std::vector<float> ready(slots, 0);  // when what is in each slot is there
  double wait = 0;
  each_instruction(code, [&](const Instruction& i) {
    const bool fixed = info(i.kind.op).arity != 0;
    const Cost& cost = costs.of(i.number);
    const double times = fixed ? 1 : i.operands(), additions = static_cast<double>(i.sources().size());
    const double nodes = times * cost.operations, operations = nodes + times * more_for_loads * cost.loads;
    const std::size_t in = i.reads.size() - i.sources().size(), out = i.writes.size();
    const auto left = [&](std::size_t least) {
      const bool called = nodes >= static_cast<double>(least) && std::max(in, out) <= costs.most_given();
      return (called ? static_cast<double>(in + out + 1) : operations) + additions;
    };
    work.operations += operations + additions;
    work.with_calls += left(least_called);
    work.with_calls_alone += left(least_called_alone);
    work.dividing += times * cost.dividing;
    work.divisions += times * cost.divisions;
    const bool sum = i.kind.op == Op::sum_samples;
    if (sum && what.dual()) {
      if (!what.has_sums()) return;
      work.beside_dividing += sizeof(Real) / 8.0 * dual_sum;
      work.left_to_memory += 2 * rates.native_sum;
      return;
    }
    const double instruction = i.number == uniform_products  // a sum that comes along with the product before
                                   ? rates.uniform_product - rates.instruction
                                   : std::max(rates.instruction, rates.operation * (operations + additions));
    const double beside = sizeof(Real) / 8.0 * instruction - times * cost.dividing;
    work.beside_dividing += i.number == uniform_products ? beside : std::max(0.0, beside);
    if (sum) work.left_to_memory += rates.native_sum;
    if (i.uniform)
      work.left_to_memory += times / 2 * (rates.native_uniform + (what.uniform_tangents ? native_uniform_tangent : 0));
    if (what.dual() && i.kind.op == Op::dot && !i.kind.adjoint)
      work.beside_dividing += sizeof(Real) / 8.0 * times * dual_factor;
    ++work.instructions;
    double last = 0;
    for (const Slot slot : i.kind.adjoint ? i.adjoints() : i.reads) last = std::max(last, double(ready[slot]));
    last += cost.wait;
    auto source = i.sources().begin();
    unsigned active = i.kind.active;
    for (const Slot slot : i.writes) {
      double at = last;
      if (i.kind.adjoint && !(fixed && (i.kind.assign >> std::countr_zero(active) & 1)))
        at = std::max(last, double(ready[*source++])) + rates.wait;
      active &= active - 1;
      ready[slot] = static_cast<float>(at);
      wait = std::max(wait, at);
    }
  });
  work.wait += wait;
}

std::size_t samples_until(double saved, double spent) {
  return saved <= 0 ? NativeCost::never : static_cast<std::size_t>(std::ceil(spent / saved));
}

/// What passes of few samples go by: the interpreter dispatches each instruction for them alone, code of batches does a whole round.
struct FewSamples {
  std::size_t round, vectors;  ///< samples of one, of so many vectors
  std::size_t columns, instructions;
  bool dual;
};

void weigh_few(NativeCost& cost, const FewSamples& of) {
  const auto columns = static_cast<double>(of.columns), instructions = static_cast<double>(of.instructions);
  const auto up_to = [](std::size_t samples, std::size_t lanes) {
    return static_cast<double>((samples + lanes - 1) / lanes * lanes);
  };
  const auto by_interpreter = [&](std::size_t samples) {
    return interpreter_of_few + (of.dual ? dual_instruction_of_few : instruction_of_few) * instructions +
           std::fmax(up_to(samples, of.round / of.vectors) * cost.interpreter, cost.native_alone);
  };
  const auto by_code = [&](std::size_t samples) {
    if (cost.batches.too_long) return std::numeric_limits<double>::infinity();
    return code_of_few + column_of_few * columns + up_to(samples, of.round) * cost.native;
  };
  const auto one_by_one = [&](std::size_t samples) {
    return static_cast<double>(samples) * (point_of_few + column_of_point * columns + cost.native_alone);
  };
  if (of.dual) cost.interpreter_alone = by_interpreter(1);
  const auto best_one_by_one = [&](std::size_t samples) {
    return one_by_one(samples) <= std::fmin(by_interpreter(samples), by_code(samples));
  };
  while (cost.most_alone < NativeCost::few && best_one_by_one(cost.most_alone + 1)) ++cost.most_alone;
  cost.fewest = cost.most_alone + 1;
  while (cost.fewest < NativeCost::few && by_code(cost.fewest) > by_interpreter(cost.fewest)) ++cost.fewest;
}

}  // namespace

NativeCost::Length NativeCost::Length::with(std::size_t written_after_all, Isa isa) const {
  const Rates rates = rates_of(isa);
  Length length = *this;
  length.written = std::min(written_after_all, operations);
  length.vectors = length.written <= rates.most_of_two_vectors ? 2 : 1;
  length.too_long = length.written > rates.most || operations > most_recorded * rates.most;
  return length;
}

template <class Real>
NativeCost native_cost(const ProgramData<Real>& data, Evaluation what, Isa isa) {
  const Rates rates = rates_of(isa, what.numbers);
  NativeCost cost;
  if (!data.call.empty()) {
    cost.no_form = true;
    return cost;
  }
  const Code* const codes[] = {what.gradient ? &data.forward : &data.values_code,
                               what.gradient ? &data.backward : nullptr};
  Costs<Real> costs(isa, what.numbers);
  Work work;
  const std::size_t slots = (what.gradient ? data.gradient : data.values).slots;
  double forward = 0;  // by the interpreter
  double lengths[std::size(codes)] = {}, lengths_alone[std::size(codes)] = {};
  for (std::size_t k = 0; k < std::size(codes); ++k) {
    if (!codes[k]) continue;
    add_work(work, *codes[k], slots, costs, rates, what);
    lengths[k] = work.with_calls - lengths[0];
    lengths_alone[k] = work.with_calls_alone - lengths_alone[0];
    if (k == 0) forward = std::hypot(work.dividing, work.beside_dividing);
  }
  cost.no_form = !costs.complete();
  cost.operations = static_cast<std::size_t>(work.operations);
  const auto length = [&](double with_calls, std::size_t least) {
    NativeCost::Length all{cost.operations, codegen::no_value};
    if (cost.operations > short_code) all = {static_cast<std::size_t>(with_calls), least};
    return all.with(all.operations, isa);
  };
  cost.batches = length(work.with_calls, least_called);
  cost.alone = length(work.with_calls_alone, least_called_alone);
  if (cost.batches.operations > short_code) {
    double written = 0, written_alone = 0;
    for (std::size_t k = 0; k < std::size(codes); ++k) {
      const double once = codes[k] ? 1 - repeated_part(*codes[k], slots) : 0;
      written += once * lengths[k];
      written_alone += once * lengths_alone[k];
    }
    cost.batches = cost.batches.with(static_cast<std::size_t>(written), isa);
    if (cost.alone.operations > loops_alone_from)
      cost.alone = cost.alone.with(static_cast<std::size_t>(written_alone), isa);
  }
  const double share = sizeof(Real) / 8.0;
  const double instructions = static_cast<double>(work.instructions);
  if (slots > rates.slots_in_caches) work.beside_dividing += share * rates.slot * static_cast<double>(slots);
  cost.interpreter = std::hypot(work.dividing, work.beside_dividing);  // in part one hides the other
  cost.native =
      share * (native_instruction * instructions + rates.native_operation * work.operations + work.left_to_memory +
               (cost.batches.written <= rates.in_caches ? 0 : rates.fetch * static_cast<double>(cost.batches.written)));
  // Operations that wait for each other: only a second vector, or in short code the next round, has others meanwhile. Where
  // that takes about as long as all the operations do, or as all divisions, none quite hides the others.
  const codegen::Shape shape{native_target(isa), false, cost.batches.vectors};
  const double rounds = 1 + ahead / std::fmax(shape.vectors * work.operations, 1),
               waiting = work.wait / rounds / static_cast<double>(shape.samples(sizeof(Real)));
  cost.native = std::pow(std::pow(cost.native, 4) + std::pow(waiting, 4) + std::pow(work.dividing, 4), 0.25);
  if (const double more = cost.native - worth_mentioning * (cost.interpreter - forward); more > 0)
    cost.most_sweeps = static_cast<std::size_t>(worth_mentioning * forward / more);
  cost.native_alone = operation_alone * work.operations + division_alone * work.divisions;
  cost.interpreter_alone = call_alone + instruction_alone * instructions + cost.native_alone;
  if (const auto length = static_cast<double>(cost.alone.written); length > in_caches_alone)
    cost.native_alone = std::fmax(cost.native_alone, from_memory_alone * length);
  if (cost.no_form) return cost;
  const auto to_make = [](const NativeCost::Length& length, std::uint32_t vectors) {
    return to_begin + vectors * (to_record * static_cast<double>(length.operations) +
                                 to_write * static_cast<double>(length.written));
  };
  if (cost.native <= worth_mentioning * cost.interpreter && !cost.batches.too_long)
    cost.worth_from = samples_until(cost.interpreter - cost.native, to_make(cost.batches, shape.vectors));
  if (cost.alone.too_long) return cost;
  weigh_few(cost, {shape.samples(sizeof(Real)), shape.vectors, NativePointers<Real>(data, what).count,
                   work.instructions, what.dual()});
  cost.worth_from_alone = samples_until(cost.interpreter_alone - cost.native_alone, to_make(cost.alone, 1));
  return cost;
}

template <class Real>
std::string describe_native(const ProgramData<Real>& data, Isa isa) {
  const codegen::Target* const target = native_target(isa);
  if (!target) return "machine code: none, the instruction set is " + std::string(name(isa));
  const NativeCost cost = native_cost(data, true, isa);
  if (cost.no_form) return "machine code: none, an op has no vector form";
  const std::string text = "machine code (" + std::string(target->name) + "): about " +
                           std::to_string(cost.operations) + " vector operations" +
                           (cost.batches.has_loops() ? ", of which loops leave some " +
                                                           std::to_string(cost.batches.written) + " to be written, "
                                                     : std::string(", "));
  if (cost.batches.too_long && cost.alone.too_long) return text + "too many: the interpreter does it";
  const auto percent = [](const NativeCost& of) {
    return "about " + std::to_string(std::lround(100 * of.native / std::fmax(of.interpreter, 1e-9))) + "%";
  };
  const auto from = [](std::size_t worth, const char* what) {
    return worth == NativeCost::never ? std::string("never for ") + what : "from " + std::to_string(worth) + " " + what;
  };
  const auto of_duals = [&](const char* what, bool gradient) {
    const NativeCost of = native_cost(data, {gradient, Numbers::dual, !data.uniform.differentiated.empty()}, isa);
    return std::string("; ") + what + " " + percent(of) + ", " + from(of.worth_from, "samples in batches") + ", " +
           from(of.worth_from_alone, "single ones");
  };
  return text + percent(cost) + " of the interpreter's time; pays " + from(cost.worth_from, "samples in batches") +
         ", " + from(cost.worth_from_alone, "single ones") + of_duals("jvp", false) + of_duals("hvp", true);
}

template NativeCost native_cost(const ProgramData<double>&, Evaluation, Isa);
template NativeCost native_cost(const ProgramData<float>&, Evaluation, Isa);
template std::string describe_native(const ProgramData<double>&, Isa);
template std::string describe_native(const ProgramData<float>&, Isa);

}  // namespace wengert::plan
