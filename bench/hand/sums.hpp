// By hand, workloads that are summed over the batch: gmm, logistic, lstm-cell. What depends on the parameters alone is done once.
#pragma once

#include <cmath>

#include "bench/hand/body.hpp"

namespace wengert::bench {
namespace {

/// How many evaluations' shares of a prior there are.
template <class Real>
Real shares(const HandTask<Real>& task) {
  return static_cast<Real>(task.counted) / static_cast<Real>(task.samples);
}

template <class V, class Real>
void gmm(const HandTask<Real>& task) {
  constexpr std::size_t lanes = V::lanes;
  const std::size_t d = task.size[0], components = task.size[1], below = d * (d - 1) / 2, factor = d + below;
  const std::size_t first_mean = components, first_factor = first_mean + components * d,
                    parameters = first_factor + components * factor;
  const Real *const alpha = task.parameters, *const means = alpha + first_mean, *const factors = alpha + first_factor;

  Sums<V, Real> gradient(task.room, parameters);                // of the factors' diagonals, not of their logarithms
  Real* const deviations = task.room + parameters * lanes;      // [component][d]
  Real* const scaled = deviations + components * d * lanes;     // [component][d]: the factor times that
  Real* const exponents = scaled + components * d * lanes;      // [component]
  Real* const scaled_adjoint = exponents + components * lanes;  // [d]
  Real* const diagonals = scaled_adjoint + d * lanes;           // [component][d], numbers
  Real* const offsets = diagonals + components * d;             // [component], numbers
  for (std::size_t k = 0; k < components; ++k) {
    offsets[k] = alpha[k];
    for (std::size_t i = 0; i < d; ++i) {
      offsets[k] += factors[k * factor + i];
      diagonals[k * d + i] = std::exp(factors[k * factor + i]);
    }
  }

  V total(Real(0));
  for_each_weighted<V>(task, [&](std::size_t e, V weights) {
    V largest(Real(0));
    for (std::size_t k = 0; k < components; ++k) {
      const Real *const mean = means + k * d, *const diagonal = diagonals + k * d;
      Real *const y = deviations + k * d * lanes, *const z = scaled + k * d * lanes;
      for (std::size_t i = 0; i < d; ++i) {
        const V deviation = V::load(task.inputs + i * task.stride + e) - V(mean[i]);
        deviation.store(y + i * lanes);
        (V(diagonal[i]) * deviation).store(z + i * lanes);
      }
      const Real* column = factors + k * factor + d;
      for (std::size_t j = 0; j + 1 < d; column += d - 1 - j, ++j) {
        const V deviation = V::load(y + j * lanes);
        for (std::size_t i = j + 1; i < d; ++i)
          (V::load(z + i * lanes) + V(column[i - j - 1]) * deviation).store(z + i * lanes);
      }
      V squares(Real(0));
      for (std::size_t i = 0; i < d; ++i) squares = squares + V::load(z + i * lanes) * V::load(z + i * lanes);
      const V exponent = V(offsets[k]) - V(Real(0.5)) * squares;
      exponent.store(exponents + k * lanes);
      largest = k == 0 ? exponent : max(largest, exponent);
    }
    V sum(Real(0));
    for (std::size_t k = 0; k < components; ++k) {
      const V term = exp(V::load(exponents + k * lanes) - largest);
      term.store(exponents + k * lanes);
      sum = sum + term;
    }
    total = total + weights * (largest + log(sum));

    const V scale = weights / sum;
    for (std::size_t k = 0; k < components; ++k) {
      const Real *const y = deviations + k * d * lanes, *const z = scaled + k * d * lanes,
                        *const diagonal = diagonals + k * d;
      const V share = V::load(exponents + k * lanes) * scale;
      gradient.add(k, share);
      for (std::size_t i = 0; i < d; ++i)
        (V(Real(0)) - share * V::load(z + i * lanes)).store(scaled_adjoint + i * lanes);
      std::size_t below_diagonal = first_factor + k * factor + d;
      const Real* column = factors + k * factor + d;
      for (std::size_t j = 0; j < d; ++j) {
        const V deviation = V::load(y + j * lanes), g = V::load(scaled_adjoint + j * lanes);
        gradient.add(first_factor + k * factor + j, g * deviation);
        V deviation_adjoint = V(diagonal[j]) * g;
        for (std::size_t i = j + 1; i < d; ++i, ++column, ++below_diagonal) {
          const V below_g = V::load(scaled_adjoint + i * lanes);
          gradient.add(below_diagonal, below_g * deviation);
          deviation_adjoint = deviation_adjoint + V(*column) * below_g;
        }
        gradient.add(first_mean + k * d + j, V(Real(0)) - deviation_adjoint);
      }
    }
  });

  // The weights' normaliser and the prior.
  const Real n = static_cast<Real>(task.counted), share = shares(task);
  Real largest = alpha[0], sum = 0, squares = 0;
  for (std::size_t k = 1; k < components; ++k) largest = largest < alpha[k] ? alpha[k] : largest;
  for (std::size_t k = 0; k < components; ++k) sum += std::exp(alpha[k] - largest);
  for (std::size_t k = 0; k < components; ++k) {
    const Real of_offset = gradient[k];
    task.gradients[k] = of_offset - n * (std::exp(alpha[k] - largest) / sum);
    for (std::size_t i = 0; i < d; ++i) task.gradients[first_mean + k * d + i] = gradient[first_mean + k * d + i];
    for (std::size_t i = 0; i < factor; ++i) {
      const std::size_t q = first_factor + k * factor + i;
      const Real element = i < d ? diagonals[k * d + i] : factors[k * factor + i];
      const Real g = gradient[q] + share * element;
      task.gradients[q] = i < d ? g * element + of_offset : g;
      squares += element * element;
    }
  }
  total.store(exponents);
  Real value = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) value += exponents[lane];
  task.values[0] = value + (n * (static_cast<Real>(task.constant) - largest - std::log(sum)) + share / 2 * squares);
}

template <class V, class Real>
void logistic(const HandTask<Real>& task) {
  constexpr std::size_t features = 10;
  const Real* const weight = task.parameters;
  Sums<V, Real> gradient(task.room, features + 2);  // weights, offset; the value
  for_each_weighted<V>(task, [&](std::size_t e, V weights) {
    const auto column = [&](std::size_t i) { return V::load(task.inputs + i * task.stride + e); };
    V score(weight[features]);
    for (std::size_t i = 0; i < features; ++i) score = score + V(weight[i]) * column(i);
    const V taken = column(features);
    const Slope<V> loss = softplus(score);
    gradient.add(features + 1, weights * (loss.value - taken * score));
    const V g = weights * (loss.slope - taken);
    for (std::size_t i = 0; i < features; ++i) gradient.add(i, g * column(i));
    gradient.add(features, g);
  });
  Real squares = 0;
  for (std::size_t i = 0; i <= features; ++i) {
    const bool offset = i == features;
    squares += offset ? 0 : weight[i] * weight[i];
    task.gradients[i] = gradient[i] + (offset ? 0 : shares(task) * weight[i]);
  }
  task.values[0] = gradient[features + 1] + shares(task) / 2 * squares;
}

template <class V, class Real>
void lstm_cell(const HandTask<Real>& task) {
  constexpr std::size_t lanes = V::lanes;
  const std::size_t hidden = task.size[0], seen = task.size[1] + hidden, row = seen + 1, parameters = 4 * hidden * row;
  Sums<V, Real> gradient(task.room, parameters + 1);
  Real* const before = task.room + (parameters + 1) * lanes;  // inputs and hidden state
  for_each_weighted<V>(task, [&](std::size_t e, V weights) {
    const auto column = [&](std::size_t i) { return V::load(task.inputs + i * task.stride + e); };
    for (std::size_t i = 0; i < seen; ++i) column(i).store(before + i * lanes);
    const auto score = [&](std::size_t gate, std::size_t unit) {
      const Real* const weight = task.parameters + (gate * hidden + unit) * row;
      V sum(weight[seen]);
      for (std::size_t i = 0; i < seen; ++i) sum = sum + V(weight[i]) * V::load(before + i * lanes);
      return sum;
    };
    const auto back = [&](std::size_t gate, std::size_t unit, V g) {
      const std::size_t first = (gate * hidden + unit) * row;
      for (std::size_t i = 0; i < seen; ++i) gradient.add(first + i, g * V::load(before + i * lanes));
      gradient.add(first + seen, g);
    };
    for (std::size_t unit = 0; unit < hidden; ++unit) {
      const Slope<V> input = sigmoid(score(0, unit)), forget = sigmoid(score(1, unit)),
                     candidate = tanh(score(2, unit)), output = sigmoid(score(3, unit));
      const V state_before = column(seen + unit);
      const Slope<V> state = tanh(forget.value * state_before + input.value * candidate.value);
      const V after = output.value * state.value;
      gradient.add(parameters, weights * after * after);
      const V g = V(Real(2)) * weights * after, g_state = g * output.value * state.slope;
      back(0, unit, g_state * candidate.value * input.slope);
      back(1, unit, g_state * state_before * forget.slope);
      back(2, unit, g_state * input.value * candidate.slope);
      back(3, unit, g * state.value * output.slope);
    }
  });
  for (std::size_t q = 0; q < parameters; ++q) task.gradients[q] = gradient[q];
  task.values[0] = gradient[parameters];
}

}  // namespace
}  // namespace wengert::bench
