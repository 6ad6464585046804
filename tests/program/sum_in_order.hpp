// The order in which numbers of samples are summed, once more.
#pragma once

#include <cstddef>
#include <vector>

namespace wengert::test {

/// 64 by halves, 16 such one after the other, those in pairs, as the documents say.
template <class Real>
Real sum_in_order(std::vector<Real> terms) {
  if (terms.empty()) return 0;
  std::vector<Real> groups;
  while (terms.size() % 64 != 0) terms.push_back(Real(-0.0));
  for (std::size_t leaf = 0; leaf < terms.size(); leaf += 64) {
    for (std::size_t half = 32; half > 0; half /= 2)
      for (std::size_t k = 0; k < half; ++k) terms[leaf + k] += terms[leaf + k + half];
    if (leaf % 1024 == 0) groups.push_back(Real(-0.0));
    groups.back() += terms[leaf];
  }
  for (std::size_t step = 1; step < groups.size(); step *= 2)
    for (std::size_t g = 0; g + step < groups.size(); g += 2 * step) groups[g] += groups[g + step];
  return groups[0];
}

}  // namespace wengert::test
