// Level v5, planned: the tape compiled to a program, one core.
#include "bench/make_levels.hpp"
#include "bench/planned.hpp"

namespace wengert::bench {

template <class Real>
std::unique_ptr<Level<Real>> make_planned(const Workload& workload, const LevelOptions& options) {
  return std::make_unique<PlannedLevel<Real>>(workload, options, 1);
}
template std::unique_ptr<Level<double>> make_planned(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_planned(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
