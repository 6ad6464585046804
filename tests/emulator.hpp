// What runs the tests instead of the CPU, where something does.
#pragma once

#include <cstdlib>
#include <string_view>

namespace wengert::test {

/// Whether the tests run under that program, "qemu" or "valgrind" (scripts/soak says so), which isn't quite the CPU.
inline bool runs_under(std::string_view emulator) {
  const char* ours = std::getenv("WENGERT_EMULATOR");
  return ours && ours == emulator;
}

}  // namespace wengert::test
