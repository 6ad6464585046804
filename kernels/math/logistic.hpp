// Functions built on e^-|x|: the logistic sigmoid and what belongs to it.
#pragma once

#include "kernels/math/exp.hpp"
#include "kernels/math/log.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// 1 / (1 + e^-x). Of the two additions in 1 + power (1 + rest), the one that rounds at the size of the sum is last.
template <Lane V>
WENGERT_INLINE V sigmoid(V x) {
  const ExpReduced<V> a = exp_reduce(-x);
  const V power = exp_power<V>(a.index);
  const V y = V(1) / (max(power, V(1)) + fma(power, exp_rest<true>(a), min(power, V(1))));
  return rare(beyond(x, V(ExpTable<typename V::Real>::ordinary)), y,
              [&] { return select(x > V(0), V(1), exp_everywhere(x)); });
}

template <class Real>
struct UnitLogTable;

// 1/c for c near 1 + i/16 and log c: as in LogTable, each 1/c chosen so that log c is a number almost exactly.
template <>
struct UnitLogTable<double> {
  alignas(64) static constexpr double inverse[16] = {1,
                                                     0x1.e239c1bbfe0bcp-1,
                                                     0x1.c7897180afd84p-1,
                                                     0x1.af3e6479f1643p-1,
                                                     0x1.99a688e22be7ep-1,
                                                     0x1.863d788ead772p-1,
                                                     0x1.7442316dbf804p-1,
                                                     0x1.63f5c4c04febap-1,
                                                     0x1.55291a5252541p-1,
                                                     0x1.47c847c9e14bbp-1,
                                                     0x1.3b502db457325p-1,
                                                     0x1.2f71a03b55892p-1,
                                                     0x1.2497769837505p-1,
                                                     0x1.1a8eb5091334ep-1,
                                                     0x1.10df1dd92398ep-1,
                                                     0x1.08559299a1f81p-1};
  alignas(64) static constexpr double log_c[16] = {0,
                                                   0x1.eacdb6a9ef27ep-5,
                                                   0x1.de9beec2f277cp-4,
                                                   0x1.5f8aac6fe60b6p-3,
                                                   0x1.c8bed1143332dp-3,
                                                   0x1.161472e4ce595p-2,
                                                   0x1.4662b6e005954p-2,
                                                   0x1.743af5dd88305p-2,
                                                   0x1.9fb6f86ea233fp-2,
                                                   0x1.c8ad9f68945f9p-2,
                                                   0x1.f064744ce462ep-2,
                                                   0x1.0bd7701c2860cp-1,
                                                   0x1.1e7ce671292d9p-1,
                                                   0x1.305acc40b6723p-1,
                                                   0x1.4236af1f312b2p-1,
                                                   0x1.527d07c12851ep-1};
};
template <>
struct UnitLogTable<float> {
  alignas(64) static constexpr float inverse[16] = {1,
                                                    0x1.e227b8p-1f,
                                                    0x1.c75b5ap-1f,
                                                    0x1.af5508p-1f,
                                                    0x1.99a968p-1f,
                                                    0x1.8649f8p-1f,
                                                    0x1.741028p-1f,
                                                    0x1.63e294p-1f,
                                                    0x1.55a116p-1f,
                                                    0x1.4764fp-1f,
                                                    0x1.3b544ep-1f,
                                                    0x1.2f7f74p-1f,
                                                    0x1.24c974p-1f,
                                                    0x1.1a5a5cp-1f,
                                                    0x1.10d74p-1f,
                                                    0x1.082812p-1f};
  alignas(64) static constexpr float log_c[16] = {0,
                                                  0x1.ec002ap-5f,
                                                  0x1.e03a74p-4f,
                                                  0x1.5f1f2cp-3f,
                                                  0x1.c8b076p-3f,
                                                  0x1.15f3a8p-2f,
                                                  0x1.46ec64p-2f,
                                                  0x1.74722cp-2f,
                                                  0x1.9e4f16p-2f,
                                                  0x1.c9e428p-2f,
                                                  0x1.f0570ep-2f,
                                                  0x1.0bc01cp-1f,
                                                  0x1.1e2574p-1f,
                                                  0x1.30b9bp-1f,
                                                  0x1.424572p-1f,
                                                  0x1.52d532p-1f};
};

