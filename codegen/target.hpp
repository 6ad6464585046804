// What machine code is made for: an instruction set, as far as it makes a difference to a straight line of vector operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wengert::codegen {

struct Target {
  std::string_view name;
  std::uint8_t vector_bytes;
  std::uint8_t registers;  ///< for vectors
  /// Instructions have EVEX prefixes: registers beyond 16, and a number in memory as an operand for all lanes. Otherwise VEX
  /// prefixes, and what is an operand in memory is a vector.
  bool evex;
  /// Masks have registers of their own. Otherwise they are vectors, of ones and zeros, and of what is to be refused the lanes
  /// that come up are gathered in one more vector.
  bool mask_registers;
  /// There are instructions to scale by powers of 2 and for exponents and mantissas; for 64-bit integers to arithmetic shifts
  /// and conversions.
  bool exponents;
  /// One permutation finds items of 16 numbers.
  bool permutes_16;
};

inline constexpr Target avx512{"AVX-512", 64, 32, true, true, true, true},  // F, DQ, VL, BW
    avx2{"AVX2", 32, 16, false, false, false, false};                       // with FMA

/// What a round of the code computes.
struct Shape {
  const Target* target = &avx512;
  /// One sample instead: in all lanes of a vector of 128 bits, so that no lane does what the sample doesn't.
  bool point = false;
  std::uint32_t vectors = 1;  ///< side by side

  std::size_t vector_bytes() const { return point ? 16 : target->vector_bytes; }
  /// A point's are single numbers in memory, where these can be operands.
  bool keeps_numbers() const { return point && target->evex; }
  /// In memory of its own the code keeps so many for each value.
  std::size_t slot_bytes() const { return keeps_numbers() ? 8 : vector_bytes(); }
  std::size_t samples(std::size_t real_bytes) const { return point ? 1 : vectors * vector_bytes() / real_bytes; }
};

}  // namespace wengert::codegen
