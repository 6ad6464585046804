// Which ops a reverse sweep has to visit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wengert/tape.hpp"

namespace wengert {

/// One flag per op: it depends on an input and some seed depends on it. Under ZeroRule::ieee a sweep must visit no
/// other, since there a dead op's zero adjoint times an infinite partial would be NaN.
template <class Real>
std::vector<std::uint8_t> visited_ops(const TapeView<Real>& tape, std::span<const Seed<Real>> seeds);

}  // namespace wengert
