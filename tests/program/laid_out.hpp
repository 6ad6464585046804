// Tables of samples in memory, laid out in one way or another.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "wengert/samples.hpp"

namespace wengert::test {

enum class Layout { rows, columns, apart };
constexpr const char* layout_names[] = {"rows", "columns", "rows apart, backwards"};

/// It begins at an odd address; what lies around its numbers is NaN.
template <class Real>
class LaidOut {
 public:
  LaidOut(std::size_t samples, std::size_t items, Layout layout)
      : numbers_(2 + 2 * samples * (items + 1), std::numeric_limits<Real>::quiet_NaN()) {
    const auto n = static_cast<std::ptrdiff_t>(samples), m = static_cast<std::ptrdiff_t>(items);
    switch (layout) {
      case Layout::rows: table_ = {numbers_.data() + 1, m, 1}; break;
      case Layout::columns: table_ = {numbers_.data() + 1, 1, n}; break;
      case Layout::apart: table_ = {numbers_.data() + 1 + (n == 0 ? 0 : (n - 1) * (2 * m + 1)), -(2 * m + 1), 2}; break;
    }
  }
  LaidOut(const LaidOut&) = delete;
  LaidOut& operator=(const LaidOut&) = delete;

  Real& at(std::size_t sample, std::size_t item) { return table_(sample, item); }
  /// From that sample on.
  Samples<Real> from(std::size_t sample = 0) const {
    return {table_.data + static_cast<std::ptrdiff_t>(sample) * table_.sample, table_.sample, table_.item};
  }

 private:
  std::vector<Real> numbers_;
  Samples<Real> table_;
};

}  // namespace wengert::test
