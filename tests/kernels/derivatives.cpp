// Partials against central differences, which know nothing of closed forms: differences of the reference values, in more
// digits than any step can cancel, with an estimate of their own error.
#include <cmath>
#include <optional>

#include "tests/backends.hpp"
#include "tests/every_op.hpp"
#include "tests/oracle.hpp"
#include "tests/points.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"

using namespace wengert;
using namespace wengert::test;

namespace {

struct Difference {
  double slope, error;
};

/// (f(x + h) - f(x - h)) / 2h, extrapolated from steps h and h/2 (Richardson, 1911); the change is the error estimate.
/// Nothing where both don't agree: at a kink, a jump or the edge of the domain.
template <class Function>
std::optional<Difference> central_difference(Function f, const Big& x) {
  const Big h = scaled(x.is_zero() ? Big(1) : abs(x), -40);
  const auto at_step = [&](const Big& step) { return (f(x + step) - f(x - step)) / (2 * step); };
  const Big wide = at_step(h), narrow = at_step(scaled(h, -1));
  const Big extrapolated = narrow + (narrow - wide) / 3;
  const double slope = extrapolated.to_double(), error = abs(extrapolated - narrow).to_double();
  if (!std::isfinite(slope) || error > 1e-3 * std::fabs(slope) + 1e-200) return std::nullopt;
  // One-sided slopes tell a kink that the symmetric difference smooths over.
  const Big middle = f(x), right = (f(x + h) - middle) / h, left = (middle - f(x - h)) / h;
  if (abs(right - left).to_double() > 1e-3 * (std::fabs(slope) + 1e-200)) return std::nullopt;
  return Difference{slope, error};
}

/// How many of the points could be judged: a test that judges none must not pass.
struct Judged {
  std::size_t tried = 0, done = 0;
};

void judge(Op op, double got, const std::optional<Difference>& difference, double bound, const std::string& where,
           Judged& judged) {
  ++judged.tried;
  if (!difference) return;
  ++judged.done;
  const double allowed = (bound + 4) * 0x1p-52 * std::fabs(difference->slope) + 4 * difference->error + 1e-290;
  BOOST_TEST(std::fabs(got - difference->slope) <= allowed, name(op) << where << ": " << show(got)
                                                                     << ", by differences " << show(difference->slope)
                                                                     << " +- " << difference->error);
}

template <class Name>
void require_some(const Judged& judged, Name what) {
  BOOST_TEST(judged.done * 3 > judged.tried,
             what << ": only " << judged.done << " of " << judged.tried << " points could be judged");
}

class FinePrecision {
 public:
  FinePrecision() { Big::precision = 320; }

 private:
  ReferenceFor<double> reference_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(derivatives)

BOOST_DATA_TEST_CASE(fixed, boost::unit_test::data::make(fixed_ops), op) {
  BOOST_REQUIRE(oracle(op));
  const FinePrecision precision;
  const OpInfo& row = info(op);
  const std::size_t arity = static_cast<std::size_t>(row.arity), count = soak(300);
  Random random(5 + static_cast<std::uint64_t>(op));
  Columns<double> x(arity);
  for (std::size_t e = 0; e < count; ++e)
    for (std::size_t i = 0; i < arity; ++i) x[i].push_back(random.in(row.domain[i].low, row.domain[i].high));
  const auto got = run_op(*backends<double>().back().backend, op, x, {1.0}, (count + 31) / 32 * 32);
  for (std::size_t k = 0; k < arity; ++k) {
    Judged judged;
    for (std::size_t e = 0; e < count; ++e) {
      std::vector<Big> o(3, Big(0));
      for (std::size_t i = 0; i < arity; ++i) o[i] = x[i][e];
      const auto f = [&](const Big& v) {
        std::vector<Big> moved = o;
        moved[k] = v;
        return oracle(op)->value(moved.data());
      };
      // Where the reference allows an absolute error, so does this test.
      double bound = row.ulp_partials;
      const auto difference = central_difference(f, o[k]);
      if (const auto scale = oracle(op)->partial_scales[k]; scale && difference && difference->slope != 0)
        bound *= std::fmax(1, std::fabs(scale(o.data()).to_double() / difference->slope));
      judge(op, got.contributions[k][e], difference, bound, ", operand " + std::to_string(k) + " at " + show(x[k][e]),
            judged);
    }
    require_some(judged, std::string(name(op)) + ", operand " + std::to_string(k));
  }
}

BOOST_DATA_TEST_CASE(nary, boost::unit_test::data::make(nary_ops), op) {
  BOOST_REQUIRE(nary_oracle(op));
  const FinePrecision precision;
  const OpInfo& row = info(op);
  const auto* backend = backends<double>().back().backend;
  Random random(6 + static_cast<std::uint64_t>(op));
  Judged judged;
  for (std::size_t round = 0; round < soak(40); ++round) {
    std::size_t n;
    do n = 1 + random.below(8);
    while (row.outputs(static_cast<std::uint32_t>(n)) == 0);
    const std::size_t outputs = row.outputs(static_cast<std::uint32_t>(n));
    std::vector<Big> o;
    Columns<double> x(n);
    for (std::size_t i = 0; i < n; ++i)
      o.push_back(x[i].emplace_back(random.in(row.domain[0].low, row.domain[0].high)));
    std::vector<double> seeds;
    for (std::size_t j = 0; j < outputs; ++j) seeds.push_back(random.in(0.5, 2));
    const auto got = run_op(*backend, op, x, seeds, static_cast<std::size_t>(backend->lanes));
    for (std::size_t k = 0; k < n; ++k) {
      // The seeded sum of outputs, and the size of its terms: that of a softmax is nearly constant.
      const auto f = [&](const Big& v) {
        std::vector<Big> moved = o;
        moved[k] = v;
        const std::vector<Big> y = nary_oracle(op)->value(moved);
        Big total = 0;
        for (std::size_t j = 0; j < outputs; ++j) total = total + y[j] * seeds[j];
        return total;
      };
      Big size = 0;
      for (std::size_t j = 0; j < outputs; ++j) {
        const auto scale = nary_oracle(op)->partial_scale ? nary_oracle(op)->partial_scale : nary_oracle(op)->partial;
        size = size + abs(scale(o, j, k) * seeds[j]);
      }
      const auto difference = central_difference(f, o[k]);
      double bound = row.ulp_partials + static_cast<double>(n);
      if (difference && difference->slope != 0) bound *= std::fmax(1, size.to_double() / std::fabs(difference->slope));
      judge(op, got.contributions[k][0], difference, bound,
            ", operand " + std::to_string(k) + " of " + std::to_string(n), judged);
    }
  }
  require_some(judged, name(op));
}

BOOST_AUTO_TEST_SUITE_END()
