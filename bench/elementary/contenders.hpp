// Who is compared: each library's implementation of a function, as a loop over numbers in memory. What is in the AVX-512
// files comes as plain arrays: they may instantiate nothing that other files share (kernels/isa.hpp).
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

// Empty where the build found no such library.
template <class Real>
Contenders<Real> ours();
template <class Real>
Contenders<Real> libmvec();
template <class Real>
Contenders<Real> sleef();
template <class Real>
Contenders<Real> highway();

}  // namespace wengert::bench
