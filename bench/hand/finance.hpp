// By hand: black-scholes, heston.
#pragma once

#include "bench/hand/body.hpp"

namespace wengert::bench {
namespace {

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
  constexpr std::size_t lanes = V::lanes, parameters = 5;
  const std::size_t steps = task.size[0];
  const double part = 1.0 / static_cast<double>(steps);  // of a year
  const V dt(static_cast<Real>(part)), root_dt = sqrt(dt), half(Real(0.5));
  const V minus_half_dt(static_cast<Real>(-0.5 * part)), rate_dt(static_cast<Real>(0.03 * part)), spot(Real(100)),
      strike(Real(100)), discount(Real(0.9704455335485082));
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
