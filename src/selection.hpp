// What `ladder` and `verify` are to run: the options they share, checked.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ladder.hpp"

namespace wengert::command {

/// The options as typed; numbers are checked while parsing, names by `resolve`.
struct Selection {
  std::string levels = "v0,v1,v2,v3,v4", workload = "west", precision = "f64", isa = "auto", lanes = "auto",
              output = "last", size;
  std::uint64_t ops = 10000, iterations = 1000, threads = 0, seed = 42;  ///< threads 0: all cores available
};

/// Adds --levels, --workload, --ops, --iterations, --precision, --threads, --isa, --lanes, --output, --size, --seed, whose
/// defaults are what `selection` holds.
void add_selection(CLI::App& app, Selection& selection);

/// Adds an option that takes a whole number between `low` and `high`, whose default is what `value` holds.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& value, std::uint64_t low,
                       std::uint64_t high, const std::string& help);

/// Looks the names up. Throws Failure with the names that there are.
bench::LadderOptions resolve(const Selection& selection);

/// Says on standard error what is allowed but odd: more threads than cores.
void remark(const bench::LadderOptions& options);

}  // namespace wengert::command
