// sin, cos, both at once, tan, and sinc(x) = sin(x) / x with its slope.
//
// After the reduction of angle.hpp, a polynomial in r^2 for the sine or the cosine of r, as q says. Where one of these
// is divided, it is carried as a pair, so that the quotient is rounded but once. Minimax coefficients: computed with
// Sollya's fpminimax.
#pragma once

#include "kernels/math/angle.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// By powers of r^2: (sin(r) / r - 1) / r^2, (cos(r) - 1) / r^2 for |r| <= pi / 4, (cos(r) - sin(r) / r) / r^2 for |r| <= 1.
template <class Real>
struct Sine;
template <>
struct Sine<double> {
  static constexpr int terms = 7;
  static constexpr double sin[terms] = {-0x1.5555555555555p-3, 0x1.111111111101ep-7,   -0x1.a01a019fe8844p-13,
                                        0x1.71de3a103127ap-19, -0x1.ae63f7f22236ep-26, 0x1.60e5c000b3a86p-33,
                                        -0x1.8d49f2c4d1c56p-41};
  static constexpr double cos[terms] = {-0x1p-1,
                                        0x1.5555555555552p-5,
                                        -0x1.6c16c16c15f4cp-10,
                                        0x1.a01a019e08c8ap-16,
                                        -0x1.27e4f8fef5943p-22,
                                        0x1.1eea9007737c6p-29,
                                        -0x1.90022e8f2c749p-37};
  static constexpr double slope[terms] = {-0x1.5555555555555p-2, 0x1.111111111108fp-5,   -0x1.38138138068b6p-10,
                                          0x1.71de3a441ef45p-16, -0x1.0cfeaa8e2a1b7p-22, 0x1.08d33eaa61a58p-29,
                                          -0x1.7308049aeadb9p-37};
};
template <>
struct Sine<float> {
  static constexpr int terms = 4;
  static constexpr float sin[terms] = {-0x1.555556p-3f, 0x1.111198p-7f, -0x1.a0826ep-13f, 0x1.871d1ep-19f};
  static constexpr float cos[terms] = {-0x1p-1f, 0x1.55554ep-5f, -0x1.6c0e58p-10f, 0x1.9a78acp-16f};
  static constexpr float slope[terms] = {-0x1.555556p-2f, 0x1.111122p-5f, -0x1.380b22p-10f, 0x1.6b4c96p-16f};
};

/// c[first] + c[first + 1] z + ...
template <int first = 0, Lane V>
WENGERT_INLINE V polynomial(V z, const typename V::Real (&c)[Sine<typename V::Real>::terms]) {
  V p(c[Sine<typename V::Real>::terms - 1]);
  for (int i = Sine<typename V::Real>::terms - 2; i >= first; --i) p = fma(p, z, V(c[i]));
  return p;
}

template <Lane V>
WENGERT_INLINE typename V::Mask is_even(typename V::Int q) {
  return (q & typename V::Int(1)) == typename V::Int(0);
}
/// a, negated in the second half of each turn of q quarters.
template <Lane V>
WENGERT_INLINE V with_sign_of_turn(V a, typename V::Int q) {
  return flip_sign(a, from_bits<V>(shl<(is_f64<V> ? 62 : 30)>(q)));
}

/// sin of an angle, r_lo left out. One evaluation serves both polynomials: the coefficients are selected.
template <Lane V>
WENGERT_INLINE V sine(Angle<V> a) {
  using C = Sine<typename V::Real>;
  const auto even = is_even<V>(a.turns);
  const V z = a.r * a.r;
  V p = select(even, V(C::sin[C::terms - 1]), V(C::cos[C::terms - 1]));
  for (int i = C::terms - 2; i >= 0; --i) p = fma(p, z, select(even, V(C::sin[i]), V(C::cos[i])));
  const V first = select(even, a.r, V(1));
  return with_sign_of_turn(fma(first * z, p, first), a.turns);
}

/// sin(r + r_lo) and cos(r + r_lo), to about 57 bits (float: 28), more for small r.
template <Lane V>
WENGERT_INLINE void sine_pairs(Angle<V> a, Pair<V>& s, Pair<V>& c) {
  using C = Sine<typename V::Real>;
  const Pair<V> z = two_prod(a.r, a.r);
  const V s_rest = a.r * z.hi * polynomial(z.hi, C::sin), half = V(0.5) * z.hi;
  c = fast_two_sum(V(1), -half);
  s = fast_two_sum(a.r, fma(a.r_lo, c.hi, s_rest));
  c.lo = c.lo + fma(z.hi * z.hi, polynomial<1>(z.hi, C::cos), fma(V(-0.5), z.lo, -(a.r * a.r_lo)));
}
/// The pair of sin and cos of a whole angle.
template <Lane V>
WENGERT_INLINE void turned_pairs(Angle<V> a, Pair<V>& s, Pair<V>& c) {
  Pair<V> s0, c0;
  sine_pairs(a, s0, c0);
  using Int = typename V::Int;
  const auto even = is_even<V>(a.turns);
  const Int next = a.turns + Int(1);
  s = {with_sign_of_turn(select(even, s0.hi, c0.hi), a.turns), with_sign_of_turn(select(even, s0.lo, c0.lo), a.turns)};
  c = {with_sign_of_turn(select(even, c0.hi, s0.hi), next), with_sign_of_turn(select(even, c0.lo, s0.lo), next)};
}
/// a / b, the pair not brought into order.
template <Lane V>
WENGERT_INLINE Pair<V> quotient(Pair<V> a, Pair<V> b) {
  const V inverse = V(1) / b.hi, q = a.hi * inverse;
  return {q, (fma(-q, b.hi, a.hi) + fma(-q, b.lo, a.lo)) * inverse};
}

