#include "bench/ceilings.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <thread>

#include "bench/ceilings_loops.hpp"
#include "bench/csv.hpp"
#include "bench/memory.hpp"
#include "bench/report.hpp"
#include "kernels/dispatch.hpp"
#include "tape/cores.hpp"

namespace wengert::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Short, so that some attempts fall between two interruptions, and many.
constexpr double seconds_each = 0.003;
constexpr int attempts = 25;

const CeilingLoops& loops() {
  switch (default_isa()) {
#ifdef WENGERT_HAS_AVX512
    case Isa::avx512: return ceiling_loops_avx512;
#endif
#ifdef WENGERT_HAS_AVX2
    case Isa::avx2: return ceiling_loops_avx2;
#endif
    default: return ceiling_loops_scalar;
  }
}

/// Seconds from the first to begin `work` to the last to end it, of so many threads that wait for each other before.
double seconds(unsigned threads, const std::function<void(unsigned thread)>& work) {
  std::barrier together{std::ptrdiff_t(threads)};
  std::vector<Clock::time_point> begin(threads), end(threads);
  {
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        together.arrive_and_wait();
        begin[t] = Clock::now();
        work(t);
        end[t] = Clock::now();
      });
  }
  return std::chrono::duration<double>(*std::max_element(end.begin(), end.end()) -
                                       *std::min_element(begin.begin(), begin.end()))
      .count();
}

/// Best amount per second of `work(thread, rounds)`, of which a round does `amount`.
double best_rate(unsigned threads, double amount, const std::function<void(unsigned, std::size_t)>& work) {
  const auto timed = [&](std::size_t rounds) { return seconds(threads, [&](unsigned t) { work(t, rounds); }); };
  const auto undisturbed = [&](std::size_t rounds) {
    return std::min({timed(rounds), timed(rounds), timed(rounds), timed(rounds)});
  };
  std::size_t rounds = 1;
  double took = undisturbed(rounds);
  for (; took < seconds_each / 8; took = undisturbed(rounds)) rounds *= 4;
  rounds = std::max<std::size_t>(1, std::size_t(double(rounds) * seconds_each / took));
  double best = 0;
  for (int attempt = 0; attempt < attempts; ++attempt)
    best = std::max(best, amount * double(rounds) * double(threads) / timed(rounds));
  return best;
}

template <class Real>
Ceiling arithmetic(const char* name, unsigned threads, double flops, Real (*loop)(std::size_t)) {
  const double rate = best_rate(threads, flops, [&](unsigned, std::size_t rounds) {
    volatile Real result = loop(rounds);
    (void)result;
  });
  return {name, threads, rate * 1e-9, "Gflop/s", 0};
}

/// A cache line: arrays of them begin at one.
struct alignas(64) Line {
  double x[8];
};

Ceiling bandwidth(const char* name, unsigned threads, std::size_t footprint) {
  const std::size_t lines = std::max<std::size_t>(8, footprint / 2 / sizeof(Line) / 8 * 8);  // of each of two arrays
  std::vector<std::vector<Line>> x(threads), y(threads);
  // Each thread touches its own first: on machines with several memories pages lie where they are used.
  seconds(threads, [&](unsigned t) {
    x[t].assign(lines, Line{1, 1, 1, 1, 1, 1, 1, 1});
    y[t].assign(lines, Line{1, 1, 1, 1, 1, 1, 1, 1});
  });
  const double rate = best_rate(threads, 3.0 * double(lines) * sizeof(Line), [&](unsigned t, std::size_t rounds) {
    for (std::size_t round = 0; round < rounds; ++round)
      loops().add_scaled(y[t].front().x, x[t].front().x, lines * 8, 1e-9);
  });
  return {name, threads, rate * 1e-9, "GB/s", 2 * lines * sizeof(Line)};
}

}  // namespace

std::vector<Ceiling> measure_ceilings(const CacheSizes& caches) {
  const CeilingLoops& own = loops();
  const double spare = double(available_memory().value_or(std::uint64_t(1) << 30)) / 4;
  const std::size_t beyond = std::size_t(std::min({4.0 * double(caches.l3), spare, 1e9}));  // all threads together
  std::vector<Ceiling> all;
  std::vector<unsigned> counts = {1};
  if (available_cores() > 1) counts.push_back(available_cores());
  for (unsigned threads : counts) {
    all.push_back(arithmetic("arithmetic f64", threads, own.flops_f64, own.arithmetic_f64));
    all.push_back(arithmetic("arithmetic f32", threads, own.flops_f32, own.arithmetic_f32));
    all.push_back(bandwidth("L1", threads, caches.l1 / 2));
    all.push_back(bandwidth("L2", threads, caches.l2 / 2));
    all.push_back(bandwidth("L3", threads, std::max(caches.l3 / 2 / threads, caches.l2 * 2)));
    all.push_back(bandwidth("memory", threads, beyond / threads));
  }
  return all;
}

std::string ceilings_csv(std::span<const Ceiling> ceilings) {
  Csv csv;
  for (const char* column : {"schema", "ceiling", "threads", "value", "unit", "footprint_bytes"}) csv << column;
  csv.end();
  for (const Ceiling& c : ceilings) {
    csv << report_schema << c.name << c.threads << c.value << c.unit << c.footprint;
    csv.end();
  }
  return csv.text();
}

}  // namespace wengert::bench
