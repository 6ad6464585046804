// How many random graphs to try: the everyday suite tries 10,000 and more, scripts/soak a million.
#pragma once

#include "tests/soak.hpp"

namespace wengert::test {

/// As soak(everyday), and where that is more than everyday four times as many: graphs are small.
inline std::size_t soak_graphs(std::size_t everyday) {
  const std::size_t count = soak(everyday);
  return count > everyday ? 4 * count : count;
}

}  // namespace wengert::test
