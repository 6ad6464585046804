// What the formulas of the op table call besides the elementary functions: constants, and the slopes of kinks.
// The rules are those of docs/numerics.md.
#pragma once

#include "kernels/chain.hpp"
#include "kernels/math/math.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <class V>
WENGERT_INLINE V nan() {
  return V(Format<typename V::Real>::nan);
}
template <class V>
WENGERT_INLINE V inf() {
  return V(Format<typename V::Real>::inf);
}

/// The slope of what is constant piece by piece: 0, NaN at NaN.
template <Lane V>
WENGERT_INLINE V flat(V x) {
  return select(isnan(x), x, V(0));
}

/// -1, 0 or 1; zeros keep their sign, NaN stays.
template <Lane V>
WENGERT_INLINE V sign(V x) {
  return select(x > V(0), V(1), select(x < V(0), V(-1), x));
}

/// b, but +0 for NaN, whose sign is the compiler's choice: what copysign may look at.
template <Lane V>
WENGERT_INLINE V known_sign(V b) {
  return select(isnan(b), V(0), b);
}

/// Slope of max in its first operand: 1 where a is larger, `tie` where both are equal.
template <Lane V>
WENGERT_INLINE V larger_slope(V a, V b, V tie) {
  return select(b < a, V(1), select(a < b, V(0), select(a == b, tie, nan<V>())));
}

/// Slope of fmax in its first operand: as max, but a NaN operand counts as absent.
template <Lane V>
WENGERT_INLINE V fmax_slope(V a, V b, V tie) {
  const V both = larger_slope(a, b, tie);
  return select(isnan(a) & !isnan(b), V(0), select(isnan(b) & !isnan(a), V(1), both));
}

/// Slopes of clamp(x, low, high) in x, low and high. At a bound, the bound has it.
template <Lane V>
WENGERT_INLINE V clamp_slope(V x, V low, V high) {
  const V inside = select((low < x) & (x < high), V(1), V(0));
  return select(isnan(x) | isnan(low) | isnan(high), nan<V>(), inside);
}
template <Lane V>
WENGERT_INLINE V low_slope(V x, V low, V high) {
  return select(isnan(x) | isnan(low) | isnan(high), nan<V>(), select(x <= low, V(1), V(0)));
}
template <Lane V>
WENGERT_INLINE V high_slope(V x, V low, V high) {
  return select(isnan(x) | isnan(low) | isnan(high), nan<V>(), select((high <= x) & !(x <= low), V(1), V(0)));
}

/// d/da of logaddexp(a, b): sigmoid(a - b). In the tail an error in the difference would be one in the logarithm of the
/// slope, so what rounding took from it is put back. 1/2 each where both are equal, +inf too; 0 where both are -inf.
template <Lane V>
WENGERT_INLINE V logaddexp_slope(V a, V b) {
  const Pair<V> difference = two_sum(a, -b);
  const V slope = sigmoid(select(a == b, V(0), difference.hi));
  const V rest = slope * (difference.lo * sigmoid(-difference.hi));
  const V whole = select(isfinite(rest), slope + rest, slope);
  return select((a == b) & (a == -inf<V>()), V(0), whole);
}

/// d/db of xlogy(a, b): a / b, but 0 where a is 0; b = -0 is 0.
template <Lane V>
WENGERT_INLINE V xlogy_slope(V a, V b) {
  const V quotient = select(b < V(0), nan<V>(), a / abs(b));
  return select((a == V(0)) & !isnan(b), V(0), quotient);
}

/// Slope of exp2: y ln 2, which may be finite where y has overflown.
template <Lane V>
WENGERT_INLINE V exp2_slope(V x, V y) {
  return rare(isinf(y), y * V(static_cast<typename V::Real>(0.6931471805599453)),
              [&] { return exp2(x - V(1)) * V(static_cast<typename V::Real>(1.3862943611198906)); });
}

/// Slope of atan: 1 / (1 + x^2), as (1/x)^2 where the square drowns the 1, so that it can't overflow.
template <Lane V>
WENGERT_INLINE V atan_slope(V x) {
  const auto far = abs(x) > V(static_cast<typename V::Real>(is_f64<V> ? 0x1p27 : 0x1p13));
  const V r = V(1) / select(far, x, fma(x, x, V(1)));
  return select(far, r * r, r);
}

