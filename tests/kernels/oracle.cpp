// Every op against formulas over MPFR: values and partials within the bounds of its row, on every instruction set.
#include "tests/oracle.hpp"

#include "tests/backends.hpp"
#include "tests/every_op.hpp"
#include "tests/needs.hpp"
#include "tests/points.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "tests/ulp.hpp"

using namespace wengert;
using namespace wengert::test;

namespace {

constexpr std::size_t everyday_points = 20000;
constexpr int most_reports = 5;

/// One wrong number: where and how.
template <class Real>
struct Miss {
  double error = 0;
  std::string text;
};

template <class Real>
std::string at(const Columns<Real>& x, std::size_t e) {
  std::string text = "(";
  for (std::size_t i = 0; i < x.size(); ++i) text += (i ? ", " : "") + show(x[i][e]);
  return text + ")";
}

std::string show(const Big& x) {
  char text[64];
  mpfr_snprintf(text, sizeof text, "%.25Rg", x.get());
  return text;
}

/// Reports the first few and the worst.
class Verdict {
 public:
  Verdict(std::string what, double bound) : what_(std::move(what)), bound_(bound) {}

  template <class Text>
  void add(double error, Text text) {
    if (error > worst_ || (error > bound_ + 1e-9 && misses_ < most_reports)) {
      if (error > bound_ + 1e-9 && misses_++ < most_reports)
        BOOST_ERROR(what_ << ": " << error << " ulp, bound " << bound_ << ", at " << text());
      if (error > worst_) worst_ = error, worst_text_ = text();
    } else if (error > bound_ + 1e-9) {
      ++misses_;
    }
  }
  ~Verdict() {
    BOOST_TEST_MESSAGE(what_ << ": worst " << worst_ << " ulp, bound " << bound_ << ", at " << worst_text_);
    if (misses_ > most_reports)
      BOOST_ERROR(what_ << ": " << misses_ << " misses in all; worst " << worst_ << " ulp at " << worst_text_);
  }

 private:
  std::string what_;
  double bound_, worst_ = -1;
  std::string worst_text_;
  int misses_ = 0;
};

bool all_finite(const std::vector<Big>& x) {
  return std::all_of(x.begin(), x.end(), [](const Big& v) { return v.is_finite(); });
}

template <class Real>
void check_fixed(Op op) {
  const ReferenceFor<Real> reference;
  const Oracle& truth = *oracle(op);
  const OpInfo& row = info(op);
  const std::size_t arity = static_cast<std::size_t>(row.arity);
  const Columns<Real> x = points<Real>(op, arity, soak(everyday_points), 1 + static_cast<std::uint64_t>(op));
  const std::size_t count = x[0].size(), width = (count + 31) / 32 * 32;

  const auto all = backends<Real>();
  const OpResult<Real> got = run_op(*all.front().backend, op, x, {Real(1)}, width);
  for (std::size_t b = 1; b < all.size(); ++b) {
    const OpResult<Real> other = run_op(*all[b].backend, op, x, {Real(1)}, width);
    for (std::size_t e = 0; e < count; ++e) {
      bool same = same_bits(got.outputs[0][e], other.outputs[0][e]);
      for (std::size_t k = 0; k < arity; ++k) same &= same_bits(got.contributions[k][e], other.contributions[k][e]);
      if (!same) {
        BOOST_ERROR(name(op) << " " << precision_name<Real>() << " differs between " << all[0].name << " and "
                             << all[b].name << " at " << at(x, e) << ": " << wengert::test::show(got.outputs[0][e])
                             << " and " << wengert::test::show(other.outputs[0][e]));
        break;
      }
    }
  }

  const std::string what = std::string(name(op)) + " " + precision_name<Real>();
  Verdict value(what, row.ulp);
  std::vector<Verdict> partials;
  partials.reserve(3);
  for (std::size_t k = 0; k < arity; ++k)
    partials.emplace_back(what + ", partial " + std::to_string(k), row.ulp_partials);
  std::vector<Big> o(3, Big(0));
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t i = 0; i < arity; ++i) o[i] = static_cast<double>(x[i][e]);
    const Big exact = truth.value(o.data());
    const Real y = got.outputs[0][e];
    const Big scale = truth.value_scale ? truth.value_scale(o.data()) : exact;
    double error = ulp_error(y, exact, scale);
    if (truth.value_scale && all_finite(o) && scale >= static_cast<double>(std::numeric_limits<Real>::max()) / 4)
      error = 0;  // its terms overflow
    if (!truth.value_scale && exact.is_zero() && y == 0 && exact.is_negative() != std::signbit(y))
      error = INFINITY;  // the other zero
    if (truth.unspecified && truth.unspecified(o.data())) error = 0;
    value.add(error, [&] { return at(x, e) + ": " + wengert::test::show(y) + ", not " + show(exact); });
    for (std::size_t k = 0; k < arity; ++k) {
      const Big slope = truth.partials[k](o.data());
      // At infinity a closed form may be inf - inf or 0 * inf where there is a limit: special_points.hpp has those.
      if (slope.is_nan() && !all_finite(o)) continue;
      const Real p = got.contributions[k][e];
      partials[k].add(ulp_error(p, slope, truth.partial_scales[k] ? truth.partial_scales[k](o.data()) : slope),
                      [&] { return at(x, e) + ": " + wengert::test::show(p) + ", not " + show(slope); });
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(oracle_suite, *not_under("valgrind", "gives fused operations zeros of the other sign"))

BOOST_DATA_TEST_CASE(fixed_f64, boost::unit_test::data::make(fixed_ops), op) {
  BOOST_REQUIRE_MESSAGE(oracle(op), "no reference formula: add a row for " << name(op) << " to tests/oracle.cpp");
  check_fixed<double>(op);
}
BOOST_DATA_TEST_CASE(fixed_f32, boost::unit_test::data::make(fixed_ops), op) {
  BOOST_REQUIRE_MESSAGE(oracle(op), "no reference formula: add a row for " << name(op) << " to tests/oracle.cpp");
  check_fixed<float>(op);
}

// Where 8 ulp are less than any sum of two terms can have: docs/numerics.md says what holds instead.
BOOST_AUTO_TEST_CASE(slope_of_sinc_next_to_its_zeros) {
  for (const double zero : {4.493409457909064, 7.725251836937707, 10.904121659428899}) {
    double x = zero - 50 * 0x1p-50;
    for (int k = 0; k < 400; ++k, x = std::nextafter(x, 100)) {
      double slope;
      kernels::backend<double>(Isa::scalar).partials(Op::sinc, x, x, x, 0, 0.5, &slope);
      const Big at = x;
      const double error = (Big(slope) - oracle(Op::sinc)->partials[0](&at)).to_double();
      BOOST_TEST(std::fabs(error) <= 0x1p-60 / x, show(x) << ": " << error);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
