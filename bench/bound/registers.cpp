// Compiled once for each instruction set that has vectors, with the flags of its kernels, as a WestOnRegisters named WEST_ON_REGISTERS.
#include "bench/bound/registers.hpp"

#include <type_traits>

#include "kernels/instructions.hpp"
#include "kernels/widths.hpp"

namespace wengert::bench {
namespace {

namespace rows = kernels::rows;
using rows::Count;

/// A number that the compiler knows nothing about, or that it has to have made; no instruction either way.
template <class V>
WENGERT_INLINE void unknown(V& x) {
  asm volatile("" : "+v"(x.v));
}
template <class V>
WENGERT_INLINE void wanted(const V& x) {
  asm volatile("" ::"v"(x.v));
}

template <class Real>
void west_on_registers(std::size_t groups) {
  using V = kernels::Widest<Real>;
  using SoftmaxIo = kernels::instructions::RegisterIo<V, std::integral_constant<Count, 4>, 4, 4>;
  V x(Real(0.5)), y(Real(-0.25)), g(Real(0.125)), h(Real(1.5));
  for (; groups != 0; --groups) {
    // Nothing is carried from one group to the next, so that they overlap as the lanes of a block do.
    unknown(x);
    unknown(y);
    unknown(g);
    unknown(h);
    const V half(Real(0));
    // Values.
    const V soft = rows::softplus_::value(x, x, x);
    wanted(((x + y) + g) + h);
    wanted(x * y);
    kernels::instructions::Registers<V, 4, 4> r;
    r.x[0] = x, r.x[1] = y, r.x[2] = soft, r.x[3] = h;
    rows::softmax_::template forward<V>(SoftmaxIo{r, {}, true});
    for (Count j = 0; j < 4; ++j) wanted(r.y[j]);
    // Adjoints: 11 contributions to 7 variables, so 4 additions. That of the sum needs no product.
    r.g[0] = g, r.g[1] = h, r.g[2] = x, r.g[3] = y;
    rows::softmax_::template backward<V>(SoftmaxIo{r, {}, true});
    for (Count i = 0; i < 4; ++i) wanted(r.contribution[i]);
    wanted(g * rows::partial<rows::softplus_, 0>(y, y, y, y, half) + h);
    wanted(g * x + y);
    wanted(g * y + x);
    wanted(g + x);
  }
}

}  // namespace

const WestOnRegisters WEST_ON_REGISTERS = {west_on_registers<double>, west_on_registers<float>,
                                           std::size_t{kernels::vector_bytes}};

}  // namespace wengert::bench
