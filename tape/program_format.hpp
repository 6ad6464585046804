// Programs as files: what their writer (program_save.cpp) and their reader (program_load.cpp) agree on. The format:
// docs/program-files.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "wengert/ops.hpp"

namespace wengert::program_format {

/// As PNG's (ISO/IEC 15948, 5.2): whatever takes the file for text spoils it.
inline constexpr std::string_view magic("\x89WNG\r\n\x1a\n", 8);
inline constexpr std::uint32_t newest_version = 1;
inline constexpr std::size_t header_bytes = 24, checksum_bytes = 8;

/// CRC-64/XZ: the reflected polynomial of ECMA-182 (https://reveng.sourceforge.io/crc-catalogue/17plus.htm).
inline std::uint64_t checksum(std::string_view bytes) {
  static constexpr std::array<std::uint64_t, 256> table = [] {
    std::array<std::uint64_t, 256> t{};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
      std::uint64_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xc96c5795d7870f42u : 0);
      t[byte] = crc;
    }
    return t;
  }();
  std::uint64_t crc = ~std::uint64_t(0);
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255] ^ crc >> 8;
  return ~crc;
}

/// What is written of a real.
template <class Real>
using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;

/// Operands of the op at `word`, and where they begin.
template <class Word>
std::pair<std::size_t, Word*> operands_at(Op op, Word* word) {
  if (info(op).arity != 0) return {static_cast<std::size_t>(info(op).arity), word + 1};
  return {word[1], word + 2};
}

}  // namespace wengert::program_format
