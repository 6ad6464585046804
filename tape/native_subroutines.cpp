#include "tape/native_subroutines.hpp"

#include <algorithm>
#include <utility>

#include "tape/special_partials.hpp"

namespace wengert::plan {
namespace {

using codegen::DualValue;
using codegen::Value;

std::size_t inputs_of(const Instruction& instruction) {
  return instruction.reads.size() - instruction.sources().size();
}

/// Whether what derivatives of an op give is computed by the zero rule.
bool has_zero_rule(const codegen::Graph& graph, Op op) {
  return graph.chain() == codegen::Chain::zero_rule ||
         (graph.chain() == codegen::Chain::special && has_special_partials(op));
}

template <class Real, class Number>
void record_fixed_adjoint(codegen::Graph& graph, const Instruction& instruction, const Number* reads, Number* results) {
  const kernels::Kind& kind = instruction.kind;
  const unsigned used = kernels::used(kind.op, kind.active);
  // Operands that no partial reads: any value will do.
  Number x[3] = {reads[0], reads[0], reads[0]}, y = reads[0], contributions[3];
  std::size_t next = 1;
  for (unsigned k = 0; k < 3; ++k)
    if (used >> k & 1) x[k] = reads[next++];
  if (used & uses::Y) y = reads[next++];
  codegen::record_adjoint<Real, Number>(
      graph, kind.op, {instruction.operands(), x, &y, reads, instruction.no_tie, has_zero_rule(graph, kind.op)},
      kind.active, contributions);
  for (unsigned k = 0; k < 3; ++k)
    if (kind.active >> k & 1) *results++ = contributions[k];
}

/// Vectors that a number is.
template <class Number>
constexpr std::size_t parts = sizeof(Number) / sizeof(Value);
/// Calls f(part) for each.
template <class F>
void each_part(Value& x, const F& f) {
  f(x);
}
template <class F>
void each_part(DualValue& x, const F& f) {
  f(x.v);
  f(x.d);
}

}  // namespace

template <class Real, class Number>
void record_instruction(codegen::Graph& graph, const Instruction& instruction, const Number* reads, Number* results) {
  const Op op = instruction.kind.op;
  const std::uint32_t n = instruction.operands();
  if (!instruction.kind.adjoint)
    return codegen::record_value<Real, Number>(
        graph, op, {n, reads, nullptr, nullptr, instruction.no_tie, has_zero_rule(graph, op)}, results);
  if (info(op).arity != 0) return record_fixed_adjoint<Real>(graph, instruction, reads, results);
  const Number* const x = reads + instruction.adjoints().size();
  const Number* const y = x + (info(op).uses[0] & uses::X ? n : 0);
  codegen::record_adjoint<Real, Number>(graph, op, {n, x, y, reads, false, has_zero_rule(graph, op)}, 0, results);
}

template <class Real, class Number>
bool Subroutines<Real, Number>::call(const Instruction& instruction, const Number* reads, Number* results) {
  if (least_ == codegen::no_value) return false;
  const kernels::Kind& kind = instruction.kind;
  const std::size_t inputs = inputs_of(instruction), outputs = instruction.writes.size();
  if (parts<Number> * std::max(inputs, outputs) > graph_.most_given()) return false;
  const std::uint64_t key = static_cast<std::uint64_t>(kind.op) << 40 | std::uint64_t(kind.adjoint) << 36 |
                            std::uint64_t(instruction.no_tie) << 35 | std::uint64_t(kind.active) << 32 |
                            instruction.operands();
  Known& known = recent_[key * 0x9e3779b97f4a7c15u >> 58];
  if (known.key != key) {
    auto found = known_.find(key);
    if (found == known_.end()) found = known_.emplace(key, make(instruction)).first;
    known = {key, found->second};
  }
  if (!known.subroutine) return false;
  unsigned number = 0;
  for (std::size_t k = 0; k < inputs; ++k) {
    Number x = reads[k];
    each_part(x, [&](Value part) { graph_.give(part, number++); });
  }
  graph_.repeat_for_second_vector();
  graph_.call(*known.subroutine);
  number = 0;
  for (std::size_t k = 0; k < outputs; ++k) each_part(results[k], [&](Value& part) { part = graph_.take(number++); });
  graph_.repeat_for_second_vector();
  return true;
}

template <class Real, class Number>
std::optional<std::uint32_t> Subroutines<Real, Number>::make(const Instruction& instruction) {
  codegen::Graph body = graph_.new_subroutine();
  std::vector<Number> reads(inputs_of(instruction)), results(std::max<std::size_t>(instruction.writes.size(), 3));
  unsigned number = 0;
  for (Number& x : reads) each_part(x, [&](Value& part) { part = body.take(number++); });
  body.repeat_for_second_vector();
  const auto first = static_cast<std::ptrdiff_t>(body.nodes().size());
  record_instruction<Real>(body, instruction, reads.data(), results.data());
  if (!body.complete()) graph_.give_up();
  const auto is_operation = [](const codegen::Node& node) { return !codegen::at_hand(node.what); };
  const auto operations =
      static_cast<std::size_t>(std::count_if(body.nodes().begin() + first, body.nodes().end(), is_operation));
  if (operations < least_) return {};
  number = 0;
  for (std::size_t k = 0; k < instruction.writes.size(); ++k)
    each_part(results[k], [&](Value part) { body.give(part, number++); });
  body.repeat_for_second_vector();
  return graph_.add_subroutine(std::move(body));
}

template void record_instruction<double>(codegen::Graph&, const Instruction&, const Value*, Value*);
template void record_instruction<float>(codegen::Graph&, const Instruction&, const Value*, Value*);
template void record_instruction<double>(codegen::Graph&, const Instruction&, const DualValue*, DualValue*);
template void record_instruction<float>(codegen::Graph&, const Instruction&, const DualValue*, DualValue*);
template class Subroutines<double, Value>;
template class Subroutines<float, Value>;
template class Subroutines<double, DualValue>;
template class Subroutines<float, DualValue>;

}  // namespace wengert::plan
