// The ladder: several levels on the same batch, each verified first, then timed in interleaved rounds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/level.hpp"
#include "bench/report.hpp"
#include "bench/workload.hpp"

namespace wengert::bench {

struct LadderOptions {
  std::vector<const LevelInfo*> levels;
  std::string workload = "west";
  WorkloadOptions workload_options;
  bool f32 = false;
  std::size_t iterations = 1000;  ///< evaluations in a batch
  LevelOptions level_options;
  std::size_t repetitions = 7;  ///< timed rounds
  std::size_t warmup = 1;       ///< rounds before them, of one batch a level
  double min_time = 0.2;        ///< seconds; a repetition repeats the batch until they are over
  std::string run_id, started_utc;
};

/// What one process needed for one batch of one level; `problem` says why that isn't known.
struct PeakMemory {
  std::optional<std::uint64_t> bytes;
  std::string problem;
};

/// What the ladder tells and asks whoever runs it.
class Observer {
 public:
  virtual ~Observer() = default;
  /// After each step: the run so far, and what is done next ("round 3 of 7: v2"), empty at the end.
  virtual void show(const Run& /*run*/, std::string_view /*next*/) {}
  /// Asked between steps: true ends the run with what is complete.
  virtual bool stop() { return false; }
  /// Measures, in a process of its own, what a batch of this level needs. A problem here keeps the level from being
  /// run at all: what a child could not have would end us too.
  virtual PeakMemory peak_memory(const LevelInfo&) { return {}; }
};

/// Runs the ladder. A level that can't be made or is wrong gets a row that says so and no times; the others go on.
/// Throws wengert::Error for what concerns all of them (workload, batch).
Run run_ladder(const LadderOptions& options, Observer& observer);

/// One batch of one level, untimed: what the process of `peak_memory` does.
void run_once(const LadderOptions& options, const LevelInfo& level);

}  // namespace wengert::bench
