// The loops that ceilings are measured with, one set per instruction set.
#pragma once

#include <cstddef>

namespace wengert::bench {

struct CeilingLoops {
  /// `rounds` times a multiply-add on as many independent vectors as keep the units busy. Returns their sum.
  double (*arithmetic_f64)(std::size_t rounds);
  float (*arithmetic_f32)(std::size_t rounds);
  double flops_f64, flops_f32;  ///< of one round
  /// y[i] += s * x[i], n a multiple of 64: 16 bytes loaded and 8 stored for each.
  void (*add_scaled)(double* y, const double* x, std::size_t n, double s);
};

// Those that the build has (bench/ceilings_loops.cpp is compiled once for each).
extern const CeilingLoops ceiling_loops_scalar, ceiling_loops_avx2, ceiling_loops_avx512;

}  // namespace wengert::bench
