// The functions compared, where, and the points there.
#pragma once

#include <mpfr.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/philox.hpp"

namespace wengert::bench {

using Exact = void (*)(mpfr_ptr, mpfr_srcptr x, mpfr_srcptr y);
template <auto f>
void of_x(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  f(r, x, MPFR_RNDN);
}
template <auto f>
void of_x_and_y(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) {
  f(r, x, y, MPFR_RNDN);
}

struct Range {
  double low, high;          // drawn evenly: timed, and half of the points
  double smallest, largest;  // the other half: a power of 2 between these, of either sign where low < 0
};

struct Function {
  const char* name;
  Exact exact;
  Range f64, f32;
  bool two = false;  // an exponent beside x, in +-9 or wherever the power is normal
};

// Results are normal numbers, and all libraries' functions valid.
inline constexpr Function functions[] = {
    {"exp", of_x<mpfr_exp>, {-700, 700, -60, 9.4}, {-87, 87, -30, 6.4}},
    {"log", of_x<mpfr_log>, {0, 1e6, -1021, 1023}, {0, 1e6, -125, 127}},
    {"log1p", of_x<mpfr_log1p>, {-1, 100, -60, 6.6}, {-1, 100, -30, 6.6}},
    {"tanh", of_x<mpfr_tanh>, {-20, 20, -60, 4.3}, {-10, 10, -30, 3.3}},
    {"sin", of_x<mpfr_sin>, {-100, 100, -60, 6.6}, {-100, 100, -30, 6.6}},
    {"cos", of_x<mpfr_cos>, {-100, 100, -60, 6.6}, {-100, 100, -30, 6.6}},
    {"erf", of_x<mpfr_erf>, {-6, 6, -60, 2.5}, {-4, 4, -30, 2}},
    {"erfc", of_x<mpfr_erfc>, {-6, 26, -60, 4.7}, {-4, 9, -30, 3.1}},
    {"pow", of_x_and_y<mpfr_pow>, {0, 20, -1021, 1023}, {0, 20, -125, 127}, true},
};

template <class Real>
struct Points {
  std::vector<Real> x, y;

  /// `count` of them, a multiple of 16; `sizes`: every second one of any size.
  Points(const Function& function, std::size_t count, std::uint64_t seed, bool sizes) : x(count), y(count) {
    const Range& range = sizeof(Real) == 8 ? function.f64 : function.f32;
    const double most = sizeof(Real) == 8 ? 1020 : 124;  // of the power's binary logarithm
    for (std::size_t i = 0; i < count; ++i) {
      const auto unit = [&](std::uint32_t k) { return (double(random_bits(seed, 3, i, k) >> 12) + 0.5) * 0x1p-52; };
      double a = range.low + (range.high - range.low) * unit(0), b = -9 + 18 * unit(1);
      if (sizes && i % 2 == 1) {
        a = std::exp2(range.smallest + (range.largest - range.smallest) * unit(0));
        if (range.low < 0 && unit(1) < 0.5) a = -a;
        b = (2 * unit(2) - 1) * most / std::fabs(std::log2(a));
      }
      x[i] = static_cast<Real>(a);
      y[i] = static_cast<Real>(b);
    }
  }
};

}  // namespace wengert::bench
