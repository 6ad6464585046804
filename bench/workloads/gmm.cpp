#include "bench/workloads/gmm.hpp"

#include <numbers>

#include "kernels/dispatch.hpp"

namespace wengert::bench {

double gmm_constant(const Gmm& gmm, std::size_t samples) {
  const auto ours = [](Op op, double x) { return kernels::backend<double>(Isa::scalar).value(op, x, 0, 0); };
  const double d = static_cast<double>(gmm.dimensions), freedom = d + 1, log_pi = ours(Op::log, std::numbers::pi);
  // The Wishart density's constant: its multivariate gamma function is a product of d gamma functions.
  double log_gamma = d * (d - 1) / 4 * log_pi;
  for (std::size_t j = 0; j < gmm.dimensions; ++j)
    log_gamma += ours(Op::lgamma, (freedom - static_cast<double>(j)) / 2);
  const double wishart = -freedom * d / 2 * std::numbers::ln2 - log_gamma;
  return -d / 2 * (log_pi + std::numbers::ln2) -
         static_cast<double>(gmm.components) * wishart / static_cast<double>(samples);
}

}  // namespace wengert::bench
