// How much work an evaluation is: floating-point operations and bytes, counted by running the kernels' own text over
// numbers that count. For rooflines: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance
// model for multicore architectures", Commun. ACM 52 (2009).
#pragma once

#include <string_view>

#include "bench/workload.hpp"

namespace wengert::bench {

struct Work {
  double flops = 0;  ///< additions, products, quotients, square roots; a fused multiply-add is two
  double bytes = 0;  ///< loaded and stored between kernels: operands, results, adjoints
};

/// Of one evaluation, forward and backward, of the tape as recorded (levels v2 to v4).
Work count_work(std::string_view workload, const WorkloadOptions& options, bool f32);

}  // namespace wengert::bench
