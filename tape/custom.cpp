#include "wengert/custom.hpp"

#include <utility>

#include "tape/calls.hpp"

namespace wengert {

template <class Real>
CustomOp<Real>::CustomOp(CustomRule<Real> rule) {
  const char* const missing = rule.name.empty()       ? "name"
                              : rule.inputs == 0      ? "inputs"
                              : rule.outputs == 0     ? "outputs"
                              : !rule.values          ? "values"
                              : !rule.vjp             ? "vjp"
                              : rule.hvp && !rule.jvp ? "jvp, which hvp needs"
                                                      : nullptr;
  if (missing)
    throw Error(ErrorCode::bad_argument, "a custom op \"" + rule.name + "\" without " + missing +
                                             ": a CustomRule has a name, inputs, outputs, values and vjp");
  if (rule.inputs >= no_id || rule.outputs >= no_id || rule.kept >= no_id - rule.outputs)
    throw Error(ErrorCode::bad_argument, "a custom op \"" + rule.name + "\" of " + std::to_string(rule.inputs) +
                                             " inputs, " + std::to_string(rule.outputs) + " outputs and " +
                                             std::to_string(rule.kept) +
                                             " kept: a tape has at most 2^32 - 2 variables");
  rule_ = std::make_shared<const CustomRule<Real>>(std::move(rule));
}

template <class Real>
std::vector<Real> CustomOp<Real>::values(std::span<const Real> point) const {
  check_operands(*rule_, point.size());
  std::vector<Real> results(rule_->outputs + rule_->kept);
  rule_->values(1, columns(point.data(), 1), columns(results.data(), 1));
  results.resize(rule_->outputs);
  return results;
}

template class CustomOp<double>;
template class CustomOp<float>;

}  // namespace wengert
