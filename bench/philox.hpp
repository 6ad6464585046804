// Philox4x32-10, a counter-based random generator: the numbers are a function of key and counter alone, so every level,
// thread count and batch split draws the same ones. J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel Random
// Numbers: As Easy as 1, 2, 3", SC'11, section 3.3.
#pragma once

#include <array>
#include <cstdint>

namespace wengert::bench {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox4x32_10(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k[0] += 0x9E3779B9u;  // the golden ratio
    k[1] += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return c;
}

/// 64 random bits, number `index` of stream (seed, stream, row). Two of them share a block of the generator.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint32_t stream, std::uint64_t row, std::uint32_t index) {
  const PhiloxCounter block =
      philox4x32_10({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(row >> 32), index / 2, stream},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const std::size_t half = 2 * (index % 2);
  return block[half] | std::uint64_t{block[half + 1]} << 32;
}

}  // namespace wengert::bench
