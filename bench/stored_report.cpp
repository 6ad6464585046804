#include "bench/stored_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <tuple>

#include "bench/csv.hpp"
#include "bench/report.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {
namespace {

namespace fs = std::filesystem;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void bad(const fs::path& path, const std::string& message) {
  throw Error(ErrorCode::bad_file, fmt::format("{}: {}", path.string(), message));
}

std::string read_text(const fs::path& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  const bool empty = in.peek() == std::char_traits<char>::eof();
  if (!in.is_open() || in.bad()) bad(path, fmt::format("can't be read: {}", std::strerror(errno ? errno : EIO)));
  if (empty) return {};
  std::ostringstream text;
  text << in.rdbuf();
  if (!text) bad(path, "can't be read to its end");
  return text.str();
}

/// A CSV file of ours: columns by name, numbers checked.
class Sheet {
 public:
  explicit Sheet(fs::path path) : path_(std::move(path)) {
    const std::string text = read_text(path_);
    try {
      table_ = parse_csv(text);
    } catch (const Error& error) {
      const bool ours = text.empty() || text.substr(0, text.find('\n')).find("schema") != std::string::npos;
      bad(path_, ours ? error.what() : fmt::format("not a report of wengert: {}", error.what()));
    }
    for (const char* column : {"schema", "workload", "level", "precision", "ns_per_op"})
      if (table_.column(column) == CsvTable::npos)
        bad(path_, fmt::format("not a report of wengert: it has no column '{}'", column));
    if (table_.records.empty()) bad(path_, "it has no rows");
    for (const CsvTable::Record& record : table_.records) {
      const double schema = number(record, "schema");
      if (!(schema >= 1) || schema != std::floor(schema))
        bad(path_, fmt::format("line {}: '{}' is no schema", record.line, field(record, "schema")));
      if (schema > report_schema)
        bad(path_, fmt::format("schema {} is newer than this command knows, which is {}; use a newer wengert",
                               field(record, "schema"), report_schema));
      schema_ = std::max(schema_, int(schema));
    }
  }

  int schema() const { return schema_; }
  const std::vector<CsvTable::Record>& records() const { return table_.records; }
  bool has(std::string_view column) const { return table_.column(column) != CsvTable::npos; }

  /// Empty where there is no such column: an earlier schema.
  std::string field(const CsvTable::Record& record, std::string_view column) const {
    const std::size_t at = table_.column(column);
    return at == CsvTable::npos ? "" : record.fields[at];
  }

  /// NaN where the field is empty.
  double number(const CsvTable::Record& record, std::string_view column) const {
    const std::string text = field(record, column);
    if (text.empty()) return nan;
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size())
      bad(path_, fmt::format("line {}: {} is '{}', which is not a number", record.line, column, text));
    return value;
  }

  /// A time: empty, or positive.
  double time(const CsvTable::Record& record, std::string_view column) const {
    const double value = number(record, column);
    if (!std::isnan(value) && !(value > 0 && std::isfinite(value)))
      bad(path_, fmt::format("line {}: {} is '{}', which is not a time", record.line, column, field(record, column)));
    return value;
  }

  StoredRow row(const CsvTable::Record& record) const {
    StoredRow row;
    row.run_id = field(record, "run_id");
    row.point = field(record, "point");
    for (std::size_t i = 0; i < setting_columns.size(); ++i) row.settings[i] = field(record, setting_columns[i]);
    row.status = field(record, "status");
    return row;
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  CsvTable table_;
  int schema_ = 0;
};

/// What a summary's row and its samples have in common in every schema.
using RowKey = std::tuple<std::string, std::string, std::string, std::string, std::string>;
RowKey key(const StoredRow& row) { return {row.run_id, row.point, row.workload(), row.level(), row.settings[2]}; }

std::vector<StoredRow> summary_rows(const Sheet& sheet) {
  std::vector<StoredRow> rows;
  for (const CsvTable::Record& record : sheet.records()) {
    rows.push_back(sheet.row(record));
    rows.back().ns_per_op = {sheet.time(record, "ns_per_op"), sheet.time(record, "ns_per_op_low"),
                             sheet.time(record, "ns_per_op_high")};
  }
  return rows;
}

/// Appends each sample to its row in `rows`. One that has none there: an error, or where `may_add` a new row.
void add_samples(std::vector<StoredRow>& rows, const Sheet& sheet, bool may_add) {
  std::map<RowKey, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) places.emplace(key(rows[i]), i);
  for (const CsvTable::Record& record : sheet.records()) {
    StoredRow row = sheet.row(record);
    const auto [place, added] = places.emplace(key(row), rows.size());
    if (added && !may_add)
      bad(sheet.path(), fmt::format("line {}: a sample of {} {} of run '{}', which the summary beside it doesn't have",
                                    record.line, row.workload(), row.level(), row.run_id));
    if (added) rows.push_back(std::move(row));
    const double sample = sheet.time(record, "ns_per_op");
    if (std::isnan(sample)) bad(sheet.path(), fmt::format("line {}: ns_per_op is empty", record.line));
    rows[place->second].samples.push_back(sample);
  }
}

nlohmann::ordered_json read_meta(const fs::path& path) {
  try {
    nlohmann::ordered_json meta = nlohmann::ordered_json::parse(read_text(path));
    if (!meta.is_object()) bad(path, "not the meta.json of a report: it is no object");
    return meta;
  } catch (const nlohmann::json::exception&) {
    bad(path, "not the meta.json of a report: it is broken JSON");
  }
}

StoredReport read_folder(const fs::path& folder) {
  if (!fs::exists(folder / "summary.csv")) bad(folder, "no report is in this folder: it has no summary.csv");
  const Sheet summary(folder / "summary.csv");
  StoredReport report;
  report.schema = summary.schema();
  report.rows = summary_rows(summary);
  if (fs::exists(folder / "samples.csv")) {
    add_samples(report.rows, Sheet(folder / "samples.csv"), false);
    report.has_samples = true;
  }
  if (fs::exists(folder / "meta.json")) report.meta = read_meta(folder / "meta.json");
  return report;
}

StoredReport read_file(const fs::path& path) {
  const Sheet sheet(path);
  StoredReport report;
  report.schema = sheet.schema();
  report.has_samples = sheet.has("seconds_per_batch");
  if (report.has_samples) {
    add_samples(report.rows, sheet, true);
    for (StoredRow& row : report.rows) row.ns_per_op = median_interval(row.samples);
  } else {
    report.rows = summary_rows(sheet);
  }
  return report;
}

}  // namespace

bool StoredRow::timed() const { return !std::isnan(ns_per_op.value); }

StoredReport read_report(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) bad(path, "there is no such file or folder");
  StoredReport report = fs::is_directory(status) ? read_folder(path) : read_file(path);
  report.path = path.string();
  return report;
}

}  // namespace wengert::bench
