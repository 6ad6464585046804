// The workloads' adjoints as one writes them by hand, in the accurate form (log1p, erfc), over V: a number (`hand`) or a
// vector of evaluations (`hand-simd`). V has + - * / and load, store, exp, log, log1p, erfc, sqrt, abs, max, select(a < b).
#pragma once

#include "bench/hand.hpp"

#if defined(__clang__)
#define HAND_COMPILER "clang++ " __clang_version__
#else
#define HAND_COMPILER "g++ " __VERSION__
#endif

namespace wengert::bench {
namespace {

/// Calls body(e) for each vector of evaluations; the last one overlaps the one before it where the batch doesn't divide.
template <class V, class Body>
void for_each_vector(std::size_t evaluations, Body body) {
  constexpr std::size_t lanes = V::lanes;
  std::size_t e = 0;
  for (; e + lanes <= evaluations; e += lanes) body(e);
  if (e < evaluations) body(evaluations - lanes);
}

template <class V>
struct Softplus {
  V value, slope;
};
template <class V>
inline Softplus<V> softplus(V x) {
  const V e = exp(V(0) - abs(x));
  return {max(x, V(0)) + log1p(e), select_less(x, V(0), e, V(1)) / (V(1) + e)};
}

template <class V, class Real>
void expr(const HandTask<Real>& task) {
  for_each_vector<V>(task.evaluations, [&](std::size_t e) {
    const V x = V::load(task.inputs + e), y = V::load(task.inputs + task.stride + e);
    const V s = x + y;
    const Softplus<V> f = softplus(s * x);
    f.value.store(task.values + e);
    (f.slope * (s + x)).store(task.gradients + e);
    (f.slope * x).store(task.gradients + task.stride + e);
  });
}

/// Variables are as recorded: 100 inputs, then 7 results for every 4 ops. An adjoint is used within 36 variables of its
/// own, so 64 places for them are enough.
template <class V, class Real>
void west(const HandTask<Real>& task) {
  constexpr std::size_t lanes = V::lanes, inputs = 100, ring = 64;
  const std::size_t groups = task.ops / 4, rest = task.ops % 4;
  const std::size_t variables = inputs + 7 * groups + rest;
  Real* const values = task.room;
  Real* const slopes = values + variables * lanes;       // of the softplus, one per group
  Real* const adjoints = slopes + (groups + 1) * lanes;  // [ring]
  const auto at = [&](std::size_t i) { return V::load(values + i * lanes); };
  const auto put = [&](std::size_t i, V x) { x.store(values + i * lanes); };

  const auto group_forward = [&](std::size_t group, std::size_t ops) {
    const std::size_t b = inputs + 7 * group;
    if (ops < 1) return;
    const Softplus<V> f = softplus(at(b - 10));
    put(b, f.value);
    f.slope.store(slopes + group * lanes);
    if (ops < 2) return;
    const V sum = at(b - 29) + at(b - 24) + at(b - 19) + at(b - 14);
    put(b + 1, sum);
    if (ops < 3) return;
    const V product = at(b - 18) * at(b - 8);
    put(b + 2, product);
    if (ops < 4) return;
    const V x0 = at(b - 1), largest = max(max(x0, f.value), max(sum, product));
    const V e0 = exp(x0 - largest), e1 = exp(f.value - largest), e2 = exp(sum - largest), e3 = exp(product - largest);
    const V scale = V(1) / (e0 + e1 + e2 + e3);
    put(b + 3, e0 * scale);
    put(b + 4, e1 * scale);
    put(b + 5, e2 * scale);
    put(b + 6, e3 * scale);
  };

  const V seed = task.sum ? V(1) : V(0);  // of every variable
  const auto adjoint = [&](std::size_t i) { return adjoints + i % ring * lanes; };
  const auto add = [&](std::size_t i, V x) { (V::load(adjoint(i)) + x).store(adjoint(i)); };
  const auto take = [&](std::size_t i) {  // leaves the place empty for variable i - 64
    const V x = V::load(adjoint(i));
    V(0).store(adjoint(i));
    return x + seed;
  };
  const auto group_backward = [&](std::size_t group, std::size_t ops) {
    const std::size_t b = inputs + 7 * group;
    if (ops > 3) {
      const V y0 = at(b + 3), y1 = at(b + 4), y2 = at(b + 5), y3 = at(b + 6);
      const V g0 = take(b + 3), g1 = take(b + 4), g2 = take(b + 5), g3 = take(b + 6);
      const V dot = g0 * y0 + g1 * y1 + g2 * y2 + g3 * y3;
      add(b - 1, y0 * (g0 - dot));
      add(b, y1 * (g1 - dot));
      add(b + 1, y2 * (g2 - dot));
      add(b + 2, y3 * (g3 - dot));
    }
    if (ops > 2) {
      const V g = take(b + 2);
      add(b - 18, g * at(b - 8));
      add(b - 8, g * at(b - 18));
    }
    if (ops > 1) {
      const V g = take(b + 1);
      add(b - 29, g);
      add(b - 24, g);
      add(b - 19, g);
      add(b - 14, g);
    }
    if (ops > 0) {
      const V g = take(b);
      add(b - 10, g * V::load(slopes + group * lanes));
    }
  };

  for_each_vector<V>(task.evaluations, [&](std::size_t e) {
    for (std::size_t i = 0; i < inputs; ++i) put(i, V::load(task.inputs + i * task.stride + e));
    for (std::size_t group = 0; group < groups; ++group) group_forward(group, 4);
    group_forward(groups, rest);
    if (task.sum) {
      V sum = at(0);
      for (std::size_t i = 1; i < variables; ++i) sum = sum + at(i);
      sum.store(task.values + e);
    } else {
      at(variables - 1).store(task.values + e);
    }
    for (std::size_t i = 0; i < ring; ++i) V(0).store(adjoints + i * lanes);
    if (!task.sum) V(1).store(adjoint(variables - 1));
    group_backward(groups, rest);
    for (std::size_t group = groups; group-- > 0;) group_backward(group, 4);
    for (std::size_t i = 0; i < inputs; ++i)  // the first op reads inputs from 71 on, no op one before
      (i < inputs - 29 ? seed : take(i)).store(task.gradients + i * task.stride + e);
  });
}

template <class V, class Real>
void dag(const HandTask<Real>& task) {
  constexpr std::size_t lanes = V::lanes, inputs = 50;
  const std::size_t first = task.constant_count + inputs, places = first + task.step_count;
  Real* const values = task.room;
  Real* const adjoints = values + places * lanes;
  const auto at = [&](std::size_t i) { return V::load(values + i * lanes); };
  const auto add = [&](std::size_t i, V x) { (V::load(adjoints + i * lanes) + x).store(adjoints + i * lanes); };
  enum { op_add, op_sub, op_mul, op_fma };

  for_each_vector<V>(task.evaluations, [&](std::size_t e) {
    for (std::size_t i = 0; i < task.constant_count; ++i)
      V(static_cast<Real>(task.constants[i])).store(values + i * lanes);
    for (std::size_t i = 0; i < inputs; ++i)
      V::load(task.inputs + i * task.stride + e).store(values + (task.constant_count + i) * lanes);
    Real* to = values + first * lanes;
    for (const auto* s = task.steps; s != task.steps + task.step_count; ++s, to += lanes) {
      const V a = at(s->a), b = at(s->b);
      switch (s->kind) {
        case op_add: (a + b).store(to); break;
        case op_sub: (a - b).store(to); break;
        case op_mul: (a * b).store(to); break;
        case op_fma: (a * b + at(s->c)).store(to); break;
      }
    }
    V sum = at(task.constant_count);
    for (std::size_t i = task.constant_count + 1; i < places; ++i) sum = sum + at(i);
    sum.store(task.values + e);

    for (std::size_t i = 0; i < places; ++i) V(1).store(adjoints + i * lanes);
    const Real* from = adjoints + places * lanes;
    for (const auto* s = task.steps + task.step_count; s-- != task.steps;) {
      const V g = V::load(from -= lanes);
      switch (s->kind) {
        case op_add:
          add(s->a, g);
          add(s->b, g);
          break;
        case op_sub:
          add(s->a, g);
          add(s->b, V(0) - g);
          break;
        case op_fma: add(s->c, g); [[fallthrough]];
        case op_mul:
          add(s->a, g * at(s->b));
          add(s->b, g * at(s->a));
          break;
      }
    }
    for (std::size_t i = 0; i < inputs; ++i)
      V::load(adjoints + (task.constant_count + i) * lanes).store(task.gradients + i * task.stride + e);
  });
}

template <class V, class Real>
void black_scholes(const HandTask<Real>& task) {
  const V half(Real(0.5)), minus_sqrt_half(Real(-0.70710678118654752440)), root_two_pi(Real(0.39894228040143267794));
  for_each_vector<V>(task.evaluations, [&](std::size_t e) {
    const auto input = [&](int i) { return V::load(task.inputs + i * task.stride + e); };
    const V spot = input(0), strike = input(1), rate = input(2), volatility = input(3), time = input(4);
    const V root_time = sqrt(time), deviation = volatility * root_time, per_deviation = V(1) / deviation;
    const V growth = rate + half * volatility * volatility;
    const V d1 = (log(spot / strike) + growth * time) * per_deviation, d2 = d1 - deviation;
    const V n1 = half * erfc(d1 * minus_sqrt_half), n2 = half * erfc(d2 * minus_sqrt_half);
    const V discount = exp(V(0) - rate * time), discounted = strike * discount;
    (spot * n1 - discounted * n2).store(task.values + e);

    const V g_d2 = V(0) - discounted * (root_two_pi * exp((V(0) - half) * d2 * d2));
    const V g_d1 = spot * (root_two_pi * exp((V(0) - half) * d1 * d1)) + g_d2;
    const V g_top = g_d1 * per_deviation;  // of d1's numerator
    const V g_deviation = V(0) - g_d2 - g_top * d1;
    const V g_exponent = V(0) - n2 * discounted;
    const auto gradient = [&](int k, V g) { g.store(task.gradients + k * task.stride + e); };
    gradient(0, n1 + g_top / spot);
    gradient(1, V(0) - n2 * discount - g_top / strike);
    gradient(2, (g_top - g_exponent) * time);
    gradient(3, g_top * volatility * time + g_deviation * root_time);
    gradient(4, g_top * growth - g_exponent * rate + g_deviation * volatility * half / root_time);
  });
}

template <class V, class Real>
void heston(const HandTask<Real>& task) {
  constexpr std::size_t lanes = V::lanes, steps = 252, parameters = 5;
  const V dt(Real(1.0 / 252)), root_dt(Real(0.06299407883487121)), half(Real(0.5));
  const V minus_half_dt(Real(-0.5 / 252)), rate_dt(Real(0.03 / 252)), spot(Real(100)), strike(Real(100)),
      discount(Real(0.9704455335485082));
  Real* const variance = task.room;  // before each step, truncated at 0
  Real* const deviation = variance + steps * lanes;
  for_each_vector<V>(task.evaluations, [&](std::size_t e) {
    const auto input = [&](std::size_t i) { return V::load(task.inputs + i * task.stride + e); };
    const auto w1 = [&](std::size_t step) { return input(parameters + 2 * step) * root_dt; };
    const auto w2 = [&](std::size_t step) { return input(parameters + 2 * step + 1) * root_dt; };
    const V kappa_dt = input(0) * dt, theta = input(1), xi = input(2), rho = input(3);
    const V rho_bar = sqrt(V(1) - rho * rho);
    V v = input(4), x(0);
    for (std::size_t step = 0; step < steps; ++step) {
      const V plus = max(v, V(0)), s = sqrt(plus), dw = w1(step);
      plus.store(variance + step * lanes);
      s.store(deviation + step * lanes);
      x = x + (rate_dt + minus_half_dt * plus) + s * dw;
      v = v + kappa_dt * (theta - plus) + xi * s * (rho * dw + rho_bar * w2(step));
    }
    const V end = exp(x) * spot;
    (discount * max(end - strike, V(0))).store(task.values + e);

    const V g_x = select_less(strike, end, discount * end, V(0));
    V g_v(0), g_kappa(0), g_theta(0), g_xi(0), g_rho(0), g_rho_bar(0);
    for (std::size_t step = steps; step-- > 0;) {
      const V plus = V::load(variance + step * lanes), s = V::load(deviation + step * lanes);
      const V a = w1(step), b = w2(step), w = rho * a + rho_bar * b;
      const V g_s = g_x * a + g_v * xi * w;
      const V g_w = g_v * xi * s;
      g_xi = g_xi + g_v * s * w;
      g_rho = g_rho + g_w * a;
      g_rho_bar = g_rho_bar + g_w * b;
      g_kappa = g_kappa + g_v * (theta - plus);
      g_theta = g_theta + g_v;
      const V g_plus = g_x * minus_half_dt - g_v * kappa_dt + g_s * half / s;
      g_v = g_v + select_less(V(0), plus, g_plus, V(0));
    }
    const auto gradient = [&](int k, V g) { g.store(task.gradients + k * task.stride + e); };
    gradient(0, g_kappa * dt);
    gradient(1, g_theta * kappa_dt);
    gradient(2, g_xi);
    gradient(3, g_rho - g_rho_bar * rho / rho_bar);
    gradient(4, g_v);
  });
}

}  // namespace
}  // namespace wengert::bench
