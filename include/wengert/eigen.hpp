// wengert/eigen.hpp: Var as the scalar of Eigen's matrices. Needs Eigen 3.4; wengert itself doesn't, so wengert.hpp doesn't
// include this.
//
//   #include <Eigen/Dense>
//   wengert::NaiveTape<double> tape;
//   Eigen::Matrix2d a{{4, 1}, {1, 3}};
//   auto x = wengert::input_matrix(tape, a);
//   auto b = wengert::input_matrix(tape, Eigen::Vector2d(1, 2));
//   wengert::Var<double> f = x.llt().solve(b).squaredNorm();
//   backward(f);
//   std::printf("f = %g, df/db(1) = %g\n", value(f), wengert::gradients(b)(1));
//
// Products, sums, norms and solvers record scalar op by scalar op. Numbers mix with variables element by element (2.0 * x,
// x + a); in a product or a system, turn a matrix of numbers into constants first: `a.cast<wengert::Var<double>>() * x`.
//
// Decompositions compare: pivots with one another, and the sums of columns for an estimate of the condition. These are guards
// (docs/branches.md), so a replay takes only matrices that are decomposed in the same order; inverses of a fixed size up to
// 4, products and norms compare nothing.
#pragma once

#include <Eigen/Core>

#include "wengert/var.hpp"

namespace Eigen {

/// Costs tell Eigen to evaluate an operand once rather than record it several times.
template <class Real_>
struct NumTraits<wengert::Var<Real_>> : NumTraits<Real_> {
  using Real = wengert::Var<Real_>;
  using NonInteger = wengert::Var<Real_>;
  using Nested = wengert::Var<Real_>;
  using Literal = Real_;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 2,
    AddCost = 16,
    MulCost = 16
  };
};

/// A matrix of Var and one of numbers.
template <class Real, class Op>
struct ScalarBinaryOpTraits<wengert::Var<Real>, Real, Op> {
  using ReturnType = wengert::Var<Real>;
};
template <class Real, class Op>
struct ScalarBinaryOpTraits<Real, wengert::Var<Real>, Op> {
  using ReturnType = wengert::Var<Real>;
};

// wengert's isnan is no bool but what `decide` makes one of.
namespace internal {
template <>
inline bool isnan_impl(const wengert::Var<double>& x) {
  return decide(isnan(x));
}
template <>
inline bool isnan_impl(const wengert::Var<float>& x) {
  return decide(isnan(x));
}
}  // namespace internal

}  // namespace Eigen

namespace wengert {

namespace detail {
/// A matrix of the same shape with another scalar.
template <class Derived, class Scalar>
using Like = Eigen::Matrix<Scalar, Derived::RowsAtCompileTime, Derived::ColsAtCompileTime,
                           Derived::ColsAtCompileTime != 1 && (Derived::RowsAtCompileTime == 1 || Derived::IsRowMajor)
                               ? Eigen::RowMajor
                               : Eigen::ColMajor,
                           Derived::MaxRowsAtCompileTime, Derived::MaxColsAtCompileTime>;
}  // namespace detail

/// An input for each element, column by column, with its value there.
template <class Derived>
auto input_matrix(NaiveTape<typename Derived::Scalar>& tape, const Eigen::DenseBase<Derived>& elements) {
  const typename Derived::PlainObject numbers = elements.derived();
  detail::Like<Derived, Var<typename Derived::Scalar>> inputs(numbers.rows(), numbers.cols());
  detail::Attempt<typename Derived::Scalar> attempt(&tape);
  for (Eigen::Index column = 0; column < numbers.cols(); ++column)
    for (Eigen::Index row = 0; row < numbers.rows(); ++row) inputs(row, column) = input(tape, numbers(row, column));
  attempt.keep();
  return inputs;
}

/// The values of a matrix of Var.
template <class Derived>
auto values(const Eigen::DenseBase<Derived>& variables) {
  using Real = typename Derived::Scalar::value_type;
  const typename Derived::PlainObject each = variables.derived();
  detail::Like<Derived, Real> numbers(each.rows(), each.cols());
  for (Eigen::Index column = 0; column < each.cols(); ++column)
    for (Eigen::Index row = 0; row < each.rows(); ++row) numbers(row, column) = each(row, column).value();
  return numbers;
}

/// Their adjoints in the last sweep; 0 for constants. Throws stale_id.
template <class Derived>
auto gradients(const Eigen::DenseBase<Derived>& variables) {
  using Real = typename Derived::Scalar::value_type;
  const typename Derived::PlainObject each = variables.derived();
  detail::Like<Derived, Real> numbers(each.rows(), each.cols());
  for (Eigen::Index column = 0; column < each.cols(); ++column)
    for (Eigen::Index row = 0; row < each.rows(); ++row) numbers(row, column) = grad(each(row, column));
  return numbers;
}

}  // namespace wengert
