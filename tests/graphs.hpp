// How many random graphs to try. The everyday suite tries 14,000: 5,000 as a tape in lanes and 2,000 as a program, in each
// precision. With the factor of 20 of scripts/soak these are 80 times as many, 1,120,000.
#pragma once

#include "tests/soak.hpp"

namespace wengert::test {

/// As soak(everyday), and where that is more than everyday four times as many: graphs are small.
inline std::size_t soak_graphs(std::size_t everyday) {
  const std::size_t count = soak(everyday);
  return count > everyday ? 4 * count : count;
}

}  // namespace wengert::test
