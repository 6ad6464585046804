#include "bench/report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/csv.hpp"

namespace wengert::bench {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr Estimate nothing{nan, nan, nan};

bool timed(const Row& row) {
  return !row.samples.empty() && row.status != Status::wrong && row.status != Status::failed;
}

std::vector<double> batch_seconds(const Row& row) {
  std::vector<double> seconds;
  for (const Sample& sample : row.samples) seconds.push_back(sample.seconds_per_batch());
  return seconds;
}

Estimate scaled(const Estimate& estimate, double factor) {
  return {estimate.value * factor, estimate.low * factor, estimate.high * factor};
}

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::complete: return "complete";
    case Status::partial: return "partial";
    case Status::wrong: return "wrong";
    case Status::failed: break;
  }
  return "failed";
}

bool Run::complete() const {
  return std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.status == Status::partial; });
}

bool Run::anything() const {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) {
    return !row.samples.empty() || row.status == Status::wrong || row.status == Status::failed;
  });
}

Figures figures(const Run& run, std::size_t row) {
  const Row& own = run.rows[row];
  if (!timed(own)) return {nothing, nothing, nan, nothing, nothing};
  const std::vector<double> seconds = batch_seconds(own);
  const auto speedup_over = [&](std::size_t base) {
    return timed(run.rows[base]) ? speed_up(batch_seconds(run.rows[base]), seconds) : nothing;
  };
  Figures result;
  result.seconds = median_interval(seconds);
  result.ns_per_op = scaled(result.seconds, 1e9 / double(run.iterations) / double(run.ops));
  result.evaluations_per_second = double(run.iterations) / result.seconds.value;
  result.speedup_first = speedup_over(0);
  result.speedup_previous = row == 0 ? nothing : speedup_over(row - 1);
  return result;
}

std::string summary_csv(std::span<const Run> runs) {
  Csv csv;
  for (const char* column :
       {"schema", "run_id", "level", "name", "workload", "precision", "isa", "lanes", "threads", "ops", "variables",
        "iterations", "repetitions", "seconds_median", "ns_per_op", "ns_per_op_low", "ns_per_op_high",
        "evaluations_per_second", "speedup_first", "speedup_previous", "record_seconds", "tape_bytes", "peak_rss_bytes",
        "max_relative_error", "checksum",
        // beyond the first 25 columns
        "speedup_first_low", "speedup_first_high", "speedup_previous_low", "speedup_previous_high", "compile_seconds",
        "output", "seed", "bits", "status",
        // since schema 2
        "point", "flops_per_op", "bytes_per_op"})
    csv << column;
  csv.end();
  for (const Run& run : runs)
    for (std::size_t i = 0; i < run.rows.size(); ++i) {
      const Row& row = run.rows[i];
      const Figures f = figures(run, i);
      csv << report_schema << run.run_id << row.level << row.title << run.workload << run.precision << row.isa
          << row.lanes << row.threads << run.ops << run.variables << run.iterations << row.samples.size()
          << f.seconds.value << f.ns_per_op.value << f.ns_per_op.low << f.ns_per_op.high << f.evaluations_per_second
          << f.speedup_first.value << f.speedup_previous.value << row.record_seconds << row.tape_bytes
          << (row.peak_rss_bytes ? std::to_string(*row.peak_rss_bytes) : "") << row.max_relative_error
          << (row.samples.empty() ? nan : row.samples.back().checksum) << f.speedup_first.low << f.speedup_first.high
          << f.speedup_previous.low << f.speedup_previous.high << row.compile_seconds << run.output << run.seed
          << row.bits << name(row.status) << run.point << run.flops_per_op << run.bytes_per_op;
      csv.end();
    }
  return csv.text();
}

std::string samples_csv(std::span<const Run> runs) {
  Csv csv;
  for (const char* column :
       {"schema", "run_id", "level", "workload", "precision", "round", "place", "started_seconds", "batches",
        "iterations", "seconds", "seconds_per_batch", "ns_per_op", "cpu_seconds", "involuntary_switches", "checksum",
        // since schema 2
        "point", "ops", "output", "isa", "lanes", "threads", "seed"})
    csv << column;
  csv.end();
  for (const Run& run : runs)
    for (const Row& row : run.rows) {
      if (!timed(row)) continue;
      for (const Sample& s : row.samples) {
        const double ns_per_op = s.seconds_per_batch() * 1e9 / double(run.iterations) / double(run.ops);
        csv << report_schema << run.run_id << row.level << run.workload << run.precision << s.round << s.place
            << s.started << s.batches << run.iterations << s.seconds << s.seconds_per_batch() << ns_per_op
            << s.cpu_seconds << s.involuntary_switches << s.checksum << run.point << run.ops << run.output << row.isa
            << row.lanes << row.threads << run.seed;
        csv.end();
      }
    }
  return csv.text();
}

nlohmann::ordered_json meta_json(std::span<const Run> runs) {
  using Json = nlohmann::ordered_json;
  Json points = Json::array();
  for (const Run& run : runs) {
    Json levels = Json::array();
    for (const Row& row : run.rows) {
      Json level = {{"level", row.level}, {"status", name(row.status)}};
      if (!row.problem.empty()) level["problem"] = row.problem;
      levels.push_back(std::move(level));
    }
    points.push_back({{"workload",
                       {{"name", run.workload},
                        {"precision", run.precision},
                        {"output", run.output},
                        {"ops", run.ops},
                        {"variables", run.variables}}},
                      {"seed", run.seed},
                      {"iterations", run.iterations},
                      {"repetitions", run.repetitions},
                      {"warmup", run.warmup},
                      {"min_time_seconds", run.min_time},
                      {"levels", std::move(levels)}});
  }
  const bool complete = std::all_of(runs.begin(), runs.end(), [](const Run& run) { return run.complete(); });
  Json all = {{"schema", report_schema},
              {"run_id", runs.front().run_id},
              {"utc", runs.front().started_utc},
              {"partial", !complete}};
  if (runs.size() == 1) all.update(points[0]);
  else all["points"] = std::move(points);
  return all;
}

}  // namespace wengert::bench
