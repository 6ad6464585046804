// Functions that MPFR lacks, composed of those it has; nothing cancels by more than a few dozen bits. Used by oracle.cpp.
#pragma once

#include <span>
#include <vector>

#include "tests/big.hpp"

namespace wengert::test {

inline Big nan() {
  Big r;
  mpfr_set_nan(r.get());
  return r;
}
inline bool any_nan(const Big& a, const Big& b, const Big& c) { return a.is_nan() || b.is_nan() || c.is_nan(); }

// ---- kinks -----------------------------------------------------------------------------------------------------------

inline Big sign(const Big& x) { return x.is_nan() || x.is_zero() ? x : Big(x > 0 ? 1 : -1); }
inline Big flat(const Big& x) { return x.is_nan() ? x : Big(0); }
/// Slope of max(a, b) in a; a tie counts half.
inline Big larger_slope(const Big& a, const Big& b) {
  return a.is_nan() || b.is_nan() ? nan() : Big(a > b ? 1 : a < b ? 0 : 0.5);
}
inline Big fmax_slope(const Big& a, const Big& b) {
  if (a.is_nan() && b.is_nan()) return a;
  return a.is_nan() ? Big(0) : b.is_nan() ? Big(1) : larger_slope(a, b);
}
inline Big step(const Big& a, const Big& b) { return a.is_nan() || b.is_nan() ? nan() : Big(a > b ? 1 : 0); }
/// The integer that `fmod` and `remainder` subtract b times.
inline Big quotient(const Big& a, const Big& b, const Big& rest) {
  return b.is_inf() ? Big(0) : rint_even((a - rest) / b);
}

// ---- logistic --------------------------------------------------------------------------------------------------------

inline Big sigmoid(const Big& x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
inline Big softplus(const Big& x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
inline Big logit(const Big& x) { return log(x / (1 - x)); }
inline Big log1mexp(const Big& x) { return x < 1 ? log(-expm1(-x)) : log1p(-exp(-x)); }
inline Big logaddexp(const Big& a, const Big& b) {
  if (a.is_nan() || b.is_nan()) return nan();
  const Big m = larger(a, b);
  return m.is_inf() ? m : m + log1p(exp(-abs(a - b)));
}
inline Big logaddexp_slope(const Big& a, const Big& b) {
  if (a.is_inf() && b.is_inf() && a < 0 && b < 0) return 0;
  return sigmoid(a - b);
}

// ---- the normal distribution -----------------------------------------------------------------------------------------

inline Big gauss(const Big& x) { return exp(-(x * x)); }

/// sum over k of (-1)^k (2k-1)!! / (2x^2)^k * factor(k): M. Abramowitz, I. Stegun, Handbook of Mathematical Functions,
/// 7.1.23. For x > 100.
template <class Factor>
Big erfcx_series(const Big& x, Factor factor) {
  const Big step = -1 / (2 * (x * x));
  Big term = 1, total = factor(0);
  for (int k = 1; k < 25; ++k) {
    term = term * step * (2 * k - 1);
    total = total + term * factor(k);
  }
  return total;
}
inline Big erfcx(const Big& x) {
  if (!(x > 100)) return exp(x * x) * erfc(x);
  return erfcx_series(x, [](int) { return Big(1); }) / (x * sqrt(pi()));
}
inline Big erfcx_slope(const Big& x) {
  if (!(x > 100)) return 2 * x * erfcx(x) - 2 / sqrt(pi());
  return -erfcx_series(x, [](int k) { return Big(2 * k + 1); }) / (x * x * sqrt(pi()));
}

inline Big normal_cdf(const Big& x) { return scaled(erfc(-x / sqrt(Big(2))), -1); }
inline Big normal_pdf(const Big& x) { return exp(-scaled(x * x, -1)) / sqrt(2 * pi()); }

/// Halley's method on the distribution function, from Abramowitz and Stegun's 26.2.23 (absolute error 4.5e-4).
inline Big normal_icdf(const Big& p) {
  if (p.is_nan() || p < 0 || p > 1) return nan();
  if (p.is_zero()) return -1 / abs(p);
  if (p == 1) return 1 / Big(0);
  if (p == 0.5) return Big(0);
  const bool upper = p > 0.5;
  const Big tail = upper ? 1 - p : p;
  const Big t = sqrt(-2 * log(tail));
  Big x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 4; ++i) {
    const Big f = (normal_cdf(x) - tail) / normal_pdf(x);
    x = x - f / (1 + scaled(x * f, -1));
  }
  return upper ? -x : x;
}

// ---- gamma -----------------------------------------------------------------------------------------------------------

/// Abramowitz and Stegun 6.4.6, 6.4.7, 6.4.12: recurrence up to 40, then the asymptotic series.
inline Big trigamma(const Big& x) {
  if (x.is_nan()) return x;
  if (x < 0.5) {
    if (x.is_inf()) return nan();
    const Big s = sin(pi() * (x - rint_even(x)));
    return pi() * pi() / (s * s) - trigamma(1 - x);
  }
  static constexpr double numerators[] = {1, -1, 1, -1, 5, -691, 7, -3617, 43867, -174611, 854513, -236364091, 8553103};
  static constexpr double denominators[] = {6, 30, 42, 30, 66, 2730, 6, 510, 798, 330, 138, 2730, 6};  // Bernoulli, B2k
  Big sum = 0, z = x;
  while (z < 60) {
    sum = sum + 1 / (z * z);
    z = z + 1;
  }
  const Big inverse = 1 / z, square = inverse * inverse;
  sum = sum + inverse + scaled(square, -1);
  Big power = inverse;
  for (int k = 0; k < 13; ++k) {
    power = power * square;
    sum = sum + power * numerators[k] / denominators[k];
  }
  return sum;
}

// ---- powers ----------------------------------------------------------------------------------------------------------

inline Big pow_slope(const Big& a, const Big& b) {
  if (b.is_zero()) return 0;
  // b - 1 may round to a whole number where b isn't one.
  const bool root = a.is_negative() && b.is_finite() && !(rint_even(b) == b);
  if (root && a < 0 && a.is_finite()) return nan();
  if (abs(b) > 0x1p60 && b.is_finite()) return b * copysign(pow(abs(a), b - 1), a);  // b is even
  return b * pow(root ? -a : a, b - 1);
}
inline Big pow_log_slope(const Big& a, const Big& b) {
  if (a.is_zero() && b.is_zero()) return nan();
  const Big y = pow(a, b);
  return y.is_zero() && a >= 0 ? Big(0) : log(a) * y;
}
inline Big hypot_slope(const Big& x, const Big& length) { return length.is_zero() ? Big(0) : x / length; }
/// Computed from the length, to its last places, also where it is subnormal; and anything where the length overflows.
inline Big hypot_slope_scale(const Big& x, const Big& length) {
  const Big slope = abs(hypot_slope(x, length));
  if (length > Big::largest) return Big::largest;
  return length < Big::smallest_normal ? slope * Big::smallest_normal / length : slope;
}
inline Big atan2_scale(const Big& a, const Big& b, const Big& slope) {
  return larger(abs(slope), Big::smallest_normal / larger(abs(a), abs(b)));
}

/// The limit 0 at infinity included.
inline Big sinc(const Big& x) { return x.is_zero() ? Big(1) : x.is_inf() ? Big(0) : sin(x) / x; }
inline Big sinc_slope(const Big& x) {
  if (x.is_inf()) return 0;
  if (abs(x) < 0x1p-10) {
    const Big z = x * x;
    return -x * (Big(1) / 3 - z * (Big(1) / 30 - z * (Big(1) / 840 - z * (Big(1) / 45360 - z / 3991680))));
  }
  return (cos(x) - sin(x) / x) / x;
}

// ---- any number of operands ------------------------------------------------------------------------------------------

namespace nary {

using Bigs = std::span<const Big>;

inline std::vector<Big> sum(Bigs x) {
  Big s = x.empty() ? Big(0) : x[0];
  for (std::size_t i = 1; i < x.size(); ++i) s = s + x[i];
  return {s};
}
inline Big sum_of_size(Bigs x) {
  Big s = 0;
  for (const Big& v : x) s = s + abs(v);
  return s;
}
inline std::vector<Big> sum_of_sizes(Bigs x) { return {sum_of_size(x)}; }
inline Big prod_of_others(Bigs x, std::size_t, std::size_t skip) {
  Big p = 1;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i != skip) p = p * x[i];
  return p;
}
inline std::vector<Big> prod(Bigs x) { return {prod_of_others(x, 0, x.size())}; }
/// Of those that are numbers: a slope is the product of the others.
inline Big prod_of_large(Bigs x) {
  Big p = 1;
  for (const Big& v : x)
    if (!v.is_nan()) p = p * larger(abs(v), 1);
  return p;
}
/// A product of some factors that is subnormal has lost digits, which the large ones among the others bring to light.
inline Big prod_partial_scale(Bigs x, std::size_t j, std::size_t i) {
  return larger(abs(prod_of_others(x, j, i)), Big::smallest_normal * prod_of_large(x));
}
inline std::vector<Big> prod_scale(Bigs x) { return {prod_partial_scale(x, 0, x.size())}; }

inline Big largest(Bigs x) {
  Big m = x[0];
  for (const Big& v : x)
    if (v.is_nan() || m < v) m = v;
  return m;
}
/// exp(x[i] - largest), 1 for an infinite largest itself.
inline std::vector<Big> weights(Bigs x) {
  const Big m = largest(x);
  std::vector<Big> w;
  for (const Big& v : x) w.push_back(v == m ? Big(1) : exp(v - m));
  return w;
}
inline std::vector<Big> softmax(Bigs x) {
  const Big m = largest(x);
  std::vector<Big> w = weights(x);
  const Big total = sum(w)[0];
  for (Big& v : w) v = m.is_inf() && m < 0 ? nan() : v / total;
  return w;
}
inline Big softmax_of(Bigs x, std::size_t, std::size_t i) {
  const Big m = largest(x);
  return m.is_inf() && m < 0 ? Big(0) : softmax(x)[i];
}
inline Big softmax_partial(Bigs x, std::size_t j, std::size_t i) {
  const std::vector<Big> y = softmax(x);
  if (i != j) return -(y[i] * y[j]);
  Big others = 0;
  for (std::size_t k = 0; k < y.size(); ++k)
    if (k != i) others = others + y[k];
  return y[i] * others;
}
inline std::vector<Big> logsumexp(Bigs x) {
  const Big m = largest(x);
  if (m.is_inf() || m.is_nan()) return {m};
  std::vector<Big> w = weights(x);
  std::size_t first = 0;
  while (!(x[first] == m)) ++first;
  w[first] = 0;
  return {m + log1p(sum(w)[0])};
}
/// x - largest rounds: a term is off as if its operand were, by half a last place of that.
inline std::vector<Big> logsumexp_scale(Bigs x) {
  const Big m = largest(x);
  if (m.is_inf() || m.is_nan()) return {abs(m)};
  Big others = 0;
  const std::vector<Big> y = softmax(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == m)) others = others + y[i] * (x[i].is_inf() ? Big(1) : 1 + abs(x[i] - m));
  return {abs(m) + abs(logsumexp(x)[0] - m) + others};
}
inline std::vector<Big> dot(Bigs x) {
  Big s = 0;
  for (std::size_t i = 0; i < x.size() / 2; ++i) s = i == 0 ? x[0] * x[x.size() / 2] : s + x[i] * x[x.size() / 2 + i];
  return {s};
}
inline Big dot_of_size(Bigs x) {
  Big s = 0;
  for (std::size_t i = 0; i < x.size() / 2; ++i) s = s + abs(x[i] * x[x.size() / 2 + i]);
  return s;
}
inline std::vector<Big> dot_of_sizes(Bigs x) { return {dot_of_size(x)}; }
inline Big dot_partial(Bigs x, std::size_t, std::size_t i) { return x[(i + x.size() / 2) % x.size()]; }
inline std::vector<Big> sqnorm(Bigs x) {
  Big s = 0;
  for (const Big& v : x) s = s + v * v;
  return {s};
}
/// Infinite if any operand is, as C's hypot, NaN or not.
inline std::vector<Big> norm(Bigs x) {
  Big s = 0;
  for (const Big& v : x) s = hypot(s, v);
  return {s};
}
inline Big norm_slope(Bigs x, std::size_t, std::size_t i) { return hypot_slope(x[i], norm(x)[0]); }
inline Big norm_slope_scale(Bigs x, std::size_t, std::size_t i) { return hypot_slope_scale(x[i], norm(x)[0]); }

inline std::vector<Big> sincos(Bigs x) { return {sin(x[0]), cos(x[0])}; }
inline Big sincos_slope(Bigs x, std::size_t j, std::size_t) { return j == 0 ? cos(x[0]) : -sin(x[0]); }

}  // namespace nary
}  // namespace wengert::test
