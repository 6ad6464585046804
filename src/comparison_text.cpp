#include "src/comparison_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/csv.hpp"
#include "src/grid.hpp"
#include "src/numbers.hpp"

namespace wengert::command {
namespace {

using bench::Change;
using bench::ComparedRow;
using bench::Estimate;
using bench::setting_columns;
using bench::StoredReport;
using bench::StoredRow;
using Json = nlohmann::ordered_json;

std::string interval(const Estimate& e) {
  return std::isnan(e.low) ? "" : fmt::format("[{}, {}]", significant(e.low), significant(e.high));
}

std::string p_value(double p) {
  if (std::isnan(p)) return "";
  return p < 0.0001 ? "<0.0001" : fmt::format("{:.2g}", p);
}

/// A row by itself is what its own settings say, a comparison of reports what its base's do.
const StoredRow& named_row(const ComparedRow& row, bool levels) {
  return levels ? *row.changes.front().row : *row.base;
}

/// Run, machine and compiler of a report, as far as they are known.
std::string origin(const StoredReport& report) {
  std::string text = report.path;
  const auto add = [&](const char* pointer) {
    const Json::json_pointer where{std::string(pointer)};
    if (report.meta.contains(where) && report.meta[where].is_string())
      text += ", " + report.meta[where].get<std::string>();
  };
  add("/utc");
  add("/machine/cpu");
  add("/build/compiler");
  return text;
}

Grid grid(const ComparisonTexts& texts) {
  const bool levels = !texts.base.empty();
  Grid grid;
  const auto column = [&](std::string title, bool left) {
    grid.header.push_back(std::move(title));
    grid.left.push_back(left);
  };
  for (std::size_t key : texts.comparison.keys) column(std::string(setting_columns[key]), key < 4);
  column(levels ? texts.base + " ns/op" : "A ns/op", false);
  for (std::size_t c = 0; c + (levels ? 0 : 1) < texts.reports.size(); ++c) {
    const std::string own = ComparisonTexts::letter(c + 1);
    column(levels ? "ns/op" : own + " ns/op", false);
    column(levels ? "time / " + texts.base : own + " / A", false);
    column("95%", false);
    column("p", false);
    column("", true);
  }
  for (const ComparedRow& row : texts.comparison.rows) {
    std::vector<std::string>& cells = grid.rows.emplace_back();
    for (std::size_t key : texts.comparison.keys) cells.push_back(named_row(row, levels).settings[key]);
    cells.push_back(significant(row.base->ns_per_op.value));
    for (const Change& change : row.changes) {
      if (change.row)
        cells.insert(cells.end(),
                     {significant(change.row->ns_per_op.value), significant(change.ratio.value), interval(change.ratio),
                      p_value(change.p), change.row == row.base ? "" : std::string(bench::name(change.verdict))});
      else cells.resize(cells.size() + 5);
    }
  }
  return grid;
}

Json number(double x) { return std::isnan(x) ? Json() : Json(x); }

Json timed(const StoredRow& row) {
  return {{"ns_per_op", number(row.ns_per_op.value)},
          {"ns_per_op_low", number(row.ns_per_op.low)},
          {"ns_per_op_high", number(row.ns_per_op.high)},
          {"samples", row.samples.size()}};
}

}  // namespace

std::string ComparisonTexts::letter(std::size_t r) {
  return r < 26 ? std::string(1, char('A' + r)) : fmt::format("R{}", r + 1);
}

std::vector<std::string> ComparisonTexts::remarks() const {
  std::vector<std::string> lines;
  for (const bench::Difference& d : comparison.differences)
    lines.push_back(fmt::format("{} differs in {}: {}, not {}", letter(d.report), d.what, d.here, d.base));
  lines.insert(lines.end(), comparison.notes.begin(), comparison.notes.end());
  return lines;
}

std::string ComparisonTexts::title(const ComparedRow& row, std::size_t c) const {
  const StoredRow& named = named_row(row, !base.empty());
  std::string text = named.workload() + ' ' + named.level();
  for (std::size_t key : comparison.keys)
    if (key >= 2) text += fmt::format(", {} {}", setting_columns[key], named.settings[key]);
  return base.empty() ? fmt::format("{} of {}", text, letter(c + 1)) : text;
}

std::string ComparisonTexts::table() const {
  std::string text;
  for (std::size_t r = 0; r < reports.size(); ++r)
    text += base.empty() ? fmt::format("{}  {}\n", letter(r), origin(reports[r])) : origin(reports[r]) + '\n';
  text += '\n' + aligned(grid(*this));
  const std::vector<std::string> lines = remarks();
  if (!lines.empty()) text += '\n';
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::string ComparisonTexts::markdown() const {
  std::string text;
  for (std::size_t r = 0; r < reports.size(); ++r)
    text += base.empty() ? fmt::format("- {}: {}\n", letter(r), origin(reports[r])) : origin(reports[r]) + '\n';
  text += '\n' + command::markdown(grid(*this));
  const std::vector<std::string> lines = remarks();
  if (!lines.empty()) text += '\n';
  for (const std::string& line : lines) text += "- " + line + '\n';
  return text;
}

std::string ComparisonTexts::csv() const {
  bench::Csv csv;
  for (std::string_view column : setting_columns) csv << column;
  for (const char* column : {"base_report", "base_level", "report", "base_ns_per_op", "ns_per_op", "ratio", "ratio_low",
                             "ratio_high", "p_value", "base_samples", "samples", "verdict"})
    csv << column;
  csv.end();
  for (const ComparedRow& row : comparison.rows)
    for (std::size_t c = 0; c < row.changes.size(); ++c) {
      const Change& change = row.changes[c];
      if (!change.row) continue;
      for (const std::string& setting : change.row->settings) csv << setting;
      csv << reports[0].path << row.base->level() << reports[base.empty() ? c + 1 : 0].path << row.base->ns_per_op.value
          << change.row->ns_per_op.value << change.ratio.value << change.ratio.low << change.ratio.high << change.p
          << row.base->samples.size() << change.row->samples.size() << bench::name(change.verdict);
      csv.end();
    }
  return csv.text();
}

std::string ComparisonTexts::json() const {
  Json all = {{"reports", Json::array()},
              {"base_level", base.empty() ? Json() : Json(base)},
              {"differences", Json::array()},
              {"notes", comparison.notes},
              {"rows", Json::array()}};
  for (const StoredReport& report : reports)
    all["reports"].push_back({{"path", report.path}, {"schema", report.schema}, {"has_samples", report.has_samples}});
  for (const bench::Difference& d : comparison.differences)
    all["differences"].push_back({{"report", reports[d.report].path},
                                  {"what", d.what},
                                  {"base", d.base},
                                  {"here", d.here},
                                  {"comparable", d.comparable}});
  for (const ComparedRow& row : comparison.rows) {
    Json entry;
    const StoredRow& named = named_row(row, !base.empty());
    for (std::size_t i = 0; i < setting_columns.size(); ++i) entry[std::string(setting_columns[i])] = named.settings[i];
    entry["base"] = timed(*row.base);
    entry["changes"] = Json::array();
    for (std::size_t c = 0; c < row.changes.size(); ++c) {
      const Change& change = row.changes[c];
      if (!change.row) continue;
      Json one = {{"report", reports[base.empty() ? c + 1 : 0].path}};
      one.update(timed(*change.row));
      one.update({{"ratio", number(change.ratio.value)},
                  {"ratio_low", number(change.ratio.low)},
                  {"ratio_high", number(change.ratio.high)},
                  {"p_value", number(change.p)},
                  {"verdict", bench::name(change.verdict)}});
      entry["changes"].push_back(std::move(one));
    }
    all["rows"].push_back(std::move(entry));
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace wengert::command
