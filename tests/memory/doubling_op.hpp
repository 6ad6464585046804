// A custom op that is as small as one can be.
#pragma once

#include <cstddef>
#include <utility>

#include "wengert/custom.hpp"

namespace wengert::test {

/// 2 x.
inline CustomOp<double> doubling_op() {
  CustomRule<double> rule;
  rule.name = "twice";
  rule.inputs = rule.outputs = 1;
  rule.values = [](std::size_t n, Samples<const double> x, Samples<double> y) {
    for (std::size_t e = 0; e < n; ++e) y(e, 0) = 2 * x(e, 0);
  };
  rule.vjp = [](std::size_t n, Samples<const double>, Samples<const double>, Samples<const double> w,
                Samples<double> g) {
    for (std::size_t e = 0; e < n; ++e) g(e, 0) = 2 * w(e, 0);
  };
  return CustomOp<double>(std::move(rule));
}

}  // namespace wengert::test
