#include "bench/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <new>
#include <string>

namespace wengert::bench {
namespace {

/// The number after `key` in a file of lines like "key: 123 kB"; 0 where there is none.
std::uint64_t field(const std::string& file, std::string_view key) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const std::size_t digit = std::min(line.find_first_of("0123456789"), line.size());
    std::from_chars(line.data() + digit, line.data() + line.size(), value);
    break;
  }
  return value;
}

/// The same where /proc counts in kilobytes, in bytes.
std::optional<std::uint64_t> kilobytes(const std::string& file, std::string_view key) {
  const std::uint64_t value = field(file, key);
  return value ? std::optional(value * 1024) : std::nullopt;
}

/// A file that holds one number; nothing where there is none ("max").
std::optional<std::uint64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t value;
  if (in >> value) return value;
  return {};
}

/// What the memory cgroup (version 2) of this process still grants.
std::optional<std::uint64_t> cgroup_left() {
  std::ifstream in("/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(in, line);)
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  std::optional<std::uint64_t> left;
  for (;;) {  // every ancestor has its own limit
    const std::string folder = "/sys/fs/cgroup" + path;
    const auto limit = number_in(folder + "/memory.max"), current = number_in(folder + "/memory.current");
    if (limit && current) {
      const std::uint64_t cache =
          field(folder + "/memory.stat", "inactive_file ") + field(folder + "/memory.stat", "active_file ");
      const std::uint64_t used = *current - std::min(cache, *current);  // the cache of files gives way
      left = std::min(left.value_or(UINT64_MAX), *limit - std::min(used, *limit));
    }
    if (path.empty() || path == "/") return left;
    path.erase(path.rfind('/'));
  }
}

constexpr bool sanitized =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

}  // namespace

std::optional<std::uint64_t> available_memory() {
  std::optional<std::uint64_t> available = kilobytes("/proc/meminfo", "MemAvailable:");
  if (available) *available += kilobytes("/proc/meminfo", "SwapFree:").value_or(0);
  if (const auto left = cgroup_left()) available = std::min(available.value_or(UINT64_MAX), *left);
  return available;
}

void limit_memory() {
  const auto available = available_memory();
  rlimit limit{};
  if (sanitized || !available || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>({limit.rlim_cur, limit.rlim_max, rlim_t(*available)});
  setrlimit(RLIMIT_DATA, &limit);
}

std::optional<std::uint64_t> peak_rss() { return kilobytes("/proc/self/status", "VmHWM:"); }

std::string describe(const std::exception& error) {
  if (!dynamic_cast<const std::bad_alloc*>(&error)) return error.what();
  rlimit limit{}, addresses{};
  getrlimit(RLIMIT_DATA, &limit);
  getrlimit(RLIMIT_AS, &addresses);
  const bool by_addresses = addresses.rlim_cur < limit.rlim_cur;  // ulimit -v
  if (by_addresses) limit = addresses;
  const double used = double(kilobytes("/proc/self/status", by_addresses ? "VmSize:" : "VmData:").value_or(0));
  if (limit.rlim_cur == RLIM_INFINITY) return fmt::format("out of memory with {:.2f} GB in use", used * 1e-9);
  return fmt::format("out of memory with {:.2f} GB in use, of {:.2f} GB that are available here", used * 1e-9,
                     double(limit.rlim_cur) * 1e-9);
}

}  // namespace wengert::bench
