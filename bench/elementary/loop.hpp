// A stateless function of two vectors (a function of one ignores the second) as a Contender's loop. `V` has what Vec has
// of it: Real, lanes, load, store.
#pragma once

#include "bench/elementary/contenders.hpp"

namespace wengert::bench {
namespace {  // one copy per file: they are compiled for different instruction sets

template <class V, class F>
void loop(const typename V::Real* x, const typename V::Real* y, typename V::Real* out, std::size_t n) {
  for (std::size_t i = 0; i < n; i += V::lanes) F()(V::load(x + i), V::load(y + i)).store(out + i);
}

template <class V, class F>
constexpr Contender<typename V::Real> contender(const char* function, const char* library, F) {
  return {function, library, loop<V, F>};
}

template <class Real, std::size_t n>
constexpr Contenders<Real> all(const Contender<Real> (&rows)[n]) {
  return {rows, n};
}

}  // namespace
}  // namespace wengert::bench
