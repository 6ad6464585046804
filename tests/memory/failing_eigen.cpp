// The k-th allocation fails, for every k, in what wengert/eigen.hpp does. (Eigen's own memory is not from operator new.)
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include <Eigen/Dense>

#include "tests/memory/each_failure.hpp"
#include "wengert/eigen.hpp"

namespace wengert::test {
namespace {

BOOST_AUTO_TEST_SUITE(failing_allocations_with_eigen)

BOOST_AUTO_TEST_CASE(with_eigen) {
  const Eigen::Matrix2d numbers{{4, 1}, {1, 3}};
  each_failure_on_a_tape("input_matrix", [&](NaiveTape<double>& tape) { (void)input_matrix(tape, numbers); });
  each_failure_on_a_tape("values and gradients", [&](NaiveTape<double>& tape) {
    const Eigen::Matrix<Var<double>, 2, 1> x(Var<double>(tape, 0), Var<double>(tape, 1));
    BOOST_REQUIRE(values(x)(1) == 2);
    BOOST_REQUIRE(std::isfinite(gradients(x)(1)));
  });
  // A solver records many ops one by one; what of them is there when memory ends is right.
  each_failure(
      "llt", [] { return some_tape(); },
      [&](NaiveTape<double>& tape) {
        const Mark mark = tape.mark();
        try {
          const auto a = input_matrix(tape, numbers);
          const Var<double> f = a.llt().solve(input_matrix(tape, Eigen::Vector2d(1, 2))).squaredNorm();
          backward(f);
          BOOST_REQUIRE(std::isfinite(grad(a(0, 0))));
        } catch (...) {
          stop_failing();
          tape.forward();
          tape.rewind(mark);
          throw;
        }
      },
      [before = some_tape().size()](const NaiveTape<double>& tape, const std::string& where) {
        BOOST_TEST_REQUIRE(tape.size() == before, where);
      });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace wengert::test
