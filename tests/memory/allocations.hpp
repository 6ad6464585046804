// Every allocation of this executable by operator new: counted, summed, and refused when a test wants it.
#pragma once

#include <cstddef>

namespace wengert::test {

/// Since `watch`.
struct Allocations {
  std::size_t count, largest;  ///< how many; bytes of the largest
  std::size_t peak;            ///< bytes in use at most, beyond those at `watch`
};
void watch();
Allocations watched();

/// The k-th allocation from now on fails; with `on`, so do all after it.
void fail_at(std::size_t k, bool on);
/// No more of that. Whether any failed.
bool stop_failing();

}  // namespace wengert::test
