// wengert/implicit.hpp: solutions of equations as ops of a tape, whose derivatives come from the equations and not from how they
// were solved.
//
//   using Var = wengert::Var<double>;
//   wengert::NaiveTape<double> tape;
//   const Var e = input(tape, 0.2), m = input(tape, 0.7), orbit[] = {e, m};
//   const Var anomaly = wengert::root([](std::span<const Var> x) { return x[0] - x[1] * sin(x[0]) - x[2]; },  // E - e sin E = M
//                                     std::vector<double>{1}, orbit)[0];
//   const Var a[] = {2, e, e, 3}, b[] = {anomaly, 1};
//   const std::vector<Var> x = wengert::solve(a, b);
//   backward(x[0] + x[1]);
//   std::printf("%g, slopes %g and %g\n", value(x[0] + x[1]), grad(e), grad(m));
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/checkpoint.hpp"
#include "wengert/custom.hpp"

namespace wengert {

struct RootOptions {
  /// Newton's method arrives when a step changes no unknown by more than this, relative to the largest of them, or by more than
  /// a rounding error of 1. 0: the square root of the rounding error, since that step doubles the digits.
  double tolerance = 0;
  std::size_t most_steps = 50;
  /// For a sample at which the method doesn't arrive: false: no_root is thrown; true: its root is NaN, and the others go on.
  bool nan_where_none = false;
};

namespace detail {
template <class Real>
WENGERT_API CustomOp<Real> root_op(std::size_t unknowns, std::size_t inputs, MakeFunction<Real> make,
                                   const RootOptions& options);
WENGERT_API void check_system(std::size_t matrix, std::size_t right);
}  // namespace detail

/// The op that solves A x = b: n * n operands of A, row by row, then n of b; n outputs. See `solve`. Throws bad_argument (n = 0, or
/// more than a tape can have).
template <class Real>
WENGERT_API CustomOp<Real> make_solve(std::size_t n);

/// x with A x = b; A row by row. By LU with partial pivoting, which is kept for the derivatives: backward is one
/// solution of the transposed system, adjoint(b) = A^-T adjoint(x), adjoint(A) = -adjoint(b) x^T (M. B. Giles, "Collected matrix
/// derivative results for forward and reverse mode algorithmic differentiation", Advances in Automatic Differentiation, 2008).
/// A singular A gives numbers that aren't finite. Throws bad_size where A hasn't as many numbers as b times itself.
template <detail::VarRange Matrix, detail::VarRange Right>
std::vector<Var<detail::RangeReal<Right>>> solve(const Matrix& a, const Right& b) {
  using Real = detail::RangeReal<Right>;
  std::vector<Var<Real>> operands(std::ranges::begin(a), std::ranges::end(a));
  const std::size_t entries = operands.size();
  operands.insert(operands.end(), std::ranges::begin(b), std::ranges::end(b));
  detail::check_system(entries, operands.size() - entries);
  return make_solve<Real>(operands.size() - entries)(operands);
}

/// The op that solves F(y, p) = 0 for y: as operands a guess for the `unknowns`, then `inputs` many p. See `root`.
template <class Real, class Equations>
  requires std::invocable<Equations&, std::span<const Var<Real>>>
CustomOp<Real> make_root(std::size_t unknowns, std::size_t inputs, Equations equations,
                         const RootOptions& options = {}) {
  return detail::root_op<Real>(unknowns, inputs,
                               detail::function_maker<Real>(unknowns + inputs, std::move(equations), ZeroRule::exact),
                               options);
}

/// y with F(y, p) = 0, n equations for n unknowns. `equations` takes y, then p, as one std::span<const Var<Real>>, and returns as many
/// numbers as there are unknowns; it is code as a segment of `checkpoint` is. Newton's method from `guess`, with the exact
/// Jacobian of F, a dense LU and steps halved while they make the equations' norm larger.
///
/// Derivatives by the implicit function theorem, dy/dp = -(dF/dy)^-1 dF/dp: in reverse one solution of the transposed system and
/// one sweep of F (Griewank & Walther, Evaluating Derivatives, SIAM 2008, section 15.1). They are those of the exact root, at the one
/// that was found; the guess, numbers or Vars, has none. NaN or infinite where the root is a multiple one.
///
/// Each call makes an op; make_root makes one to be applied more than once. Throws no_root (RootOptions), bad_argument (a tolerance
/// below 0), bad_size where there are more or fewer equations than unknowns, and what the equations throw.
template <class Equations, std::ranges::input_range Guess, detail::VarRange Inputs>
  requires std::convertible_to<std::ranges::range_reference_t<const Guess&>, Var<detail::RangeReal<Inputs>>> &&
           std::invocable<Equations&, std::span<const Var<detail::RangeReal<Inputs>>>>
std::vector<Var<detail::RangeReal<Inputs>>> root(Equations equations, const Guess& guess, const Inputs& inputs,
                                                 const RootOptions& options = {}) {
  using Real = detail::RangeReal<Inputs>;
  std::vector<Var<Real>> operands;
  for (const auto& y : guess) operands.emplace_back(y);
  const std::size_t unknowns = operands.size();
  for (const Var<Real>& p : inputs) operands.push_back(p);
  return make_root<Real>(unknowns, operands.size() - unknowns, std::move(equations), options)(operands);
}

extern template CustomOp<double> make_solve(std::size_t);
extern template CustomOp<float> make_solve(std::size_t);
extern template CustomOp<double> detail::root_op(std::size_t, std::size_t, MakeFunction<double>, const RootOptions&);
extern template CustomOp<float> detail::root_op(std::size_t, std::size_t, MakeFunction<float>, const RootOptions&);

}  // namespace wengert
