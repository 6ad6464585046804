// The registry of levels: a row each.
#include "bench/make_levels.hpp"

namespace wengert::bench {

const std::vector<LevelInfo>& levels() {
  const auto always = [](const Workload&) { return true; };
  static const std::vector<LevelInfo> all = {
      {"v0", "heap", "heap nodes, shared pointers, a closure per op; rebuilt for every evaluation", true, false, always,
       make_heap<double>, make_heap<float>},
      {"v1", "pool", "pointers into a fixed-size pool; operands computed again from their own operands", true, false,
       always, make_pool<double>, make_pool<float>},
      {"v2", "tape", "index tape in contiguous arrays, every result stored; scalar", true, false, always,
       make_tape<double>, make_tape<float>},
      {"v3", "simd", "the tape of v2, a block of evaluations at a time in vector lanes", true, false, always,
       make_simd<double>, make_simd<float>, true, false},
      {"v4", "threads", "v3 over blocks of evaluations on several cores", true, false, always, make_threads<double>,
       make_threads<float>, true, true},
      {"v5", "planned", "the tape compiled to a program: optimised, memory planned, instructions in runs of a kind",
       true, true, always, make_planned<double>, make_planned<float>, true, false},
      {"v6", "planned, threads", "v5 on several cores", true, true, always, make_planned_threads<double>,
       make_planned_threads<float>, true, true},
      {"v7", "native", "the program of v5 as machine code", true, true, always, make_native<double>, make_native<float>,
       true, false},
      {"v8", "native, threads", "v7 on several cores", true, true, always, make_native_threads<double>,
       make_native_threads<float>, true, true},
      {"eager", "eager", "recorded anew by Vars for every evaluation and swept back; nothing replayed", false, false,
       always, make_eager<double>, make_eager<float>},
      {"hand", "by hand", "the adjoint written by hand, scalar, on libm; the faster of g++ and clang++", false, false,
       always, make_hand<double>, make_hand<float>},
      {"hand-simd", "by hand, simd", "the adjoint written by hand over AVX-512 or AVX2 vectors, on libmvec", false,
       false, always, make_hand_simd<double>, make_hand_simd<float>},
  };
  return all;
}

}  // namespace wengert::bench
