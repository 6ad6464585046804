// The registry of levels: a row each.
#include "bench/make_levels.hpp"

namespace wengert::bench {

const std::vector<LevelInfo>& levels() {
  const auto always = [](const Workload&) { return true; };
  static const std::vector<LevelInfo> all = {
      {"v0", "heap", "heap nodes, shared pointers, a closure per op; rebuilt for every evaluation", true, always,
       make_heap<double>, make_heap<float>},
      {"v1", "pool", "pointers into a fixed-size pool; operands computed again from their own operands", true, always,
       make_pool<double>, make_pool<float>},
      {"v2", "tape", "index tape in contiguous arrays, every result stored; scalar", true, always, make_tape<double>,
       make_tape<float>},
      {"v3", "simd", "the tape of v2, a block of evaluations at a time in vector lanes", true, always, make_simd<double>,
       make_simd<float>},
      {"v4", "threads", "v3 over blocks of evaluations on several cores", true, always, make_threads<double>,
       make_threads<float>},
      {"c", "plain C", "an index tape in plain C on libm", false, always, make_c<double>, make_c<float>},
  };
  return all;
}

}  // namespace wengert::bench
