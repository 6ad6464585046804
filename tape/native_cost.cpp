#include "tape/native_cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "codegen/record.hpp"
#include "tape/decode.hpp"
#include "tape/native.hpp"

namespace wengert::plan {
namespace {

/// ns on an AMD EPYC (Zen 4), fitted to the ladder's workloads: good to a third or so.
struct Rates {
  double instruction,    // of the interpreter: loads, stores and dispatch, a sample's share (f64)
      operation,         // of the interpreter, likewise
      native_operation;  // of machine code, likewise
  // The longest code, in operations, and the longest for two vectors side by side. Code for AVX2 is half as long again, and
  // runs twice as often.
  std::size_t most, most_of_two_vectors;
};
constexpr Rates rates_avx512{0.18, 0.035, 0.035, 1'600'000, 200'000}, rates_avx2{0.09, 0.063, 0.052, 600'000, 50'000};
constexpr double instruction_alone = 2.4,  // of a single evaluation by the interpreter
    operation_alone = 0.5,                 // likewise
    native_operation_alone = 0.25,         // by machine code
    to_make = 30,                          // an operation of code
    to_begin = 50000;                      // any code: pages, tables
/// Until the result is there: of an addition or the like, a division, an elementary function.
constexpr double wait_for_operation = 1.2, wait_for_division = 4, wait_for_function = 18;
constexpr double from_memory = 1.15;       // time of code that doesn't stay in the caches
constexpr double ahead = 300;              // operations that a core looks ahead
constexpr double worth_mentioning = 0.97;  // of the interpreter's time

const Rates& rates_of(Isa isa) { return isa == Isa::avx512 ? rates_avx512 : rates_avx2; }

/// Additions, products and the like are one operation, two for each derivative; divisions and roots take the time of eight. An
/// elementary function has about thirty. Where a slope is had from the result, or from nothing, it is cheap.
std::size_t operations_of(const Instruction& instruction) {
  const Op op = instruction.kind.op;
  if (op == Op::sum_samples) return 1;
  const OpInfo& row = info(op);
  const std::size_t n = row.arity != 0 ? 1 : instruction.operands();
  const std::size_t cheap = op == Op::div || op == Op::sqrt ? 8 : row.ulp <= 0.5 ? 1 : 0;
  if (!instruction.kind.adjoint) return n * (cheap != 0 ? cheap : 30);
  if (cheap != 0) return instruction.writes.size() * (cheap + (row.arity != 0));
  const unsigned reads = row.arity != 0 ? kernels::used(op, instruction.kind.active) : unsigned(row.uses[0]);
  return n * ((reads & ~uses::Y & ~uses::T) != 0 ? 30 : 4);
}

/// From the operand that is there last to the result. What an adjoint is multiplied by is there before it.
double wait_of(const Instruction& instruction) {
  if (instruction.kind.adjoint) return 2 * wait_for_operation;
  const Op op = instruction.kind.op;
  const double each = op == Op::div || op == Op::sqrt ? wait_for_division
                      : info(op).ulp <= 0.5           ? wait_for_operation
                                                      : wait_for_function;
  return info(op).arity != 0 ? each : each + wait_for_operation * instruction.operands();
}

struct Work {
  std::size_t operations = 0;
  double wait = 0;  ///< ns of the longest chain of instructions of which each needs the one before
};

Work work_in(const Code& code, std::size_t slots) {
  Work work;
  std::vector<float> ready(slots, 0);  // when what is in each slot is there
  each_instruction(code, [&](const Instruction& i) {
    work.operations += operations_of(i);
    const bool fixed = info(i.kind.op).arity != 0;
    double last = 0;
    for (const Slot slot : i.kind.adjoint ? i.adjoints() : i.reads) last = std::max(last, double(ready[slot]));
    last += wait_of(i);
    auto source = i.sources().begin();
    unsigned active = i.kind.active;
    for (const Slot slot : i.writes) {
      double at = last;
      if (i.kind.adjoint && !(fixed && (i.kind.assign >> std::countr_zero(active) & 1)))
        at = std::max(at, ready[*source++] + wait_for_operation);
      active &= active - 1;
      ready[slot] = static_cast<float>(at);
      work.wait = std::max(work.wait, at);
    }
  });
  return work;
}

/// Whether the op's value can be recorded at all. (What n-ary ones do can.)
template <class Real>
bool has_form(Op op) {
  if (info(op).arity == 0) return true;
  codegen::Graph graph(codegen::Shape{}, sizeof(Real));
  const codegen::Value x[3] = {graph.input(0, 0), graph.input(1, 0), graph.input(2, 0)};
  codegen::Value y = codegen::no_value;
  codegen::record_value<Real>(graph, op, {static_cast<std::uint32_t>(info(op).arity), x, nullptr, nullptr, false}, &y);
  return graph.complete();
}

std::size_t samples_until(double saved, double spent) {
  return saved <= 0 ? NativeCost::never : static_cast<std::size_t>(std::ceil(spent / saved));
}

}  // namespace

template <class Real>
NativeCost native_cost(const ProgramData<Real>& data, bool gradient, Isa isa) {
  const Rates& rates = rates_of(isa);
  NativeCost cost;
  if (!data.call.empty()) {
    cost.no_form = true;
    return cost;
  }
  const Code* const codes[] = {gradient ? &data.forward : &data.values_code, gradient ? &data.backward : nullptr};
  double instructions = 0, wait = 0;
  for (const Code* code : codes) {
    if (!code) continue;
    const Work work = work_in(*code, (gradient ? data.gradient : data.values).slots);
    cost.operations += work.operations;
    wait += work.wait;
    instructions += static_cast<double>(code->instructions);
  }
  std::uint64_t seen[4] = {};
  for (const Run& run : codes[0]->runs) {
    if (!in_catalogue(run.kind)) continue;
    const auto op = static_cast<unsigned>(kernels::catalogue[run.kind].op);
    if (seen[op / 64] >> op % 64 & 1) continue;
    seen[op / 64] |= std::uint64_t(1) << op % 64;
    cost.no_form = cost.no_form || !has_form<Real>(static_cast<Op>(op));
  }
  cost.too_long = cost.operations > rates.most;
  cost.two_vectors = cost.operations <= rates.most_of_two_vectors;
  const double operations = static_cast<double>(cost.operations), share = sizeof(Real) / 8.0;
  cost.interpreter = share * (rates.instruction * instructions + rates.operation * operations);
  cost.native = share * rates.native_operation * operations * (cost.two_vectors ? 1 : from_memory);
  // Operations that wait for each other: only a second vector, or in short code the next round, has others meanwhile.
  const codegen::Shape shape{native_target(isa), false, cost.two_vectors ? 2u : 1u};
  const double rounds = 1 + ahead / std::fmax(shape.vectors * operations, 1);
  cost.native = std::fmax(cost.native, wait / rounds / static_cast<double>(shape.samples(sizeof(Real))));
  cost.interpreter_alone = instruction_alone * instructions + operation_alone * operations;
  cost.native_alone = native_operation_alone * operations;
  if (cost.too_long || cost.no_form) return cost;
  if (cost.native <= worth_mentioning * cost.interpreter)
    cost.worth_from =
        samples_until(cost.interpreter - cost.native, to_begin + to_make * operations * (cost.two_vectors ? 2 : 1));
  cost.worth_from_alone = samples_until(cost.interpreter_alone - cost.native_alone, to_begin + to_make * operations);
  return cost;
}

template <class Real>
std::string describe_native(const ProgramData<Real>& data, Isa isa) {
  const codegen::Target* const target = native_target(isa);
  if (!target) return "machine code: none, the instruction set is " + std::string(name(isa));
  const NativeCost cost = native_cost(data, true, isa);
  if (cost.no_form) return "machine code: none, an op has no vector form";
  const std::string text = "machine code (" + std::string(target->name) + "): about " +
                           std::to_string(cost.operations) + " vector operations, ";
  if (cost.too_long) return text + "too many: the interpreter does it";
  const auto percent = static_cast<int>(std::lround(100 * cost.native / std::fmax(cost.interpreter, 1e-9)));
  const auto from = [](std::size_t worth, const char* what) {
    return worth == NativeCost::never ? std::string("never for ") + what : "from " + std::to_string(worth) + " " + what;
  };
  return text + "about " + std::to_string(percent) + "% of the interpreter's time; pays " +
         from(cost.worth_from, "samples in batches") + ", " + from(cost.worth_from_alone, "single ones");
}

template NativeCost native_cost(const ProgramData<double>&, bool, Isa);
template NativeCost native_cost(const ProgramData<float>&, bool, Isa);
template std::string describe_native(const ProgramData<double>&, Isa);
template std::string describe_native(const ProgramData<float>&, Isa);

}  // namespace wengert::plan
