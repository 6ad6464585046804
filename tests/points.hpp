// Where ops are tried: edges, the op's own range, any bit pattern.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/op_batch.hpp"
#include "tests/random.hpp"
#include "wengert/ops.hpp"

namespace wengert::test {

template <class Real>
std::vector<Real> edges() {
  using Limits = std::numeric_limits<Real>;
  std::vector<Real> positive = {0,
                                Limits::denorm_min(),
                                Limits::min() - Limits::denorm_min(),
                                Limits::min(),
                                Limits::epsilon() / 2,
                                Real(0.5),
                                1 - Limits::epsilon() / 2,
                                1,
                                1 + Limits::epsilon(),
                                Real(1.5707963267948966),
                                2,
                                Real(2.5),
                                3,
                                Real(1e5),
                                1 / Limits::epsilon(),
                                Limits::max() / 2,
                                Limits::max(),
                                Limits::infinity()};
  std::vector<Real> all = positive;
  for (Real x : positive) all.push_back(-x);
  all.push_back(Limits::quiet_NaN());
  return all;
}

/// A number near one where functions turn: an edge, or an end of the op's range, or a few units in the last place off.
template <class Real>
Real near_edge(Random& random, const OpInfo::Range& range) {
  static const std::vector<Real> all = edges<Real>();
  Real x = random.chance(0.3) ? static_cast<Real>(random.chance(0.5) ? range.low : range.high) : random.of(all);
  const Real towards =
      random.chance(0.5) ? -std::numeric_limits<Real>::infinity() : std::numeric_limits<Real>::infinity();
  for (std::size_t i = random.below(4); i > 0; --i) x = std::nextafter(x, towards);
  return x;
}

/// In the op's range: evenly, or every size as likely as another.
template <class Real>
Real in_range(Random& random, const OpInfo::Range& range) {
  for (int attempt = 0; attempt < 4 && random.chance(0.4); ++attempt) {
    const double largest = std::log2(std::max({std::fabs(range.low), std::fabs(range.high), 1e-300}));
    const double size = std::exp2(largest - 60 * random.unit() * random.unit());
    const double x = random.chance(0.5) ? size : -size;
    if (x >= range.low && x <= range.high) return static_cast<Real>(x);
  }
  return static_cast<Real>(random.in(range.low, range.high));
}

template <class Real>
Real draw(Random& random, const OpInfo::Range& range) {
  const double kind = random.unit();
  if (kind < 0.75) return in_range<Real>(random, range);
  return kind < 0.9 ? random.any_bits<Real>() : near_edge<Real>(random, range);
}

/// Operands for an op: all edges (all pairs; for three operands all triples of a few), then `count` drawn ones.
template <class Real>
Columns<Real> points(Op op, std::size_t operands, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Real> special = edges<Real>();
  if (operands == 3) {
    const Real inf = std::numeric_limits<Real>::infinity();
    special = {0,
               Real(-0.0),
               1,
               -1,
               Real(2.5),
               std::numeric_limits<Real>::denorm_min(),
               -std::numeric_limits<Real>::max(),
               inf,
               -inf,
               std::numeric_limits<Real>::quiet_NaN()};
  }
  Columns<Real> x(operands);
  if (operands >= 1 && operands <= 3) {
    std::size_t all = 1;
    for (std::size_t i = 0; i < operands; ++i) all *= special.size();
    for (std::size_t k = 0; k < all; ++k)
      for (std::size_t i = 0, rest = k; i < operands; ++i, rest /= special.size())
        x[i].push_back(special[rest % special.size()]);
  }
  const OpInfo& row = info(op);
  for (std::size_t k = 0; k < count; ++k) {
    const bool tie = operands > 1 && random.chance(0.05);
    const bool tame = operands > 3 && random.chance(0.8);  // among many operands one is always wild
    for (std::size_t i = 0; i < operands; ++i) {
      const OpInfo::Range& range = row.domain[row.arity == 0 ? 0 : i];
      x[i].push_back(tie && i > 0 ? x[0].back() : tame ? in_range<Real>(random, range) : draw<Real>(random, range));
    }
  }
  return x;
}

}  // namespace wengert::test
