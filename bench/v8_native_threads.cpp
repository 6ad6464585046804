// Level v8, native + threads: v7 on several cores.
#include <algorithm>

#include "bench/make_levels.hpp"
#include "bench/planned.hpp"

namespace wengert::bench {

template <class Real>
std::unique_ptr<Level<Real>> make_native_threads(const Workload& workload, const LevelOptions& options) {
  return std::make_unique<PlannedLevel<Real>>(workload, options, static_cast<unsigned>(std::max(options.threads, 1)),
                                              "native");
}
template std::unique_ptr<Level<double>> make_native_threads(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_native_threads(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
