#include "bench/ladder.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>

#include "bench/batch.hpp"
#include "bench/make_level.hpp"
#include "bench/memory.hpp"
#include "bench/verify.hpp"

namespace wengert::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

rusage usage() {
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  return now;
}

double cpu_seconds(const rusage& u) {
  return double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * double(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/// Repeats the batch until `min_time` is over. The clock is read rarely: the number of batches between two readings is
/// what the time so far says is missing, at most as many as there were (an early estimate may be far off).
template <class Real>
Sample time_repetition(Level<Real>& level, const Batch<Real>& batch, double min_time) {
  Sample sample;
  const rusage before = usage();
  const Clock::time_point begin = Clock::now();
  for (std::uint64_t next = 1;;) {
    for (std::uint64_t i = 0; i < next; ++i) level.evaluate(batch);
    sample.batches += next;
    sample.seconds = seconds_since(begin);
    if (sample.seconds >= min_time) break;
    const double missing = std::ceil((min_time - sample.seconds) / sample.seconds_per_batch());
    next = std::uint64_t(std::clamp(missing, 1.0, double(sample.batches)));
  }
  const rusage after = usage();
  sample.cpu_seconds = cpu_seconds(after) - cpu_seconds(before);
  sample.involuntary_switches = std::uint64_t(after.ru_nivcsw - before.ru_nivcsw);
  return sample;
}

/// The levels' order in one round.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t(0));
  SplitMix random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// A level that passed and is ready to be timed.
template <class Real>
struct Contestant {
  const LevelInfo* info;
  Row* row;
  std::unique_ptr<Level<Real>> level;
};

template <class Real>
class Ladder {
 public:
  Ladder(const LadderOptions& options, Observer& observer)
      : options_(options),
        observer_(observer),
        workload_(make_workload(options.workload, options.workload_options)),
        data_(workload_, options.iterations) {
    run_.run_id = options.run_id;
    run_.started_utc = options.started_utc;
    run_.workload = options.workload;
    run_.precision = options.f32 ? "f32" : "f64";
    run_.output = workload_.output == Output::sum ? "sum" : "last";
    run_.ops = workload_.recorded_ops;
    run_.variables = workload_.variables;
    run_.iterations = options.iterations;
    run_.repetitions = options.repetitions;
    run_.warmup = options.warmup;
    run_.min_time = options.min_time;
    run_.seed = options.workload_options.seed;
    for (const LevelInfo* info : options.levels) {
      check_available<Real>(*info, workload_);
      Row& row = run_.rows.emplace_back();
      row.level = info->name;
      row.title = info->title;
    }
  }

  Run run() {
    prepare();
    for (std::size_t round = 0; round < options_.warmup + options_.repetitions && !stopped_; ++round) play(round);
    for (const Contestant<Real>& c : contestants_)
      if (c.row->samples.size() == options_.repetitions) c.row->status = Status::complete;
    observer_.show(run_, "");
    return std::move(run_);
  }

 private:
  bool stopped() { return stopped_ = stopped_ || observer_.stop(); }

  /// Verifies each level, measures its memory and makes it ready.
  void prepare() {
    const Verifier<Real> verifier = ladder_verifier<Real>(options_);
    for (std::size_t i = 0; i < run_.rows.size() && !stopped(); ++i) {
      Row& row = run_.rows[i];
      const LevelInfo& info = *options_.levels[i];
      try {
        observer_.show(run_, fmt::format("verifying {}", info.name));
        const Verification verified = verifier.check(info, options_.level_options);
        row.max_relative_error = verified.max_relative_error;
        if (!verified.mismatches.empty()) {
          drop(row, Status::wrong, verified.mismatches.front());
          continue;
        }
        observer_.show(run_, fmt::format("measuring the memory of {}", info.name));
        const PeakMemory peak = info.own_process ? PeakMemory{} : observer_.peak_memory(info);
        if (stopped()) return;
        row.peak_rss_bytes = peak.bytes;
        if (!peak.problem.empty()) {
          drop(row, Status::failed, peak.problem);
          continue;
        }
        observer_.show(run_, fmt::format("recording {}", info.name));
        auto level = make_level<Real>(info, workload_, options_.level_options);
        row.isa = level->isa();
        row.lanes = level->lanes();
        row.threads = level->threads();
        row.record_seconds = level->record_seconds();
        row.compile_seconds = level->compile_seconds();
        row.tape_bytes = level->tape_bytes();
        contestants_.push_back({&info, &row, std::move(level)});
      } catch (const std::exception& error) {
        drop(row, Status::failed, describe(error));
      }
    }
  }

  void play(std::size_t round) {
    const bool timed = round >= options_.warmup;
    if (round == options_.warmup) began_ = Clock::now();
    const std::vector<std::size_t> order = shuffled(contestants_.size(), options_.workload_options.seed + round);
    for (std::size_t place = 0; place < order.size() && !stopped(); ++place) {
      Contestant<Real>& c = contestants_[order[place]];
      if (c.row->status != Status::partial) continue;
      observer_.show(run_, timed ? fmt::format("round {} of {}: {}", round - options_.warmup + 1, options_.repetitions,
                                               c.info->name)
                                 : fmt::format("warming up {}", c.info->name));
      try {
        data_.poison();
        const double started = timed ? seconds_since(began_) : 0;
        Sample sample = time_repetition(*c.level, data_.batch(), timed ? options_.min_time : 0);
        sample.round = timed ? round - options_.warmup : 0;
        sample.place = place;
        sample.started = started;
        sample.checksum = data_.checksum();
        compare_bits(c, data_.bits());
        if (timed && c.row->status == Status::partial) c.row->samples.push_back(sample);
      } catch (const std::exception& error) {
        drop(*c.row, Status::failed, describe(error));
      }
    }
  }

  /// Every repetition of a level gives the same bits as its first. Rungs of the ladder all give those of the rung v2, or
  /// of the first one where v2 isn't there; where results are sums, planned rungs go by themselves (LevelInfo::planned).
  void compare_bits(const Contestant<Real>& c, const std::string& bits) {
    if (c.row->bits.empty()) c.row->bits = bits;
    if (c.row->bits != bits) drop(*c.row, Status::wrong, "two repetitions of the same batch gave different bits");
    const auto comparable = [&](const Contestant<Real>& other) {
      return other.info->ladder && !other.row->bits.empty() &&
             (!workload_.summed() || other.info->planned == c.info->planned);
    };
    const Contestant<Real>* reference = nullptr;
    for (const Contestant<Real>& other : contestants_)
      if (comparable(other) && (!reference || other.info->name == "v2")) reference = &other;
    if (!reference) return;
    for (const Contestant<Real>& other : contestants_)
      if (comparable(other) && other.row->bits != reference->row->bits && other.row->status == Status::partial)
        drop(*other.row, Status::wrong,
             fmt::format("the batch of {} evaluations gave other bits than with {}", options_.iterations,
                         reference->info->name));
  }

  static void drop(Row& row, Status status, std::string problem) {
    row.status = status;
    row.problem = std::move(problem);
  }

  const LadderOptions& options_;
  Observer& observer_;
  Workload workload_;
  BatchData<Real> data_;
  Run run_;
  std::vector<Contestant<Real>> contestants_;
  Clock::time_point began_;
  bool stopped_ = false;
};

template <class Real>
void run_once_as(const LadderOptions& options, const LevelInfo& info) {
  const Workload workload = make_workload(options.workload, options.workload_options);
  BatchData<Real> data(workload, options.iterations);
  make_level<Real>(info, workload, options.level_options)->evaluate(data.batch());
}

}  // namespace

Run run_ladder(const LadderOptions& options, Observer& observer) {
  return options.f32 ? Ladder<float>(options, observer).run() : Ladder<double>(options, observer).run();
}

void run_once(const LadderOptions& options, const LevelInfo& level) {
  options.f32 ? run_once_as<float>(options, level) : run_once_as<double>(options, level);
}

}  // namespace wengert::bench
