#include "bench/work.hpp"

#include <vector>

#include "bench/recorded.hpp"
#include "kernels/each_op.hpp"

namespace wengert::bench {
namespace {

double flops = 0, bytes = 0;

/// A number that counts what is done with it.
template <class Real>
struct Counted {
  Real x;

  static Counted of(Real value, int operations = 1) {
    flops += operations;
    return {value};
  }
  friend Counted operator+(Counted a, Counted b) { return of(a.x + b.x); }
  friend Counted operator-(Counted a, Counted b) { return of(a.x - b.x); }
  friend Counted operator*(Counted a, Counted b) { return of(a.x * b.x); }
  friend Counted operator/(Counted a, Counted b) { return of(a.x / b.x); }
  friend Counted operator-(Counted a) { return {-a.x}; }  // a sign bit
};

/// A vector of two lanes that always hold the same number, counted once: a width that the scalar backend has no use for.
template <class Real_>
struct CountingNative {
  using Plain = kernels::Native<Real_, 1>;
  using Real = Real_;
  using Integer = typename Plain::Integer;
  using Raw = Counted<Real>;
  using RawInt = typename Plain::RawInt;
  using RawMask = bool;

  static Raw splat(Real a) { return {a}; }
  static RawInt splat_int(Integer a) { return a; }
  static Raw load(const Real* p) {
    bytes += sizeof(Real);
    return {p[0]};
  }
  static void store(Real* p, Raw a) {
    bytes += sizeof(Real);
    p[0] = p[1] = a.x;
  }
  static Raw fma(Raw a, Raw b, Raw c) { return Raw::of(Plain::fma(a.x, b.x, c.x), 2); }
  static Raw sqrt(Raw a) { return Raw::of(Plain::sqrt(a.x)); }
  static Raw rint(Raw a) { return {Plain::rint(a.x)}; }
  static Raw floor(Raw a) { return {Plain::floor(a.x)}; }
  static Raw ceil(Raw a) { return {Plain::ceil(a.x)}; }
  static Raw trunc(Raw a) { return {Plain::trunc(a.x)}; }
  static Raw max(Raw a, Raw b) { return {Plain::max(a.x, b.x)}; }
  static Raw min(Raw a, Raw b) { return {Plain::min(a.x, b.x)}; }
  static RawMask lt(Raw a, Raw b) { return a.x < b.x; }
  static RawMask le(Raw a, Raw b) { return a.x <= b.x; }
  static RawMask eq(Raw a, Raw b) { return a.x == b.x; }
  static RawMask ne(Raw a, Raw b) { return a.x != b.x; }
  static RawMask unordered(Raw a, Raw b) { return Plain::unordered(a.x, b.x); }
  static RawMask lt_int(RawInt a, RawInt b) { return a < b; }
  static RawMask eq_int(RawInt a, RawInt b) { return a == b; }
  static RawMask mask_and(RawMask a, RawMask b) { return a & b; }
  static RawMask mask_or(RawMask a, RawMask b) { return a | b; }
  static RawMask mask_xor(RawMask a, RawMask b) { return a ^ b; }
  static RawMask mask_not(RawMask a) { return !a; }
  static unsigned mask_bits(RawMask a) { return a; }
  static Raw blend(RawMask m, Raw a, Raw b) { return m ? a : b; }
  static RawInt blend_int(RawMask m, RawInt a, RawInt b) { return m ? a : b; }
  static RawInt bits(Raw a) { return Plain::bits(a.x); }
  static Raw from_bits(RawInt a) { return {Plain::from_bits(a)}; }
  static RawInt to_int(Raw a) { return Plain::to_int(a.x); }
  static Raw to_real(RawInt a) { return {Plain::to_real(a)}; }
  template <int n>
  static RawInt shl(RawInt a) {
    return Plain::template shl<n>(a);
  }
  template <int n>
  static RawInt sra(RawInt a) {
    return Plain::template sra<n>(a);
  }
  template <int n>
  static RawInt srl(RawInt a) {
    return Plain::template srl<n>(a);
  }
  static RawInt add_int(RawInt a, RawInt b) { return Plain::add_int(a, b); }
  static RawInt sub_int(RawInt a, RawInt b) { return Plain::sub_int(a, b); }
  static Raw gather(const Real* table, RawInt i) { return {table[i]}; }
  static Raw lookup16(const Real* table, RawInt i) { return {table[i & 15]}; }
};

}  // namespace
}  // namespace wengert::bench

namespace wengert::kernels {
inline namespace WENGERT_ISA {
template <>
struct Native<double, 2> : bench::CountingNative<double> {};
template <>
struct Native<float, 2> : bench::CountingNative<float> {};
}  // namespace WENGERT_ISA
}  // namespace wengert::kernels

namespace wengert::bench {
namespace {

template <class Real>
Work count(const Workload& workload) {
  constexpr std::size_t lanes = 2;
  const Recorded<Real> recorded(workload);
  const TapeView<Real> tape = recorded.tape.view();
  const std::size_t variables = tape.values.size();
  std::vector<Real> values(lanes * variables), adjoints(lanes * variables, Real(-0.0)), scratch(lanes * variables);
  const auto set = [](std::vector<Real>& slots, std::size_t at, Real value) {
    slots[lanes * at] = slots[lanes * at + 1] = value;
  };
  for (std::size_t v = 0; v < variables; ++v) set(values, v, tape.values[v]);
  for (std::size_t i = 0; i < workload.inputs; ++i)
    set(values, recorded.inputs[i], static_cast<Real>(workload.input(0, i)));
  set(adjoints, recorded.output, Real(1));
  const kernels::Sweep<Real> sweep{tape.ops.data(), tape.ops.size(), tape.operands.data(),
                                   values.data(),   adjoints.data(), scratch.data(),
                                   lanes,           false,           nullptr};
  flops = bytes = 0;
  kernels::sweeps::each_op<kernels::Vec<Real, 2>, false, true>(sweep);
  kernels::sweeps::each_op<kernels::Vec<Real, 2>, false, false>(sweep);
  return {flops, bytes};
}

}  // namespace

Work count_work(std::string_view workload, const WorkloadOptions& options, bool f32) {
  const Workload w = make_workload(workload, options);
  return f32 ? count<float>(w) : count<double>(w);
}

}  // namespace wengert::bench
