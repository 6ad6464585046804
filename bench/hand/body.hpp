// What the adjoints written by hand share. They are as one writes them, in the accurate form (log1p, erfc), over V: a number
// (`hand`) or a vector of evaluations (`hand-simd`). V has + - * / and load, store, exp, expm1, log, log1p, erfc, sqrt, abs,
// max, select(a < b).
#pragma once

#include "bench/hand/hand.hpp"

#if defined(__clang__)
#define HAND_COMPILER "clang++ " __clang_version__
#else
#define HAND_COMPILER "g++ " __VERSION__
#endif

namespace wengert::bench {
namespace {

/// Calls body(e) for each vector of evaluations; the last one overlaps the one before it where the batch doesn't divide.
template <class V, class Body>
void for_each_vector(std::size_t evaluations, Body body) {
  constexpr std::size_t lanes = V::lanes;
  std::size_t e = 0;
  for (; e + lanes <= evaluations; e += lanes) body(e);
  if (e < evaluations) body(evaluations - lanes);
}

/// Calls body(e, weights): 1 for each evaluation that counts and hasn't been in a vector before, else 0. For sums.
template <class V, class Real, class Body>
void for_each_weighted(const HandTask<Real>& task, Body body) {
  constexpr std::size_t lanes = V::lanes;
  std::size_t done = 0;
  for_each_vector<V>(task.evaluations, [&](std::size_t e) {
    Real weights[lanes];
    for (std::size_t lane = 0; lane < lanes; ++lane)
      weights[lane] = e + lane >= done && e + lane < task.counted ? Real(1) : Real(0);
    done = e + lanes;
    body(e, V::load(weights));
  });
}

/// Sums of vectors in memory, one per quantity, and in the end of their lanes.
template <class V, class Real>
class Sums {
 public:
  Sums(Real* room, std::size_t quantities) : room_(room) {
    for (std::size_t q = 0; q < quantities; ++q) V(Real(0)).store(room_ + q * V::lanes);
  }
  void add(std::size_t q, V x) { (V::load(room_ + q * V::lanes) + x).store(room_ + q * V::lanes); }
  Real operator[](std::size_t q) const {
    Real sum = 0;
    for (std::size_t lane = 0; lane < V::lanes; ++lane) sum += room_[q * V::lanes + lane];
    return sum;
  }

 private:
  Real* room_;
};

/// A function with its derivative.
template <class V>
struct Slope {
  V value, slope;
};
template <class V>
inline Slope<V> softplus(V x) {
  const V e = exp(V(0) - abs(x));
  return {max(x, V(0)) + log1p(e), select_less(x, V(0), e, V(1)) / (V(1) + e)};
}
template <class V>
inline Slope<V> sigmoid(V x) {
  const V e = exp(V(0) - abs(x)), scale = V(1) / (V(1) + e);
  return {select_less(x, V(0), e, V(1)) * scale, e * scale * scale};
}
template <class V>
inline Slope<V> tanh(V x) {
  const V m = expm1(V(-2) * abs(x)), scale = V(1) / (V(2) + m), size = (V(0) - m) * scale;
  return {select_less(x, V(0), V(0) - size, size), V(4) * (V(1) + m) * scale * scale};
}

}  // namespace
}  // namespace wengert::bench
