// What this machine can do at most: arithmetic from registers, and bytes a second from each cache and from memory. The
// roofs of a roofline (bench/work.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace wengert::bench {

struct CacheSizes {
  std::size_t l1 = 32 << 10, l2 = 1 << 20, l3 = 32 << 20;  ///< bytes: data of one core, of one core, of all
};

struct Ceiling {
  std::string name;  ///< arithmetic f64, arithmetic f32, L1, L2, L3, memory
  unsigned threads = 1;
  double value = 0;           ///< of all threads together
  std::string unit;           ///< Gflop/s, GB/s (loads and stores)
  std::size_t footprint = 0;  ///< bytes that a thread goes through, 0: registers
};

/// Takes about a second: each of them on one core and on all, with the default instruction set; the best of several
/// measurements, since whatever disturbs one makes it slower.
std::vector<Ceiling> measure_ceilings(const CacheSizes& caches);

std::string ceilings_csv(std::span<const Ceiling> ceilings);

}  // namespace wengert::bench
