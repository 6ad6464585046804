// Central differences, the one peer that is ours, on threads of their own. All peers: tests/command/peers.cpp.
#include <boost/test/unit_test.hpp>
#include <string>

#include "bench/peers/peers.hpp"
#include "bench/verify.hpp"
#include "tests/needs.hpp"

namespace wengert::test {

BOOST_AUTO_TEST_CASE(differences_on_threads, *uses_threads()) {
  std::size_t found = 0;
  for (const bench::LevelInfo& peer : bench::peers()) {
    if (peer.name != "differences" && peer.name != "differences-threads") continue;
    ++found;
    for (const char* const workload : {"expr", "west"}) {
      bench::LadderOptions options;
      options.workload = workload;
      options.workload_options.ops = 40;
      options.workload_options.output = bench::Output::sum;
      const bench::Verification seen = bench::Verifier<double>(options, 19).check(peer, {.threads = 3});
      BOOST_TEST(seen.compared > 0u);
      BOOST_TEST(seen.wrong == 0u, peer.name << " " << workload);
    }
  }
  BOOST_TEST(found == 2u);
}

}  // namespace wengert::test
