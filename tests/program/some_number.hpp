// Numbers that random tests draw.
#pragma once

#include <limits>
#include <vector>

#include "tests/random.hpp"

namespace wengert::test {

/// A number that ops have to do with: mostly tame, sometimes an edge.
template <class Real, class Source>
Real some_number(Source& random, double special) {
  using Limits = std::numeric_limits<Real>;
  static const std::vector<Real> edges = {0,
                                          Real(-0.0),
                                          1,
                                          -1,
                                          Limits::infinity(),
                                          -Limits::infinity(),
                                          Limits::quiet_NaN(),
                                          Limits::denorm_min(),
                                          Limits::max()};
  if (random.chance(special)) return random.of(edges);
  const double x = random.chance(0.5) ? random.in(-2, 2) : random.in(0, 1);
  return static_cast<Real>(x);
}

}  // namespace wengert::test
