// Eigen's matrices of Var: products, norms, decompositions and solvers, whose derivatives are known in closed form.
#include "wengert/eigen.hpp"

#include <Eigen/Dense>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/random.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using VarMatrix = Eigen::Matrix<Var<double>, Eigen::Dynamic, Eigen::Dynamic>;
using VarVector = Eigen::Matrix<Var<double>, Eigen::Dynamic, 1>;

Matrix random_matrix(Random& random, Eigen::Index rows, Eigen::Index columns) {
  Matrix m(rows, columns);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = random.in(-1, 1);
  return m;
}

/// Symmetric, with eigenvalues from 1 on.
Matrix positive_definite(Random& random, Eigen::Index n) {
  const Matrix a = random_matrix(random, n, n);
  return a * a.transpose() + Matrix::Identity(n, n);
}

void check_close(const Matrix& got, const Matrix& want) {
  BOOST_TEST_REQUIRE(got.rows() == want.rows());
  BOOST_TEST_REQUIRE(got.cols() == want.cols());
  BOOST_TEST((got - want).norm() <= 1e-12 * (1 + want.norm()), "\n" << got << "\ninstead of\n" << want);
}

const Eigen::Index sizes[] = {1, 2, 3, 7, 16};

}  // namespace

BOOST_AUTO_TEST_SUITE(eigen)

BOOST_AUTO_TEST_CASE(products_and_sums) {
  Random random(1);
  for (const Eigen::Index n : sizes) {
    NaiveTape<double> tape;
    const Matrix a = random_matrix(random, n, n + 1), b = random_matrix(random, n + 1, 2),
                 c = random_matrix(random, n, 2);
    const auto x = input_matrix(tape, a);
    const auto y = input_matrix(tape, b);
    const VarMatrix product = x * y;
    check_close(values(product), a * b);
    const Var<double> f = (product - c).cwiseProduct(c).sum() + 3.0 * x.sum();
    backward(f);
    check_close(gradients(x), c * b.transpose() + Matrix::Constant(n, n + 1, 3.0));
    check_close(gradients(y), a.transpose() * c);
  }
}

BOOST_AUTO_TEST_CASE(numbers_and_variables_mix) {
  Random random(2);
  NaiveTape<double> tape;
  const Matrix a = random_matrix(random, 3, 3), b = random_matrix(random, 3, 3);
  const auto x = input_matrix(tape, b);
  const VarMatrix left = a.cast<Var<double>>() * x, right = x.lazyProduct(a), scaled = x * 2.0 + a;
  check_close(values(left), a * b);
  check_close(values(right), b * a);
  check_close(values(scaled), 2 * b + a);
  backward(Var<double>(left.trace() + right(0, 1) + scaled.sum()));
  Matrix want = a.transpose() + Matrix::Constant(3, 3, 2.0);
  want.row(0) += a.col(1).transpose();
  check_close(gradients(x), want);
}

BOOST_AUTO_TEST_CASE(norms) {
  Random random(3);
  for (const Eigen::Index n : sizes) {
    NaiveTape<double> tape;
    const Vector a = random_matrix(random, n, 1);
    const auto x = input_matrix(tape, a);
    backward(Var<double>(x.norm()));
    check_close(gradients(x), a / a.norm());
    backward(Var<double>(x.squaredNorm()));
    check_close(gradients(x), 2 * a);
    backward(Var<double>(x.lpNorm<1>()));
    check_close(gradients(x), a.cwiseSign());
    backward(Var<double>(x.dot(x)));
    check_close(gradients(x), 2 * a);
    Vector largest = Vector::Zero(n);
    Eigen::Index where;
    a.cwiseAbs().maxCoeff(&where);
    largest[where] = a[where] < 0 ? -1 : 1;
    backward(Var<double>(x.lpNorm<Eigen::Infinity>()));
    check_close(gradients(x), largest);
  }
}

BOOST_AUTO_TEST_CASE(solvers) {
  // f = w' A^-1 b: df/db = A^-T w =: u, df/dA = -u (A^-1 b)'.
  Random random(4);
  const auto check = [&](Eigen::Index n, const auto& solve) {
    NaiveTape<double> tape;
    const Matrix a = positive_definite(random, n);
    const Vector b = random_matrix(random, n, 1), w = random_matrix(random, n, 1);
    const auto x = input_matrix(tape, a);
    const auto y = input_matrix(tape, b);
    const VarVector solution = solve(x, y);
    const Vector z = a.inverse() * b, u = a.inverse().transpose() * w;
    check_close(values(solution), z);
    backward(Var<double>(w.dot(solution)));
    check_close(gradients(y), u);
    // A Cholesky decomposition reads one half of a symmetric matrix: what it gives to both halves is their sum.
    const Matrix g = gradients(x), want = -u * z.transpose();
    check_close(g + g.transpose(), want + want.transpose());
  };
  for (const Eigen::Index n : sizes) {
    check(n, [](const VarMatrix& a, const VarVector& b) { return VarVector(a.partialPivLu().solve(b)); });
    check(n, [](const VarMatrix& a, const VarVector& b) { return VarVector(a.fullPivLu().solve(b)); });
    check(n, [](const VarMatrix& a, const VarVector& b) { return VarVector(a.llt().solve(b)); });
    check(n, [](const VarMatrix& a, const VarVector& b) { return VarVector(a.ldlt().solve(b)); });
    check(n, [](const VarMatrix& a, const VarVector& b) { return VarVector(a.householderQr().solve(b)); });
    check(n, [](const VarMatrix& a, const VarVector& b) { return VarVector(a.inverse() * b); });
  }
}

