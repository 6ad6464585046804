// A small dense matrix taken apart: P A = L U, with partial pivoting.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace wengert {

template <class Real>
class Lu {
 public:
  /// Takes the n x n matrix of a(row, column) apart. A singular one gives solutions that aren't finite.
  template <class Entry>
  void factor(std::size_t n, Entry a) {
    resize(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) at(i, j) = a(i, j);
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k + 1; i < n; ++i)
        if (std::fabs(at(i, k)) > std::fabs(at(pivot, k))) pivot = i;
      swaps_[k] = pivot;
      if (pivot != k)
        for (std::size_t j = 0; j < n; ++j) std::swap(at(k, j), at(pivot, j));
      for (std::size_t i = k + 1; i < n; ++i) {
        const Real factor = at(i, k) /= at(k, k);
        for (std::size_t j = k + 1; j < n; ++j) at(i, j) -= factor * at(k, j);
      }
    }
  }

  /// x becomes A^-1 x.
  void solve(Real* x) const {
    for (std::size_t k = 0; k < n_; ++k) std::swap(x[k], x[swaps_[k]]);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < i; ++j) x[i] -= at(i, j) * x[j];
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t j = i + 1; j < n_; ++j) x[i] -= at(i, j) * x[j];
      x[i] /= at(i, i);
    }
  }

  /// x becomes A^-T x.
  void solve_transposed(Real* x) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < i; ++j) x[i] -= at(j, i) * x[j];
      x[i] /= at(i, i);
    }
    for (std::size_t i = n_; i-- > 0;)
      for (std::size_t j = i + 1; j < n_; ++j) x[i] -= at(j, i) * x[j];
    for (std::size_t k = n_; k-- > 0;) std::swap(x[k], x[swaps_[k]]);
  }

  /// Numbers that put_away(k, number) gets and number(k) of take_up gives back.
  static std::size_t kept(std::size_t n) { return n * n + n; }
  template <class Put>
  void put_away(Put put) const {
    for (std::size_t k = 0; k < a_.size(); ++k) put(k, a_[k]);
    for (std::size_t k = 0; k < n_; ++k) put(a_.size() + k, static_cast<Real>(swaps_[k]));
  }
  template <class Number>
  void take_up(std::size_t n, Number number) {
    resize(n);
    for (std::size_t k = 0; k < a_.size(); ++k) a_[k] = number(k);
    for (std::size_t k = 0; k < n; ++k) swaps_[k] = static_cast<std::size_t>(number(a_.size() + k));
  }

 private:
  void resize(std::size_t n) {
    n_ = n;
    a_.resize(n * n);
    swaps_.resize(n);
  }
  Real& at(std::size_t i, std::size_t j) { return a_[i * n_ + j]; }
  const Real& at(std::size_t i, std::size_t j) const { return a_[i * n_ + j]; }

  std::size_t n_ = 0;
  std::vector<Real> a_;
  std::vector<std::size_t> swaps_;
};

}  // namespace wengert
