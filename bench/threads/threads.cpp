// What threads buy and cost: programs of the ladder on one thread and on several, batch by batch from one sample to 1e7 op-evaluations,
// in interleaved rounds; called one after the other, so that the threads are ready, and after pauses, so that they sleep.
//
//   meson compile -C build/release threads_benchmark && build/release/bench/threads/threads_benchmark
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "bench/batch.hpp"
#include "bench/make_level.hpp"
#include "bench/statistics.hpp"
#include "bench/workload.hpp"
#include "tape/cores.hpp"

namespace {

using namespace wengert::bench;
using Clock = std::chrono::steady_clock;

constexpr std::size_t rounds = 25;
constexpr double slice = 300e-6, pause = 200e-6;  // seconds

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Does something else, as the program around does.
void be_busy(double seconds) {
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
  }
}

/// Seconds of a call, of several in a row, which go on from as many before.
template <class Real>
double in_a_row(Level<Real>& level, const Batch<Real>& batch, std::size_t calls) {
  for (std::size_t k = 0; k < calls; ++k) level.evaluate(batch);
  const auto start = Clock::now();
  for (std::size_t k = 0; k < calls; ++k) level.evaluate(batch);
  return seconds_since(start) / static_cast<double>(calls);
}

/// Of a call, of several with pauses in between.
template <class Real>
double after_pauses(Level<Real>& level, const Batch<Real>& batch, std::size_t calls) {
  double all = 0;
  for (std::size_t k = 0; k < calls; ++k) {
    be_busy(pause);
    const auto start = Clock::now();
    level.evaluate(batch);
    all += seconds_since(start);
  }
  return all / static_cast<double>(calls);
}

template <class Real>
void report(const char* name, std::size_t ops, int threads) {
  WorkloadOptions options;
  options.ops = ops;
  const Workload workload = make_workload(name, options);
  const auto level_of = [&](std::string_view wanted) {
    const auto info =
        std::find_if(levels().begin(), levels().end(), [&](const LevelInfo& l) { return l.name == wanted; });
    LevelOptions how;
    how.threads = threads;
    return make_level<Real>(*info, workload, how);
  };
  const auto one = level_of("v5"), several = level_of("v6");
  const std::size_t lanes = static_cast<std::size_t>(one->lanes());
  const std::size_t most = std::max<std::size_t>(10'000'000 / workload.recorded_ops, 4 * lanes);
  std::vector<std::size_t> sizes = {1};
  for (std::size_t n = lanes; n < most; n *= n == lanes ? 2 : 4) sizes.push_back(n);
  sizes.push_back(most);
  for (const std::size_t n : sizes) {
    const BatchData<Real> data(workload, n);
    const std::size_t calls =
        static_cast<std::size_t>(std::clamp(slice / std::max(in_a_row(*one, data.batch(), 1), 1e-7), 1.0, 1000.0));
    std::vector<double> times, ready, asleep;
    for (std::size_t round = 0; round <= rounds; ++round) {
      const double single = in_a_row(*one, data.batch(), calls), all = in_a_row(*several, data.batch(), calls);
      const double single_woken = after_pauses(*one, data.batch(), 6),
                   all_woken = after_pauses(*several, data.batch(), 6);
      if (round == 0) continue;  // warm-up
      times.push_back(single);
      ready.push_back(all / single);
      asleep.push_back(all_woken / single_woken);
    }
    fmt::print("{:<14} {:<4} {:>9} {:>7} {:>10.2g} {:>12.2f} {:>8.3f} {:>8.3f}\n", name,
               sizeof(Real) == 8 ? "f64" : "f32", n, (n - 1) / lanes + 1,
               static_cast<double>(n * workload.recorded_ops), 1e6 * median(times), median(ready), median(asleep));
    std::fflush(stdout);
  }
}

int usage(std::FILE* to, int code) {
  std::fputs(
      "usage: threads_benchmark [THREADS]\n\nTimes level v6 on so many threads (default: all cores), as a share of "
      "v5's time, which has "
      "one: with calls\none after the other (ready), and with pauses of 200 us between (asleep). Medians of 25 "
      "rounds.\n",
      to);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = static_cast<int>(wengert::available_cores());
  if (argc > 1) {
    if (std::string_view(argv[1]) == "--help") return usage(stdout, 0);
    const char* const end = argv[1] + std::strlen(argv[1]);
    if (argc > 2 || std::from_chars(argv[1], end, threads).ptr != end || threads < 2) return usage(stderr, 2);
  }
  fmt::print("{} threads\n{:<14} {:<4} {:>9} {:>7} {:>10} {:>12} {:>8} {:>8}\n", threads, "workload", "", "samples",
             "blocks", "op-evals", "one, us", "ready", "asleep");
  for (const auto& [name, ops] : {std::pair("expr", 3), std::pair("west", 100), std::pair("west", 10'000),
                                  std::pair("dag", 1000), std::pair("black-scholes", 0)}) {
    report<double>(name, static_cast<std::size_t>(std::max(ops, 1)), threads);
    report<float>(name, static_cast<std::size_t>(std::max(ops, 1)), threads);
  }
}
