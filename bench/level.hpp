// What the ladder driver knows of a level: make one for a workload, evaluate a batch, look at its nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/workload.hpp"

namespace wengert::bench {

/// One batch, in memory as the caller has it: columns. `inputs[i * stride + e]` is input i of evaluation e;
/// `gradients[k * stride + e]` the derivative of the output in the k-th differentiated input (Workload::differentiated).
/// Transposing to lanes, and writing values and gradients, is the level's work and is timed.
///
/// Of a workload with parameters the first inputs are `parameters`, one number each, and the columns are those of the others;
/// `values` is one number, the sum of the evaluations' outputs, and `gradients` its derivatives, one number each.
template <class Real>
struct Batch {
  std::size_t evaluations = 0;
  std::size_t stride = 0;
  const Real* inputs = nullptr;
  Real* values = nullptr;     ///< [evaluations]
  Real* gradients = nullptr;  ///< [differentiated inputs][stride]
  std::span<const Real> parameters = {};

  Real input(std::size_t evaluation, std::size_t i) const {
    return i < parameters.size() ? parameters[i] : inputs[(i - parameters.size()) * stride + evaluation];
  }
};

struct LevelOptions {
  std::string isa = "auto";  ///< auto, scalar, avx2, avx512
  int lanes = 0;             ///< evaluations in a block, 0: the level's choice
  int threads = 1;
  double peer_limit =
      120;  ///< seconds that a peer in a process of its own may take for an answer: a batch, or getting ready
};

/// A level made ready for one workload. `evaluate` is what is timed; everything else isn't.
template <class Real>
class Level {
 public:
  virtual ~Level() = default;
  virtual void evaluate(const Batch<Real>& batch) = 0;

  /// Values and adjoints of every variable, in recording order, of one evaluation whose output adjoints are `seeds`
  /// (one weight per variable). False where a level keeps no such thing (planned and hand-written levels).
  virtual bool nodes(std::span<const Real> /*inputs*/, std::span<const Real> /*seeds*/, std::span<Real> /*values*/,
                     std::span<Real> /*adjoints*/) {
    return false;
  }
  virtual double record_seconds() const { return 0; }   ///< recording the tape or building the graph, once
  virtual double compile_seconds() const { return 0; }  ///< making a program of it, once
  virtual std::size_t tape_bytes() const { return 0; }
  virtual int lanes() const { return 1; }
  virtual int threads() const { return 1; }
  virtual std::string isa() const { return "scalar"; }
};

/// A row of the registry (levels.cpp): how a level is named and made.
struct LevelInfo {
  std::string name;         ///< "v2"
  std::string title;        ///< "tape"
  std::string description;  ///< one line for `wengert list`
  bool ladder = true;       ///< a rung (v0, v1, ...), bit for bit equal to v2; others (c, hand) are within a bound
  /// Computes once what depends on parameters alone. So what a workload with parameters gives is bit for bit equal among such
  /// rungs, and among the others: products with a sum of adjoints are no sums of products.
  bool planned = false;
  std::function<bool(const Workload&)> available;  ///< hand-written levels exist for some workloads only
  std::function<std::unique_ptr<Level<double>>(const Workload&, const LevelOptions&)> make_f64;
  std::function<std::unique_ptr<Level<float>>(const Workload&, const LevelOptions&)> make_f32;
  bool uses_lanes = false, uses_threads = false;  ///< what LevelOptions has of them matters
  bool approximate = false;  ///< central differences: their error goes with the value's, and is far above rounding
  bool own_process = false;  ///< does its work in another process, whose memory isn't measured
  std::string missing = "";  ///< why this build hasn't got it; empty where it has
};

const std::vector<LevelInfo>& levels();

}  // namespace wengert::bench
