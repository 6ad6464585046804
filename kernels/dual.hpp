// Dual numbers over lanes: a value and its derivative along one direction. The op table over them gives directional
// derivatives of values (jvp) and, over the reverse sweep, of gradients (hvp): forward over reverse, as in Griewank and
// Walther, "Evaluating Derivatives" (2008), chapter 5.
//
// Value parts have the bits of the plain kernels. Tangents go through chain, everywhere: also inside a partial.
#pragma once

#include "kernels/table.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <Lane V_>
struct Dual {
  using Inner = V_;
  using Real = typename V_::Real;
  using Mask = typename V_::Mask;
  static constexpr int lanes = V_::lanes;
  static constexpr int step = 2 * V_::step;  // in memory: a vector of values, then one of tangents
  V_ v, d;

  Dual() = default;
  WENGERT_INLINE Dual(Real x) : v(x), d(Real(0)) {}
  WENGERT_INLINE Dual(V_ value, V_ tangent) : v(value), d(tangent) {}
  WENGERT_INLINE static Dual load(const Real* p) { return {V_::load(p), V_::load(p + V_::step)}; }
  WENGERT_INLINE void store(Real* p) const {
    v.store(p);
    d.store(p + V_::step);
  }

  WENGERT_INLINE friend Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
  WENGERT_INLINE friend Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
  WENGERT_INLINE friend Dual operator-(Dual a) { return {-a.v, -a.d}; }
  WENGERT_INLINE friend Dual operator*(Dual a, Dual b) {
    return {a.v * b.v, chain(a.d, b.v, false) + chain(b.d, a.v, false)};
  }
  WENGERT_INLINE friend Dual operator/(Dual a, Dual b) {
    const V_ y = a.v / b.v;
    return {y, chain(a.d, V_(1) / b.v, false) + chain(b.d, -(y / b.v), false)};
  }
  WENGERT_INLINE friend Mask operator<(Dual a, Dual b) { return a.v < b.v; }
  WENGERT_INLINE friend Mask operator<=(Dual a, Dual b) { return a.v <= b.v; }
  WENGERT_INLINE friend Mask operator>(Dual a, Dual b) { return a.v > b.v; }
  WENGERT_INLINE friend Mask operator>=(Dual a, Dual b) { return a.v >= b.v; }
  WENGERT_INLINE friend Mask operator==(Dual a, Dual b) { return a.v == b.v; }
  WENGERT_INLINE friend Mask operator!=(Dual a, Dual b) { return a.v != b.v; }
};

template <class T>
inline constexpr bool is_dual = false;
template <class V>
inline constexpr bool is_dual<Dual<V>> = true;
template <class T>
concept DualLane = is_dual<T>;

template <class V>
WENGERT_INLINE typename V::Mask isnan(Dual<V> a) {
  return isnan(a.v);
}
template <class V>
WENGERT_INLINE typename V::Mask isinf(Dual<V> a) {
  return isinf(a.v);
}
template <class V>
WENGERT_INLINE typename V::Mask isfinite(Dual<V> a) {
  return isfinite(a.v);
}
template <class V>
WENGERT_INLINE Dual<V> select(typename V::Mask m, Dual<V> yes, Dual<V> no) {
  return {select(m, yes.v, no.v), select(m, yes.d, no.d)};
}
template <class V, class Slow>
WENGERT_INLINE Dual<V> rare(typename V::Mask m, Dual<V> fast, Slow slow) {
  if (any(m)) [[unlikely]]
    return select(m, slow(), fast);
  return fast;
}

template <class V>
WENGERT_INLINE Dual<V> chain(Dual<V> g, Dual<V> p, bool ieee) {
  return {chain(g.v, p.v, ieee), chain(g.d, p.v, ieee) + chain(g.v, p.d, ieee)};
}

// ---- rows of the table ---------------------------------------------------------------------------------------------

/// tangent * partial; nothing where there is no derivative.
template <class V, class P>
WENGERT_INLINE V along(V tangent, P partial, bool ieee) {
  if constexpr (__is_same(P, None)) return V(typename V::Real(-0.0));
  else return chain(tangent, partial, ieee);
}

/// A fixed-arity row, or a function that only partials call: value and sum of tangents times partials, in slot order.
template <class Row, class V>
WENGERT_INLINE Dual<V> dual_value(Dual<V> a, Dual<V> b, Dual<V> c, V tie, bool ieee) {
  const V y = Row::value(a.v, b.v, c.v);
  V d = along(a.d, Row::d0(a.v, b.v, c.v, y, tie), ieee);
  if constexpr (Row::arity > 1) d = d + along(b.d, Row::d1(a.v, b.v, c.v, y, tie), ieee);
  if constexpr (Row::arity > 2) d = d + along(c.d, Row::d2(a.v, b.v, c.v, y, tie), ieee);
  return {y, d};
}

namespace rows {
#define WENGERT_SLOPE_FORMULA(name_, expression)                                                  \
  template <class V>                                                                              \
  WENGERT_INLINE static V name_([[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c, \
                                [[maybe_unused]] V y, [[maybe_unused]] V tie) {                   \
    [[maybe_unused]] const V x = a;                                                               \
    return expression;                                                                            \
  }
#define WENGERT_SLOPE1(name, dx)               \
  struct name##_ {                             \
    static constexpr int arity = 1;            \
    template <class V>                         \
    WENGERT_INLINE static V value(V a, V, V) { \
      return name(a);                          \
    }                                          \
    WENGERT_SLOPE_FORMULA(d0, dx)              \
  };
#define WENGERT_SLOPE2(name, da, db)             \
  struct name##_ {                               \
    static constexpr int arity = 2;              \
    template <class V>                           \
    WENGERT_INLINE static V value(V a, V b, V) { \
      return name(a, b);                         \
    }                                            \
    WENGERT_SLOPE_FORMULA(d0, da)                \
    WENGERT_SLOPE_FORMULA(d1, db)                \
  };
#include "wengert/ops.def"
#undef WENGERT_SLOPE_FORMULA
}  // namespace rows

