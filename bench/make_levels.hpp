// The makers of the levels, one file each; levels.cpp lists them.
#pragma once

#include "bench/level.hpp"

namespace wengert::bench {

#define WENGERT_LEVEL(maker) \
  template <class Real>      \
  std::unique_ptr<Level<Real>> maker(const Workload&, const LevelOptions&);
WENGERT_LEVEL(make_heap)
WENGERT_LEVEL(make_pool)
WENGERT_LEVEL(make_tape)
WENGERT_LEVEL(make_simd)
WENGERT_LEVEL(make_threads)
WENGERT_LEVEL(make_planned)
WENGERT_LEVEL(make_planned_threads)
WENGERT_LEVEL(make_native)
WENGERT_LEVEL(make_native_threads)
WENGERT_LEVEL(make_eager)
WENGERT_LEVEL(make_c)
WENGERT_LEVEL(make_hand)
WENGERT_LEVEL(make_hand_simd)
#undef WENGERT_LEVEL

}  // namespace wengert::bench
