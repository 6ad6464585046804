// Everything written by hand, and the table of it.
#pragma once

#include "bench/hand/finance.hpp"
#include "bench/hand/graphs.hpp"
#include "bench/hand/sums.hpp"

namespace wengert::bench {
namespace {

/// In the order of HandWorkload. V: what a function computes with.
template <class V, class Real>
inline constexpr HandFunctions<Real> hand_functions = {
    {expr<V>, west<V>, dag<V>, black_scholes<V>, heston<V>, gmm<V>, logistic<V>, lstm_cell<V>, rosenbrock<V>},
    V::lanes};

}  // namespace
}  // namespace wengert::bench
