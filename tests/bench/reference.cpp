// The reference against itself: adjoints against central differences, and numbers known by hand.
#include "bench/reference.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include "bench/level.hpp"
#include "bench/verify.hpp"
#include "tests/needs.hpp"
#include "wengert/error.hpp"

using namespace wengert;
using namespace wengert::bench;

namespace {
auto has_long_double() { return wengert::test::not_under("valgrind", "computes long double as double"); }
}  // namespace

BOOST_AUTO_TEST_SUITE(reference)

BOOST_AUTO_TEST_CASE(expr_by_hand, *has_long_double()) {
  const Reference r(make_workload("expr"));
  const double x[] = {1, 2};
  const ReferenceResult got = r.evaluate(x);
  // log(1 + e^3) and the sigmoid of 3, to 21 digits
  BOOST_TEST(std::fabs(static_cast<double>(got.values[r.output()] - 3.04858735157374205876L)) < 1e-18);
  BOOST_TEST(std::fabs(static_cast<double>(got.adjoints[0] - 4 * 0.952574126822433219121L)) < 2e-18);
  BOOST_TEST(std::fabs(static_cast<double>(got.adjoints[1] - 0.952574126822433219121L)) < 1e-18);
}

BOOST_AUTO_TEST_CASE(adjoints_are_central_differences, *has_long_double()) {
  for (const WorkloadInfo& info : workloads())
    for (const Output output : {Output::last, Output::sum}) {
      WorkloadOptions options{.ops = 150, .output = output};
      for (std::size_t k = 0; k < info.sizes.size(); ++k) options.size.push_back(4 - k);
      const Workload w = make_workload(info.name, options);
      const Reference r(w);
      for (std::uint64_t e = 0; e < 5; ++e) {
        std::vector<double> x;
        for (std::size_t i = 0; i < w.inputs; ++i) x.push_back(w.input(e, i));
        const ReferenceResult got = r.evaluate(x);
        for (std::size_t k = 0; k < w.differentiated.size(); ++k) {
          const std::uint32_t i = w.differentiated[k];
          const long double slope = r.difference(x, i);
          const double scale = static_cast<double>(1e-3L * got.value_scales[r.output()] + got.adjoint_scales[i]);
          // heston has kinks, where a variance is cut off at 0: a step across one is off by something like the step
          const double allowed = (info.name == "heston" ? 1e-5 : 1e-10) * scale;
          BOOST_TEST(std::fabs(static_cast<double>(slope - got.adjoints[i])) <= allowed,
                     info.name << " evaluation " << e << " input " << i << ": " << slope << " and " << got.adjoints[i]);
        }
      }
    }
}

BOOST_AUTO_TEST_CASE(ops_of_many_operands) {
  // Numbers known by hand, and scales that say what cancelled.
  Reference::Graph graph;
  const std::uint32_t x[] = {graph.constant(1), graph.constant(-2), graph.constant(3), graph.constant(4)};
  for (const Op op : {Op::dot, Op::sqnorm, Op::logsumexp}) graph.record(op, x);
  BOOST_TEST(graph.records.size() == 3u);
  const Reference dots(make_workload("lstm-cell", {.size = {1, 1}}));
  std::vector<double> in(15, 0.0), seeds(dots.variables(), 0.0);
  in[0] = 2, in[1] = -3, in[12] = 6, in[13] = 4;  // the first gate's dot: 2 * 6 - 3 * 4
  seeds[15] = 1;                                  // it is recorded first
  const ReferenceResult got = dots.evaluate(in, seeds);
  BOOST_TEST(got.values[15] == 0);
  BOOST_TEST(got.value_scales[15] == 36);  // two products of 12, and a partial sum of 12 that is rounded
  BOOST_TEST(got.adjoints[0] == 6);
  BOOST_TEST(got.adjoints[12] == 2);
  BOOST_TEST(got.adjoints[13] == -3);
}

/// An adjoint of thousands of contributions is off by more than one of a few.
BOOST_AUTO_TEST_CASE(many_contributions, *has_long_double()) {
  LadderOptions options;
  options.workload = "heston";
  options.workload_options.size = {5000};
  const auto v2 = std::ranges::find(levels(), "v2", &LevelInfo::name);
  BOOST_TEST_REQUIRE((v2 != levels().end()));
  const Verification found = Verifier<double>(options, 1).check(*v2, {});
  BOOST_TEST(found.compared > 100'000u);
  BOOST_TEST(found.wrong == 0u);
}

BOOST_AUTO_TEST_CASE(seeds_add_up, *has_long_double()) {
  const Workload w = make_workload("west", {.ops = 60});
  const Reference r(w);
  std::vector<double> x, one(w.variables), other(w.variables), both(w.variables);
  for (std::size_t i = 0; i < w.inputs; ++i) x.push_back(w.input(0, i));
  for (std::size_t v = 0; v < w.variables; ++v) {
    one[v] = v % 3;
    other[v] = -0.5 * (v % 5);
    both[v] = one[v] + other[v];
  }
  const auto a = r.evaluate(x, one), b = r.evaluate(x, other), c = r.evaluate(x, both);
  for (std::size_t v = 0; v < w.variables; ++v)
    BOOST_TEST(std::fabs(static_cast<double>(a.adjoints[v] + b.adjoints[v] - c.adjoints[v])) <=
               1e-17 * static_cast<double>(a.adjoint_scales[v] + b.adjoint_scales[v]));
}

BOOST_AUTO_TEST_CASE(scales_bound_what_is_summed) {
  // x - x cancels; the scale says how much did.
  Workload w = make_workload("dag", {.ops = 1});
  w.random_graph.constants.clear();
  w.random_graph.steps = {{RandomGraph::mul, 0, 1, 0}, {RandomGraph::sub, 50, 50, 0}};
  const Reference r(w);
  std::vector<double> x(50, 0.0), seeds(r.variables(), 0.0);
  x[0] = 3;
  x[1] = 7;
  seeds[51] = 1;
  const ReferenceResult got = r.evaluate(x, seeds);
  BOOST_TEST(got.values[51] == 0);
  BOOST_TEST(got.value_scales[51] == 42);  // two products of 21
  BOOST_TEST(got.adjoints[50] == 0);
  BOOST_TEST(got.adjoint_scales[50] == 2);  // 1 and -1
  BOOST_TEST(got.adjoint_scales[0] == 14);  // each times 7
}

BOOST_AUTO_TEST_CASE(refusals) {
  const Reference r(make_workload("expr"));
  BOOST_CHECK_THROW(r.evaluate(std::vector<double>(3)), Error);
  BOOST_CHECK_THROW(r.evaluate(std::vector<double>(2), std::vector<double>(2)), Error);
  Reference::Graph graph;
  const std::uint32_t x[] = {graph.constant(1)};
  BOOST_CHECK_THROW(graph.record(Op::relu, x), Error);
}

BOOST_AUTO_TEST_SUITE_END()
