// Reports read back: the folder that `--out` made, or one of its CSV files alone, of this schema or an earlier one.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/statistics.hpp"

namespace wengert::bench {

/// The columns that say what a row measured. Workload and level come first: they are what a row is about.
inline constexpr std::array<std::string_view, 10> setting_columns = {
    "workload", "level", "precision", "output", "ops", "iterations", "isa", "lanes", "threads", "seed"};
using Settings = std::array<std::string, setting_columns.size()>;  ///< empty where the report has no such column

/// One level of a report.
struct StoredRow {
  std::string run_id, point;  ///< of a grid; empty in reports that have no such column
  Settings settings;
  std::string status;
  Estimate ns_per_op;           ///< NaN where it has no times
  std::vector<double> samples;  ///< ns per op of each repetition in order of rounds, where the report has them

  const std::string& workload() const { return settings[0]; }
  const std::string& level() const { return settings[1]; }
  bool timed() const;
};

struct StoredReport {
  std::string path;  ///< as given
  int schema = 0;
  bool has_samples = false;  ///< each repetition, not only medians and intervals
  std::vector<StoredRow> rows;
  nlohmann::ordered_json meta;  ///< null where there is none
};

/// A folder with summary.csv, and where they are there samples.csv and meta.json; or a summary or samples by itself.
/// Throws bad_file, saying which file, which line and what is wrong with it.
StoredReport read_report(const std::filesystem::path& path);

}  // namespace wengert::bench
