// How much to try. Tests that draw many cases say how many make a good everyday run; the environment variable
// WENGERT_SOAK multiplies that: scripts/soak uses 20, the sanitizer runs of .ci/run 0.1.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace wengert::test {

/// `everyday` times WENGERT_SOAK (1 where it is not set), at least 1.
inline std::size_t soak(std::size_t everyday) {
  const char* text = std::getenv("WENGERT_SOAK");
  const double factor = text ? std::atof(text) : 1.0;
  return static_cast<std::size_t>(std::fmax(1.0, std::nearbyint(static_cast<double>(everyday) * factor)));
}

}  // namespace wengert::test
