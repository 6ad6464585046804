// A workload computed in the scalar type of another tool: what a user of that tool would write, an operator or a function of
// its own at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "bench/graph_ops.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {

/// Nodes are places in `nodes`. `Functions` says what the tool calls exp_of, max_of, ...
template <class Active, class Functions>
struct ScalarGraph : GraphOps<ScalarGraph<Active, Functions>, std::uint32_t> {
  std::deque<Active> nodes;

  std::uint32_t push(const Active& x) {
    nodes.push_back(x);
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
  std::uint32_t constant(double x) { return push(Active(x)); }
  std::uint32_t output(std::uint32_t first, std::size_t k) { return first + static_cast<std::uint32_t>(k); }

  std::uint32_t record(Op op, std::span<const std::uint32_t> of) {
    using F = Functions;
    const auto x = [&](std::size_t i) -> const Active& { return nodes[of[i]]; };
    switch (op) {
      case Op::add: return push(x(0) + x(1));
      case Op::sub: return push(x(0) - x(1));
      case Op::mul: return push(x(0) * x(1));
      case Op::div: return push(x(0) / x(1));
      case Op::neg: return push(-x(0));
      case Op::fma: return push(x(0) * x(1) + x(2));
      case Op::square: return push(x(0) * x(0));
      case Op::sqrt: return push(F::root_of(x(0)));
      case Op::exp: return push(F::exp_of(x(0)));
      case Op::log: return push(F::log_of(x(0)));
      case Op::erfc: return push(F::erfc_of(x(0)));
      case Op::tanh: return push(F::tanh_of(x(0)));
      case Op::max: return push(F::max_of(x(0), x(1)));
      case Op::sigmoid: return push(1.0 / (1.0 + F::exp_of(-x(0))));
      case Op::softplus: return push(F::log_of(1.0 + F::exp_of(x(0))));
      case Op::sum: return push(total(of.size(), x));
      case Op::dot: {
        const std::size_t half = of.size() / 2;
        return push(total(half, [&](std::size_t i) { return Active(x(i) * x(half + i)); }));
      }
      case Op::sqnorm: return push(total(of.size(), [&](std::size_t i) { return Active(x(i) * x(i)); }));
      case Op::logsumexp:
        return push(F::log_of(total(of.size(), [&](std::size_t i) { return Active(F::exp_of(x(i))); })));
      case Op::softmax: {
        std::vector<Active> powers;
        for (std::size_t i = 0; i < of.size(); ++i) powers.push_back(F::exp_of(x(i)));
        const Active sum_of_all = total(of.size(), [&](std::size_t i) -> const Active& { return powers[i]; });
        const auto first = static_cast<std::uint32_t>(nodes.size());
        for (const Active& power : powers) push(power / sum_of_all);
        return first;
      }
      default: throw Error(ErrorCode::unsupported, std::string("peers have no op ") + name(op));
    }
  }

 private:
  template <class Term>
  static Active total(std::size_t n, const Term& term) {
    Active sum = n > 0 ? Active(term(0)) : Active(0.0);
    for (std::size_t i = 1; i < n; ++i) sum = sum + term(i);
    return sum;
  }
};

}  // namespace wengert::bench
