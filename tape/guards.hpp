// Guards: what was recorded holds as long as each of them comes out as it did.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tape/records.hpp"
#include "wengert/tape.hpp"

namespace wengert {

/// Throws other_path. `who`: what departs from the recorded path; `condition`: what decides.
[[noreturn]] void other_path(const std::string& who, const std::string& file, std::uint32_t line,
                             const std::string& condition, bool recorded);

/// The number of the op that a condition is the result of, op_count where it is of none.
template <class Real>
std::uint8_t decider(const TapeView<Real>& tape, Id condition) {
  const auto op = std::lower_bound(tape.ops.begin(), tape.ops.end(), condition,
                                   [](const OpRecord& record, Id id) { return record.out < id; });
  return static_cast<std::uint8_t>(op != tape.ops.end() && op->out == condition ? static_cast<std::size_t>(op->op)
                                                                                : op_count);
}
static_assert(op_count < 256);

inline std::string name_of_decider(std::uint8_t op) {
  return op < op_count ? name(static_cast<Op>(op)) : "a condition";
}

}  // namespace wengert
