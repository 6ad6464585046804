// Custom ops against differences: programs of the op alone, whose derivatives are those of one of its functions.
#include <memory>
#include <utility>
#include <vector>

#include "tape/transfer.hpp"
#include "wengert/diagnose.hpp"

namespace wengert {
namespace {

template <class Real>
Real weight(std::size_t output) {
  return Real(1) / static_cast<Real>(output + 1);
}

/// The same function, whose vjp is made of the rule's jvp, one input at a time.
template <class Real>
CustomRule<Real> by_jvp(CustomRule<Real> rule) {
  rule.vjp = [n = rule.inputs, m = rule.outputs, jvp = rule.jvp](std::size_t samples, Samples<const Real> x,
                                                                 Samples<const Real> y, Samples<const Real> weights,
                                                                 Samples<Real> gradients) {
    std::vector<Real> directions(samples * n), tangents(samples * m);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t e = 0; e < samples; ++e)
        for (std::size_t k = 0; k < n; ++k) directions[k * samples + e] = k == i ? Real(1) : Real(0);
      jvp(samples, x, y, columns(static_cast<const Real*>(directions.data()), samples),
          columns(tangents.data(), samples));
      for (std::size_t e = 0; e < samples; ++e) {
        gradients(e, i) = 0;
        for (std::size_t j = 0; j < m; ++j) gradients(e, i) += weights(e, j) * tangents[j * samples + e];
      }
    }
  };
  return rule;
}

/// The gradient of the outputs' weighted sum as a function; its Jacobian is symmetric, so hvp is its vjp.
template <class Real>
CustomRule<Real> slope_of(const CustomRule<Real>& rule) {
  struct At {
    std::vector<Real> results, weights;
    Samples<const Real> y, w;
    At(const CustomRule<Real>& of, std::size_t samples, Samples<const Real> x)
        : results(samples * (of.outputs + of.kept)), weights(samples * of.outputs) {
      of.values(samples, x, columns(results.data(), samples));
      for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = weight<Real>(k / samples);
      y = columns(static_cast<const Real*>(results.data()), samples);
      w = columns(static_cast<const Real*>(weights.data()), samples);
    }
  };
  CustomRule<Real> slope;
  slope.name = rule.name;
  slope.inputs = slope.outputs = rule.inputs;
  slope.values = [rule](std::size_t samples, Samples<const Real> x, Samples<Real> gradients) {
    const At at(rule, samples, x);
    rule.vjp(samples, x, at.y, at.w, gradients);
  };
  slope.vjp = [rule](std::size_t samples, Samples<const Real> x, Samples<const Real>, Samples<const Real> weights,
                     Samples<Real> gradients) {
    const At at(rule, samples, x);
    rule.hvp(samples, x, at.y, at.w, weights, gradients);
  };
  return slope;
}

template <class Real>
GradientCheck check(CustomRule<Real> rule, std::size_t samples, Samples<const Real> inputs, double tolerance) {
  rule.jvp = {};  // so that it is the vjp that gives the Jacobian
  rule.hvp = {};
  const CustomOp<Real> op(std::move(rule));
  NaiveTape<Real> tape;
  std::vector<Id> operands, outputs;
  for (std::size_t i = 0; i < op.rule().inputs; ++i) operands.push_back(tape.input(inputs(0, i)));
  const Id first = op.record(tape, operands);
  for (std::size_t j = 0; j < op.rule().outputs; ++j) outputs.push_back(first + static_cast<Id>(j));
  return check_gradient(compile(tape, std::span<const Id>(outputs)), samples, inputs, tolerance);
}

}  // namespace

std::string CustomCheck::describe() const {
  std::string text = "vjp: " + vjp.describe();
  if (!jvp.entries.empty()) text += "jvp: " + jvp.describe();
  if (!hvp.entries.empty()) text += "hvp: " + hvp.describe();
  return text;
}

template <class Real>
CustomCheck check_custom(const CustomOp<Real>& op, std::size_t samples,
                         Samples<const std::type_identity_t<Real>> inputs, double tolerance) {
  need("inputs", samples, op.rule().inputs, inputs);
  CustomCheck found;
  if (samples == 0) return found;
  found.vjp = check(op.rule(), samples, inputs, tolerance);
  if (op.rule().jvp) found.jvp = check(by_jvp(op.rule()), samples, inputs, tolerance);
  if (op.rule().hvp) found.hvp = check(slope_of(op.rule()), samples, inputs, tolerance);
  return found;
}

template CustomCheck check_custom(const CustomOp<double>&, std::size_t, Samples<const double>, double);
template CustomCheck check_custom(const CustomOp<float>&, std::size_t, Samples<const float>, double);

}  // namespace wengert
