// wengert/root.hpp: what solves an equation, with derivatives that come from the equation and not from how it was solved.
//
//   wengert::Root<double> kepler(1, 2, [](std::span<const wengert::Var<double>> x) {
//     return x[0] - x[1] * sin(x[0]) - x[2];  // E - e sin E = M
//   });
//   const double guess[1] = {1}, inputs[2] = {0.2, 0.7}, weights[1] = {1};
//   double solution[1], gradient[2];  // E, dE/de, dE/dM
//   kepler.vjp(1, wengert::rows(guess, 1), wengert::rows(inputs, 2), wengert::rows(weights, 1), wengert::rows(solution, 1),
//              wengert::rows(gradient, 2));
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/function.hpp"

namespace wengert {

/// How equations are run, and when a root is one.
struct RootOptions {
  FunctionOptions function = {};  ///< of the equations
  /// A sample is solved when a step changes no unknown by more than this, relative to the largest of them, or by more than a
  /// rounding error of 1. 0: the square root of the rounding error, since Newton's method doubles the digits with that step.
  double tolerance = 0;
  std::size_t most_steps = 50;  ///< of Newton's method; then no_root
};

template <class Real>
class RootSolver;

/// y with F(y, x) = 0, n equations for n unknowns, on batches of x. Newton's method with the exact Jacobian, a dense LU with partial
/// pivoting for each sample, steps halved while they make the equations' norm larger. Derivatives by the implicit function theorem:
/// dy/dx = -(dF/dy)^-1 dF/dx, in reverse one solution of the transposed system and one sweep (Griewank & Walther, Evaluating
/// Derivatives, SIAM 2008, section 15.1). They are those of the exact root, at the one that was found.
///
/// The equations are code as of Function (wengert/function.hpp). The same bits on every instruction set and number of threads. One
/// thread at a time per Root.
template <class Real>
class WENGERT_API Root {
 public:
  /// `equations` takes the `unknowns`, then the `inputs`, as one std::span<const Var<Real>>, and returns as many numbers as there
  /// are unknowns, to be zero. Throws bad_argument (no unknowns), and as Function.
  template <class Equations>
    requires std::invocable<Equations&, std::span<const Var<Real>>>
  Root(std::size_t unknowns, std::size_t inputs, Equations equations, const RootOptions& options = {})
      : Root(unknowns, Function<Real>(unknowns + inputs, std::move(equations), options.function), options) {}
  /// @{
  /// What was moved from may be assigned to or destroyed, no more.
  Root(Root&&) noexcept;
  Root& operator=(Root&&) noexcept;
  /// @}
  ~Root();

  /// Roots, from a guess for each sample ({}: 0). `guesses` and `roots` may be the same table.
  /// Throws no_root, naming the first sample for which the method doesn't arrive, after it has tried all; bad_size where the
  /// equations are more or fewer than the unknowns; and as Function.
  void values(std::size_t samples, Samples<const Real> guesses, Samples<const Real> inputs, Samples<Real> roots);
  /// The same, and derivatives of the roots, weighted by `weights`, in the inputs. NaN or infinite where the root is a multiple one.
  void vjp(std::size_t samples, Samples<const Real> guesses, Samples<const Real> inputs, Samples<const Real> weights,
           Samples<Real> roots, Samples<Real> gradients);

  /// Newton steps of the last call, of the sample that took most.
  std::size_t steps() const;
  FunctionStatistics statistics() const;  ///< of the equations

 private:
  Root(std::size_t unknowns, Function<Real> equations, const RootOptions& options);

  std::unique_ptr<RootSolver<Real>> solver_;
};

/// y with A y = b, n of each, on batches: inputs are A, row by row, then b; the derivatives are those of b and A. Solved by LU and
/// one step of refinement.
template <class Real>
Root<Real> linear_system(std::size_t n, const RootOptions& options = {}) {
  return Root<Real>(
      n, n * n + n,
      [n](std::span<const Var<Real>> x) {
        std::vector<Var<Real>> residuals;
        for (std::size_t i = 0; i < n; ++i)
          residuals.push_back(dot(x.subspan(n + i * n, n), x.first(n)) - x[n + n * n + i]);
        return residuals;
      },
      options);
}

extern template class Root<double>;
extern template class Root<float>;

}  // namespace wengert
