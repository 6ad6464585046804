#include "codegen/perf_map.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__linux__)
#include <fcntl.h>
#include <unistd.h>
#endif

namespace wengert::codegen {

void name_for_profilers([[maybe_unused]] const void* code, [[maybe_unused]] std::size_t bytes,
                        [[maybe_unused]] const char* name) {
#if defined(__linux__)
  const char* const wish = std::getenv("WENGERT_PERF_MAP");
  if (!wish || *wish == '\0' || std::strcmp(wish, "0") == 0) return;
  char path[64], line[160];
  std::snprintf(path, sizeof path, "/tmp/perf-%ld.map", static_cast<long>(getpid()));
  const int length = std::snprintf(line, sizeof line, "%llx %llx %s\n",
                                   static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(code)),
                                   static_cast<unsigned long long>(bytes), name);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof line) return;
  // Not through a link that somebody else put there. One write: lines of several threads stay whole.
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, line, static_cast<std::size_t>(length));
  close(file);
#endif
}

}  // namespace wengert::codegen
