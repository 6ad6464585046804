// `wengert sweep`: the ladder at every point of a grid, in one report.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/ceilings.hpp"
#include "bench/ladder.hpp"
#include "bench/report.hpp"
#include "bench/work.hpp"
#include "src/exit_code.hpp"
#include "src/machine.hpp"
#include "src/numbers.hpp"
#include "src/reports.hpp"
#include "src/run_arguments.hpp"
#include "src/screen.hpp"
#include "src/selection.hpp"
#include "src/signals.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"

namespace wengert::command {
namespace {

constexpr double most_points = 10'000;

/// The selection, with lists in place of what the grid is over.
struct SweepArguments {
  Selection one;
  std::string ops = "100,1000,10000,100000", iterations = "1000", threads, lanes = "auto", precision = "f64";
  RunArguments run;
};

/// "100,1000" into its parts, which `check` looks at one by one. Throws Failure.
template <class Check>
std::vector<std::string> parse_list(const char* option, const std::string& text, Check check) {
  try {
    std::vector<std::string> parts = parse_names(text);
    for (const std::string& part : parts) check(part);
    return parts;
  } catch (const std::invalid_argument& error) {
    throw Failure(ExitCode::usage, fmt::format("{}: {}", option, error.what()));
  }
}

std::vector<std::uint64_t> parse_counts(const char* option, const std::string& text, std::uint64_t high) {
  std::vector<std::uint64_t> counts;
  parse_list(option, text, [&](const std::string& part) { counts.push_back(parse_count(part, 1, high)); });
  return counts;
}

/// The points of the grid, sizes innermost. A level that doesn't use threads or lanes is at the first of them only.
std::vector<Selection> grid(const SweepArguments& arguments) {
  const auto any = [](const std::string&) {};
  std::vector<std::uint64_t> ops = parse_counts("--ops", arguments.ops, most_ops);
  const std::vector<std::uint64_t> iterations = parse_counts("--iterations", arguments.iterations, most_iterations);
  const std::vector<std::uint64_t> threads = arguments.threads.empty()
                                                 ? std::vector<std::uint64_t>{0}
                                                 : parse_counts("--threads", arguments.threads, most_threads);
  const std::vector<std::string> lanes = parse_list("--lanes", arguments.lanes, any);
  const std::vector<std::string> precisions = parse_list("--precision", arguments.precision, any);
  for (const bench::WorkloadInfo& info : bench::workloads())
    if (info.name == arguments.one.workload && !info.has_ops) ops.resize(1);

  const double product = double(ops.size()) * double(iterations.size()) * double(threads.size()) *
                         double(lanes.size()) * double(precisions.size());
  if (product > most_points)
    throw Failure(ExitCode::usage, fmt::format("a grid of {:.0f} points; at most {:.0f}", product, most_points));
  const std::vector<const bench::LevelInfo*> all = resolve(arguments.one).levels;
  std::vector<Selection> points;
  for (const std::string& precision : precisions)
    for (std::uint64_t count : iterations) {
      bool first_lanes = true;
      for (const std::string& lane_count : lanes) {
        if (lanes.size() > 1 && !lanes_go_with(lane_count, precision)) continue;
        for (std::size_t t = 0; t < threads.size(); ++t) {
          std::vector<std::string> levels;
          for (const bench::LevelInfo* level : all) {
            const bool chosen = arguments.one.peers || arguments.one.languages;
            if (chosen && precision == "f32" && !level->make_f32) continue;  // another's, without
            if ((first_lanes || level->uses_lanes) && (t == 0 || level->uses_threads)) levels.push_back(level->name);
          }
          for (std::uint64_t size : ops) {
            if (levels.empty()) continue;
            Selection point = arguments.one;
            point.peers = point.languages = false;  // they are among the levels
            point.levels = fmt::format("{}", fmt::join(levels, ","));
            point.ops = size;
            point.iterations = count;
            point.threads = threads[t];
            point.lanes = lane_count;
            point.precision = precision;
            points.push_back(std::move(point));
          }
        }
        first_lanes = false;
      }
    }
  return points;
}

nlohmann::ordered_json grid_json(const SweepArguments& arguments) {
  return {{"ops", arguments.ops},
          {"iterations", arguments.iterations},
          {"threads", arguments.threads},
          {"lanes", arguments.lanes},
          {"precision", arguments.precision}};
}

struct Point {
  Selection selection;
  bench::LadderOptions options;
};

std::vector<Point> checked(const SweepArguments& arguments) {
  std::vector<Point> points;
  for (Selection& selection : grid(arguments)) {
    bench::LadderOptions options = resolve(selection);
    apply(arguments.run, options);
    if (!points.empty()) {
      options.run_id = points.front().options.run_id;
      options.started_utc = points.front().options.started_utc;
    }
    points.push_back({std::move(selection), std::move(options)});
  }
  return points;
}

int sweep(const SweepArguments& arguments, const std::vector<Point>& points) {
  const Reports reports(arguments.run, {"ceilings.csv"});
  if (!arguments.run.quiet)
    for (const Point& point : points)
      if (remark(point.options)) break;
  remember_stop_signals();
  Screen screen(arguments.run);

  std::vector<bench::Run> runs;
  nlohmann::ordered_json more = {{"grid", grid_json(arguments)}};
  std::vector<bench::Ceiling> ceilings;
  int code = ExitCode::ok;
  for (std::size_t i = 0; i < points.size() && !screen.stop(); ++i) {
    screen.begin(points[i].selection, fmt::format("{}point {} of {}: ", i == 0 ? "" : "\n", i + 1, points.size()));
    bench::Run run = bench::run_ladder(points[i].options, screen);
    if (!run.anything()) break;
    run.point = i;
    const bench::Work work =
        bench::count_work(points[i].options.workload, points[i].options.workload_options, points[i].options.f32);
    run.flops_per_op = work.flops / double(run.ops);
    run.bytes_per_op = work.bytes / double(run.ops);
    runs.push_back(std::move(run));
    if (i == 0 && !screen.stop()) {
      ceilings = bench::measure_ceilings(cache_sizes());
      more["ceilings"] = ceilings_json(ceilings);
    }
    more["points_of_grid"] = points.size();
    more["partial"] = runs.size() < points.size() || !runs.back().complete();
    more["noise"] = screen.noise(runs);
    reports.write(runs, more, {bench::ceilings_csv(ceilings)});  // after each: what is finished is kept, whatever comes
    screen.finish(runs.back());
    code = std::max(code, verdict(runs.back()));
  }
  if (runs.empty()) {
    complain("stopped before the first repetition was complete; nothing was written");
    return 128 + stop_signal();
  }
  reports.print_summary(runs);
  screen.tell(screen.noise(runs));
  if (runs.size() < points.size()) complain(fmt::format("stopped after {} of {} points", runs.size(), points.size()));
  return stop_signal() ? 128 + stop_signal() : code;
}

}  // namespace

void add_sweep(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  auto arguments = std::make_shared<SweepArguments>();
  arguments->run.command_line = command_line;
  arguments->run.repetitions = 5;
  arguments->run.min_time = 0.05;
  arguments->one.levels = "v2,v3,v4,v5,v6";
  CLI::App& command = *app.add_subcommand("sweep", "Time levels at every point of a grid, in one report");
  add_fixed_selection(command, arguments->one);
  const auto add_list = [&](const char* name, std::string& value, const char* help) {
    return command.add_option(name, value, help)->type_name("A,B,...")->capture_default_str();
  };
  add_list("--ops", arguments->ops, "recorded ops, of workloads that can be of any size");
  add_list("--iterations", arguments->iterations, "evaluations in a batch");
  add_list("--precision", arguments->precision, "f64, f32");
  add_list("--threads", arguments->threads, "threads of the levels that use them")->default_str("all cores");
  add_list("--lanes", arguments->lanes, "evaluations side by side, of the levels that use them; auto, 8 to 128");
  add_run_arguments(command, arguments->run);
  command.footer(
      "The reports are those of `ladder`, a row per level and point; they are written after every point, so that a run "
      "that is\n"
      "stopped keeps what it has finished. Floating-point operations and bytes per op are counted, and this machine's "
      "ceilings\n"
      "are measured (`wengert info --ceilings`), for the roofline that scripts/plot.py draws.\n\n"
      "Examples:\n"
      "  wengert sweep --out results/local/sizes\n"
      "  wengert sweep --ops 10000 --threads 1,2,4,8 --levels v4,v6 --out results/local/threads\n"
      "  wengert sweep --ops 1000 --lanes 8,16,32,64,128 --precision f64,f32 --levels v3,v5");
  command.callback([arguments, &action] {
    action = [arguments, points = checked(*arguments)] { return sweep(*arguments, points); };
  });
}

}  // namespace wengert::command
