#include "src/noise.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/command/stored_report.hpp"

using namespace wengert;
using namespace wengert::command;

namespace {

/// A system of two cores whose /proc the test writes: seconds since it started of user, idle and stolen time.
struct System {
  double user = 100, idle = 100, stolen = 0, mhz = 3000;
  bool exists = true;

  ReadFile reader() {
    return [this](const std::string& path) -> std::optional<std::string> {
      if (!exists) return {};
      if (path == "/proc/cpuinfo")
        return fmt::format("processor\t: 0\ncpu MHz\t\t: {:.3f}\nprocessor\t: 1\ncpu MHz\t\t: 800.000\n", mhz);
      const double hz = double(sysconf(_SC_CLK_TCK));
      return fmt::format(
          "cpu  {:.0f} 0 0 {:.0f} 0 0 0 {:.0f} 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\nintr 1\n",
          user * hz, idle * hz, stolen * hz);
    };
  }
};

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + '\n';
  return all;
}

const bench::Run quiet_run = test::run_of({{"v2", {10, 10.1, 9.9, 10, 10}}});

}  // namespace

BOOST_AUTO_TEST_SUITE(noise)

BOOST_AUTO_TEST_CASE(a_quiet_machine_says_nothing) {
  System system;
  NoiseWatch watch(system.reader());
  system.user += 10;  // one core for ten seconds, ours
  system.idle += 10;
  BOOST_TEST(joined(watch.findings({&quiet_run, 1}, 10)) == "");
}

BOOST_AUTO_TEST_CASE(stolen_time) {
  System system;
  NoiseWatch watch(system.reader());
  system.user += 10, system.idle += 9, system.stolen += 1;
  BOOST_TEST(joined(watch.findings({&quiet_run, 1}, 10)) ==
             "5.0% of the processor time was stolen: the host gave it to other machines\n");
}

BOOST_AUTO_TEST_CASE(other_processes) {
  System system;
  NoiseWatch watch(system.reader());
  system.user += 15, system.idle += 5;  // of both cores in ten seconds
  BOOST_TEST(joined(watch.findings({&quiet_run, 1}, 10)) == "other processes kept 0.5 of 2 cores busy\n");
  BOOST_TEST(joined(watch.findings({&quiet_run, 1}, 15)) == "");
}

BOOST_AUTO_TEST_CASE(the_clock_of_the_fastest_core) {
  System system;
  NoiseWatch watch(system.reader());
  system.mhz = 2900;
  watch.look();
  BOOST_TEST(joined(watch.findings({&quiet_run, 1}, 0)) == "");
  system.mhz = 1500;
  watch.look();
  system.mhz = 3000;
  BOOST_TEST(joined(watch.findings({&quiet_run, 1}, 0)) == "the clock went from 1500 to 3000 MHz\n");
}

BOOST_AUTO_TEST_CASE(repetitions_that_are_all_over_the_place) {
  System system;
  const bench::Run run = test::run_of({{"v2", {10, 10, 10, 10, 10}}, {"v3", {10, 12, 14, 16, 18}}, {"v4", {10, 99}}});
  NoiseWatch watch(system.reader());
  BOOST_TEST(joined(watch.findings({&run, 1}, 0)) ==
             "the middle half of the repetitions is spread over more than 10% of the median: v3 (29%)\n");
}

BOOST_AUTO_TEST_CASE(a_system_that_tells_nothing) {
  System system;
  system.exists = false;
  NoiseWatch watch(system.reader());
  watch.look();
  BOOST_TEST(joined(watch.findings({&quiet_run, 1}, 10)) == "");
  BOOST_TEST(joined(NoiseWatch([](const std::string&) {
                      return std::optional<std::string>("cpu garbage");
                    }).findings({}, 0)) == "");
}

BOOST_AUTO_TEST_CASE(own_time_is_counted) {
  const double before = processor_seconds();
  volatile double x = 1;
  while (processor_seconds() - before < 0.02) x = x * 1.0000001;
  BOOST_TEST(processor_seconds() - before < 60);
}

BOOST_AUTO_TEST_SUITE_END()
