// `wengert compare`: reports side by side, or the levels of one.
#include "bench/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/comparison_text.hpp"
#include "src/exit_code.hpp"
#include "src/numbers.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"

namespace wengert::command {
namespace {

struct CompareArguments {
  std::vector<std::string> paths;
  std::string base, format = "table";
  std::optional<double> threshold;
  bool strict = false;
};

std::string default_base(const bench::StoredReport& report) {
  const bool has_tape = std::any_of(report.rows.begin(), report.rows.end(),
                                    [](const bench::StoredRow& row) { return row.level() == "v2" && row.timed(); });
  return has_tape ? "v2" : report.rows.front().level();
}

void show(const ComparisonTexts& texts, const std::string& format) {
  if (format == "table") return print(Stream::out, texts.table());
  if (format == "markdown") return print(Stream::out, texts.markdown());
  if (format == "json") return print(Stream::out, texts.json());
  for (const std::string& line : texts.remarks()) complain(line);  // CSV has no room for them
  print(Stream::out, texts.csv());
}

/// With --strict: says what keeps the reports from being comparable, and whether anything does.
bool refused(const ComparisonTexts& texts) {
  bool any = false;
  for (const bench::Difference& d : texts.comparison.differences) {
    if (d.comparable) continue;
    complain(
        fmt::format("--strict: {} differs in {}: {}, not {}", texts.reports[d.report].path, d.what, d.here, d.base));
    any = true;
  }
  return any;
}

/// With --threshold: says which rows are slower by more than that, their whole interval, or wrong, and whether any is.
bool past(const ComparisonTexts& texts, double threshold) {
  bool any = false;
  for (std::size_t r = texts.base.empty() ? 1 : 0; r < texts.reports.size(); ++r)
    for (const bench::StoredRow& row : texts.reports[r].rows) {
      if (row.status != "wrong" && row.status != "failed") continue;
      complain(fmt::format("{} {} of {}: {}", row.workload(), row.level(), texts.reports[r].path, row.status));
      any = true;
    }
  for (const bench::ComparedRow& row : texts.comparison.rows)
    for (std::size_t c = 0; c < row.changes.size(); ++c) {
      const bench::Estimate& ratio = row.changes[c].ratio;
      if (!row.changes[c].row || !(ratio.low > 1 + threshold)) continue;
      const auto percent = [](double r) { return significant(100 * (r - 1)); };
      complain(fmt::format("{} is slower by {}% [{}, {}], past the threshold of {}%", texts.title(row, c),
                           percent(ratio.value), percent(ratio.low), percent(ratio.high),
                           significant(100 * threshold)));
      any = true;
    }
  return any;
}

int compare(const CompareArguments& arguments) {
  std::vector<bench::StoredReport> reports;
  for (const std::string& path : arguments.paths) reports.push_back(bench::read_report(path));
  const bool levels = reports.size() == 1;
  const std::string base = !levels ? "" : arguments.base.empty() ? default_base(reports[0]) : arguments.base;
  const bench::Comparison comparison =
      levels ? bench::compare_levels(reports[0], base) : bench::compare_reports(reports);
  const ComparisonTexts texts{reports, comparison, base};
  if (arguments.strict && refused(texts)) return ExitCode::incomparable;
  if (comparison.rows.empty()) {
    for (const std::string& note : comparison.notes) complain(note);
    throw Failure(ExitCode::incomparable, "nothing to compare: no level of a workload has times in both");
  }
  show(texts, arguments.format);
  return arguments.threshold && past(texts, *arguments.threshold) ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App& compare_app = *app.add_subcommand("compare", "Compare reports, or the levels of one, and gate on them");
  compare_app
      .add_option("reports", arguments->paths, "folders that --out made, or CSV files of them; the first is the base")
      ->type_name("REPORT...")
      ->required();
  compare_app.add_option("--base", arguments->base, "with one report: the level that the others are compared with")
      ->type_name("LEVEL")
      ->default_str("v2, or the first");
  compare_app.add_option("--format", arguments->format, "table, csv, markdown or json")
      ->type_name("NAME")
      ->check(CLI::IsMember({"table", "csv", "markdown", "json"}))
      ->capture_default_str();
  compare_app
      .add_option_function<std::string>(
          "--threshold",
          [arguments](const std::string& text) {
            try {
              arguments->threshold = parse_percentage(text);
            } catch (const std::invalid_argument& error) {
              throw CLI::ValidationError("--threshold", error.what());
            }
          },
          "exit with 1 if a level is slower by more than this, its whole interval")
      ->type_name("P%");
  compare_app.add_flag("--strict", arguments->strict,
                       "exit with 3 if machine, compiler, flags or settings are not the same");
  compare_app.footer(
      "A ratio is the median time over the base's, with its 95% bootstrap interval; p is of Mann and Whitney's test on "
      "all\n"
      "samples. faster, slower: the whole interval is on that side of 1, and p below 0.05. Rows are the same where "
      "workload,\n"
      "level and all that varies within a report are.\n\n"
      "Examples:\n"
      "  wengert compare results/local/mine --base v2\n"
      "  wengert compare before after --threshold 5% --strict\n"
      "  wengert compare a b c --format markdown");
  compare_app.callback([arguments, &action] {
    if (arguments->paths.size() > 1 && !arguments->base.empty())
      throw Failure(ExitCode::usage, "--base: goes with one report; of several the first is the base");
    action = [arguments] { return compare(*arguments); };
  });
}

}  // namespace wengert::command
