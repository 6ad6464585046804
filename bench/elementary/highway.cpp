// Highway's functions on a vector, inlined as ours are. A file of its own for its flags: its instruction sets have more in them
// than our kernels need. Compiled once for each, with OF_ISA(x) for x_avx2 or x_avx512.
#include "bench/elementary/loop.hpp"

#ifdef HAVE_HIGHWAY
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
#if HWY_TARGET != WANTED_TARGET
#error "this would measure another instruction set than its name says"
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
  static constexpr std::size_t lanes = HWY_MAX_BYTES / sizeof(Real);
  hn::Vec<Tag> v;

  static Lanes load(const Real* p) { return {hn::LoadU(Tag(), p)}; }
  void store(Real* p) const { hn::StoreU(v, Tag(), p); }
};

#define ONE(function, theirs) \
  contender<V>(#function, "Highway", [](V x, V) { return V{hn::theirs(typename V::Tag(), x.v)}; })

template <class V>
constexpr Contender<typename V::Real> rows[] = {ONE(exp, Exp),   ONE(log, Log), ONE(log1p, Log1p),
                                                ONE(tanh, Tanh), ONE(sin, Sin), ONE(cos, Cos)};

}  // namespace

constexpr Library OF_ISA(highway) = {all(rows<Lanes<double>>), all(rows<Lanes<float>>)};
#else
constexpr Library OF_ISA(highway) = {};
#endif

}  // namespace wengert::bench
