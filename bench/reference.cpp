#include "bench/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "wengert/error.hpp"

namespace wengert::bench {

namespace {

using Extended = long double;

/// Result and partials of an op of one to three operands.
struct Local {
  Extended value;
  std::array<Extended, 3> partial{};
};

Local local(Op op, const Extended* x, bool constant_operand) {
  const Extended two_over_root_pi = 1.12837916709551257389615890312154517L;
  switch (op) {
    case Op::add: return {x[0] + x[1], {1, 1}};
    case Op::sub: return {x[0] - x[1], {1, -1}};
    case Op::mul: return {x[0] * x[1], {x[1], x[0]}};
    case Op::div: return {x[0] / x[1], {1 / x[1], -x[0] / x[1] / x[1]}};
    case Op::neg: return {-x[0], {-1}};
    case Op::fma: return {x[0] * x[1] + x[2], {x[1], x[0], 1}};
    case Op::square: return {x[0] * x[0], {2 * x[0]}};
    case Op::sqrt: return {std::sqrt(x[0]), {1 / (2 * std::sqrt(x[0]))}};
    case Op::exp: return {std::exp(x[0]), {std::exp(x[0])}};
    case Op::log: return {std::log(x[0]), {1 / x[0]}};
    case Op::erfc: return {std::erfc(x[0]), {-two_over_root_pi * std::exp(-x[0] * x[0])}};
    case Op::softplus:
      return {x[0] > 0 ? x[0] + std::log1p(std::exp(-x[0])) : std::log1p(std::exp(x[0])), {1 / (1 + std::exp(-x[0]))}};
    case Op::sigmoid: {
      const Extended e = std::exp(-std::fabs(x[0]));
      return {(x[0] < 0 ? e : 1) / (1 + e), {e / ((1 + e) * (1 + e))}};
    }
    case Op::tanh: return {std::tanh(x[0]), {1 / (std::cosh(x[0]) * std::cosh(x[0]))}};
    case Op::max: {
      const Extended tie = constant_operand ? 0 : 0.5L;
      const Extended slope = x[0] > x[1] ? 1 : x[0] < x[1] ? 0 : tie;
      const Extended other = x[0] > x[1] ? 0 : x[0] < x[1] ? 1 : tie;
      return {std::max(x[0], x[1]), {slope, other}};
    }
    default: throw Error(ErrorCode::unsupported, std::string("the reference has no rule for op ") + name(op));
  }
}

/// How far each partial goes wrong if each operand is off by its scale, to first order.
std::array<Extended, 3> partial_scales(const Local& at, Op op, const Extended* x, const Extended* scale,
                                       std::uint32_t n, bool constant_operand) {
  const Extended step = 0x1p-26L;
  std::array<Extended, 3> result{};
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!(scale[i] > 0)) continue;
    std::array<Extended, 3> moved{};
    std::copy_n(x, n, moved.begin());
    moved[i] += scale[i] * step;
    const Local there = local(op, moved.data(), constant_operand);
    for (std::uint32_t k = 0; k < n; ++k) {
      const Extended change = std::fabs(there.partial[k] - at.partial[k]) / step;
      if (std::isfinite(change)) result[k] += change;
    }
  }
  return result;
}

/// An op of any number of operands with one result: how far it and its partials go wrong, to first order, if each operand is
/// off by its scale. So many roundings of partial sums add up like a random walk.
struct Many {
  Extended value = 0, value_scale = 0;
  std::vector<Extended> partials, partial_scales;
};

bool is_many(Op op) { return op == Op::sum || op == Op::dot || op == Op::sqnorm || op == Op::logsumexp; }

Many many(Op op, std::span<const Extended> x, std::span<const Extended> scale) {
  Many result;
  std::vector<Extended>&partials = result.partials, &partial_scales = result.partial_scales;
  if (op == Op::logsumexp) {
    const Extended largest = *std::max_element(x.begin(), x.end());
    Extended sum = 0;
    for (Extended each : x) sum += std::exp(each - largest);
    result.value = largest + std::log(sum);
    result.value_scale = std::fabs(result.value);
    for (std::size_t i = 0; i < x.size(); ++i) {
      partials.push_back(std::exp(x[i] - result.value));
      result.value_scale += partials[i] * (1 + scale[i] + std::fabs(x[i] - largest));
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      partial_scales.push_back(partials[i] * (1 + scale[i] + std::fabs(x[i] - largest) + result.value_scale));
    return result;
  }
  Extended squares = 0;  // of the partial sums
  const auto add = [&](Extended term, Extended term_scale) {
    result.value += term;
    squares += result.value * result.value;
    result.value_scale += term_scale;
  };
  if (op == Op::sum) {
    for (std::size_t i = 0; i < x.size(); ++i) add(x[i], scale[i]);
    partials.assign(x.size(), 1);
    partial_scales.assign(x.size(), 0);
  } else if (op == Op::sqnorm) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      add(x[i] * x[i], x[i] * x[i] + 2 * std::fabs(x[i]) * scale[i]);
      partials.push_back(2 * x[i]);
      partial_scales.push_back(2 * scale[i]);
    }
  } else {  // dot
    const std::size_t half = x.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      const Extended a = x[i], b = x[half + i];
      add(a * b, std::fabs(a * b) + std::fabs(b) * scale[i] + std::fabs(a) * scale[half + i]);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      partials.push_back(x[(i + half) % x.size()]);
      partial_scales.push_back(scale[(i + half) % x.size()]);
    }
  }
  result.value_scale += std::sqrt(squares);
  return result;
}