BOOST_AUTO_TEST_CASE(determinant) {
  Random random(5);
  for (const Eigen::Index n : sizes) {
    NaiveTape<double> tape;
    const Matrix a = random_matrix(random, n, n) + 2 * Matrix::Identity(n, n);
    const auto x = input_matrix(tape, a);
    const Var<double> f = x.determinant();
    BOOST_TEST(value(f) == a.determinant(), boost::test_tools::tolerance(1e-12));
    backward(f);
    check_close(gradients(x), a.determinant() * a.inverse().transpose());
  }
}

BOOST_AUTO_TEST_CASE(functions_of_each_element) {
  NaiveTape<double> tape;
  const Eigen::Array3d a(0.5, 1, 2);
  const auto x = input_matrix(tape, a);
  backward(Var<double>((x.array().exp() * x.array().sqrt() + x.array().log().tanh()).sum()));
  for (Eigen::Index i = 0; i < 3; ++i) {
    const double th = std::tanh(std::log(a[i]));
    const double want = std::exp(a[i]) * (std::sqrt(a[i]) + 0.5 / std::sqrt(a[i])) + (1 - th * th) / a[i];
    BOOST_TEST(gradients(x)(i) == want, boost::test_tools::tolerance(1e-13));
  }
}

BOOST_AUTO_TEST_CASE(shapes) {
  NaiveTape<float> tape;
  const Eigen::Matrix<float, 2, 3, Eigen::RowMajor> a{{1, 2, 3}, {4, 5, 6}};
  const auto x = input_matrix(tape, a);
  static_assert(decltype(x)::RowsAtCompileTime == 2 && decltype(x)::ColsAtCompileTime == 3);
  BOOST_TEST(x(1, 0).id() == 1u);  // column by column
  BOOST_TEST(values(x)(1, 2) == 6.0f);
  const auto block = input_matrix(tape, a.block(0, 1, 2, 2) * 2.0f);
  BOOST_TEST(values(block)(1, 1) == 12.0f);
  const auto row = input_matrix(tape, Eigen::RowVector3f(1, 2, 3));
  backward(Var<float>(row.squaredNorm()));
  BOOST_TEST(gradients(row)(2) == 6.0f);
  BOOST_TEST(gradients(row.tail(2) * 2.0f)(0) == 0.0f);  // recorded after the sweep
  const auto nothing = input_matrix(tape, Eigen::MatrixXf(0, 4));
  BOOST_TEST(nothing.cols() == 4);
  BOOST_TEST(value(nothing.sum()) == 0.0f);
}

BOOST_AUTO_TEST_CASE(what_is_not_finite) {
  NaiveTape<double> tape;
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::nan("");
  BOOST_TEST(input_matrix(tape, Eigen::Vector2d(1, 2)).allFinite());
  BOOST_TEST(!input_matrix(tape, Eigen::Vector2d(1, infinite)).allFinite());
  BOOST_TEST(!input_matrix(tape, Eigen::Vector2d(1, infinite)).hasNaN());
  BOOST_TEST(input_matrix(tape, Eigen::Vector2d(1, nan)).hasNaN());
  BOOST_TEST((Eigen::numext::isinf)(Var<double>(infinite)));
  BOOST_TEST(tape.statistics().guards > 0u);
  std::ostringstream text;
  text << input_matrix(tape, Eigen::Vector2d(1, 2)).transpose();
  BOOST_TEST(text.str() == "1 2");
}

BOOST_AUTO_TEST_CASE(solvers_replay) {
  Random random(6);
  constexpr Eigen::Index n = 3;
  constexpr std::size_t samples = 5, numbers = n * n + n;
  const auto check = [&](const auto& solve, const Eigen::Matrix3d& dominant) {
    NaiveTape<double> tape;
    const auto x = input_matrix(tape, Eigen::Matrix3d(positive_definite(random, n) + dominant));
    const auto y = input_matrix(tape, Eigen::Vector3d(random_matrix(random, n, 1)));
    const Eigen::Vector3<Var<double>> solution = solve(x, y);
    Replay<double> replay(compile(tape, Var<double>(solution.squaredNorm()).id()));
    std::vector<double> points, found(samples), slopes(numbers * samples), want;
    for (std::size_t e = 0; e < samples; ++e) {
      const Matrix a = positive_definite(random, n) + dominant;
      const Vector b = random_matrix(random, n, 1);
      points.insert(points.end(), a.data(), a.data() + n * n);
      points.insert(points.end(), b.data(), b.data() + n);
      want.push_back((a.inverse() * b).squaredNorm());
    }
    replay.gradient(samples, rows(points.data(), numbers), rows(found.data(), 1), rows(slopes.data(), numbers));
    for (std::size_t e = 0; e < samples; ++e) BOOST_TEST(found[e] == want[e], boost::test_tools::tolerance(1e-12));
    return std::make_pair(std::move(replay), std::move(points));
  };
  const Eigen::Matrix3d any = Eigen::Matrix3d::Zero(), descending = Eigen::Vector3d(100, 50, 25).asDiagonal();
  check([](const auto& a, const auto& b) { return Eigen::Vector3<Var<double>>(a.inverse() * b); }, any);
  auto [replay, points] =
      check([](const auto& a, const auto& b) { return Eigen::Vector3<Var<double>>(a.llt().solve(b)); }, descending);
  // Another order of columns is another path.
  std::swap(points[0], points[8]);
  double value;
  BOOST_CHECK_EXCEPTION(replay.values(1, rows(std::as_const(points).data(), numbers), rows(&value, 1)), Error,
                        [](const Error& error) { return error.code() == ErrorCode::other_path; });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
