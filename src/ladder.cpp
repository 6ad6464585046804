// `wengert ladder`: times the levels side by side.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/ladder.hpp"
#include "bench/memory.hpp"
#include "bench/report.hpp"
#include "src/exit_code.hpp"
#include "src/machine.hpp"
#include "src/numbers.hpp"
#include "src/output.hpp"
#include "src/selection.hpp"
#include "src/signals.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"
#include "src/subprocess.hpp"
#include "src/table.hpp"

namespace wengert::command {
namespace {

struct LadderArguments {
  Selection selection;
  std::uint64_t repetitions = 7, warmup = 1;
  double min_time = 0.2;
  std::string out, csv, run_id;
  bool quiet = false;
  std::string peak_memory_of;  ///< this process measures one level for another one
  std::vector<std::string> command_line;
};

/// Where a run is seen: on a terminal the table is drawn again after every step, elsewhere once at the end.
class Screen : public bench::Observer {
 public:
  explicit Screen(const LadderArguments& arguments)
      : stream_(arguments.csv == "-" ? Stream::error : Stream::out),
        quiet_(arguments.quiet),
        live_(!quiet_ && is_terminal(stream_)),
        command_line_(arguments.command_line) {}

  void show(const bench::Run& run, std::string_view next) override {
    if (live_ && !next.empty())
      draw(table(run, width(), has_colour(stream_)) + std::string(next.substr(0, width())) + '\n');
  }

  /// The last word.
  void finish(const bench::Run& run) {
    if (live_) draw("");
    if (!quiet_) print(stream_, table(run, width(), has_colour(stream_)));
  }

  bool stop() override { return stop_signal() != 0; }

  bench::PeakMemory peak_memory(const bench::LevelInfo& level) override {
    std::vector<std::string> arguments = command_line_;
    arguments.insert(arguments.end(), {"--peak-memory-of", level.name});
    const ProcessResult result = run_self(arguments);
    if (result.exit_code == ExitCode::ok) return {parse_count(result.output, 0, UINT64_MAX), ""};
    if (result.signal != 0)
      return {{},
              fmt::format("a process that ran one batch was ended by signal {} ({}){}", result.signal,
                          strsignal(result.signal), result.signal == SIGKILL ? ": the system was out of memory" : "")};
    std::string said = result.output;
    while (!said.empty() && said.back() == '\n') said.pop_back();
    const std::string prefix = "wengert: ";
    return {{}, said.rfind(prefix, 0) == 0 ? said.substr(prefix.size()) : said};
  }

 private:
  /// One column less than there are: a full line would wrap on some terminals and be counted wrong by `draw`.
  std::size_t width() const {
    return is_terminal(stream_) ? std::size_t(std::max(terminal_width(stream_) - 1, 20)) : 0;
  }

  /// In place of what was drawn before.
  void draw(const std::string& text) {
    std::string frame = lines_ > 0 ? fmt::format("\x1b[{}A\x1b[J", lines_) : "";
    frame += text;
    lines_ = std::size_t(std::count(text.begin(), text.end(), '\n'));
    try {
      print(stream_, frame);
    } catch (const Failure&) {  // the terminal went away; the run goes on for its reports
      live_ = false;
    }
  }

  Stream stream_;
  bool quiet_, live_;
  std::vector<std::string> command_line_;
  std::size_t lines_ = 0;
};

/// The files of a run, found writable before it begins.
class Reports {
 public:
  explicit Reports(const LadderArguments& arguments) : command_line_(arguments.command_line) {
    if (!arguments.out.empty()) {
      make_folder(arguments.out);
      const std::filesystem::path folder = arguments.out;
      summary_.emplace(folder / "summary.csv");
      samples_.emplace(folder / "samples.csv");
      meta_.emplace(folder / "meta.json");
    }
    if (arguments.csv == "-") csv_to_stdout_ = true;
    else if (!arguments.csv.empty()) csv_.emplace(arguments.csv);
  }

  void write(const bench::Run& run) const {
    const std::string summary = bench::summary_csv(run);
    std::vector<std::pair<OutputFile, std::string>> files;
    if (summary_) files.emplace_back(*summary_, summary);
    if (samples_) files.emplace_back(*samples_, bench::samples_csv(run));
    if (meta_) files.emplace_back(*meta_, meta(run).dump(2) + '\n');
    if (csv_) files.emplace_back(*csv_, summary);
    write_files(files);
    if (csv_to_stdout_) print(Stream::out, summary);
  }

