// A workload on a tape: what levels v2, v3 and v4 replay.
#pragma once

#include <algorithm>
#include <chrono>

#include "bench/level.hpp"
#include "tape/lane_replay.hpp"
#include "wengert/tape.hpp"

namespace wengert::bench {

template <class Real>
struct Recorded {
  explicit Recorded(const Workload& workload) {
    tape.reserve(workload.variables, workload.recorded_ops);  // refuses at once what can't be had
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < workload.inputs; ++i) inputs.push_back(tape.input());
    output = workload.build(tape, std::span<const Id>(inputs));
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (std::uint32_t i : workload.differentiated) differentiated.push_back(inputs[i]);
  }
  Recorded(const Recorded&) = delete;

  NaiveTape<Real> tape;
  std::vector<Id> inputs, differentiated;
  Id output = no_id;
  double seconds = 0;  // it took to record
};

/// The seeds of all variables, as `backward` takes them.
template <class Real>
std::vector<Seed<Real>> all_seeds(std::span<const Real> weights) {
  std::vector<Seed<Real>> seeds;
  for (std::size_t v = 0; v < weights.size(); ++v) seeds.push_back({static_cast<Id>(v), weights[v]});
  return seeds;
}

/// Evaluates blocks begin..end of a batch; a block is as many evaluations as `replay` has lanes.
template <class Real>
void evaluate_blocks(LaneReplay<Real>& replay, const Recorded<Real>& recorded, const Batch<Real>& batch,
                     std::size_t begin, std::size_t end) {
  const Seed<Real> seed{recorded.output, Real(1)};
  for (std::size_t block = begin; block < end; ++block) {
    const std::size_t first = block * replay.lanes(), count = std::min(replay.lanes(), batch.evaluations - first);
    replay.load(batch.inputs + first, batch.stride, count);
    replay.forward();
    replay.backward({&seed, 1});
    std::copy_n(replay.values(recorded.output), count, batch.values + first);
    for (std::size_t k = 0; k < recorded.differentiated.size(); ++k) {
      const Real* adjoint = replay.adjoints(recorded.differentiated[k]);
      Real* gradient = batch.gradients + k * batch.stride + first;
      for (std::size_t lane = 0; lane < count; ++lane) gradient[lane] = adjoint[lane] + Real(0);
    }
  }
}

template <class Real>
std::size_t blocks_of(const LaneReplay<Real>& replay, const Batch<Real>& batch) {
  return (batch.evaluations + replay.lanes() - 1) / replay.lanes();
}

/// Level::nodes of a replay: one evaluation, all its variables.
template <class Real>
void look_at_nodes(LaneReplay<Real>& replay, std::span<const Real> inputs, std::span<const Real> seeds,
                   std::span<Real> values, std::span<Real> adjoints) {
  replay.load(inputs.data(), 1, 1);
  replay.forward();
  replay.backward(all_seeds(seeds));
  for (std::size_t v = 0; v < values.size(); ++v) {
    values[v] = replay.values(static_cast<Id>(v))[0];
    adjoints[v] = replay.adjoints(static_cast<Id>(v))[0] + Real(0);
  }
}

}  // namespace wengert::bench
