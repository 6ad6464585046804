// Counting cores: cgroup files of version 1 and 2 as text, and the affinity mask for real.
#include "tape/cores.hpp"

#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <map>

using namespace wengert;

namespace {

std::optional<double> limit(const std::map<std::string, std::string>& files) {
  return cgroup_core_limit([&](const std::string& path) -> std::optional<std::string> {
    const auto file = files.find(path);
    if (file == files.end()) return std::nullopt;
    return file->second;
  });
}

const std::string self = "/proc/self/cgroup";

}  // namespace

BOOST_AUTO_TEST_SUITE(cores)

BOOST_AUTO_TEST_CASE(version_2) {
  BOOST_TEST(limit({{self, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "150000 100000\n"}}).value() == 1.5);
  BOOST_TEST(!limit({{self, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "max 100000\n"}}).has_value());
  BOOST_TEST(!limit({{self, "0::/\n"}}).has_value());
}

BOOST_AUTO_TEST_CASE(the_smallest_of_all_groups_up_to_the_root) {
  BOOST_TEST(limit({{self, "0::/a/b\n"},
                    {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
                    {"/sys/fs/cgroup/a/cpu.max", "200000 100000\n"},
                    {"/sys/fs/cgroup/cpu.max", "300000 100000\n"}})
                 .value() == 2);
  BOOST_TEST(limit({{self, "0::/a/b\n"},
                    {"/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n"},
                    {"/sys/fs/cgroup/a/cpu.max", "200000 100000\n"}})
                 .value() == 0.5);
}

BOOST_AUTO_TEST_CASE(version_1) {
  const std::string text = "12:memory:/m\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n";
  BOOST_TEST(limit({{self, text},
                    {"/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "250000\n"},
                    {"/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n"}})
                 .value() == 2.5);
  BOOST_TEST(limit({{self, text},
                    {"/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "100000\n"},
                    {"/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "50000\n"}})
                 .value() == 2);
  BOOST_TEST(!limit({{self, text},
                     {"/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n"},
                     {"/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n"}})
                  .has_value());
}

BOOST_AUTO_TEST_CASE(a_container_sees_its_group_at_the_root) {  // the path is the host's, which isn't mounted
  BOOST_TEST(limit({{self, "4:cpu,cpuacct:/docker/abc\n"},
                    {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n"},
                    {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}})
                 .value() == 1);
}

BOOST_AUTO_TEST_CASE(other_controllers_say_nothing) {
  BOOST_TEST(!limit({{self, "3:cpuset:/a\n2:cpuacct:/a\n"},
                     {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n"},
                     {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}})
                  .has_value());
}

BOOST_AUTO_TEST_CASE(both_versions_at_once) {
  BOOST_TEST(limit({{self, "4:cpu:/a\n0::/b\n"},
                    {"/sys/fs/cgroup/unified/b/cpu.max", "400000 100000\n"},
                    {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n"},
                    {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}})
                 .value() == 3);
}

BOOST_AUTO_TEST_CASE(rubbish_sets_no_limit) {
  for (const std::string text : {"", "\n", "junk", "0:", "0::", "::", "0::/\n:\n"})
    BOOST_TEST(!limit({{self, text}, {"/sys/fs/cgroup/a/cpu.max", "100000 100000\n"}}).has_value());
  for (const std::string text : {"", "x y", "100000", "-5 100000", "0 100000", "100000 0", "100000 max"})
    BOOST_TEST(!limit({{self, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", text}}).has_value());
  BOOST_TEST(!limit({}).has_value());
}

BOOST_AUTO_TEST_CASE(affinity) {
  cpu_set_t before;
  BOOST_REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  BOOST_TEST(affinity_cores() == static_cast<unsigned>(CPU_COUNT(&before)));
  BOOST_TEST(available_cores() >= 1u);
  BOOST_TEST(available_cores() <= affinity_cores());
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  BOOST_REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  BOOST_TEST(affinity_cores() == 1u);
  BOOST_TEST(available_cores() == 1u);
  BOOST_REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
