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
  const auto negative = x < V(0);  // so power is 1 or more, but for rounding
  const V large = select(negative, power, V(1)), small = select(negative, V(1), power);
  const V y = V(1) / (large + fma(power, exp_rest<true>(a), small));
  return rare(beyond(x, V(ExpTable<typename V::Real>::ordinary)), y,
              [&] { return select(x > V(0), V(1), exp_everywhere(x)); });
}

template <class Real>
struct UnitLogTable;

// 1/c for c near 1 + i/15.49 and log c: as in LogTable, each 1/c chosen so that log c is a number almost exactly.
template <>
struct UnitLogTable<double> {
  alignas(64) static constexpr double inverse[16] = {1,
                                                     0x1.e14bce3f2467p-1,
                                                     0x1.c553f82903112p-1,
                                                     0x1.ac9843d784b4fp-1,
                                                     0x1.96e0277639189p-1,
                                                     0x1.8366a161ec308p-1,
                                                     0x1.71041f2bb985p-1,
                                                     0x1.60fb53f184102p-1,
                                                     0x1.5169ee25dd7a5p-1,
                                                     0x1.43ee2f0dd40b6p-1,
                                                     0x1.36d8bf28cd53bp-1,
                                                     0x1.2b66d56769af4p-1,
                                                     0x1.2066ae420394ep-1,
                                                     0x1.164489da6b115p-1,
                                                     0x1.0ce9f80560175p-1,
                                                     0x1.044fd55fac5bbp-1};
  alignas(64) static constexpr double log_c[16] = {0,
                                                   0x1.fa9be76bba531p-5,
                                                   0x1.f284cf228ce81p-4,
                                                   0x1.6c2911d56b49fp-3,
                                                   0x1.d6aa5d55ae6a5p-3,
                                                   0x1.1d8eab384174p-2,
                                                   0x1.4f580ea060e7bp-2,
                                                   0x1.7cd58586dc1e9p-2,
                                                   0x1.ab05df02ac976p-2,
                                                   0x1.d4c874d1c5cc5p-2,
                                                   0x1.ff005fef5cd4ap-2,
                                                   0x1.12b52c7908105p-1,
                                                   0x1.25dfb67614a6cp-1,
                                                   0x1.382ff65446e4fp-1,
                                                   0x1.49b19d6d0049ep-1,
                                                   0x1.5a56e7f985876p-1};
};
template <>
struct UnitLogTable<float> {
  alignas(64) static constexpr float inverse[16] = {1,
                                                    0x1.e0ccd4p-1f,
                                                    0x1.c5125ep-1f,
                                                    0x1.ac9b1ap-1f,
                                                    0x1.96eb86p-1f,
                                                    0x1.82eef8p-1f,
                                                    0x1.715b6ap-1f,
                                                    0x1.6090b6p-1f,
                                                    0x1.51b8c6p-1f,
                                                    0x1.43b15ap-1f,
                                                    0x1.376ca2p-1f,
                                                    0x1.2b85eep-1f,
                                                    0x1.2090e2p-1f,
                                                    0x1.1672d6p-1f,
                                                    0x1.0cd9c4p-1f,
                                                    0x1.040ca6p-1f};
  alignas(64) static constexpr float log_c[16] = {0,
                                                  0x1.018722p-4f,
                                                  0x1.f4d5b8p-4f,
                                                  0x1.6c1b84p-3f,
                                                  0x1.d67124p-3f,
                                                  0x1.1ecb28p-2f,
                                                  0x1.4e65fp-2f,
                                                  0x1.7e0bp-2f,
                                                  0x1.aa16b4p-2f,
                                                  0x1.d588d4p-2f,
                                                  0x1.fd19a8p-2f,
                                                  0x1.128002p-1f,
                                                  0x1.2594dp-1f,
                                                  0x1.37dacep-1f,
                                                  0x1.49d078p-1f,
                                                  0x1.5adb1ep-1f};
};

/// log1p(t) + more for 0 <= t <= 1: no exponent to take apart, and 1 + t is never rounded.
template <Lane V>
WENGERT_INLINE V log1p_unit(V t, V more) {
  using T = UnitLogTable<typename V::Real>;
  const V round_to_1(is_f64<V> ? 0x1.8p52 : 0x1.8p23);
  const auto index = bits(fma(t, V(15.49), round_to_1));  // 0 ... 15
  const V inverse = lookup16<V>(T::inverse, index);
  const V r = fma(t, inverse, inverse - V(1));
  return (more + lookup16<V>(T::log_c, index)) + log1p_rest(r, r);
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|).
template <Lane V>
WENGERT_INLINE V softplus(V x) {
  const V a = -abs(x), positive = select(x > V(0), x, V(0));
  return rare(beyond(x, V(ExpTable<typename V::Real>::ordinary)), log1p_unit(exp_ordinary(a), positive),
              [&] { return log1p_unit(exp_everywhere(a), positive); });
}

/// log(e^a + e^b) = max(a, b) + log1p(e^-|a - b|).
template <Lane V>
WENGERT_INLINE V logaddexp(V a, V b) {
  const V difference = -abs(a - b), larger = select(a < b, b, a);
  return rare(beyond(difference, V(ExpTable<typename V::Real>::ordinary)), log1p_unit(exp_ordinary(difference), larger),
              [&] {
                const V y = log1p_unit(exp_everywhere(difference), larger);
                return select(a == b, a, y);  // both infinite
              });
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
