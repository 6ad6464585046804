// Ops on any number of operands against formulas over MPFR, and on every build of the kernels.
#include "tests/backends.hpp"
#include "tests/every_op.hpp"
#include "tests/needs.hpp"
#include "tests/oracle.hpp"
#include "tests/points.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "tests/ulp.hpp"

using namespace wengert;
using namespace wengert::test;

namespace {

constexpr std::size_t everyday_points = 20000;
constexpr std::size_t most_operands = 9;

/// Errors in last places of the larger of result and `scale`.
template <class Real>
double error_of(Real got, const Big& exact, const Big& scale) {
  return ulp_error(got, exact, scale.is_finite() ? larger(abs(exact), abs(scale)) : exact);
}

template <class Real>
void check_operands(Op op, std::size_t n, std::size_t count) {
  const ReferenceFor<Real> reference;
  const NaryOracle& truth = *nary_oracle(op);
  const OpInfo& row = info(op);
  const Columns<Real> x = points<Real>(op, n, count, 77 * n + static_cast<std::uint64_t>(op));
  const std::size_t points = n == 0 ? 1 : x[0].size(), width = (points + 31) / 32 * 32;
  const std::size_t outputs = row.outputs(static_cast<std::uint32_t>(n));
  std::vector<Real> seeds(outputs);
  for (std::size_t j = 0; j < outputs; ++j) seeds[j] = Real(j == 0 ? 1 : 0.25 * static_cast<double>(j) - 0.75);

  const auto all = backends<Real>();
  const OpResult<Real> got = run_op(*all.front().backend, op, x, seeds, width);
  for (std::size_t b = 1; b < all.size(); ++b) {
    const OpResult<Real> other = run_op(*all[b].backend, op, x, seeds, width);
    for (std::size_t e = 0; e < points; ++e) {
      bool same = true;
      for (std::size_t j = 0; j < outputs; ++j) same &= same_bits(got.outputs[j][e], other.outputs[j][e]);
      for (std::size_t i = 0; i < n; ++i) same &= same_bits(got.contributions[i][e], other.contributions[i][e]);
      BOOST_REQUIRE_MESSAGE(same, name(op)
                                      << " of " << n << " differs between " << all[0].name << " and " << all[b].name);
    }
  }

  const double terms = static_cast<double>(std::max<std::size_t>(n, 1)), more = 0.5 * std::fmax(0, terms - 4);
  // Half a unit of a product on the way may be nearly a whole one of the result, whose unit may be half as large in proportion.
  const double step = op == Op::prod ? 1 : 0.5;
  const double bound = truth.per_term ? 2 * step * row.ulp * terms : row.ulp + more;
  const double partial_bound = row.ulp_partials + (truth.per_term ? step * terms : more);
  int misses = 0;
  for (std::size_t e = 0; e < points && misses < 5; ++e) {
    std::vector<Big> o;
    bool finite = true;
    std::string at;
    for (std::size_t i = 0; i < n; ++i) {
      o.push_back(static_cast<double>(x[i][e]));
      finite &= o.back().is_finite();
      at += (i ? ", " : "") + show(x[i][e]);
    }
    const auto check = [&](Real number, const Big& exact, const Big& scale, double allowed, const std::string& what) {
      const double error = error_of(number, exact, scale);
      if (error <= allowed + 1e-9) return;
      ++misses;
      BOOST_ERROR(name(op) << " " << precision_name<Real>() << " of (" << at << "), " << what << ": " << error
                           << " ulp, bound " << allowed << ": " << show(number) << ", not " << exact.to_double());
    };
    if (truth.largest_step && truth.largest_step(o) >= static_cast<double>(std::numeric_limits<Real>::max()) / 4)
      continue;
    const std::vector<Big> exact = truth.value(o);
    const std::vector<Big> scale = truth.value_scale ? truth.value_scale(o) : exact;
    for (std::size_t j = 0; j < outputs; ++j)
      check(got.outputs[j][e], exact[j], scale[j], bound, "output " + std::to_string(j));
    for (std::size_t i = 0; i < n; ++i) {
      Big adjoint = 0, size = 0;
      for (std::size_t j = 0; j < outputs; ++j) {
        const Big slope = truth.partial(o, j, i);
        adjoint = adjoint + Big(static_cast<double>(seeds[j])) * slope;
        size = size +
               abs(Big(static_cast<double>(seeds[j])) * (truth.partial_scale ? truth.partial_scale(o, j, i) : slope));
      }
      if (adjoint.is_nan() && !finite) continue;  // a limit that the closed form doesn't see
      check(got.contributions[i][e], adjoint, size, partial_bound, "adjoint of operand " + std::to_string(i));
    }
  }
}

template <class Real>
void check_nary(Op op) {
  BOOST_REQUIRE_MESSAGE(nary_oracle(op), "no reference formula: add a row for " << name(op) << " to tests/oracle.cpp");
  for (std::size_t n = 0; n <= most_operands; ++n)
    if (info(op).outputs(static_cast<std::uint32_t>(n)) > 0)
      check_operands<Real>(op, n, soak(everyday_points) / most_operands / (n + 1) + 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(oracle_nary, *not_under("valgrind", "gives fused operations zeros of the other sign"))

BOOST_DATA_TEST_CASE(nary_f64, boost::unit_test::data::make(nary_ops), op) { check_nary<double>(op); }
BOOST_DATA_TEST_CASE(nary_f32, boost::unit_test::data::make(nary_ops), op) { check_nary<float>(op); }

BOOST_AUTO_TEST_SUITE_END()
