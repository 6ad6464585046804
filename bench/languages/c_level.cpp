// Level c: records a workload on the C tape (c_tape.c) and replays it there.
#include <algorithm>
#include <chrono>
#include <new>

#include "bench/graph_ops.hpp"
#include "bench/languages/c_tape.h"
#include "bench/make_levels.hpp"
#include "bench/results.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {

namespace {

/// The C tape's number of an op. It has those that the workloads use.
c_op c_number(Op op) {
  switch (op) {
    case Op::add: return C_ADD;
    case Op::sub: return C_SUB;
    case Op::mul: return C_MUL;
    case Op::div: return C_DIV;
    case Op::neg: return C_NEG;
    case Op::fma: return C_FMA;
    case Op::square: return C_SQUARE;
    case Op::sqrt: return C_SQRT;
    case Op::exp: return C_EXP;
    case Op::log: return C_LOG;
    case Op::erfc: return C_ERFC;
    case Op::softplus: return C_SOFTPLUS;
    case Op::sigmoid: return C_SIGMOID;
    case Op::tanh: return C_TANH;
    case Op::max: return C_MAX;
    case Op::sum: return C_SUM;
    case Op::softmax: return C_SOFTMAX;
    case Op::logsumexp: return C_LOGSUMEXP;
    case Op::dot: return C_DOT;
    case Op::sqnorm: return C_SQNORM;
    default: throw Error(ErrorCode::unsupported, std::string("level c has no op ") + name(op));
  }
}

template <class Real>
struct CTape : GraphOps<CTape<Real>, std::uint32_t> {
  std::vector<c_record> ops;
  std::vector<std::uint32_t> operands;
  std::vector<Real> value, adjoint;
  std::vector<bool> is_constant;

  std::uint32_t variable(double x, bool constant) {
    value.push_back(static_cast<Real>(x));
    is_constant.push_back(constant);
    return static_cast<std::uint32_t>(value.size() - 1);
  }
  std::uint32_t constant(double x) { return variable(x, true); }
  std::uint32_t output(std::uint32_t first, std::size_t k) { return first + static_cast<std::uint32_t>(k); }

  std::uint32_t record(Op op, std::span<const std::uint32_t> of) {
    const auto count = static_cast<std::uint32_t>(of.size());
    c_record r{static_cast<std::uint32_t>(c_number(op)), static_cast<std::uint32_t>(value.size()), 0, 0, 0};
    if (info(op).arity == 0) {
      r.a = static_cast<std::uint32_t>(operands.size());
      r.b = count;
      operands.insert(operands.end(), of.begin(), of.end());
    } else {
      r.a = of[0];
      if (count > 1) r.b = of[1];
      if (count > 2) r.c = of[2];
      if (op == Op::max) r.c = is_constant[of[0]] || is_constant[of[1]];
    }
    ops.push_back(r);
    for (std::uint32_t k = 0; k < info(op).outputs(count); ++k) variable(0, false);
    return r.out;
  }

  void reserve(std::size_t variables, std::size_t op_count) {
    try {
      value.reserve(variables);
      adjoint.reserve(variables);
      ops.reserve(op_count);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory,
                  "level c needs " + std::to_string(variables * 2 * sizeof(Real) + op_count * sizeof(c_record)) +
                      " bytes, which can't be had; choose fewer ops");
    }
  }

  void forward() {
    if constexpr (sizeof(Real) == 8) c_forward_f64(ops.data(), ops.size(), operands.data(), value.data());
    else c_forward_f32(ops.data(), ops.size(), operands.data(), value.data());
  }
  void backward() {
    if constexpr (sizeof(Real) == 8)
      c_backward_f64(ops.data(), ops.size(), operands.data(), value.data(), adjoint.data());
    else c_backward_f32(ops.data(), ops.size(), operands.data(), value.data(), adjoint.data());
  }
};

template <class Real>
class CLevel final : public Level<Real> {
 public:
  explicit CLevel(const Workload& workload)
      : inputs_(workload.inputs),
        parameters_(workload.parameters),
        differentiated_(workload.differentiated),
        results_(workload) {
    tape_.reserve(workload.variables, workload.recorded_ops);
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::uint32_t> in;
    for (std::size_t i = 0; i < inputs_; ++i) in.push_back(tape_.variable(0, false));
    output_ = workload.build(tape_, std::span<const std::uint32_t>(in));
    tape_.adjoint.resize(tape_.value.size());
    record_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void evaluate(const Batch<Real>& batch) override {
    results_.begin(batch);
    std::copy(batch.parameters.begin(), batch.parameters.end(), tape_.value.begin());
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      for (std::size_t i = parameters_; i < inputs_; ++i) tape_.value[i] = batch.input(e, i);
      tape_.forward();
      std::fill(tape_.adjoint.begin(), tape_.adjoint.end(), Real(0));
      tape_.adjoint[output_] = 1;
      tape_.backward();
      results_.take(batch, e, tape_.value[output_], [&](std::size_t k) { return tape_.adjoint[differentiated_[k]]; });
    }
    results_.end(batch);
  }

  bool nodes(std::span<const Real> inputs, std::span<const Real> seeds, std::span<Real> values,
             std::span<Real> adjoints) override {
    std::copy(inputs.begin(), inputs.end(), tape_.value.begin());
    tape_.forward();
    std::copy(seeds.begin(), seeds.end(), tape_.adjoint.begin());
    tape_.backward();
    std::copy(tape_.value.begin(), tape_.value.end(), values.begin());
    std::copy(tape_.adjoint.begin(), tape_.adjoint.end(), adjoints.begin());
    return true;
  }

  double record_seconds() const override { return record_seconds_; }
  std::size_t tape_bytes() const override {
    return tape_.ops.size() * sizeof(c_record) + tape_.operands.size() * 4 + tape_.value.size() * 2 * sizeof(Real);
  }

 private:
  const std::size_t inputs_, parameters_;
  const std::vector<std::uint32_t> differentiated_;
  Results<Real> results_;
  CTape<Real> tape_;
  std::uint32_t output_ = 0;
  double record_seconds_ = 0;
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_c(const Workload& workload, const LevelOptions&) {
  return std::make_unique<CLevel<Real>>(workload);
}
template std::unique_ptr<Level<double>> make_c(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_c(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
