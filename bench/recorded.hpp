// A workload on a tape: what levels v2, v3 and v4 replay.
#pragma once

#include <algorithm>
#include <chrono>

#include "bench/level.hpp"
#include "bench/results.hpp"
#include "tape/lane_replay.hpp"
#include "wengert/tape.hpp"

namespace wengert::bench {

template <class Real>
struct Recorded {
  /// `planned`: for `compile`, which wants to know what is the same in all evaluations, and sums over them itself.
  explicit Recorded(const Workload& workload, bool planned = false) : parameters(workload.parameters) {
    tape.reserve(workload.variables, workload.recorded_ops);  // refuses at once what can't be had
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < workload.inputs; ++i)
      inputs.push_back(planned && i < parameters ? tape.parameter() : tape.input());
    output = workload.build(tape, std::span<const Id>(inputs));
    if (planned && workload.summed()) output = tape.sum_samples(output);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (std::uint32_t i : workload.differentiated) differentiated.push_back(inputs[i]);
  }
  Recorded(const Recorded&) = delete;

  const std::size_t parameters;  // of the inputs
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

/// Evaluations that are one after the other on one thread.
template <class Real>
std::size_t piece_of(const LaneReplay<Real>& replay, const Results<Real>& results) {
  return results.summed() ? results.piece : replay.lanes();
}

template <class Real>
std::size_t pieces_of(const LaneReplay<Real>& replay, const Results<Real>& results, const Batch<Real>& batch) {
  const std::size_t piece = piece_of(replay, results);
  return (batch.evaluations + piece - 1) / piece;
}

/// Evaluates pieces begin..end of a batch, in blocks of as many evaluations as `replay` has lanes.
template <class Real>
void evaluate_pieces(LaneReplay<Real>& replay, const Recorded<Real>& recorded, const Batch<Real>& batch,
                     Results<Real>& results, std::size_t worker, std::size_t begin, std::size_t end) {
  const Seed<Real> seed{recorded.output, Real(1)};
  const std::size_t piece = piece_of(replay, results);
  for (std::size_t i = 0; i < recorded.parameters; ++i) replay.fill(recorded.inputs[i], batch.parameters[i]);
  for (std::size_t k = begin; k < end; ++k)
    for (std::size_t first = k * piece, stop = std::min(first + piece, batch.evaluations); first < stop;
         first += replay.lanes()) {
      const std::size_t count = std::min(replay.lanes(), stop - first);
      replay.load(batch.inputs + first, batch.stride, count, recorded.parameters);
      replay.forward();
      replay.backward({&seed, 1});
      results.take(batch, worker, first, count, replay.values(recorded.output),
                   [&](std::size_t i) { return replay.adjoints(recorded.differentiated[i]); });
    }
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
