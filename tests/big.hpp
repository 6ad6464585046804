// Big: a number of MPFR with operators, for reference formulas. Not fast, always right: every operation is correctly
// rounded to `Big::precision` bits, so a formula without cancellation is good to all but a few of them.
#pragma once

#include <mpfr.h>

#include <limits>
#include <utility>

namespace wengert::test {

class Big {
 public:
  /// Bits of every number made from now on.
  static inline mpfr_prec_t precision = 128;
  /// Of the format whose results are judged: a formula that passes through smaller numbers loses digits there.
  static inline double smallest_normal = 0x1p-1022, largest = 0x1.fffffffffffffp1023;

  Big() { mpfr_init2(v_, precision); }
  Big(double x) : Big() { mpfr_set_d(v_, x, MPFR_RNDN); }
  Big(const Big& other) : Big() { mpfr_set(v_, other.v_, MPFR_RNDN); }
  Big(Big&& other) noexcept {
    v_[0] = other.v_[0];
    other.v_[0]._mpfr_d = nullptr;
  }
  Big& operator=(Big other) noexcept {
    std::swap(v_[0], other.v_[0]);
    return *this;
  }
  ~Big() {
    if (v_[0]._mpfr_d) mpfr_clear(v_);
  }

  mpfr_ptr get() { return v_; }
  mpfr_srcptr get() const { return v_; }
  double to_double() const { return mpfr_get_d(v_, MPFR_RNDN); }
  bool is_nan() const { return mpfr_nan_p(v_) != 0; }
  bool is_inf() const { return mpfr_inf_p(v_) != 0; }
  bool is_zero() const { return mpfr_zero_p(v_) != 0; }
  bool is_finite() const { return mpfr_number_p(v_) != 0; }
  bool is_negative() const { return mpfr_signbit(v_) != 0; }
  /// e of |x| = m 2^e, m in [1/2, 1). For finite x other than 0.
  long exponent() const { return mpfr_get_exp(v_); }

  friend bool operator<(const Big& a, const Big& b) { return mpfr_less_p(a.v_, b.v_) != 0; }
  friend bool operator>(const Big& a, const Big& b) { return mpfr_greater_p(a.v_, b.v_) != 0; }
  friend bool operator<=(const Big& a, const Big& b) { return mpfr_lessequal_p(a.v_, b.v_) != 0; }
  friend bool operator>=(const Big& a, const Big& b) { return mpfr_greaterequal_p(a.v_, b.v_) != 0; }
  friend bool operator==(const Big& a, const Big& b) { return mpfr_equal_p(a.v_, b.v_) != 0; }

