// Level v7, native: the program of v5 as machine code, one core.
#include "bench/make_levels.hpp"
#include "bench/planned.hpp"

namespace wengert::bench {

template <class Real>
std::unique_ptr<Level<Real>> make_native(const Workload& workload, const LevelOptions& options) {
  return std::make_unique<PlannedLevel<Real>>(workload, options, 1, "native");
}
template std::unique_ptr<Level<double>> make_native(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_native(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
