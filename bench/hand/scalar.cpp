// Level hand: scalar code on libm. Compiled with -O3 -march=native by the project's compiler and, where there is one, by
// the other of g++ and clang++ (bench/meson.build); the level takes the faster of both.
#include <cmath>

#include "bench/hand/all.hpp"

namespace wengert::bench {
namespace {

template <class Real>
struct Number {
  static constexpr std::size_t lanes = 1;
  Real v;

  explicit Number(Real x) : v(x) {}
  static Number load(const Real* p) { return Number(*p); }
  void store(Real* p) const { *p = v; }

  friend Number operator+(Number a, Number b) { return Number(a.v + b.v); }
  friend Number operator-(Number a, Number b) { return Number(a.v - b.v); }
  friend Number operator*(Number a, Number b) { return Number(a.v * b.v); }
  friend Number operator/(Number a, Number b) { return Number(a.v / b.v); }
  friend Number exp(Number x) { return Number(std::exp(x.v)); }
  friend Number expm1(Number x) { return Number(std::expm1(x.v)); }
  friend Number log(Number x) { return Number(std::log(x.v)); }
  friend Number log1p(Number x) { return Number(std::log1p(x.v)); }
  friend Number erfc(Number x) { return Number(std::erfc(x.v)); }
  friend Number sqrt(Number x) { return Number(std::sqrt(x.v)); }
  friend Number abs(Number x) { return Number(std::fabs(x.v)); }
  friend Number max(Number a, Number b) { return a.v < b.v ? b : a; }
  friend Number select_less(Number a, Number b, Number yes, Number no) { return a.v < b.v ? yes : no; }
};
}  // namespace

#if defined(__AVX2__)
#define HAND_AVX2 true
#else
#define HAND_AVX2 false
#endif
#if defined(__AVX512F__)
#define HAND_AVX512 true
#else
#define HAND_AVX512 false
#endif
const HandCode HAND_NAME = {HAND_COMPILER, HAND_AVX2, HAND_AVX512, hand_functions<Number<double>, double>,
                            hand_functions<Number<float>, float>};

}  // namespace wengert::bench
