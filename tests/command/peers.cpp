#include "bench/peers/peers.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "bench/peers/child.hpp"
#include "bench/verify.hpp"
#include "tests/says.hpp"
#include "wengert/error.hpp"

using namespace wengert;
using namespace wengert::bench;

namespace {

/// What verification says of a peer on a workload, in one line; "ok" if all is well.
template <class Real>
std::string verified(const LevelInfo& peer, const WorkloadInfo& workload) {
  LadderOptions options;
  options.workload = workload.name;
  options.workload_options.ops = 100;
  options.workload_options.output = Output::sum;
  for (const WorkloadInfo::Size& size : workload.sizes) options.workload_options.size.push_back(size.least);
  const Verification found = Verifier<Real>(options, 19).check(peer, {.threads = 2});
  return found.wrong == 0 && found.compared > 0 ? "ok" : found.mismatches.at(0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(peers_of_the_ladder)

BOOST_AUTO_TEST_CASE(one_that_takes_too_long_is_given_up) {
  Child slow({"/bin/sh", "-c", "read line; echo ready; read line; exec sleep 600"}, 0.25);
  BOOST_TEST(slow.ask("a graph") == "ready");
  BOOST_CHECK_EXCEPTION(slow.ask("run"), Error,
                        test::says(ErrorCode::unsupported, "no answer of the peer within 0.25 s"));
  Child deaf({"/bin/sh", "-c", "exec sleep 600"}, 0.25);
  BOOST_CHECK_EXCEPTION(deaf.ask(std::string(1 << 20, 'x')), Error, test::says(ErrorCode::unsupported, "--peer-limit"));
}

/// A compiler, say, which would go on beside the levels that are timed next.
BOOST_AUTO_TEST_CASE(what_one_started_ends_with_it) {
  std::string started;
  {
    Child parent({"/bin/sh", "-c", "read line; sleep 600 & echo $!; read line"}, 10);
    started = parent.ask("go");
  }
  const auto runs = [&] {
    std::ifstream status("/proc/" + started + "/stat");
    std::string process, name, state;
    return (status >> process >> name >> state) && state != "Z";
  };
  for (int wait = 0; wait < 500 && runs(); ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  BOOST_TEST(!runs());
}

BOOST_AUTO_TEST_CASE(those_that_are_here_are_right) {
  for (const LevelInfo& peer : peers()) {
    if (!peer.missing.empty()) continue;
    for (const WorkloadInfo& workload : workloads()) {
      // Their slope of sqrt(max(v, 0)) below 0 is 0 times infinity: the ladder finds them wrong there, rightly.
      // PyTorch's is 0.
      const bool python = peer.own_process || peer.name == "casadi-c";
      if (workload.name == "heston" && python && peer.name != "torch") continue;
      BOOST_TEST(verified<double>(peer, workload) == "ok", peer.name << " " << workload.name);
      if (peer.make_f32) BOOST_TEST(verified<float>(peer, workload) == "ok", peer.name << " f32 " << workload.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(those_that_are_not_say_what_to_do) {
  for (const LevelInfo& peer : peers()) {
    if (peer.missing.empty()) continue;
    BOOST_CHECK_EXCEPTION(peer.make_f64(make_workload("expr"), {}), Error, [&](const Error& error) {
      return error.code() == ErrorCode::unsupported && error.what() == peer.missing;
    });
  }
}

BOOST_AUTO_TEST_CASE(names_are_nobody_elses) {
  for (const LevelInfo& peer : peers()) {
    BOOST_TEST(!peer.ladder);
    for (const LevelInfo& level : levels()) BOOST_TEST(peer.name != level.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