/// A product that is 0 where a factor is, against infinities too: what isn't there can't contribute.
Extended times(Extended a, Extended b) { return a == 0 || b == 0 ? 0 : a * b; }

}  // namespace

std::uint32_t Reference::Graph::variable(long double value, bool constant) {
  constants.push_back(value);
  is_constant.push_back(constant);
  return static_cast<std::uint32_t>(constants.size() - 1);
}

std::uint32_t Reference::Graph::record(Op op, std::span<const std::uint32_t> of) {
  if (!is_many(op) && op != Op::softmax) {
    const Extended anywhere[3] = {1, 1, 1};
    local(op, anywhere, false);  // throws for an op without a rule
  }
  const Record made{op, std::any_of(of.begin(), of.end(), [&](std::uint32_t v) { return is_constant[v]; }),
                    static_cast<std::uint32_t>(constants.size()), static_cast<std::uint32_t>(operands.size()),
                    static_cast<std::uint32_t>(of.size())};
  operands.insert(operands.end(), of.begin(), of.end());
  records.push_back(made);
  for (std::uint32_t k = 0; k < (op == Op::softmax ? made.count : 1); ++k) variable(0, false);
  return made.out;
}

Reference::Reference(const Workload& workload) : inputs_(workload.inputs) {
  std::vector<std::uint32_t> inputs;
  for (std::size_t i = 0; i < inputs_; ++i) inputs.push_back(graph_.variable(0, false));
  output_ = workload.build(graph_, std::span<const std::uint32_t>(inputs));
}

std::vector<long double> Reference::at_operands(const Graph::Record& r, const std::vector<long double>& of) const {
  std::vector<Extended> result;
  for (std::uint32_t i = 0; i < r.count; ++i) result.push_back(of[graph_.operands[r.first + i]]);
  return result;
}

std::vector<long double> Reference::forward(std::span<const long double> inputs) const {
  std::vector<Extended> v = graph_.constants;
  std::copy(inputs.begin(), inputs.end(), v.begin());
  for (const Graph::Record& r : graph_.records) {
    const std::uint32_t* of = graph_.operands.data() + r.first;
    if (is_many(r.op)) {
      v[r.out] = many(r.op, at_operands(r, v), std::vector<Extended>(r.count)).value;
    } else if (r.op == Op::softmax) {
      Extended largest = v[of[0]], sum = 0;
      for (std::uint32_t i = 1; i < r.count; ++i) largest = std::max(largest, v[of[i]]);
      for (std::uint32_t i = 0; i < r.count; ++i) sum += std::exp(v[of[i]] - largest);
      for (std::uint32_t i = 0; i < r.count; ++i) v[r.out + i] = std::exp(v[of[i]] - largest) / sum;
    } else {
      Extended x[3] = {};
      for (std::uint32_t i = 0; i < r.count; ++i) x[i] = v[of[i]];
      v[r.out] = local(r.op, x, r.constant_operand).value;
    }
  }
  return v;
}

ReferenceResult Reference::evaluate(std::span<const double> inputs) const {
  std::vector<double> seeds(variables(), 0);
  seeds[output_] = 1;
  return evaluate(inputs, seeds);
}

