#include "bench/work.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "bench/ceilings.hpp"

using namespace wengert::bench;

BOOST_AUTO_TEST_SUITE(work)

// Sums and products by hand, from the design: forward an op's own operations, backward a product and an addition for each
// contribution, the product missing where the partial is 1 or -1.
BOOST_AUTO_TEST_CASE(of_sums_and_products_as_counted_by_hand) {
  for (std::size_t ops : {1, 7, 500}) {
    const Workload workload = make_workload("dag", {.ops = ops});
    double flops = 0, numbers = 0;  // loaded and stored
    for (const RandomGraph::Step& step : workload.random_graph.steps) switch (step.kind) {
        case RandomGraph::add:
        case RandomGraph::sub: flops += 1 + 2, numbers += 3 + 1 + 2 * 2; break;
        case RandomGraph::mul: flops += 1 + 4, numbers += 3 + 3 + 2 * 2; break;
        case RandomGraph::fma: flops += 2 + 5, numbers += 4 + 3 + 3 * 2; break;
      }
    const double terms = double(workload.inputs + ops);  // the sum at the end
    flops += terms - 1 + terms;
    numbers += terms + 1 + terms * 3;  // its adjoint is loaded for each
    const Work f64 = count_work("dag", {.ops = ops}, false), f32 = count_work("dag", {.ops = ops}, true);
    BOOST_TEST(f64.flops == flops);
    BOOST_TEST(f64.bytes == 8 * numbers);
    BOOST_TEST(f32.flops == flops);
    BOOST_TEST(f32.bytes == 4 * numbers);
  }
}

BOOST_AUTO_TEST_CASE(of_elementary_functions_is_more_than_of_products) {
  for (const WorkloadInfo& info : workloads()) {
    const Work work = count_work(info.name, {.ops = 100}, false);
    BOOST_TEST((work.flops > 0 && work.bytes > 0), info.name);
  }
  const Work west = count_work("west", {.ops = 1000}, false), dag = count_work("dag", {.ops = 1000}, false);
  BOOST_TEST(west.flops > 5 * dag.flops);  // softplus and softmax
}

// What they are is the machine's, and the load's; that they are measured where they should be is ours.
BOOST_AUTO_TEST_CASE(ceilings_of_each_cache) {
  const std::vector<Ceiling> all = measure_ceilings({.l1 = 32 << 10, .l2 = 256 << 10, .l3 = 4 << 20});
  BOOST_TEST_REQUIRE(all.size() % 6 == 0u);
  for (const Ceiling& c : all) BOOST_TEST((std::isfinite(c.value) && c.value > 0), c.name);
  BOOST_TEST(all[0].name == "arithmetic f64");
  BOOST_TEST(all[5].name == "memory");
  BOOST_TEST(all[2].footprint == std::size_t(16) << 10);
  BOOST_TEST(all[3].footprint == std::size_t(128) << 10);
  BOOST_TEST(all[4].footprint == std::size_t(2) << 20);
  BOOST_TEST(all[5].footprint >= std::size_t(8) << 20);
}

BOOST_AUTO_TEST_SUITE_END()
