// Errors in units in the last place.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/big.hpp"

namespace wengert::test {

/// How far `got` is from `exact`, in units in the last place of a Real as large as `scale` (of `exact` itself, as a rule).
/// Below the normal range the unit is that of the subnormal grid; infinity counts as the next number after the largest.
/// NaN against a number, and 0 against the wrong infinity, are infinitely far.
template <class Real>
double ulp_error(Real got, const Big& exact, const Big& scale) {
  using Limits = std::numeric_limits<Real>;
  constexpr double far = std::numeric_limits<double>::infinity();
  if (exact.is_nan() || std::isnan(got)) return exact.is_nan() && std::isnan(got) ? 0 : far;
  const Big beyond = scaled(Big(1), Limits::max_exponent);  // what an exponent of one more would begin with
  const Big halfway = beyond - scaled(Big(1), Limits::max_exponent - Limits::digits - 1);
  const bool exact_is_beyond = abs(exact) >= halfway;
  if (std::isinf(got) && exact_is_beyond) return std::signbit(got) == exact.is_negative() ? 0 : far;
  const Big got_big = std::isinf(got) ? (got > 0 ? beyond : -beyond) : Big(static_cast<double>(got));
  if (exact.is_inf()) return far;
  const long lowest = Limits::min_exponent;  // 2^(min_exponent - 1) is the smallest normal
  const long exponent =
      scale.is_zero() || !scale.is_finite() ? lowest : std::clamp<long>(scale.exponent(), lowest, Limits::max_exponent);
  return scaled(abs(got_big - exact), Limits::digits - exponent).to_double();
}

template <class Real>
double ulp_error(Real got, const Big& exact) {
  return ulp_error(got, exact, exact);
}

}  // namespace wengert::test