ReferenceResult Reference::evaluate(std::span<const double> inputs, std::span<const double> seeds) const {
  if (inputs.size() != inputs_ || seeds.size() != variables())
    throw Error(ErrorCode::bad_size, "the reference takes " + std::to_string(inputs_) + " inputs and " +
                                         std::to_string(variables()) + " seeds, not " + std::to_string(inputs.size()) +
                                         " and " + std::to_string(seeds.size()));
  ReferenceResult result;
  result.values = forward(std::vector<Extended>(inputs.begin(), inputs.end()));
  const std::vector<Extended>& v = result.values;

  // How far values go wrong. Inputs are exact; constants are rounded once, to float maybe.
  std::vector<Extended>& scale = result.value_scales;
  scale.assign(variables(), 0);
  for (std::size_t k = 0; k < variables(); ++k)
    if (graph_.is_constant[k]) scale[k] = std::fabs(v[k]);
  for (const Graph::Record& r : graph_.records) {
    const std::uint32_t* of = graph_.operands.data() + r.first;
    if (is_many(r.op)) {
      scale[r.out] = many(r.op, at_operands(r, v), at_operands(r, scale)).value_scale;
    } else if (r.op == Op::softmax) {  // dy_i = y_i (dx_i - sum_j y_j dx_j), and a rounded difference to the largest
      Extended largest = v[of[0]], mean = 0;
      for (std::uint32_t i = 1; i < r.count; ++i) largest = std::max(largest, v[of[i]]);
      const auto off = [&](std::uint32_t i) { return scale[of[i]] + std::fabs(v[of[i]] - largest); };
      for (std::uint32_t i = 0; i < r.count; ++i) mean += v[r.out + i] * (1 + off(i));
      for (std::uint32_t i = 0; i < r.count; ++i) scale[r.out + i] = v[r.out + i] * (1 + off(i) + mean);
    } else {
      Extended x[3] = {};
      for (std::uint32_t i = 0; i < r.count; ++i) x[i] = v[of[i]];
      const Local at = local(r.op, x, r.constant_operand);
      scale[r.out] = std::fabs(at.value);
      for (std::uint32_t i = 0; i < r.count; ++i) scale[r.out] += times(std::fabs(at.partial[i]), scale[of[i]]);
    }
  }

  std::vector<Extended>&adjoint = result.adjoints, &total = result.adjoint_scales;
  adjoint.assign(seeds.begin(), seeds.end());
  for (Extended a : adjoint) total.push_back(std::fabs(a));
  // Of many contributions roundings of their partial sums add up like a random walk.
  constexpr std::uint32_t many_contributions = 64;
  std::vector<std::uint32_t> contributions(variables(), 0);
  std::vector<Extended> squares(variables(), 0);
  const auto contribute = [&](std::uint32_t to, Extended contribution, Extended of_scale) {
    adjoint[to] += contribution;
    total[to] += of_scale;
    if (++contributions[to] > many_contributions) squares[to] += adjoint[to] * adjoint[to];
  };
  const auto complete = [&](std::size_t variable) {
    total[variable] += std::sqrt(std::exchange(squares[variable], 0));
  };
  for (std::size_t k = graph_.records.size(); k-- > 0;) {
    const Graph::Record& r = graph_.records[k];
    const std::uint32_t* of = graph_.operands.data() + r.first;
    for (std::uint32_t i = 0; i < (r.op == Op::softmax ? r.count : 1); ++i) complete(r.out + i);
    const Extended g = adjoint[r.out], total_g = total[r.out];
    if (is_many(r.op)) {
      const Many at = many(r.op, at_operands(r, v), at_operands(r, scale));
      for (std::uint32_t i = 0; i < r.count; ++i)
        contribute(of[i], times(g, at.partials[i]),
                   times(total_g, std::fabs(at.partials[i])) + times(std::fabs(g), at.partial_scales[i]));
    } else if (r.op == Op::softmax) {
      Extended dot = 0, total_dot = 0;
      for (std::uint32_t i = 0; i < r.count; ++i) {
        dot += adjoint[r.out + i] * v[r.out + i];
        total_dot += total[r.out + i] * v[r.out + i] + std::fabs(adjoint[r.out + i]) * scale[r.out + i];
      }
      for (std::uint32_t i = 0; i < r.count; ++i) {
        const Extended gi = adjoint[r.out + i], y = v[r.out + i];
        contribute(of[i], y * (gi - dot), y * (total[r.out + i] + total_dot) + scale[r.out + i] * std::fabs(gi - dot));
      }
    } else {
      Extended x[3] = {}, x_scale[3] = {};
      for (std::uint32_t i = 0; i < r.count; ++i) {
        x[i] = v[of[i]];
        x_scale[i] = scale[of[i]];
      }
      const Local at = local(r.op, x, r.constant_operand);
      const auto partial_scale = partial_scales(at, r.op, x, x_scale, r.count, r.constant_operand);
      for (std::uint32_t i = 0; i < r.count; ++i)
        contribute(of[i], times(g, at.partial[i]),
                   times(total_g, std::fabs(at.partial[i])) + times(std::fabs(g), partial_scale[i]));
    }
  }
  for (std::size_t variable = 0; variable < variables(); ++variable) complete(variable);
  return result;
}

long double Reference::difference(std::span<const double> inputs, std::size_t k) const {
  std::vector<Extended> x(inputs.begin(), inputs.end());
  const Extended step = 0x1p-12L * std::max(0x1p-6L, std::fabs(x[k]));
  const auto slope = [&](Extended h) {
    x[k] = inputs[k] + h;
    const Extended up = forward(x)[output_];
    x[k] = inputs[k] - h;
    const Extended down = forward(x)[output_];
    return (up - down) / (2 * h);
  };
  return (4 * slope(step / 2) - slope(step)) / 3;  // Richardson: the terms in h^2 cancel
}

}  // namespace wengert::bench
