// Looking at the records of a tape: operands and outputs of any op.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/catalogue.hpp"
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

template <class Real>
Operands operands_of(const TapeView<Real>& tape, const OpRecord& record) {
  const int arity = info(record.op).arity;
  if (arity == 0) return {tape.operands.data() + record.a, record.b};
  return {&record.a, static_cast<std::size_t>(arity)};  // a, b and c follow one another
}
static_assert(offsetof(OpRecord, b) == offsetof(OpRecord, a) + sizeof(Id) &&
              offsetof(OpRecord, c) == offsetof(OpRecord, b) + sizeof(Id));

inline std::uint32_t outputs_of(const OpRecord& record) {
  const OpInfo& row = info(record.op);
  return row.arity == 0 ? row.outputs(record.b) : 1;
}

/// Whether anything is ever added to the adjoint of operand k.
inline bool has_slope(Op op, std::size_t k) {
  return info(op).arity == 0 || kernels::slope(op, static_cast<int>(k)) != kernels::Slope::none;
}

}  // namespace wengert