 private:
  nlohmann::ordered_json meta(const bench::Run& run) const {
    nlohmann::ordered_json all = bench::meta_json(run);
    all["command"] = command_line_;
    all["command"].insert(all["command"].begin(), "wengert");
    all["machine"] = machine_;
    all["build"] = build_json();
    return all;
  }

  std::vector<std::string> command_line_;
  nlohmann::ordered_json machine_ = machine_json();  // before the run: its load is not the machine's
  std::optional<OutputFile> summary_, samples_, meta_, csv_;
  bool csv_to_stdout_ = false;
};

std::string new_run_id(std::time_t now) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{:04x}", fmt::gmtime(now), unsigned(getpid()) & 0xffffu);
}

void check_run_id(const std::string& id) {
  const bool plain = std::all_of(id.begin(), id.end(),
                                 [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; });
  if (!plain)
    throw Failure(ExitCode::usage, fmt::format("--run-id: '{}' has more than letters, digits, '.', '_' and '-'", id));
}

bench::LadderOptions options_of(const LadderArguments& arguments) {
  bench::LadderOptions options = resolve(arguments.selection);
  options.repetitions = arguments.repetitions;
  options.warmup = arguments.warmup;
  options.min_time = arguments.min_time;
  check_run_id(arguments.run_id);
  const std::time_t now = std::time(nullptr);
  options.run_id = arguments.run_id.empty() ? new_run_id(now) : arguments.run_id;
  options.started_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return options;
}

/// The other side of Screen::peak_memory.
int measure_peak_memory(const LadderArguments& arguments) {
  Selection one = arguments.selection;
  one.levels = arguments.peak_memory_of;
  const bench::LadderOptions options = resolve(one);
  bench::run_once(options, *options.levels.front());
  print(Stream::out, std::to_string(bench::peak_rss().value_or(0)));
  return ExitCode::ok;
}

int run_ladder(const LadderArguments& arguments) {
  if (!arguments.peak_memory_of.empty()) return measure_peak_memory(arguments);
  const bench::LadderOptions options = options_of(arguments);
  const Reports reports(arguments);
  if (!arguments.quiet) remark(options);
  remember_stop_signals();
  Screen screen(arguments);
  const bench::Run run = bench::run_ladder(options, screen);

  const bool anything = std::any_of(run.rows.begin(), run.rows.end(), [](const bench::Row& row) {
    return !row.samples.empty() || row.status == bench::Status::wrong || row.status == bench::Status::failed;
  });
  if (!anything) {  // stopped too early: an earlier report is worth more than an empty one
    complain("stopped before the first repetition was complete; nothing was written");
    return 128 + stop_signal();
  }
  std::exception_ptr problem;
  try {
    reports.write(run);
  } catch (const Failure&) {
    problem = std::current_exception();  // the table is what is left of the run: show it first
  }
  screen.finish(run);
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
  if (const int signal = stop_signal()) return 128 + signal;
  return code;
}

void add_ladder(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  auto arguments = std::make_shared<LadderArguments>();
  arguments->command_line = command_line;
  CLI::App& ladder = *app.add_subcommand("ladder", "Time levels side by side, each verified first");
  add_selection(ladder, arguments->selection);
  add_count(ladder, "--repetitions", arguments->repetitions, 1, 1'000'000, "timed rounds");
  add_count(ladder, "--warmup", arguments->warmup, 0, 1'000'000,
            "rounds before them that aren't timed, of one batch each");
  ladder
      .add_option_function<std::string>(
          "--min-time",
          [arguments](const std::string& text) {
            try {
              arguments->min_time = parse_seconds(text);
            } catch (const std::invalid_argument& error) {
              throw CLI::ValidationError("--min-time", error.what());
            }
          },
          "a repetition repeats the batch for at least so long")
      ->type_name("SECONDS")
      ->default_str("0.2");
  ladder.add_option("--out", arguments->out, "write summary.csv, samples.csv and meta.json into this folder")
      ->type_name("DIR");
  ladder
      .add_option("--csv", arguments->csv,
                  "write the summary to this file; - is standard output, and the table goes to standard error")
      ->type_name("FILE");
  ladder.add_option("--run-id", arguments->run_id, "name of this run in its reports")
      ->type_name("NAME")
      ->default_str("time and process");
  ladder.add_flag("--quiet", arguments->quiet, "no table");
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
      "  wengert ladder --levels c,v2,v3 --workload dag --ops 1000 --isa avx2\n"
      "  wengert ladder --levels v2,v4 --workload black-scholes --iterations 1000000 --csv - 2>/dev/null | column "
      "-ts,");
  ladder.callback([arguments, &action] { action = [arguments] { return run_ladder(*arguments); }; });
}

}  // namespace wengert::command
