// What `ladder` and `sweep` have in common: how often to time, and where the reports go.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/ladder.hpp"

namespace wengert::command {

struct RunArguments {
  std::uint64_t repetitions = 7, warmup = 1;
  double min_time = 0.2;
  std::string out, csv, run_id;
  bool quiet = false;
  std::vector<std::string> command_line;  ///< without the program's name
};

/// Adds --repetitions, --warmup, --min-time, --out, --csv, --run-id, --quiet, whose defaults are what `arguments` holds.
void add_run_arguments(CLI::App& app, RunArguments& arguments);

/// Puts them into `options`, with a new run id and the time of day where none was given. Throws Failure.
void apply(const RunArguments& arguments, bench::LadderOptions& options);

}  // namespace wengert::command
