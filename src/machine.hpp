// What this machine is: for `wengert info` and for meta.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "bench/ceilings.hpp"

namespace wengert::command {

/// CPU, instruction sets, caches, cores, governor, memory, load and kernel; a field that the system doesn't tell is null.
nlohmann::ordered_json machine_json();

/// Of the first core; what the system doesn't tell is a guess.
bench::CacheSizes cache_sizes();
nlohmann::ordered_json ceilings_json(std::span<const bench::Ceiling> ceilings);

/// Version, commit, compiler and flags.
nlohmann::ordered_json build_json();

}  // namespace wengert::command
