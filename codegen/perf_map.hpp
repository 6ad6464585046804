// Names of machine code for profilers: Linux perf looks them up in /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt
// in the kernel's sources).
#pragma once

#include <cstddef>

namespace wengert::codegen {

/// Writes a line into that file, if WENGERT_PERF_MAP is in the environment (and not 0 or empty). What fails is left out.
void name_for_profilers(const void* code, std::size_t bytes, const char* name);

}  // namespace wengert::codegen