/// n / (a^2 + b^2), without a square. 0 where an operand is infinite, NaN at the origin.
template <Lane V>
WENGERT_INLINE V atan2_slope(V n, V a, V b) {
  using Real = typename V::Real;
  const V r = hypot(a, b);
  const auto extreme = !((r > V(static_cast<Real>(is_f64<V> ? 0x1p-900 : 0x1p-100))) &
                         (r < V(static_cast<Real>(is_f64<V> ? 0x1p1000 : 0x1p120))));
  return rare(extreme, (n / r) / r, [&] {
    const V by = select(r > V(1), V(static_cast<Real>(is_f64<V> ? 0x1p-200 : 0x1p-40)),
                        V(static_cast<Real>(is_f64<V> ? 0x1p200 : 0x1p40)));
    const V scaled = hypot(a * by, b * by);
    const V slope = ((n * by) / scaled) / scaled * by;
    return select(isinf(scaled) & !isnan(a) & !isnan(b), V(0), slope);
  });
}

/// The whole number that fmod or remainder y of a by b left out: (a - y) / b, where a - y may overflow.
template <Lane V>
WENGERT_INLINE V whole_quotient(V a, V b, V y) {
  return rint(a / b - y / b);
}

/// b a^(b - 1) where b - 1 isn't `minus_1.hi` exactly or a^minus_1.hi, `power`, isn't normal: a^lo is 1 + lo log a, and
/// half the exponent twice over- or underflows only if the slope does.
template <Lane V>
WENGERT_NOINLINE V pow_slope_carefully(V a, V b, Pair<V> minus_1, V rounded_power) {
  const V size = abs(a);
  const auto finite_b = isfinite(b), ordinary_a = (size > V(0)) & isfinite(a) & finite_b;
  // An even b may be so large that b - 1 rounds to an even number too.
  const V power = select((minus_1.lo != V(0)) & (rint(b) == b) & finite_b, copysign(rounded_power, a), rounded_power);
  const auto normal = (abs(power) >= V(FormatOf<V>::min_normal)) & isfinite(power);
  const V half = pow(size, minus_1.hi * V(0.5));
  const V slope = select(normal | !ordinary_a, b * power, flip_sign(b * half * half, power));
  const V exact = select(ordinary_a & isfinite(slope), fma(slope, minus_1.lo * log(size), slope), slope);
  // And b - 1 may round to a whole number where b isn't one.
  const auto root = signbit(a) & (rint(b) != b);
  return select(isnan(power), power, select(root, select(ordinary_a, nan<V>(), b * abs(power)), exact));
}

/// d/da of pow(a, b): b * pow(a, b - 1), but 0 where b is 0, whatever a is.
template <Lane V>
WENGERT_INLINE V pow_slope(V a, V b) {
  const Pair<V> minus_1 = two_sum(b, V(-1));
  const V power = pow(a, minus_1.hi);
  const auto normal = (abs(power) >= V(FormatOf<V>::min_normal)) & isfinite(power);
  const V slope =
      rare((!normal) | (minus_1.lo != V(0)), b * power, [&] { return pow_slope_carefully(a, b, minus_1, power); });
  return select(b == V(0), V(0), slope);
}

/// d/db of pow(a, b): log(a) * pow(a, b). 0 where the power vanishes for a >= 0 (a = 0 < b among them), NaN at (0, 0) and
/// for a < 0.
template <Lane V>
WENGERT_INLINE V pow_log_slope(V a, V b, V y) {
  const V slope = select((y == V(0)) & (a >= V(0)), V(0), log(a) * y);
  return select((a == V(0)) & (b == V(0)), nan<V>(), slope);
}

/// 1 / cosh(x)^2 = 4 t / (1 + t)^2 with t = exp(-2|x|): nothing overflows, nothing cancels.
template <Lane V>
WENGERT_INLINE V sech2(V x) {
  const V t = exp(V(-2) * abs(x));
  const V r = V(1) / (V(1) + t);
  return (V(4) * t) * (r * r);
}

/// Slope of normal_icdf: 1 / normal_pdf(y), by the tail's own probability q and Mills' ratio, since in the tail the
/// density magnifies an error of y. (pdf/q is sqrt(2/pi) / erfcx(|y|/sqrt 2).)
template <Lane V>
WENGERT_INLINE V normal_icdf_slope(V x, V y) {
  const V q = select(x < V(0.5), x, V(1) - x);
  const V ratio = erfcx(abs(y) * V(static_cast<typename V::Real>(0.7071067811865476)));
  return select(q == V(0), inf<V>(), V(static_cast<typename V::Real>(1.2533141373155003)) * ratio / q);
}

