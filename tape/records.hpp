// Looking at the records of a tape: operands and outputs of any op.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/catalogue.hpp"
#include "wengert/custom.hpp"
#include "wengert/tape.hpp"

namespace wengert {

/// The operands of a record: a view of it or of the tape's operand array.
class Operands {
 public:
  Operands(const Id* first, std::size_t size) : first_(first), size_(size) {}
  std::size_t size() const { return size_; }
  const Id* begin() const { return first_; }
  const Id* end() const { return first_ + size_; }
  Id operator[](std::size_t k) const { return first_[k]; }

 private:
  const Id* first_;
  std::size_t size_;
};

/// How many operands; 0: any number, as custom ops have.
constexpr int arity_of(Op op) { return op == op_call ? 0 : info(op).arity; }

template <class Real>
Operands operands_of(const TapeView<Real>& tape, const OpRecord& record) {
  const int arity = arity_of(record.op);
  if (arity == 0) return {tape.operands.data() + record.a, record.b};
  return {&record.a, static_cast<std::size_t>(arity)};  // a, b and c follow one another
}
static_assert(offsetof(OpRecord, b) == offsetof(OpRecord, a) + sizeof(Id) &&
              offsetof(OpRecord, c) == offsetof(OpRecord, b) + sizeof(Id));

/// The rule of a custom op.
template <class Real>
const CustomRule<Real>& rule_of(const TapeView<Real>& tape, const OpRecord& record) {
  return *tape.calls[record.c].rule;
}

/// With what a custom op keeps for its derivatives.
template <class Real>
std::uint32_t outputs_of(const TapeView<Real>& tape, const OpRecord& record) {
  if (record.op == op_call) {
    const CustomRule<Real>& rule = rule_of(tape, record);
    return static_cast<std::uint32_t>(rule.outputs + rule.kept);
  }
  const OpInfo& row = info(record.op);
  return row.arity == 0 ? row.outputs(record.b) : 1;
}

/// What becomes of an adjoint on its way to operand k of an op with a fixed number of them. Looked up, not read off the op table's
/// text again.
inline kernels::Slope slope_of(Op op, std::size_t k) {
  using kernels::Slope;
  static constexpr auto slopes = [] {
    std::array<std::array<Slope, 3>, op_count> all{};
    for (std::size_t row = 0; row < op_count; ++row)
      for (int operand = 0; operand < info(static_cast<Op>(row)).arity; ++operand)
        all[row][static_cast<std::size_t>(operand)] = kernels::slope(static_cast<Op>(row), operand);
    return all;
  }();
  return slopes[static_cast<std::size_t>(op)][k];
}
/// Whether anything is ever added to the adjoint of operand k.
inline bool has_slope(Op op, std::size_t k) { return arity_of(op) == 0 || slope_of(op, k) != kernels::Slope::none; }

template <class Real>
std::string name_of(const TapeView<Real>& tape, const OpRecord& record) {
  return record.op == op_call ? rule_of(tape, record).name : name(record.op);
}

}  // namespace wengert
