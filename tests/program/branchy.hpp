// Code with branches, drawn at random: what a user's function might be. Written once for numbers and for Vars.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/random.hpp"
#include "wengert/var.hpp"

namespace wengert::test {

/// A function of the inputs, the same for copies of `random` (a Random, or what has its functions): `steps` statements, some of
/// them branches, loops and sorts that depend on values.
template <class Real, class Source>
std::vector<Var<Real>> branchy(Source random, std::size_t steps, std::span<const Var<Real>> inputs) {
  using V = Var<Real>;
  std::vector<V> pool(inputs.begin(), inputs.end());
  pool.push_back(Real(0.75));
  for (std::size_t k = 0; k < steps; ++k) {
    // What is drawn doesn't depend on values.
    const std::size_t n = pool.size(), i = random.below(n), j = random.below(n), l = random.below(n);
    const double bound = random.in(-1, 1);
    const V a = pool[i], b = pool[j], c = pool[l];
    switch (random.below(10)) {
      case 0: pool.push_back(a + b); break;
      case 1: pool.push_back(a * b); break;
      case 2: pool.push_back(sin(a) + Real(0.5) * c); break;
      case 3: pool.push_back(exp(-square(a)) - b); break;
      case 4:  // if, else
        if (a < bound) pool.push_back(b * c + 1);
        else pool.push_back(tanh(b) - a);
        break;
      case 5:  // if alone
        pool.push_back(b);
        if (a >= b) pool.back() -= max(a, Real(0.25));
        break;
      case 6: {  // a loop, and an early end
        V t = tanh(a);
        for (int round = 0; round < 6; ++round) {
          if (t > bound + 0.5) break;
          t = t + Real(0.2) * sigmoid(b);
        }
        pool.push_back(t);
        break;
      }
      case 7: {
        std::vector<V> some = {a, b, c};
        std::sort(some.begin(), some.end());
        pool.push_back(some[0] - 2 * some[1] * some[2]);
        break;
      }
      case 8: pool.push_back(decide(isnan(a) | gt(b, c)) ? V(a - c) : V(a * Real(0.5) + c)); break;
      default: {  // an index
        const Real table[] = {Real(0.1), Real(-0.7), Real(1.5)};
        const V folded = Real(1.499) * (1 + tanh(a));
        pool.push_back(b * (isfinite(folded) ? table[to_integer(folded)] : Real(3)));
      }
    }
  }
  std::vector<V> outputs = {pool.back()};
  if (random.chance(0.4)) outputs.push_back(pool[random.below(pool.size())]);
  return outputs;
}

}  // namespace wengert::test