 private:
  mpfr_t v_;
};

#define WENGERT_BIG1(name, function)       \
  inline Big name(const Big& x) {          \
    Big r;                                 \
    function(r.get(), x.get(), MPFR_RNDN); \
    return r;                              \
  }
#define WENGERT_BIG2(name, function)                \
  inline Big name(const Big& a, const Big& b) {     \
    Big r;                                          \
    function(r.get(), a.get(), b.get(), MPFR_RNDN); \
    return r;                                       \
  }
WENGERT_BIG2(operator+, mpfr_add)
WENGERT_BIG2(operator-, mpfr_sub)
WENGERT_BIG2(operator*, mpfr_mul)
WENGERT_BIG2(operator/, mpfr_div)
WENGERT_BIG1(operator-, mpfr_neg)
WENGERT_BIG1(abs, mpfr_abs)
WENGERT_BIG1(sqrt, mpfr_sqrt)
WENGERT_BIG1(cbrt, mpfr_cbrt)
WENGERT_BIG1(exp, mpfr_exp)
WENGERT_BIG1(exp2, mpfr_exp2)
WENGERT_BIG1(expm1, mpfr_expm1)
WENGERT_BIG1(log, mpfr_log)
WENGERT_BIG1(log2, mpfr_log2)
WENGERT_BIG1(log10, mpfr_log10)
WENGERT_BIG1(log1p, mpfr_log1p)
WENGERT_BIG1(sin, mpfr_sin)
WENGERT_BIG1(cos, mpfr_cos)
WENGERT_BIG1(tan, mpfr_tan)
WENGERT_BIG1(asin, mpfr_asin)
WENGERT_BIG1(acos, mpfr_acos)
WENGERT_BIG1(atan, mpfr_atan)
WENGERT_BIG1(sinh, mpfr_sinh)
WENGERT_BIG1(cosh, mpfr_cosh)
WENGERT_BIG1(tanh, mpfr_tanh)
WENGERT_BIG1(asinh, mpfr_asinh)
WENGERT_BIG1(acosh, mpfr_acosh)
WENGERT_BIG1(atanh, mpfr_atanh)
WENGERT_BIG1(erf, mpfr_erf)
WENGERT_BIG1(erfc, mpfr_erfc)
WENGERT_BIG1(tgamma, mpfr_gamma)
WENGERT_BIG1(digamma, mpfr_digamma)
WENGERT_BIG1(rint_even, mpfr_rint)  // to nearest, ties to even
WENGERT_BIG2(pow, mpfr_pow)
WENGERT_BIG2(hypot, mpfr_hypot)
WENGERT_BIG2(atan2, mpfr_atan2)
WENGERT_BIG2(fmod, mpfr_fmod)
WENGERT_BIG2(remainder, mpfr_remainder)
WENGERT_BIG2(copysign, mpfr_copysign)
#undef WENGERT_BIG1
#undef WENGERT_BIG2

#define WENGERT_BIG_ROUND(name, function) \
  inline Big name(const Big& x) {         \
    Big r;                                \
    function(r.get(), x.get());           \
    return r;                             \
  }
WENGERT_BIG_ROUND(floor, mpfr_floor)
WENGERT_BIG_ROUND(ceil, mpfr_ceil)
WENGERT_BIG_ROUND(trunc, mpfr_trunc)
WENGERT_BIG_ROUND(round_away, mpfr_round)  // to nearest, ties away from zero
#undef WENGERT_BIG_ROUND

inline Big fma(const Big& a, const Big& b, const Big& c) {
  Big r;
  mpfr_fma(r.get(), a.get(), b.get(), c.get(), MPFR_RNDN);
  return r;
}
inline Big hypot3(const Big& a, const Big& b, const Big& c) { return hypot(hypot(a, b), c); }
/// log |gamma(x)|.
inline Big lgamma(const Big& x) {
  Big r;
  int sign;
  mpfr_lgamma(r.get(), &sign, x.get(), MPFR_RNDN);
  return r;
}
inline Big pi() {
  Big r;
  mpfr_const_pi(r.get(), MPFR_RNDN);
  return r;
}
inline Big larger(const Big& a, const Big& b) { return a < b ? b : a; }
/// x * 2^n.
inline Big scaled(const Big& x, long n) {
  Big r;
  mpfr_mul_2si(r.get(), x.get(), n, MPFR_RNDN);
  return r;
}

/// While it lives, numbers are precise enough to be references for results in Real; exponents overflow early, or
/// gamma(1e15) would be computed in earnest.
template <class Real>
class ReferenceFor {
 public:
  ReferenceFor()
      : bits_(Big::precision),
        low_(mpfr_get_emin()),
        high_(mpfr_get_emax()),
        smallest_(Big::smallest_normal),
        largest_(Big::largest) {
    Big::precision = sizeof(Real) == 8 ? 128 : 80;
    Big::smallest_normal = static_cast<double>(std::numeric_limits<Real>::min());
    Big::largest = static_cast<double>(std::numeric_limits<Real>::max());
    mpfr_set_emin(-20000);
    mpfr_set_emax(20000);
  }
  ~ReferenceFor() {
    Big::precision = bits_;
    Big::smallest_normal = smallest_;
    Big::largest = largest_;
    mpfr_set_emin(low_);
    mpfr_set_emax(high_);
  }
  ReferenceFor(const ReferenceFor&) = delete;
  ReferenceFor& operator=(const ReferenceFor&) = delete;

 private:
  mpfr_prec_t bits_;
  mpfr_exp_t low_, high_;
  double smallest_, largest_;
};

}  // namespace wengert::test
