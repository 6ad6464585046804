// The subcommands: each adds itself to the parser and, where it is the one chosen, says what to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace wengert::command {

/// What to run once the whole command line has been understood; its result is the exit code.
using Action = std::function<int()>;

/// `arguments` are those of the command line, for reports and for running ourselves again.
void add_ladder(CLI::App& app, Action& action, const std::vector<std::string>& arguments);
void add_verify(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);

}  // namespace wengert::command
