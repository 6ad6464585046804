// Small dense matrices taken apart: P A = L U, with partial pivoting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace wengert {

/// Matrices of `lanes` samples side by side, each as it would be alone. Lane l of number k of anything is at [k * lanes + l].
template <class Real, std::size_t lanes = 1>
class Lu {
 public:
  /// Takes n x n matrices apart: read(i, j, to) puts entry (i, j) of all lanes to to[0], to[1], ... A singular one gives solutions
  /// that aren't finite.
  template <class Read>
  void factor(std::size_t n, Read read) {
    resize(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) read(i, j, at(i, j));
    for (std::size_t k = 0; k < n; ++k) {
      bring_up_pivot(k);
      for (std::size_t i = k + 1; i < n; ++i) {
        Real factor[lanes];
        for (std::size_t l = 0; l < lanes; ++l) factor[l] = at(i, k)[l] /= at(k, k)[l];
        for (std::size_t j = k + 1; j < n; ++j) take_off(at(i, j), factor, at(k, j));
      }
    }
  }

  /// x becomes A^-1 x.
  void solve(Real* x) const {
    for (std::size_t k = 0; k < n_; ++k)
      for (std::size_t l = 0; l < lanes; ++l) std::swap(x[k * lanes + l], x[swap(k, l) * lanes + l]);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < i; ++j) take_off(x + i * lanes, at(i, j), x + j * lanes);
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t j = i + 1; j < n_; ++j) take_off(x + i * lanes, at(i, j), x + j * lanes);
      for (std::size_t l = 0; l < lanes; ++l) x[i * lanes + l] /= at(i, i)[l];
    }
  }

  /// x becomes A^-T x.
  void solve_transposed(Real* x) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < i; ++j) take_off(x + i * lanes, at(j, i), x + j * lanes);
      for (std::size_t l = 0; l < lanes; ++l) x[i * lanes + l] /= at(i, i)[l];
    }
    for (std::size_t i = n_; i-- > 0;)
      for (std::size_t j = i + 1; j < n_; ++j) take_off(x + i * lanes, at(j, i), x + j * lanes);
    for (std::size_t k = n_; k-- > 0;)
      for (std::size_t l = 0; l < lanes; ++l) std::swap(x[k * lanes + l], x[swap(k, l) * lanes + l]);
  }

  /// Numbers, of each lane, that write(k, from) gets and read(k, to) gives back.
  static std::size_t kept(std::size_t n) { return n * n + n; }
  template <class Write>
  void put_away(Write write) const {
    for (std::size_t k = 0; k < kept(n_); ++k) write(k, a_.data() + k * lanes);
  }
  template <class Read>
  void take_up(std::size_t n, Read read) {
    resize(n);
    for (std::size_t k = 0; k < kept(n); ++k) read(k, a_.data() + k * lanes);
  }

 private:
  void resize(std::size_t n) {
    n_ = n;
    a_.resize(kept(n) * lanes);
  }
  /// Swaps row k with that below it, or itself, whose entry in column k is the largest; of several the first.
  void bring_up_pivot(std::size_t k) {
    Real largest[lanes], *const row = a_.data() + (n_ * n_ + k) * lanes;
    for (std::size_t l = 0; l < lanes; ++l) largest[l] = std::fabs(at(k, k)[l]), row[l] = static_cast<Real>(k);
    for (std::size_t i = k + 1; i < n_; ++i)
      for (std::size_t l = 0; l < lanes; ++l) {
        const Real entry = std::fabs(at(i, k)[l]);
        row[l] = entry > largest[l] ? static_cast<Real>(i) : row[l];
        largest[l] = entry > largest[l] ? entry : largest[l];
      }
    for (std::size_t l = 0; l < lanes; ++l)
      if (const std::size_t pivot = swap(k, l); pivot != k)
        for (std::size_t j = 0; j < n_; ++j) std::swap(at(k, j)[l], at(pivot, j)[l]);
  }
  static void take_off(Real* from, const Real* a, const Real* b) {
    for (std::size_t l = 0; l < lanes; ++l) from[l] -= a[l] * b[l];
  }
  Real* at(std::size_t i, std::size_t j) { return a_.data() + (i * n_ + j) * lanes; }
  const Real* at(std::size_t i, std::size_t j) const { return a_.data() + (i * n_ + j) * lanes; }
  std::size_t swap(std::size_t k, std::size_t l) const {
    return static_cast<std::size_t>(a_[(n_ * n_ + k) * lanes + l]);
  }

  std::size_t n_ = 0;
  std::vector<Real> a_;  // row by row, then with which row each was swapped
};

}  // namespace wengert
