// The seam between levels `hand` and `hand-simd` and their code, which is compiled with other flags, and by a second
// compiler too: plain data and functions, nothing of the standard library (its inline functions, compiled for this
// machine, must not end up in code for others).
#pragma once

#include <cstddef>
#include <cstdint>

namespace wengert::bench {

/// A batch, the workload's numbers and room to work in.
template <class Real>
struct HandTask {
  std::size_t evaluations, stride;
  const Real* inputs;  // [input][stride]
  Real* values;        // [evaluations]
  Real* gradients;     // [differentiated input][stride]

  // Where results are summed (bench/level.hpp).
  const Real* parameters;
  std::size_t counted;  // evaluations that are; those after them only fill a vector
  std::size_t samples;  // that share the prior of gmm and logistic
  double constant;      // gmm: per evaluation

  std::size_t size[2];  // of heston, gmm, lstm-cell, rosenbrock

  std::size_t ops;  // west
  bool sum;         // west: output is the sum of all variables
  struct Step {     // dag: RandomGraph::Step
    std::uint32_t kind, a, b, c;
  };
  const Step* steps;
  std::size_t step_count;
  const double* constants;
  std::size_t constant_count;

  Real* room;  // hand_room() vectors of `lanes`, aligned to 64 bytes
};

enum HandWorkload {
  hand_expr,
  hand_west,
  hand_dag,
  hand_black_scholes,
  hand_heston,
  hand_gmm,
  hand_logistic,
  hand_lstm_cell,
  hand_rosenbrock,
  hand_workloads
};

template <class Real>
struct HandFunctions {
  void (*function[hand_workloads])(const HandTask<Real>&);
  int lanes;
};

struct HandCode {
  const char* compiler;  // "g++ 12.2.0"; null where this build has no such code
  bool avx2, avx512;     // what the CPU must have, as compiled
  HandFunctions<double> f64;
  HandFunctions<float> f32;
};

/// Vectors of room that a workload of so many variables needs.
constexpr std::size_t hand_room(std::size_t variables) { return 2 * variables + 1024; }

// By the project's compiler and, empty where there is none, by the other of g++ and clang++.
extern const HandCode hand_code, hand_code_second, hand_simd_code, hand_simd_code_second;

}  // namespace wengert::bench
