// The same tapes in other languages, as levels on the same batches in the same rounds, verified first like all of them. What
// isn't C comes from the folder WENGERT_PEERS, where scripts/languages puts it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/level.hpp"

namespace wengert::bench {

/// The registry: v2's tape and v1's in each language. Those that this machine hasn't got are in it too, and say so in `missing`.
const std::vector<LevelInfo>& languages();

/// Where the library of a language is, "rust" or "zig". Empty where WENGERT_PEERS isn't set.
std::string tape_library(const std::string& language);

/// v1's or v2's tape of a library with the functions of tape.h. Throws unsupported where it isn't such a library, or hasn't got
/// this workload.
std::unique_ptr<Level<double>> make_library_tape(const std::string& path, int version, const Workload& workload);
/// v1 in C, which the ladder itself has.
std::unique_ptr<Level<double>> make_c_pool(const Workload& workload, const LevelOptions& options);

}  // namespace wengert::bench
