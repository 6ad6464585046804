// Memory: what there is, and what a process took. Linux only, like the rest of bench/.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace wengert::bench {

/// Bytes that can still be had: the kernel's estimate of available memory and free swap, within the cgroup's limit.
std::optional<std::uint64_t> available_memory();

/// Makes allocations beyond the available memory fail. Otherwise the kernel grants them and kills the process when it
/// comes to use them, without a word. (Not under sanitizers, whose shadow memory is larger than any machine.)
void limit_memory();

/// Peak resident bytes of this process. Not ru_maxrss: a process inherits that from the one that started it.
std::optional<std::uint64_t> peak_rss();

/// What went wrong, in one line; where it was memory, with sizes.
std::string describe(const std::exception& error);

}  // namespace wengert::bench
