// `wengert ladder`: times the levels side by side.
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bench/ladder.hpp"
#include "bench/memory.hpp"
#include "bench/report.hpp"
#include "src/exit_code.hpp"
#include "src/preset.hpp"
#include "src/reports.hpp"
#include "src/run_arguments.hpp"
#include "src/screen.hpp"
#include "src/selection.hpp"
#include "src/signals.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"

namespace wengert::command {
namespace {

struct LadderArguments {
  Selection selection;
  RunArguments run;
  const Preset* preset = nullptr;
  std::string peak_memory_of;  ///< this process measures one level for another one
};

bench::LadderOptions checked(const LadderArguments& arguments) {
  Selection selection = arguments.selection;
  if (!arguments.peak_memory_of.empty()) selection.levels = arguments.peak_memory_of;
  bench::LadderOptions options = resolve(selection);
  apply(arguments.run, options);
  return options;
}

/// The other side of Screen::peak_memory.
int measure_peak_memory(const bench::LadderOptions& options) {
  bench::run_once(options, *options.levels.front());
  print(Stream::out, std::to_string(bench::peak_rss().value_or(0)));
  return ExitCode::ok;
}

int run_ladder(const LadderArguments& arguments, const bench::LadderOptions& options) {
  if (!arguments.peak_memory_of.empty()) return measure_peak_memory(options);
  const Reports reports(arguments.run);
  if (!arguments.run.quiet) remark(options);
  remember_stop_signals();
  Screen screen(arguments.run);
  screen.begin(arguments.selection);
  const bench::Run run = bench::run_ladder(options, screen);

  if (!run.anything()) {  // stopped too early: an earlier report is worth more than an empty one
    complain("stopped before the first repetition was complete; nothing was written");
    return 128 + stop_signal();
  }
  std::exception_ptr problem;
  const std::vector<std::string> noise = screen.noise({&run, 1});
  try {
    nlohmann::ordered_json more = {{"noise", noise}};
    if (arguments.preset) more["preset"] = preset_json(*arguments.preset);
    reports.write({&run, 1}, more);
    reports.print_summary({&run, 1});
  } catch (const Failure&) {
    problem = std::current_exception();  // the table is what is left of the run: show it first
  }
  screen.finish(run);
  if (arguments.preset) screen.add(totals(*arguments.preset, run));
  screen.tell(noise);
  if (problem) std::rethrow_exception(problem);
  return verdict(run);
}

}  // namespace

int verdict(const bench::Run& run) {
  int code = ExitCode::ok;
  for (const bench::Row& row : run.rows) {
    if (row.status != bench::Status::wrong && row.status != bench::Status::failed) continue;
    complain(fmt::format("{} {}: {}", row.level, bench::name(row.status), row.problem));
    code = ExitCode::failed;
  }
  const int signal = stop_signal();
  if (!run.complete())
    complain(fmt::format("stopped: figures are of those of the {} repetitions that were complete", run.repetitions));
  return signal ? 128 + signal : code;
}

void add_ladder(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  auto arguments = std::make_shared<LadderArguments>();
  arguments->run.command_line = command_line;
  CLI::App& ladder = *app.add_subcommand("ladder", "Time levels side by side, each verified first");
  add_selection(ladder, arguments->selection);
  add_run_arguments(ladder, arguments->run);
  const auto preset = std::make_shared<std::string>();
  add_preset(ladder, *preset);
  ladder.add_option("--peak-memory-of", arguments->peak_memory_of)->group("");
  ladder.footer(
      "Iterations are the evaluations in a batch; a repetition repeats the batch until --min-time is over. Levels are\n"
      "timed in interleaved rounds, in a new order each round. [a, b] are 95% bootstrap intervals of medians. A level "
      "that\n"
      "fails verification is not timed. Ctrl-C ends the run after the repetition at hand and keeps what is "
      "complete.\n\n"
      "Examples:\n"
      "  wengert ladder\n"
      "  wengert ladder --levels all --precision f32 --out results/local/f32\n"
      "  wengert ladder --preset post\n"
      "  wengert ladder --levels c,v2,v3 --workload dag --ops 1000 --isa avx2\n"
      "  wengert ladder --levels v2,v4 --workload black-scholes --iterations 1000000 --csv - 2>/dev/null | column "
      "-ts,");
  ladder.callback([arguments, preset, &ladder, &action] {
    arguments->preset = apply_preset(*preset, ladder, arguments->selection, arguments->run);
    action = [arguments, options = checked(*arguments)] { return run_ladder(*arguments, options); };
  });
}

}  // namespace wengert::command