template <Lane V>
WENGERT_INLINE V tangent(Angle<V> a) {
  Pair<V> s, c;
  sine_pairs(a, s, c);
  c = fast_two_sum(c.hi, c.lo);
  const auto even = is_even<V>(a.turns);
  const Pair<V> q = quotient(Pair<V>{select(even, s.hi, -c.hi), select(even, s.lo, -c.lo)},
                             Pair<V>{select(even, c.hi, s.hi), select(even, c.lo, s.lo)});
  return q.hi + q.lo;
}
template <Lane V>
WENGERT_INLINE V sinc_at(V x, Angle<V> a) {
  Pair<V> s, c;
  turned_pairs(a, s, c);
  const Pair<V> q = quotient(s, Pair<V>{x, V(0)});
  return q.hi + q.lo;
}
template <Lane V>
WENGERT_INLINE V sinc_slope_at(V x, Angle<V> a) {
  Pair<V> s, c;
  turned_pairs(a, s, c);
  const Pair<V> q = quotient(s, Pair<V>{x, V(0)});
  const Pair<V> difference = two_sum(c.hi, -q.hi);
  return (difference.hi + (difference.lo + (c.lo - q.lo))) / x;
}

// Out of line, so that a loop over near arguments carries a call only.
template <int shift, Lane V>
WENGERT_NOINLINE V far_sine(V x) {
  using D = Vec<double, 1>;
  return far_lanes(x, [](D, Angle<D> a) {
    a.turns = a.turns + D::Int(shift);
    return sine(a);
  });
}
template <Lane V>
WENGERT_NOINLINE V far_tangent(V x) {
  using D = Vec<double, 1>;
  return far_lanes(x, [](D, Angle<D> a) { return tangent(a); });
}
template <Lane V>
WENGERT_NOINLINE V far_sinc(V x) {
  using D = Vec<double, 1>;
  return far_lanes(x, [](D lane, Angle<D> a) { return sinc_at(lane, a); });
}
template <Lane V>
WENGERT_NOINLINE V far_sinc_slope(V x) {
  using D = Vec<double, 1>;
  return far_lanes(x, [](D lane, Angle<D> a) { return sinc_slope_at(lane, a); });
}

/// sin(x); NaN at +-inf.
template <Lane V>
WENGERT_INLINE V sin(V x) {
  const V size = abs(x);
  const V y = rare(beyond(size, V(near_limit<V>)), sine(near_angle<0>(size)), [=] { return far_sine<0>(size); });
  return flip_sign(y, x);
}

/// cos(x); NaN at +-inf.
template <Lane V>
WENGERT_INLINE V cos(V x) {
  const V size = abs(x);
  return rare(beyond(size, V(near_limit<V>)), sine(near_angle<1>(size)), [=] { return far_sine<1>(size); });
}

/// s = sin(x), c = cos(x), with the same bits as these.
template <Lane V>
WENGERT_INLINE void sincos(V x, V& s, V& c) {
  using C = Sine<typename V::Real>;
  const V size = abs(x);
  const Angle<V> a = near_angle<0>(size);
  const auto even = is_even<V>(a.turns);
  const V z = a.r * a.r, s0 = fma(a.r * z, polynomial(z, C::sin), a.r), c0 = fma(z, polynomial(z, C::cos), V(1));
  const V s1 = with_sign_of_turn(select(even, s0, c0), a.turns);
  const V c1 = with_sign_of_turn(select(even, c0, s0), a.turns + typename V::Int(1));
  const auto far = beyond(size, V(near_limit<V>));
  s = flip_sign(rare(far, s1, [=] { return far_sine<0>(size); }), x);
  c = rare(far, c1, [=] { return far_sine<1>(size); });
}

/// tan(x); NaN at +-inf.
template <Lane V>
WENGERT_INLINE V tan(V x) {
  const V size = abs(x);
  const V y = rare(beyond(size, V(near_limit<V>)), tangent(near_angle_pair(size)), [=] { return far_tangent(size); });
  return flip_sign(y, x);
}

/// sin(x) / x; 1 at 0, 0 at +-inf.
template <Lane V>
WENGERT_INLINE V sinc(V x) {
  const V size = abs(x);
  const V y =
      rare(beyond(size, V(near_limit<V>)), sinc_at(size, near_angle_pair(size)), [=] { return far_sinc(size); });
  const V at_ends = select(size == V(FormatOf<V>::inf), V(0), y);
  return select(size < V(is_f64<V> ? 0x1p-28 : 0x1p-13), V(1), at_ends);
}

/// The derivative of sinc, (cos(x) - sinc(x)) / x; 0 at 0 and +-inf.
template <Lane V>
WENGERT_INLINE V sinc_slope(V x) {
  const V size = abs(x);
  const V y = rare(beyond(size, V(near_limit<V>)), sinc_slope_at(size, near_angle_pair(size)),
                   [=] { return far_sinc_slope(size); });
  const V inside = size * polynomial(size * size, Sine<typename V::Real>::slope);
  return select(size == V(FormatOf<V>::inf), V(0), flip_sign(select(size < V(1), inside, y), x));
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
