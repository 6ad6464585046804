// Who is compared: each library's implementation of a function, as a loop over numbers in memory. What is in the files of an
// instruction set comes as plain arrays: they may instantiate nothing that other files share (kernels/isa.hpp).
#pragma once

#include <cstddef>

namespace wengert::bench {

/// out[i] = f(x[i]), or f(x[i], y[i]) where f takes two; n is a multiple of 16.
template <class Real>
using Loop = void (*)(const Real* x, const Real* y, Real* out, std::size_t n);

template <class Real>
struct Contender {
  const char* function;
  const char* library;
  Loop<Real> loop;
};

template <class Real>
struct Contenders {
  const Contender<Real>* first = nullptr;
  std::size_t count = 0;
};

/// Empty where the build found no such library.
struct Library {
  Contenders<double> f64;
  Contenders<float> f32;

  template <class Real>
  const Contenders<Real>& of() const {
    if constexpr (sizeof(Real) == 8) return f64;
    else return f32;
  }
};

// Those that the build has: vectors.cpp and highway.cpp are compiled once for each instruction set.
extern const Library ours_avx2, libmvec_avx2, sleef_avx2, highway_avx2, ours_avx512, libmvec_avx512, sleef_avx512,
    highway_avx512;

}  // namespace wengert::bench
