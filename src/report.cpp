// `wengert report`: a report as one page.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "bench/stored_report.hpp"
#include "src/exit_code.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"
#include "src/subprocess.hpp"

namespace wengert::command {
namespace {

namespace fs = std::filesystem;

/// plot.py beside this executable, as in a build, or where an installation has it.
fs::path plotter() {
  const fs::path own = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& path : {own / "plot.py", own.parent_path() / "share" / "wengert" / "plot.py"})
    if (fs::exists(path)) return path;
  throw Failure(ExitCode::failed, fmt::format("plot.py is missing: it belongs to {}",
                                              (own.parent_path() / "share" / "wengert").string()));
}

int report(const std::string& folder) {
  if (!fs::is_directory(folder)) throw Failure(ExitCode::failed, folder + ": there is no such folder");
  bench::read_report(folder);  // says what is wrong with it
  // Debian's python has Debian's matplotlib, whatever comes first in PATH.
  const std::string python = fs::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
  const ProcessResult result = run_program(python, {plotter().string(), "--html", folder});
  if (result.exit_code == ExitCode::ok) {
    print(Stream::out, result.output);
    return ExitCode::ok;
  }
  const std::size_t last = result.output.find_last_not_of('\n');
  const std::size_t line = result.output.rfind('\n', last) + 1;  // of a traceback its last line says what happened
  throw Failure(ExitCode::failed, result.output.substr(line, last + 1 - line));
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto folder = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("report", "Make one page of a report: charts, numbers, machine");
  command.add_option("folder", *folder, "that --out made; report.html is written there")->type_name("DIR")->required();
  command.footer(
      "One file with all that it needs, for the desk, the phone and the printer. Made by plot.py, which needs python3 "
      "and\n"
      "matplotlib (Debian: python3-matplotlib).\n\n"
      "Examples:\n"
      "  wengert ladder --out results/local/mine && wengert report results/local/mine");
  command.callback([folder, &action] { action = [folder] { return report(*folder); }; });
}

}  // namespace wengert::command
