// By hand: expr, west, dag, rosenbrock.
#pragma once

#include "bench/hand/body.hpp"

namespace wengert::bench {
namespace {

template <class V, class Real>
void expr(const HandTask<Real>& task) {
  for_each_vector<V>(task.evaluations, [&](std::size_t e) {
    const V x = V::load(task.inputs + e), y = V::load(task.inputs + task.stride + e);
    const V s = x + y;
    const Slope<V> f = softplus(s * x);
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
    const Slope<V> f = softplus(at(b - 10));
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
void rosenbrock(const HandTask<Real>& task) {
  const std::size_t n = task.size[0];
  const V one(Real(1)), hundred(Real(100)), two(Real(2)), two_hundred(Real(200)), four_hundred(Real(400));
  for_each_vector<V>(task.evaluations, [&](std::size_t e) {
    const auto input = [&](std::size_t i) { return V::load(task.inputs + i * task.stride + e); };
    V x = input(0), value(Real(0)), from_before(Real(0));
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const V next = input(i + 1), off = next - x * x, along = one - x;
      value = value + (hundred * off * off + along * along);
      (from_before - four_hundred * off * x - two * along).store(task.gradients + i * task.stride + e);
      from_before = two_hundred * off;
      x = next;
    }
    value.store(task.values + e);
    from_before.store(task.gradients + (n - 1) * task.stride + e);
  });
}

}  // namespace
}  // namespace wengert::bench
