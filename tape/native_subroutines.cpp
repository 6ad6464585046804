#include "tape/native_subroutines.hpp"

#include <algorithm>
#include <utility>

#include "tape/special_partials.hpp"

namespace wengert::plan {
namespace {

using codegen::Value;

std::size_t inputs_of(const Instruction& instruction) {
  return instruction.reads.size() - instruction.sources().size();
}

/// Whether what adjoints of an op give is computed by the zero rule.
bool has_zero_rule(const codegen::Graph& graph, Op op) {
  return graph.chain() == codegen::Chain::zero_rule ||
         (graph.chain() == codegen::Chain::special && has_special_partials(op));
}

template <class Real>
void record_fixed_adjoint(codegen::Graph& graph, const Instruction& instruction, const Value* reads, Value* results) {
  const kernels::Kind& kind = instruction.kind;
  const unsigned used = kernels::used(kind.op, kind.active);
  // Operands that no partial reads: any value will do.
  Value x[3] = {reads[0], reads[0], reads[0]}, y = reads[0], contributions[3];
  std::size_t next = 1;
  for (unsigned k = 0; k < 3; ++k)
    if (used >> k & 1) x[k] = reads[next++];
  if (used & uses::Y) y = reads[next++];
  codegen::record_adjoint<Real>(
      graph, kind.op, {instruction.operands(), x, &y, reads, instruction.no_tie, has_zero_rule(graph, kind.op)},
      kind.active, contributions);
  for (unsigned k = 0; k < 3; ++k)
    if (kind.active >> k & 1) *results++ = contributions[k];
}

}  // namespace

template <class Real>
void record_instruction(codegen::Graph& graph, const Instruction& instruction, const Value* reads, Value* results) {
  const Op op = instruction.kind.op;
  const std::uint32_t n = instruction.operands();
  if (!instruction.kind.adjoint)
    return codegen::record_value<Real>(graph, op, {n, reads, nullptr, nullptr, instruction.no_tie, false}, results);
  if (info(op).arity != 0) return record_fixed_adjoint<Real>(graph, instruction, reads, results);
  const Value* const x = reads + instruction.adjoints().size();
  const Value* const y = x + (info(op).uses[0] & uses::X ? n : 0);
  codegen::record_adjoint<Real>(graph, op, {n, x, y, reads, false, has_zero_rule(graph, op)}, 0, results);
}

template <class Real>
bool Subroutines<Real>::call(const Instruction& instruction, const Value* reads, Value* results) {
  if (least_ == codegen::no_value) return false;
  const kernels::Kind& kind = instruction.kind;
  const std::size_t inputs = inputs_of(instruction), outputs = instruction.writes.size();
  if (std::max(inputs, outputs) > graph_.most_given()) return false;
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
  for (std::size_t k = 0; k < inputs; ++k) graph_.give(reads[k], static_cast<unsigned>(k));
  graph_.repeat_for_second_vector();
  graph_.call(*known.subroutine);
  for (std::size_t k = 0; k < outputs; ++k) results[k] = graph_.take(static_cast<unsigned>(k));
  graph_.repeat_for_second_vector();
  return true;
}

template <class Real>
std::optional<std::uint32_t> Subroutines<Real>::make(const Instruction& instruction) {
  codegen::Graph body = graph_.new_subroutine();
  std::vector<Value> reads(inputs_of(instruction)), results(std::max<std::size_t>(instruction.writes.size(), 3));
  for (std::size_t k = 0; k < reads.size(); ++k) reads[k] = body.take(static_cast<unsigned>(k));
  body.repeat_for_second_vector();
  const auto first = static_cast<std::ptrdiff_t>(body.nodes().size());
  record_instruction<Real>(body, instruction, reads.data(), results.data());
  if (!body.complete()) graph_.give_up();
  const auto is_operation = [](const codegen::Node& node) { return !codegen::at_hand(node.what); };
  const auto operations =
      static_cast<std::size_t>(std::count_if(body.nodes().begin() + first, body.nodes().end(), is_operation));
  if (operations < least_) return {};
  for (std::size_t k = 0; k < instruction.writes.size(); ++k) body.give(results[k], static_cast<unsigned>(k));
  body.repeat_for_second_vector();
  return graph_.add_subroutine(std::move(body));
}

template void record_instruction<double>(codegen::Graph&, const Instruction&, const Value*, Value*);
template void record_instruction<float>(codegen::Graph&, const Instruction&, const Value*, Value*);
template class Subroutines<double>;
template class Subroutines<float>;

}  // namespace wengert::plan
