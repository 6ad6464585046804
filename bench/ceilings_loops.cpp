#include "bench/ceilings_loops.hpp"

#include "kernels/lanes.hpp"

namespace wengert::bench {
namespace {

using namespace kernels;

// More than latency (4 cycles) times units (2), and few enough for 16 registers.
constexpr int chains = 12;

#if defined(WENGERT_ISA_AVX512)
constexpr int bytes = 64;
#elif defined(WENGERT_ISA_AVX2)
constexpr int bytes = 32;
#else
constexpr int bytes = 0;
#endif
template <class Real>
using Lanes = Vec<Real, bytes == 0 ? 1 : bytes / int(sizeof(Real))>;

template <class V>
V multiply_add(V a, V b, V c) {
  if constexpr (V::lanes == 1) return a * b + c;  // without the instruction a fused one is a library call
  else return fma(a, b, c);
}

template <class Real>
Real arithmetic(std::size_t rounds) {
  using V = Lanes<Real>;
  V x[chains];
  for (int k = 0; k < chains; ++k) x[k] = V(Real(k));
  const V scale(Real(0.5)), shift(Real(0.25));
  for (std::size_t round = 0; round < rounds; ++round)
    for (int k = 0; k < chains; ++k) x[k] = multiply_add(x[k], scale, shift);
  V sum(Real(0));
  for (int k = 0; k < chains; ++k) sum = sum + x[k];
  Real lanes[V::lanes], total = 0;
  sum.store(lanes);
  for (Real lane : lanes) total += lane;
  return total;
}

void add_scaled(double* y, const double* x, std::size_t n, double s) {
  using V = Lanes<double>;
  const V scale(s);
  for (std::size_t i = 0; i < n; i += 8 * V::lanes)
    for (int k = 0; k < 8; ++k) {
      const std::size_t at = i + std::size_t(k * V::lanes);
      multiply_add(scale, V::load(x + at), V::load(y + at)).store(y + at);
    }
}

}  // namespace

extern const CeilingLoops CEILING_LOOPS;
const CeilingLoops CEILING_LOOPS = {arithmetic<double>, arithmetic<float>, 2.0 * chains* Lanes<double>::lanes,
                                    2.0 * chains* Lanes<float>::lanes, add_scaled};

}  // namespace wengert::bench
