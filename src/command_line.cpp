#include "src/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "src/build_info.hpp"
#include "src/exit_code.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"

namespace wengert::command {
namespace {

std::string version() {
  std::string text = "wengert " + std::string(build_info.version);
  if (!build_info.commit.empty())
    text += " (" + std::string(build_info.commit.substr(0, 12)) + (build_info.dirty ? ", modified)" : ")");
  return text;
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

Action show(std::string text) {
  return [text = std::move(text)] {
    print(Stream::out, text);
    return int(ExitCode::ok);
  };
}

}  // namespace

std::function<int()> understand(const std::vector<std::string>& arguments) {
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
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& success) {  // --help, --version
    const bool help =
        dynamic_cast<const CLI::CallForHelp*>(&success) || dynamic_cast<const CLI::CallForAllHelp*>(&success);
    return show(help ? app.help() : version() + "\n");
  } catch (const CLI::ParseError& error) {
    throw Failure(ExitCode::usage, unknown_subcommand(app, arguments).value_or(error.what()));
  }
  return action;
}

}  // namespace wengert::command
