// Of a NaiveTape: marks, and going back to them.
#include <algorithm>
#include <string>

#include "tape/records.hpp"
#include "wengert/custom.hpp"
#include "wengert/tape.hpp"

namespace wengert {

template <class Real>
Mark NaiveTape<Real>::mark() const {
  return {static_cast<std::uint32_t>(values_.size()),    static_cast<std::uint32_t>(ops_.size()),
          static_cast<std::uint32_t>(operands_.size()),  static_cast<std::uint32_t>(inputs_.size()),
          static_cast<std::uint32_t>(constants_.size()), static_cast<std::uint32_t>(parameters_.size()),
          static_cast<std::uint32_t>(guards_.size())};
}

template <class Real>
void NaiveTape<Real>::rewind(const Mark& mark) {
  if (mark.variables > values_.size() || mark.ops > ops_.size() || mark.operands > operands_.size() ||
      mark.inputs > inputs_.size() || mark.constants > constants_.size() || mark.parameters > parameters_.size() ||
      mark.guards > guards_.size())
    throw Error(ErrorCode::bad_argument, "the mark is at " + std::to_string(mark.variables) +
                                             " variables, past this tape's " + std::to_string(values_.size()) +
                                             ": it was cleared or rewound further back");
  if (mark.variables == values_.size()) {
    guards_.truncate(mark.guards);
    return;
  }
  if (!fits(mark))
    throw Error(ErrorCode::bad_argument,
                "the mark at " + std::to_string(mark.variables) +
                    " variables isn't of this tape as it is: it was rewound further back and recorded "
                    "on since, or the mark is another tape's");
  epochs_.rewind(mark.variables);
  truncate(mark);
}

/// Whether what a mark counts ends at one place: so that all that is left is about what is left.
template <class Real>
bool NaiveTape<Real>::fits(const Mark& mark) const {
  const auto ends = [&](const detail::Array<Id>& ids, std::size_t count) {
    return (count == 0 || ids[count - 1] < mark.variables) && (count == ids.size() || ids[count] >= mark.variables);
  };
  const TapeView<Real> tape = view();
  if (mark.ops != 0) {
    const OpRecord& last = ops_[mark.ops - 1];
    if (last.out >= mark.variables || outputs_of(tape, last) > mark.variables - last.out) return false;
  }
  if (mark.ops != ops_.size() && ops_[mark.ops].out < mark.variables) return false;
  // Lists follow one another, so the next one begins where those that are left end.
  std::size_t operands = operands_.size();
  for (std::size_t k = mark.ops; k < ops_.size(); ++k)
    if (arity_of(ops_[k].op) == 0) {
      operands = ops_[k].a;
      break;
    }
  return operands == mark.operands && ends(inputs_, mark.inputs) && ends(constants_, mark.constants) &&
         ends(parameters_, mark.parameters) &&
         std::all_of(guards_.begin(), guards_.begin() + mark.guards,
                     [&](const Guard& guard) { return guard.condition < mark.variables; });
}

template <class Real>
inline void NaiveTape<Real>::truncate(const Mark& mark) noexcept {
  if (!labels_.empty()) labels_.rewind(mark.variables);
  values_.truncate(mark.variables);
  ops_.truncate(mark.ops);
  operands_.truncate(mark.operands);
  inputs_.truncate(mark.inputs);
  constants_.truncate(mark.constants);
  parameters_.truncate(mark.parameters);
  guards_.truncate(mark.guards);
  while (!calls_.empty() && calls_.back().op >= mark.ops) calls_.pop_back();
  if (adjoints_.size() > mark.variables) adjoints_.truncate(mark.variables);
}

template <class Real>
void NaiveTape<Real>::take_back(const Mark& mark) noexcept {
  truncate(mark);
  shared_.forget(mark.variables);
}

template <class Real>
void NaiveTape<Real>::clear() {
  epochs_.clear();
  truncate({});
}

#define WENGERT_MARKS(Real)                                       \
  template Mark NaiveTape<Real>::mark() const;                    \
  template void NaiveTape<Real>::rewind(const Mark&);             \
  template bool NaiveTape<Real>::fits(const Mark&) const;         \
  template void NaiveTape<Real>::truncate(const Mark&) noexcept;  \
  template void NaiveTape<Real>::take_back(const Mark&) noexcept; \
  template void NaiveTape<Real>::clear();
WENGERT_MARKS(double)
WENGERT_MARKS(float)
#undef WENGERT_MARKS

}  // namespace wengert
