// How many cores this process may use: by affinity mask and cgroup quota, never by what the socket has.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace wengert {

/// Contents of a file, nothing where it can't be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// Processor time that cgroups (version 1 or 2) allow this process, in cores; nothing where they set no limit. Limits of
/// all groups from the process's own up to the root count, the smallest wins. Reads /proc/self/cgroup and /sys/fs/cgroup.
std::optional<double> cgroup_core_limit(const ReadFile& read);

/// Cores in this process's affinity mask (what `taskset` sets), at least 1.
unsigned affinity_cores();

/// The smaller of both, a fraction of a core counting as one.
unsigned available_cores();

/// How many threads an option asks for, 0 being all cores. Throws unsupported for more than any system starts.
unsigned wanted_threads(unsigned option);

/// Reads a file of the system, for cgroup_core_limit.
std::optional<std::string> read_system_file(const std::string& path);

}  // namespace wengert
