#include "tape/special_partials.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "kernels/dispatch.hpp"
#include "tape/records.hpp"

namespace wengert::plan {
namespace {

constexpr double numbers[] = {-2, -1, 0, 0.5, 1};

constexpr std::size_t most = 4;  // operands
using Numbers4 = std::array<double, most>;

bool is_special(double partial, std::span<const double> x) {
  return !std::isfinite(partial) || (partial == 0 && std::find(x.begin(), x.end(), 0.0) == x.end());
}

/// At these operands. Of an op of several results, what comes from the first.
bool special_at(Op op, std::span<const double> x) {
  const kernels::Backend<double>& scalar = kernels::backend<double>(Isa::scalar);
  const OpInfo& row = info(op);
  const std::size_t n = x.size();
  Numbers4 y, g{}, partials, scratch;
  scalar.forward_op(op, n, x.data(), y.data());
  if (std::isnan(y[0])) return false;  // outside its domain
  if (row.arity == 0) {
    g[0] = 1;
    scalar.backward_op(op, n, x.data(), y.data(), g.data(), false, true, partials.data(), scratch.data());
  } else {
    scalar.partials(op, x[0], n > 1 ? x[1] : 0, n > 2 ? x[2] : 0, y[0], 0.5, partials.data());
  }
  for (std::size_t k = 0; k < n; ++k)
    if (has_slope(op, k) && is_special(partials[k], x)) return true;
  return false;
}

bool tried(Op op) {
  const OpInfo& row = info(op);
  std::uint32_t n = static_cast<std::uint32_t>(row.arity);
  if (n == 0)  // some that it takes
    for (n = most; row.outputs(n) == 0;) n = n == most ? 1 : n + 1;
  std::size_t points = 1;
  for (std::uint32_t k = 0; k < n; ++k) points *= std::size(numbers);
  Numbers4 x;
  for (std::size_t point = 0; point < points; ++point) {
    std::size_t rest = point;
    for (double& operand : x) operand = numbers[rest % std::size(numbers)], rest /= std::size(numbers);
    if (special_at(op, std::span(x).first(n))) return true;
  }
  return false;
}

}  // namespace

bool has_special_partials(Op op) {
  static const std::array<bool, op_count> special = [] {
    std::array<bool, op_count> all{};
    for (std::size_t k = 0; k < op_count; ++k) all[k] = tried(static_cast<Op>(k));
    return all;
  }();
  return special[static_cast<std::size_t>(op)];
}

}  // namespace wengert::plan
