#include "tape/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <thread>

#include "wengert/error.hpp"

namespace wengert {

namespace {

/// quota / period of one group, in cores. Formats: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max is "max 100000"
/// or "quota period") and Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us is -1 for no limit).
std::optional<double> ratio(const std::string& quota, const std::string& period) {
  std::istringstream q(quota), p(period);
  double quota_us = 0, period_us = 0;
  if (!(q >> quota_us) || !(p >> period_us) || quota_us <= 0 || period_us <= 0) return std::nullopt;
  return quota_us / period_us;
}

std::optional<double> limit_v2(const ReadFile& read, const std::string& group) {
  const auto text = read(group + "/cpu.max");
  if (!text) return std::nullopt;
  std::istringstream words(*text);
  std::string quota, period;
  words >> quota >> period;
  return ratio(quota, period);
}

std::optional<double> limit_v1(const ReadFile& read, const std::string& group) {
  const auto quota = read(group + "/cpu.cfs_quota_us"), period = read(group + "/cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return ratio(*quota, *period);
}

void take_smaller(std::optional<double>& limit, std::optional<double> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

bool lists(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == wanted) return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::optional<double> cgroup_core_limit(const ReadFile& read) {
  std::optional<double> limit;
  const auto groups = read("/proc/self/cgroup");
  if (!groups) return limit;
  std::istringstream lines(*groups);
  for (std::string line; std::getline(lines, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    const bool v2 = controllers.empty();
    if (!v2 && !lists(controllers, "cpu")) continue;
    // In a container the path may be the host's, which isn't mounted here: what isn't there sets no limit, and the walk
    // up ends at the root of the mount, which then is the container's own group.
    for (bool more = true; more;) {
      if (path == "/") path.clear();
      if (v2) {
        take_smaller(limit, limit_v2(read, "/sys/fs/cgroup" + path));
        take_smaller(limit, limit_v2(read, "/sys/fs/cgroup/unified" + path));
      } else {
        take_smaller(limit, limit_v1(read, "/sys/fs/cgroup/cpu" + path));
        take_smaller(limit, limit_v1(read, "/sys/fs/cgroup/" + controllers + path));
      }
      more = !path.empty();
      path.resize(more ? path.rfind('/') == std::string::npos ? 0 : path.rfind('/') : 0);
    }
  }
  return limit;
}

unsigned affinity_cores() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {  // the kernel refuses (EINVAL) a mask smaller than its own
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(cpus));
    if (!mask) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    CPU_ZERO_S(bytes, mask);
    const bool done = sched_getaffinity(0, bytes, mask) == 0;
    const int error = errno;
    const int count = done ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (done) return static_cast<unsigned>(std::max(count, 1));
    if (error != EINVAL) break;
  }
  return std::max(std::thread::hardware_concurrency(), 1u);
}

unsigned available_cores() {
  const unsigned cores = affinity_cores();
  const auto limit = cgroup_core_limit(read_system_file);
  if (!limit || *limit >= cores) return cores;
  return std::max(static_cast<unsigned>(std::ceil(*limit)), 1u);
}

unsigned wanted_threads(unsigned option) {
  constexpr unsigned most = 65536;
  if (option > most)
    throw Error(ErrorCode::unsupported,
                std::to_string(option) + " threads; at most " + std::to_string(most) + ", and 0 stands for all cores");
  return option != 0 ? option : available_cores();
}

std::optional<std::string> read_system_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace wengert
