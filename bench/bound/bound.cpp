// How far a program is from what its arithmetic alone takes: west by level v5, beside the same ops on registers, in interleaved
// slices.
//
//   meson compile -C build/release bound_benchmark && build/release/bench/bound/bound_benchmark
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>
#include <vector>

#include "bench/bound/registers.hpp"
#include "bench/make_level.hpp"
#include "bench/statistics.hpp"
#include "bench/workload.hpp"
#include "kernels/dispatch.hpp"

namespace {

using namespace wengert::bench;

constexpr std::size_t rounds = 41, ops = 10'000;

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Null where there are no vectors.
const WestOnRegisters* on_registers_here() {
  switch (wengert::default_isa()) {
#ifdef WENGERT_HAS_AVX512
    case wengert::Isa::avx512: return &west_on_registers_avx512;
#endif
#ifdef WENGERT_HAS_AVX2
    case wengert::Isa::avx2: return &west_on_registers_avx2;
#endif
    default: return nullptr;
  }
}

template <class Real>
void report(const char* precision, void (*west_on_registers)(std::size_t), std::size_t vector_bytes) {
  WorkloadOptions options;
  options.ops = ops;
  const Workload workload = make_workload("west", options);
  const auto info = std::find_if(levels().begin(), levels().end(), [](const LevelInfo& l) { return l.name == "v5"; });
  const auto level = make_level<Real>(*info, workload, {});
  const std::size_t evaluations = 2 * static_cast<std::size_t>(level->lanes());
  std::vector<Real> inputs(workload.inputs * evaluations), values(evaluations),
      gradients(workload.differentiated.size() * evaluations);
  for (std::size_t i = 0; i < workload.inputs; ++i)
    for (std::size_t e = 0; e < evaluations; ++e) inputs[i * evaluations + e] = static_cast<Real>(workload.input(e, i));
  const Batch<Real> batch{evaluations, evaluations, inputs.data(), values.data(), gradients.data()};

  const std::size_t groups = workload.recorded_ops / 4 * evaluations * sizeof(Real) / vector_bytes;
  std::vector<double> on_registers, planned, ratios;
  for (std::size_t round = 0; round <= rounds; ++round) {
    const double bound = seconds([&] { west_on_registers(groups); }), time = seconds([&] { level->evaluate(batch); });
    if (round == 0) continue;  // warm-up
    const double scale = 1e9 / static_cast<double>(workload.recorded_ops * evaluations);
    on_registers.push_back(bound * scale);
    planned.push_back(time * scale);
    ratios.push_back(time / bound);
  }
  fmt::print("west, {}: {:.3f} ns per op on registers, {:.3f} by v5, ratio {:.2f}\n", precision, median(on_registers),
             median(planned), median(ratios));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::string_view(argv[1]) == "--help";
    std::fputs(
        "usage: bound_benchmark\n\nTimes west (10,000 ops) by v5 beside the same ops on registers alone; medians.\n",
        help ? stdout : stderr);
    return help ? 0 : 2;
  }
  const WestOnRegisters* const west = on_registers_here();
  if (!west) {
    std::fputs("bound_benchmark: the ops on registers are for AVX2 and AVX-512, neither of which is usable here\n",
               stderr);
    return 1;
  }
  report<double>("f64", west->f64, west->vector_bytes);
  report<float>("f32", west->f32, west->vector_bytes);
}
