// What `ladder` and `verify` are to run: the options they share, checked.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ladder.hpp"

namespace wengert::command {

/// The options as typed; numbers are checked while parsing, names by `resolve`.
struct Selection {
  std::string levels = "v0,v1,v2,v3,v4", workload = "west", precision = "f64", isa = "auto", lanes = "auto",
              output = "last", size;
  std::uint64_t ops = 10000, iterations = 1000, threads = 0, seed = 42,
                peer_limit = 120;         ///< threads 0: all cores available
  bool peers = false, languages = false;  ///< all of them that are here, after the levels
};

inline constexpr std::uint64_t most_ops = 4294967294;  ///< ids have 32 bits, and one value of them names nothing
inline constexpr std::uint64_t most_iterations = 1'000'000'000'000;
inline constexpr std::uint64_t most_threads = 65536;

/// Adds --levels, --peers, --peer-limit, --languages, --workload, --isa, --output, --size, --seed.
void add_fixed_selection(CLI::App& app, Selection& selection);
/// Adds these, and --ops, --iterations, --precision, --threads, --lanes; defaults are what `selection` holds.
void add_selection(CLI::App& app, Selection& selection);

/// Adds an option that takes a whole number between `low` and `high`, whose default is what `value` holds.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& value, std::uint64_t low,
                       std::uint64_t high, const std::string& help);

/// An option whose text may not be empty, as that of "$variable" in a shell is where nothing was set.
CLI::Option* not_empty(CLI::Option* option);

/// The options that say the same as `selection` does.
std::vector<std::string> command_line(const Selection& selection);

/// Looks the names up. Throws Failure with the names that there are.
bench::LadderOptions resolve(const Selection& selection);

/// Whether there are blocks of so many lanes ("auto", "16", ...) of that precision.
bool lanes_go_with(const std::string& lanes, const std::string& precision);

/// Says on standard error what is allowed but odd: more threads than cores. Whether there was anything to say.
bool remark(const bench::LadderOptions& options);

}  // namespace wengert::command
