// The command `wengert`: parses the command line, runs a subcommand, turns what goes wrong into one line and an exit code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "bench/memory.hpp"
#include "src/build_info.hpp"
#include "src/exit_code.hpp"
#include "src/signals.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"
#include "wengert/error.hpp"

namespace wengert::command {
namespace {

std::string version() {
  std::string text = "wengert " + std::string(build_info.version);
  if (!build_info.commit.empty())
    text += " (" + std::string(build_info.commit.substr(0, 12)) + (build_info.dirty ? ", modified)" : ")");
  return text;
}

ExitCode exit_code(const Error& error) {
  return error.code() == ErrorCode::bad_argument ? ExitCode::usage : ExitCode::failed;
}

/// CLI11 would only say that a subcommand is missing.
std::optional<std::string> unknown_subcommand(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].empty() || arguments[0][0] == '-') return {};
  std::vector<std::string> known;
  for (const CLI::App* subcommand : app.get_subcommands({})) {
    if (subcommand->get_name() == arguments[0]) return {};
    known.push_back(subcommand->get_name());
  }
  return fmt::format("there is no subcommand '{}'; there are {}", arguments[0], fmt::join(known, ", "));
}

int run(int argc, char** argv) {
  CLI::App app("Runs the optimisation ladder of a tape-based autograd engine.", "wengert");
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 a result is wrong or it can't be done here (files, memory, instruction set), 2 the "
      "command\n"
      "line is wrong, 3 reports can't be compared, 130 or 143 stopped by a signal.\n\n"
      "Examples:\n"
      "  wengert ladder                        the ladder v0 to v4 on its default workload, in half a minute\n"
      "  wengert verify --levels all           is every level right?\n"
      "  wengert ladder --help                 all that it can vary");
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Action action;
  add_ladder(app, action, arguments);
  add_sweep(app, action, arguments);
  add_verify(app, action);
  add_compare(app, action);
  add_program(app, action);
  add_report(app, action);
  add_list(app, action);
  add_info(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    const bool help =
        dynamic_cast<const CLI::CallForHelp*>(&success) || dynamic_cast<const CLI::CallForAllHelp*>(&success);
    print(Stream::out, help ? app.help() : version() + "\n");
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    complain(unknown_subcommand(app, arguments).value_or(error.what()));
    return ExitCode::usage;
  }
  return action();
}

}  // namespace
}  // namespace wengert::command

int main(int argc, char** argv) {
  using namespace wengert::command;
  reserve_standard_streams();
  ignore_write_signals();
  wengert::bench::limit_memory();
  try {
    return run(argc, argv);
  } catch (const Failure& failure) {
    if (*failure.what()) complain(failure.what());
    return failure.code();
  } catch (const wengert::Error& error) {
    complain(error.what());
    return exit_code(error);
  } catch (const std::exception& error) {
    complain(wengert::bench::describe(error));
    return ExitCode::failed;
  }
}