/// The largest operand of an n-ary op, NaN if any is.
template <class V, class Io>
WENGERT_INLINE V largest(Io& io) {
  V m = io.x(0);
  for (std::uint32_t i = 1; i < io.n(); ++i) {
    const V x = io.x(i);
    m = select((m < x) | isnan(x), x, m);
  }
  return m;
}

/// The same where what follows is NaN anyway if an operand is.
template <class V, class Io>
WENGERT_INLINE V highest(Io& io) {
  V m = io.x(0);
  for (std::uint32_t i = 1; i < io.n(); ++i) m = max(m, io.x(i));
  return m;
}

/// x - m for the largest operand m: 0 for the largest itself, an infinite one too.
template <Lane V>
WENGERT_INLINE V shifted(V x, V m) {
  return select(x == m, V(0), x - m);
}

/// Sum of exp(x - m) over all operands but one that equals the largest, m: so 1 + rest is the whole, and log1p(rest) its
/// logarithm without loss.
template <class V, class Io>
WENGERT_INLINE V rest(Io& io, V m) {
  V sum(0);
  auto found = m != m;  // nowhere yet (NaN lanes come out NaN)
  for (std::uint32_t i = 0; i < io.n(); ++i) {
    const V x = io.x(i);
    const auto largest_one = (x == m) & !found;
    found = found | largest_one;
    sum = sum + select(largest_one, V(0), exp(shifted(x, m)));
  }
  return sum;
}

// A sum of squares strictly between these lost nothing to under- or overflow that matters.
template <class V>
inline constexpr typename V::Real norm_low = is_f64<V> ? typename V::Real(0x1p-900) : typename V::Real(0x1p-90);
template <class V>
inline constexpr typename V::Real norm_high = Format<typename V::Real>::inf;

/// How many operands are infinite.
template <class V, class Io>
WENGERT_INLINE V infinities(Io& io) {
  V count(0);
  for (std::uint32_t i = 0; i < io.n(); ++i) count = count + select(isinf(io.x(i)), V(1), V(0));
  return count;
}

/// The norm where squares over- or underflow: operands scaled by a power of two first.
template <class V, class Io>
WENGERT_INLINE V scaled_norm(Io& io) {
  constexpr bool f64 = is_f64<V>;
  V m(0);
  for (std::uint32_t i = 0; i < io.n(); ++i) {
    const V x = abs(io.x(i));
    m = select((m < x) | isnan(x), x, m);
  }
  const V up(static_cast<typename V::Real>(f64 ? 0x1p600 : 0x1p90));
  const V down(static_cast<typename V::Real>(f64 ? 0x1p-600 : 0x1p-90));
  const auto large = m > V(1);
  const V by = select(large, down, up), back = select(large, up, down);
  V s(0);
  for (std::uint32_t i = 0; i < io.n(); ++i) {
    const V x = io.x(i) * by;
    s = fma(x, x, s);
  }
  return select(infinities<V>(io) > V(0), inf<V>(), sqrt(s) * back);
}

/// Slope of norm in x: x / y. 0 at the origin; along a single infinite operand 1, and no limit where there are more.
template <Lane V>
WENGERT_INLINE V norm_slope(V x, V y, V infinite) {
  return rare((y == V(0)) | isinf(y), x / y, [&] {
    const V at_infinity = select(isinf(x), select(infinite == V(1), copysign(V(1), x), nan<V>()), x / y);
    return select(y == V(0), V(0), at_infinity);
  });
}

template <Lane V>
WENGERT_INLINE V hypot_slope(V x, V other, V y) {
  const V infinite = select(isinf(x), V(1), V(0)) + select(isinf(other), V(1), V(0));
  return norm_slope(x, y, infinite);
}
template <Lane V>
WENGERT_INLINE V hypot_slope(V x, V other, V third, V y) {
  const V infinite = select(isinf(x), V(1), V(0)) + select(isinf(other), V(1), V(0)) + select(isinf(third), V(1), V(0));
  return norm_slope(x, y, infinite);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
