// Compiled once per instruction set (kernels/meson.build); each fills its table of functions.
#include "kernels/backend.hpp"

#include "kernels/eager.hpp"
#include "kernels/sweeps.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

template <class Real>
struct Widths {
#if defined(WENGERT_ISA_AVX512)
  static constexpr int lanes = 64 / sizeof(Real);
#elif defined(WENGERT_ISA_AVX2)
  static constexpr int lanes = 32 / sizeof(Real);
#else
  static constexpr int lanes = 1;
#endif
};

/// The one-lane backends serve the eager tape too: a sweep of width 1 has a loop of its own.
template <class Real, bool forward>
void sweep(const Sweep<Real>& s) {
  using V = Vec<Real, Widths<Real>::lanes>;
  if constexpr (V::lanes == 1) {
    if (s.width == 1) {
      if constexpr (forward) return sweeps::forward<V, true>(s);
      else return sweeps::backward<V, true>(s);
    }
  }
  if constexpr (forward) sweeps::forward<V, false>(s);
  else sweeps::backward<V, false>(s);
}

template <class Real>
constexpr Backend<Real> make_backend() {
  Backend<Real> b{};
  b.lanes = Widths<Real>::lanes;
  b.forward = sweep<Real, true>;
  b.backward = sweep<Real, false>;
  if constexpr (Widths<Real>::lanes == 1) {
    b.value = eager::value<Real>;
    b.partials = eager::partials<Real>;
    b.forward_op = eager::forward_op<Real>;
    b.backward_op = eager::backward_op<Real>;
  }
  return b;
}

}  // namespace WENGERT_ISA

#define WENGERT_JOIN_(a, b) a##b
#define WENGERT_JOIN(a, b) WENGERT_JOIN_(a, b)
const Backend<double> WENGERT_JOIN(WENGERT_ISA, _f64) = make_backend<double>();
const Backend<float> WENGERT_JOIN(WENGERT_ISA, _f32) = make_backend<float>();

}  // namespace wengert::kernels
