// What a run of the ladder found, and how it is written down: summary.csv, samples.csv, and the run's part of meta.json.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/statistics.hpp"

namespace wengert::bench {

/// 2: points of a grid (summary: point, flops_per_op, bytes_per_op; samples: point and what was measured).
inline constexpr int report_schema = 2;

/// One timed repetition of a level: the batch, repeated until the minimum time was over.
struct Sample {
  std::size_t round = 0;  ///< repetition, from 0; rounds are interleaved over the levels
  std::size_t place = 0;  ///< turn of the level within its round, which is shuffled, from 0
  double started = 0;     ///< seconds since the first round began
  std::uint64_t batches = 0;
  double seconds = 0;                      ///< of all batches
  double cpu_seconds = 0;                  ///< user and system time of the process over the same span, all threads
  std::uint64_t involuntary_switches = 0;  ///< times that the system took the core away
  double checksum = 0;                     ///< sum of the values and gradients of the last batch

  double seconds_per_batch() const { return seconds / double(batches); }
};

enum class Status {
  complete,  ///< all repetitions
  partial,   ///< stopped by a signal
  wrong,     ///< a result is wrong: not timed, or its times are thrown away
  failed,    ///< could not be made or run here: memory, for instance
};
std::string_view name(Status status);

/// One level of a run.
struct Row {
  std::string level, title;
  std::string isa;
  int lanes = 1, threads = 1;
  double record_seconds = 0, compile_seconds = 0;
  std::size_t tape_bytes = 0;
  std::optional<std::uint64_t> peak_rss_bytes;  ///< of a process of its own that runs one batch
  double max_relative_error = 0;                ///< found while verifying, see bench/verify.hpp
  std::string bits;                             ///< hash of every value and gradient of a batch
  Status status = Status::partial;
  std::string problem;  ///< where `wrong` or `failed`: one line
  std::vector<Sample> samples;
};

/// A run: what was asked for, and a row for each level, in the order of `--levels`. One point of a grid.
struct Run {
  std::size_t point = 0;
  std::string run_id, started_utc;
  std::string workload, precision, output;
  std::size_t ops = 0;  ///< recorded
  std::size_t variables = 0;
  std::size_t iterations = 0;  ///< evaluations in a batch
  std::size_t repetitions = 0, warmup = 0;
  double min_time = 0;  ///< seconds
  std::uint64_t seed = 0;
  /// Floating-point operations per recorded op, and bytes that they load and store (bench/work.hpp); NaN: not counted.
  double flops_per_op = std::numeric_limits<double>::quiet_NaN();
  double bytes_per_op = std::numeric_limits<double>::quiet_NaN();
  std::vector<Row> rows;

  bool complete() const;
  /// Some level has a time, or is known to have none.
  bool anything() const;
};

/// What the samples of a row amount to. NaN wherever there is nothing to tell.
struct Figures {
  Estimate seconds;    ///< per batch
  Estimate ns_per_op;  ///< per recorded op and evaluation
  double evaluations_per_second = 0;
  Estimate speedup_first, speedup_previous;  ///< over the first row, over the row before
};
Figures figures(const Run& run, std::size_t row);

// Of a run, or of the points of a grid, which share run_id.
std::string summary_csv(std::span<const Run> runs);
std::string samples_csv(std::span<const Run> runs);
/// schema, run_id, UTC time, and for each point what was asked for and one object a level. Of one run, without `points`.
nlohmann::ordered_json meta_json(std::span<const Run> runs);

}  // namespace wengert::bench