/// log1p(t) + more for 0 <= t <= 1, given `near`, within 3% of t: there is no exponent to take apart, 1 + t is never
/// rounded, and the table needn't wait for t.
template <Lane V>
WENGERT_INLINE V log1p_unit(V t, V near, V more) {
  using T = UnitLogTable<typename V::Real>;
  const auto index = bits(min(near, V(0.96)) + V(round_to_16th<V>));  // near * 16 to the nearest of 0 ... 15
  const V inverse = lookup16<V>(T::inverse, index);
  const V r = fma(t, inverse, inverse - V(1));
  return (more + lookup16<V>(T::log_c, index)) + log1p_rest(r, r);
}

/// log1p(e^x) + more for -ExpTable::ordinary <= x <= 0.
template <Lane V>
WENGERT_INLINE V log1p_exp_ordinary(V x, V more) {
  const ExpReduced<V> a = exp_reduce(x);
  const V power = exp_power<V>(a.index);
  return log1p_unit(fma(power, exp_rest(a), power), power, more);
}
template <Lane V>
WENGERT_INLINE V log1p_exp_everywhere(V x, V more) {
  const V t = exp_everywhere(x);
  return log1p_unit(t, t, more);
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|).
template <Lane V>
WENGERT_INLINE V softplus(V x) {
  const V a = minus_abs(x), positive = max(V(0), x);  // keeps NaN
  return rare(below(a, V(-ExpTable<typename V::Real>::ordinary)), log1p_exp_ordinary(a, positive),
              [&] { return log1p_exp_everywhere(a, positive); });
}

/// log(e^a + e^b) = max(a, b) + log1p(e^-|a - b|).
template <Lane V>
WENGERT_INLINE V logaddexp(V a, V b) {
  const V difference = minus_abs(a - b), larger = max(a, b);
  return rare(below(difference, V(-ExpTable<typename V::Real>::ordinary)), log1p_exp_ordinary(difference, larger),
              [&] { return select(a == b, a, log1p_exp_everywhere(difference, larger)); });  // both infinite
}

/// log(x / (1 - x)). The quotient is taken to twice the precision, for where it is near 1.
template <Lane V>
WENGERT_INLINE V logit(V x) {
  const Pair<V> rest = fast_two_sum(V(1), -x);
  const V q = x / rest.hi;
  // (x - q (1 - x)) / (1 - x), and 1 / (1 - x) = 1 + q.
  const V low = fma(-q, rest.lo, fma(-q, rest.hi, x)) * (V(1) + q);
  return rare(not_normal_below(q, V(scaled_limit<V>)), log_of_pair(Pair<V>{q, low}), [&] { return log_everywhere(q); });
}

/// log(1 - e^-x), x > 0. 1 - e^-x is a sum to twice the precision, so neither end cancels and no branch is needed.
template <Lane V>
WENGERT_INLINE V log1mexp(V x) {
  const ExpReduced<V> a = exp_reduce(-x);
  const V power = exp_power<V>(a.index), rest = expm1_rest(a);
  const Pair<V> top = fast_two_sum(V(1), -power);
  const V hi = fma(-power, rest, top.hi), lo = fma(-power, rest, top.hi - hi) + top.lo;
  const auto odd = not_normal_below(hi, V(scaled_limit<V>)) | beyond(x, V(ExpTable<typename V::Real>::ordinary));
  return rare(odd, log_of_pair(Pair<V>{hi, lo}),
              [&] { return select(x > V(1), -exp_everywhere(-x), log_everywhere(select(x < V(0), x, hi))); });
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
