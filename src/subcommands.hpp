// The subcommands: each adds itself to the parser and, where it is the one chosen, says what to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "bench/ladder.hpp"

namespace wengert::command {

/// What to run once the whole command line has been understood; its result is the exit code. What is wrong with it, as far as
/// that shows without reading files, is found out before.
using Action = std::function<int()>;

/// `arguments` are those of the command line, for reports and for running ourselves again.
void add_ladder(CLI::App& app, Action& action, const std::vector<std::string>& arguments);
void add_sweep(CLI::App& app, Action& action, const std::vector<std::string>& arguments);
void add_verify(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_program(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);

/// Verifies the levels of `options`, says what it found on standard output, and returns the exit code.
int verify_levels(const bench::LadderOptions& options);

/// Says on standard error which levels of a run are wrong or failed, and returns the exit code.
int verdict(const bench::Run& run);

}  // namespace wengert::command