// The functions of the table by name, as formulas call them.
#define WENGERT_DUAL_TIE typename D::Inner(typename D::Real(0.5))
#define WENGERT_OP1(name, ...)                                          \
  template <DualLane D>                                                 \
  WENGERT_INLINE D name(D a) {                                          \
    return dual_value<rows::name##_>(a, a, a, WENGERT_DUAL_TIE, false); \
  }
#define WENGERT_OP2(name, ...)                                          \
  template <DualLane D>                                                 \
  WENGERT_INLINE D name(D a, D b) {                                     \
    return dual_value<rows::name##_>(a, b, a, WENGERT_DUAL_TIE, false); \
  }
#define WENGERT_OP3(name, ...)                                          \
  template <DualLane D>                                                 \
  WENGERT_INLINE D name(D a, D b, D c) {                                \
    return dual_value<rows::name##_>(a, b, c, WENGERT_DUAL_TIE, false); \
  }
#define WENGERT_SLOPE1(name, ...) WENGERT_OP1(name)
#define WENGERT_SLOPE2(name, ...) WENGERT_OP2(name)
#include "wengert/ops.def"
#undef WENGERT_DUAL_TIE

// ---- what else formulas call ---------------------------------------------------------------------------------------

// Constant piece by piece: no tangent.
template <class V>
WENGERT_INLINE Dual<V> without_slope(V value) {
  return {value, V(typename V::Real(0))};
}
template <DualLane D>
WENGERT_INLINE D flat(D x) {
  return without_slope(flat(x.v));
}
template <DualLane D>
WENGERT_INLINE D rint(D x) {
  return without_slope(rint(x.v));
}
template <DualLane D>
WENGERT_INLINE D known_sign(D x) {
  return without_slope(known_sign(x.v));
}
template <DualLane D>
WENGERT_INLINE D larger_slope(D a, D b, D tie) {
  return without_slope(larger_slope(a.v, b.v, tie.v));
}
template <DualLane D>
WENGERT_INLINE D fmax_slope(D a, D b, D tie) {
  return without_slope(fmax_slope(a.v, b.v, tie.v));
}
template <DualLane D>
WENGERT_INLINE D clamp_slope(D x, D low, D high) {
  return without_slope(clamp_slope(x.v, low.v, high.v));
}
template <DualLane D>
WENGERT_INLINE D low_slope(D x, D low, D high) {
  return without_slope(low_slope(x.v, low.v, high.v));
}
template <DualLane D>
WENGERT_INLINE D high_slope(D x, D low, D high) {
  return without_slope(high_slope(x.v, low.v, high.v));
}
template <DualLane D>
WENGERT_INLINE D whole_quotient(D a, D b, D y) {
  return without_slope(whole_quotient(a.v, b.v, y.v));
}

/// Weights' common scale is a constant, as it cancels.
template <DualLane D>
WENGERT_INLINE auto exp_shift(D top) {
  return exp_shift(top.v);
}
template <class V>
WENGERT_INLINE Dual<V> shifted_exp(Dual<V> x, ExpShift<V> shift) {
  const V e = shifted_exp(x.v, shift);
  return {e, chain(x.d, e, false)};
}

/// n / (a^2 + b^2).
template <DualLane D>
WENGERT_INLINE D atan2_slope(D n, D a, D b) {
  const auto over = [&](auto x) { return atan2_slope(x, a.v, b.v); };
  const auto q = over(n.v);
  const auto growth = chain(a.d, over(a.v), false) + chain(b.d, over(b.v), false);
  return {q, over(n.d) - (growth + growth) * q};
}

template <DualLane D>
WENGERT_INLINE D pow_log_slope(D a, D b, D y) {
  const D slope = select((y == D(0)) & (a >= D(0)), D(0), log(a) * y);
  return {pow_log_slope(a.v, b.v, y.v), slope.d};
}

/// x / y for a norm y.
template <DualLane D>
WENGERT_INLINE D norm_slope(D x, D y, D infinite) {
  const D quotient = x / y;
  return {norm_slope(x.v, y.v, infinite.v), select(y.v == typename D::Inner(0), typename D::Inner(0), quotient.d)};
}
template <DualLane D>
WENGERT_INLINE D hypot_slope(D x, D other, D y) {
  return {hypot_slope(x.v, other.v, y.v), norm_slope(x, y, D(0)).d};
}
template <DualLane D>
WENGERT_INLINE D hypot_slope(D x, D other, D third, D y) {
  return {hypot_slope(x.v, other.v, third.v, y.v), norm_slope(x, y, D(0)).d};
}
template <DualLane D>
WENGERT_INLINE D hypot(D a, D b, D c) {
  return hypot3(a, b, c);
}

template <DualLane D>
WENGERT_INLINE void sincos(D x, D& s, D& c) {
  typename D::Inner sv, cv;
  sincos(x.v, sv, cv);
  s = {sv, chain(x.d, cv, false)};
  c = {cv, chain(x.d, -sv, false)};
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
