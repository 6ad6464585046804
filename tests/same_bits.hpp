// Equality bit by bit, all NaNs being one.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

#include "tests/emulator.hpp"

namespace wengert::test {

template <class Real>
auto bits_of(Real x) {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  return std::isnan(x) ? static_cast<Bits>(-1) : std::bit_cast<Bits>(x);
}

/// Under valgrind zeros are one too: c - a * b as one operation is there -(a * b - c), with the other sign where it is zero.
template <class Real>
bool same_bits(Real a, Real b) {
  return bits_of(a) == bits_of(b) || (a == 0 && b == 0 && runs_under("valgrind"));
}

/// Exactly, and readably.
template <class Real>
std::string show(Real x) {
  char text[64];
  std::snprintf(text, sizeof text, "%a (%.9g)", static_cast<double>(x), static_cast<double>(x));
  return text;
}

}  // namespace wengert::test
