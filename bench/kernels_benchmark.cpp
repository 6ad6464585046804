// Google Benchmark of the kernels: each op of the table forward and backward, per instruction set and precision; and
// libm's functions for comparison. `per_op` is time per op and evaluation.
//
//   kernels_benchmark --benchmark_filter='exp/.*/f64'
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/philox.hpp"
#include "kernels/dispatch.hpp"
#include "wengert/ops.hpp"

namespace {

using namespace wengert;

constexpr std::size_t ops = 32;        // independent ones: fits the first-level cache with 64 lanes
constexpr std::uint32_t operands = 4;  // of an n-ary op

template <class Real>
const char* precision() {
  return sizeof(Real) == 8 ? "f64" : "f32";
}

double draw(const OpInfo& info, int operand, std::uint64_t row, std::uint32_t column) {
  const double u = static_cast<double>(bench::random_bits(1, 2, row, column) >> 11) * 0x1p-53;
  const OpInfo::Range& in = info.domain[info.arity == 0 ? 0 : operand];
  return in.low + (in.high - in.low) * u;
}

/// A tape of one op many times over, each on operands of its own, drawn from the op's domain.
template <class Real>
struct OneOp {
  std::vector<OpRecord> records;
  std::vector<Id> operand_ids;
  std::vector<Real> values, adjoints, scratch;
  kernels::Sweep<Real> sweep{};

  OneOp(Op op, std::size_t width) {
    const OpInfo& row = info(op);
    const std::uint32_t inputs = row.arity == 0 ? operands : static_cast<std::uint32_t>(row.arity);
    const std::uint32_t outputs = row.outputs(inputs);
    Id next = 0;
    for (std::size_t k = 0; k < ops; ++k) {
      OpRecord record{};
      record.op = op;
      record.a = next;
      if (row.arity > 1) record.b = next + 1;
      if (row.arity > 2) record.c = next + 2;
      if (row.arity == 0) {
        record.a = static_cast<Id>(operand_ids.size());
        record.b = operands;
        for (std::uint32_t i = 0; i < operands; ++i) operand_ids.push_back(next + i);
      }
      for (std::uint32_t i = 0; i < inputs; ++i)
        for (std::size_t lane = 0; lane < width; ++lane)
          values.push_back(static_cast<Real>(draw(row, static_cast<int>(i), k * width + lane, i)));
      values.resize(values.size() + outputs * width);
      record.out = next + inputs;
      next += inputs + outputs;
      records.push_back(record);
    }
    adjoints.resize(values.size());
    scratch.resize(operands * width);
    sweep.ops = records.data();
    sweep.op_count = records.size();
    sweep.operands = operand_ids.data();
    sweep.values = values.data();
    sweep.adjoints = adjoints.data();
    sweep.scratch = scratch.data();
    sweep.width = width;
  }
};

void count(benchmark::State& state, std::size_t width) {
  state.counters["per_op"] = benchmark::Counter(
      static_cast<double>(ops * width), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class Real>
void register_op(Op op, Isa isa) {
  const kernels::Backend<Real>& backend = kernels::backend<Real>(isa);
  const std::size_t width = backend.lanes == 1 ? 1 : 64;
  const std::string name =
      std::string(wengert::name(op)) + '/' + std::string(wengert::name(isa)) + '/' + precision<Real>();
  benchmark::RegisterBenchmark((name + "/forward").c_str(), [=, &backend](benchmark::State& state) {
    OneOp<Real> tape(op, width);
    for (auto _ : state) {
      backend.forward(tape.sweep);
      benchmark::ClobberMemory();
    }
    count(state, width);
  });
  benchmark::RegisterBenchmark((name + "/backward").c_str(), [=, &backend](benchmark::State& state) {
    OneOp<Real> tape(op, width);
    backend.forward(tape.sweep);
    for (auto _ : state) {
      std::fill(tape.adjoints.begin(), tape.adjoints.end(), Real(1));  // or adjoints would grow without end
      backend.backward(tape.sweep);
      benchmark::ClobberMemory();
    }
    count(state, width);
  });
}

template <class Real>
void register_libm(Op op, Real (*function)(Real)) {
  benchmark::RegisterBenchmark((std::string(name(op)) + "/libm/" + precision<Real>() + "/forward").c_str(),
                               [=](benchmark::State& state) {
                                 OneOp<Real> tape(op, 1);
                                 for (auto _ : state) {
                                   for (const OpRecord& record : tape.records)
                                     tape.values[record.out] = function(tape.values[record.a]);
                                   benchmark::ClobberMemory();
                                 }
                                 count(state, 1);
                               });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (std::size_t k = 0; k < op_count; ++k)
    for (const Isa isa : usable_isas()) {
      register_op<double>(static_cast<Op>(k), isa);
      register_op<float>(static_cast<Op>(k), isa);
    }
#define LIBM(name)                         \
  register_libm<double>(Op::name, ::name); \
  register_libm<float>(Op::name, ::name##f)
  LIBM(exp);
  LIBM(expm1);
  LIBM(log);
  LIBM(log1p);
  LIBM(tanh);
  LIBM(erfc);
  LIBM(sqrt);
#undef LIBM
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
