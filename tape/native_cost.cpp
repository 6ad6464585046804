#include "tape/native_cost.hpp"

#include <cmath>

#include "codegen/record.hpp"
#include "tape/decode.hpp"

namespace wengert::plan {
namespace {

// ns on an AMD EPYC (Zen 4), fitted to the ladder's workloads: good to a third or so.
constexpr double instruction = 0.18,       // of the interpreter: loads, stores and dispatch, a sample's share (f64)
    operation = 0.035,                     // of either, a sample's share (f64)
    instruction_alone = 2.4,               // of a single evaluation
    operation_alone = 0.5,                 // by the interpreter
    native_operation_alone = 0.25,         // by machine code
    to_make = 30,                          // an operation of code
    to_begin = 50000;                      // any code: pages, tables
constexpr double from_memory = 1.15;       // time of code that doesn't stay in the caches
constexpr double worth_mentioning = 0.97;  // of the interpreter's time

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

std::size_t operations_in(const Code& code) {
  std::size_t sum = 0;
  each_instruction(code, [&](const Instruction& i) { sum += operations_of(i); });
  return sum;
}

/// Whether the op's value can be recorded at all. (What n-ary ones do can.)
template <class Real>
bool has_form(Op op) {
  if (info(op).arity == 0) return true;
  codegen::Graph graph(sizeof(Real));
  const codegen::Value x[3] = {graph.input(0, 0), graph.input(1, 0), graph.input(2, 0)};
  codegen::Value y = codegen::no_value;
  codegen::record_value<Real>(graph, op, {static_cast<std::uint32_t>(info(op).arity), x, nullptr, nullptr, false}, &y);
  return graph.complete();
}

std::size_t samples_until(double saved, double spent) {
  return saved <= 0 ? NativeCost::never : static_cast<std::size_t>(std::ceil(spent / saved));
}

constexpr std::size_t most_operations = 1'600'000, most_of_two_vectors = 200'000;

}  // namespace

template <class Real>
NativeCost native_cost(const ProgramData<Real>& data, bool gradient) {
  NativeCost cost;
  if (!data.call.empty()) {
    cost.no_form = true;
    return cost;
  }
  const Code* const codes[] = {gradient ? &data.forward : &data.values_code, gradient ? &data.backward : nullptr};
  double instructions = 0;
  for (const Code* code : codes) {
    if (!code) continue;
    cost.operations += operations_in(*code);
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
  cost.too_long = cost.operations > most_operations;
  cost.two_vectors = cost.operations <= most_of_two_vectors;
  const double operations = static_cast<double>(cost.operations), share = sizeof(Real) / 8.0;
  cost.interpreter = share * (instruction * instructions + operation * operations);
  cost.native = share * operation * operations * (cost.two_vectors ? 1 : from_memory);
  cost.interpreter_alone = instruction_alone * instructions + operation_alone * operations;
  cost.native_alone = native_operation_alone * operations;
  if (cost.too_long || cost.no_form) return cost;
  if (cost.native <= worth_mentioning * cost.interpreter)
    cost.worth_from =
        samples_until(cost.interpreter - cost.native, to_begin + to_make * operations * (cost.two_vectors ? 2 : 1));
  cost.worth_from_alone = samples_until(cost.interpreter_alone - cost.native_alone, to_begin + to_make * operations);
  return cost;
}

std::string describe(const NativeCost& cost) {
  if (cost.no_form) return "machine code: none, an op has no vector form";
  const std::string text = "machine code (AVX-512): about " + std::to_string(cost.operations) + " vector operations, ";
  if (cost.too_long) return text + "too many: the interpreter does it";
  const auto percent = static_cast<int>(std::lround(100 * cost.native / std::fmax(cost.interpreter, 1e-9)));
  const auto from = [](std::size_t worth, const char* what) {
    return worth == NativeCost::never ? std::string("never for ") + what : "from " + std::to_string(worth) + " " + what;
  };
  return text + "about " + std::to_string(percent) + "% of the interpreter's time; pays " +
         from(cost.worth_from, "samples in batches") + ", " + from(cost.worth_from_alone, "single ones");
}

template NativeCost native_cost(const ProgramData<double>&, bool);
template NativeCost native_cost(const ProgramData<float>&, bool);

}  // namespace wengert::plan
