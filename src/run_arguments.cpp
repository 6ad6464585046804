#include "src/run_arguments.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <ctime>

#include "src/exit_code.hpp"
#include "src/numbers.hpp"
#include "src/selection.hpp"

namespace wengert::command {
namespace {

std::string new_run_id(std::time_t now) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{:04x}", fmt::gmtime(now), unsigned(getpid()) & 0xffffu);
}

void check_run_id(const std::string& id) {
  const bool plain = std::all_of(id.begin(), id.end(),
                                 [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; });
  if (!plain)
    throw Failure(ExitCode::usage, fmt::format("--run-id: '{}' has more than letters, digits, '.', '_' and '-'", id));
}

}  // namespace

void add_run_arguments(CLI::App& app, RunArguments& arguments) {
  add_count(app, "--repetitions", arguments.repetitions, 1, 1'000'000, "timed rounds");
  add_count(app, "--warmup", arguments.warmup, 0, 1'000'000, "rounds before them that aren't timed, of one batch each");
  app.add_option_function<std::string>(
         "--min-time",
         [&arguments](const std::string& text) {
           try {
             arguments.min_time = parse_seconds(text);
           } catch (const std::invalid_argument& error) {
             throw CLI::ValidationError("--min-time", error.what());
           }
         },
         "a repetition repeats the batch for at least so long")
      ->type_name("SECONDS")
      ->default_str(fmt::format("{}", arguments.min_time));
  not_empty(app.add_option("--out", arguments.out, "write summary.csv, samples.csv and meta.json into this folder"))
      ->type_name("DIR");
  not_empty(
      app.add_option("--csv", arguments.csv,
                     "write the summary to this file; - is standard output, and the table goes to standard error"))
      ->type_name("FILE");
  not_empty(app.add_option("--run-id", arguments.run_id, "name of this run in its reports"))
      ->type_name("NAME")
      ->default_str("time and process");
  app.add_flag("--quiet", arguments.quiet, "no table");
}

void apply(const RunArguments& arguments, bench::LadderOptions& options) {
  options.repetitions = arguments.repetitions;
  options.warmup = arguments.warmup;
  options.min_time = arguments.min_time;
  check_run_id(arguments.run_id);
  const std::time_t now = std::time(nullptr);
  options.run_id = arguments.run_id.empty() ? new_run_id(now) : arguments.run_id;
  options.started_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace wengert::command
