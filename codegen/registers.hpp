// The registers of machine code, and what is in them.
#pragma once

#include <bit>
#include <cstdint>

#include "codegen/graph.hpp"

namespace wengert::codegen {

/// All registers: of vectors, and from first_mask on of masks.
struct Registers {
  static constexpr unsigned first_mask = 32, count = 64;  // the last stands for none
  using Set = std::uint64_t;

  explicit Registers(unsigned vector_registers) : vectors(vector_registers) {}

  const unsigned vectors;  // a multiple of 4
  Value value[count];
  /// Greater the farther the next use of that value is; of those alike for the first register. Numbers of 52 bits, all with
  /// the same exponent: as doubles, of which processors find the greatest without a branch.
  double rank[count] = {};
  Set taken = 0, pinned = 0;
  Set given = 0;  // to a subroutine: no others' before it is called
  Set used = 0;   // ever

  /// The register to take among some: a free one, or that of the value used farthest ahead.
  unsigned choose(Set among) const {
    among &= ~given;
    if (const Set unused = among & ~taken) return static_cast<unsigned>(std::countr_zero(unused));
    return farthest(among & ~pinned);
  }
  [[gnu::noinline]] unsigned farthest(Set among) const {
    if (const unsigned r = farthest_of_vectors(); among >> r & 1) return r;
    double best = 0;
    for (Set left = among; left != 0; left &= left - 1) best = greater(best, rank[std::countr_zero(left)]);
    return with_rank(best);
  }
  /// By four maxima beside each other: no branches, which nobody could predict, and few instructions.
  unsigned farthest_of_vectors() const {
    double best[4] = {rank[0], rank[1], rank[2], rank[3]};
    for (unsigned r = 4; r < vectors; r += 4)
      for (unsigned k = 0; k < 4; ++k) best[k] = greater(best[k], rank[r + k]);
    return with_rank(greater(greater(best[0], best[1]), greater(best[2], best[3])));
  }
  static double greater(double a, double b) { return a > b ? a : b; }
  static unsigned with_rank(double rank) { return 63 - static_cast<unsigned>(std::bit_cast<std::uint64_t>(rank) & 63); }
  void set_next(unsigned r, std::uint32_t use) {
    constexpr std::uint64_t exponent = std::uint64_t(0x433) << 52;
    rank[r] = std::bit_cast<double>(exponent | std::uint64_t(use) << 6 | (63 - r));
  }
  std::uint32_t next(unsigned r) const {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(rank[r]) >> 6);
  }
  bool is_taken(unsigned r) const { return (taken >> r & 1) != 0; }
  void pin(unsigned r) { pinned |= Set(1) << r; }
  void take(unsigned r) {
    taken |= Set(1) << r;
    used |= Set(1) << r;
  }
  void release(unsigned r, bool really = true) {
    const Set kept = ~(Set(really) << r);
    taken &= kept;
    pinned &= kept;
  }
};

}  // namespace wengert::codegen
