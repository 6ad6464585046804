// Highway's functions on 8 doubles and 16 floats, inlined as ours are. A file of its own for its flags: what it calls
// AVX-512 has more in it than our kernels need.
#include "bench/elementary/loop.hpp"

#ifdef HAVE_HIGHWAY
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
#if HWY_TARGET != HWY_AVX3
#error "this would measure another instruction set than AVX-512"
#endif
#endif

namespace wengert::bench {

#ifdef HAVE_HIGHWAY
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Real_>
struct Lanes {
  using Real = Real_;
  using Tag = hn::ScalableTag<Real>;
  static constexpr std::size_t lanes = 64 / sizeof(Real);
  hn::Vec<Tag> v;

  static Lanes load(const Real* p) { return {hn::LoadU(Tag(), p)}; }
  void store(Real* p) const { hn::StoreU(v, Tag(), p); }
};

}  // namespace

#define ONE(function, theirs) \
  contender<V>(#function, "Highway", [](V x, V) { return V{hn::theirs(typename V::Tag(), x.v)}; })
#endif

template <class Real>
Contenders<Real> highway() {
#ifdef HAVE_HIGHWAY
  using V = Lanes<Real>;
  static constexpr Contender<Real> rows[] = {ONE(exp, Exp),   ONE(log, Log), ONE(log1p, Log1p),
                                             ONE(tanh, Tanh), ONE(sin, Sin), ONE(cos, Cos)};
  return all(rows);
#else
  return {};
#endif
}
template Contenders<double> highway();
template Contenders<float> highway();

}  // namespace wengert::bench
