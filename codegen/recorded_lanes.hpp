// Lanes whose operations are recorded instead of run: `Vec<Real, recorded>`. The formulas of the op table and the
// elementary functions, instantiated over them, append themselves to a Graph.
//
// What is rare isn't recorded at all. Where `rare` or `chain` would look closer, the graph gets a requirement that no lane
// needs it: whoever runs the code computes a block over again, by other means, whose requirements weren't met.
#pragma once

#include "codegen/graph.hpp"
#include "kernels/dual.hpp"

namespace wengert::codegen {

/// Where lanes of this thread are recorded, and whether products with partials have the zero rule there, for as long as the object
/// lives. (A constant, V(2), knows no graph.)
class Recording {
 public:
  explicit Recording(Graph& graph, bool zero_rule = false) : graph_(graph), zero_rule_(zero_rule), before_(current_) {
    current_ = this;
  }
  ~Recording() { current_ = before_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  static Graph& graph() { return current_->graph_; }
  static bool zero_rule() { return current_->zero_rule_; }

 private:
  static thread_local const Recording* current_;
  Graph& graph_;
  const bool zero_rule_;
  const Recording* const before_;
};

struct Number {
  Value id;
};
struct Whole {
  Value id;
};
struct Truth {
  Value id;
};

inline Number operator+(Number a, Number b) { return {Recording::graph().binary(Do::add, a.id, b.id)}; }
inline Number operator-(Number a, Number b) { return {Recording::graph().binary(Do::sub, a.id, b.id)}; }
inline Number operator*(Number a, Number b) { return {Recording::graph().binary(Do::mul, a.id, b.id)}; }
inline Number operator/(Number a, Number b) { return {Recording::graph().binary(Do::div, a.id, b.id)}; }
inline Number operator-(Number a) {
  Graph& graph = Recording::graph();
  return {graph.binary(Do::bit_xor, a.id, graph.constant(-0.0))};
}
inline Whole operator&(Whole a, Whole b) { return {Recording::graph().binary(Do::bit_and, a.id, b.id)}; }
inline Whole operator|(Whole a, Whole b) { return {Recording::graph().binary(Do::bit_or, a.id, b.id)}; }
inline Whole operator^(Whole a, Whole b) { return {Recording::graph().binary(Do::bit_xor, a.id, b.id)}; }

}  // namespace wengert::codegen

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// "Lanes" of a vector that is recorded.
inline constexpr int recorded = 0;

template <class Real_>
struct Native<Real_, recorded> {
  using Real = Real_;
  using Integer = typename IntOf<Real>::type;
  using Raw = codegen::Number;
  using RawInt = codegen::Whole;
  using RawMask = codegen::Truth;
  using Do = codegen::Do;
  using Comparison = codegen::Comparison;
  using IntComparison = codegen::IntComparison;

  static codegen::Graph& graph() { return codegen::Recording::graph(); }
  static Raw splat(Real x) { return {graph().constant(static_cast<double>(x))}; }
  static RawInt splat_int(Integer x) {
    if constexpr (sizeof(Real) == 8) return {graph().constant_bits(static_cast<std::uint64_t>(x))};
    else return {graph().constant_bits(static_cast<std::uint32_t>(x))};
  }
  static Raw load(const Real*) { return nowhere(); }
  static void store(Real*, Raw) { graph().give_up(); }
  static Raw fma(Raw a, Raw b, Raw c) { return {graph().ternary(Do::fma, a.id, b.id, c.id)}; }
  static Raw sqrt(Raw a) { return {graph().unary(Do::sqrt, a.id)}; }
  static Raw rint(Raw a) { return round(a, codegen::Rounding::current); }
  static Raw floor(Raw a) { return round(a, codegen::Rounding::down); }
  static Raw ceil(Raw a) { return round(a, codegen::Rounding::up); }
  static Raw trunc(Raw a) { return round(a, codegen::Rounding::to_zero); }
  static Raw max(Raw a, Raw b) { return {graph().binary(Do::max, a.id, b.id)}; }
  static Raw min(Raw a, Raw b) { return {graph().binary(Do::min, a.id, b.id)}; }
  static RawMask lt(Raw a, Raw b) { return compare(Comparison::less, a, b); }
  static RawMask le(Raw a, Raw b) { return compare(Comparison::less_equal, a, b); }
  static RawMask eq(Raw a, Raw b) { return compare(Comparison::equal, a, b); }
  static RawMask ne(Raw a, Raw b) { return compare(Comparison::not_equal, a, b); }
  static RawMask unordered(Raw a, Raw b) { return compare(Comparison::unordered, a, b); }
  static RawMask lt_int(RawInt a, RawInt b) { return {graph().compare_int(IntComparison::less, a.id, b.id)}; }
  static RawMask eq_int(RawInt a, RawInt b) { return {graph().compare_int(IntComparison::equal, a.id, b.id)}; }
  static RawMask mask_and(RawMask a, RawMask b) { return {graph().binary(Do::mask_and, a.id, b.id)}; }
  static RawMask mask_or(RawMask a, RawMask b) { return {graph().binary(Do::mask_or, a.id, b.id)}; }
  static RawMask mask_xor(RawMask a, RawMask b) { return {graph().binary(Do::mask_xor, a.id, b.id)}; }
  static RawMask mask_not(RawMask a) { return {graph().mask_not(a.id)}; }
  static unsigned mask_bits(RawMask) {
    graph().give_up();
    return 0;
  }
  static Raw blend(RawMask m, Raw a, Raw b) { return {graph().ternary(Do::blend, m.id, a.id, b.id)}; }
  static RawInt blend_int(RawMask m, RawInt a, RawInt b) { return {graph().ternary(Do::blend, m.id, a.id, b.id)}; }
  static RawInt bits(Raw a) { return {a.id}; }
  static Raw from_bits(RawInt a) { return {a.id}; }
  // Where 64-bit integers have no instruction for it: as the lanes of AVX2 in kernels/native.hpp.
  static RawInt to_int(Raw a) {
    if (has_no_integer()) return sub_int(bits(a + splat(magic)), bits(splat(magic)));
    return {graph().unary(Do::to_int, a.id)};
  }
  static Raw to_real(RawInt a) {
    if (has_no_integer()) return from_bits(add_int(a, bits(splat(magic)))) - splat(magic);
    return {graph().unary(Do::to_real, a.id)};
  }
  template <int n>
  static RawInt shl(RawInt a) {
    return {graph().unary(Do::shift_left, a.id, n)};
  }
  template <int n>
  static RawInt sra(RawInt a) {
    if (has_no_integer()) {  // the sign bit, n places lower, carries ones into what is above
      const RawInt sign = splat_int(static_cast<Integer>(Integer(1) << (8 * sizeof(Real) - 1 - n)));
      return sub_int(srl<n>(a) ^ sign, sign);
    }
    return {graph().unary(Do::shift_right_signed, a.id, n)};
  }
  template <int n>
  static RawInt srl(RawInt a) {
    return {graph().unary(Do::shift_right, a.id, n)};
  }
  static RawInt add_int(RawInt a, RawInt b) { return {graph().binary(Do::add_int, a.id, b.id)}; }
  static RawInt sub_int(RawInt a, RawInt b) { return {graph().binary(Do::sub_int, a.id, b.id)}; }
  static Raw gather(const Real*, RawInt) { return nowhere(); }
  static Raw lookup16(const Real* t, RawInt i) {
    if (graph().has_lookup()) return {graph().lookup(t, i.id)};
    if (sizeof(Real) == 8) return {graph().items(t, i.id)};
    // Of two vectors, by the top bits of integers as a mask: a blend looks at nothing else.
    return blend({shl<28>(i).id}, part(t, 1, i), part(t, 0, i));
  }

 private:
  static constexpr Real magic = static_cast<Real>(6755399441055744.0);  // 1.5 * 2^52
  static bool has_no_integer() { return sizeof(Real) == 8 && !graph().target().exponents; }
  /// The items of a table's vector k that numbers of 32 bits name.
  static Raw part(const Real* t, unsigned k, RawInt index) {
    return {graph().binary(Do::permute, index.id, graph().table(t, k))};
  }
  static Raw round(Raw a, codegen::Rounding how) {
    return {graph().unary(Do::round, a.id, static_cast<unsigned>(how))};
  }
  static RawMask compare(Comparison how, Raw a, Raw b) { return {graph().compare(how, a.id, b.id)}; }
  static Raw nowhere() {
    graph().give_up();
    return splat(Real(0));
  }
};

template <class Real>
using Recorded = Vec<Real, recorded>;

// As lanes.hpp has them, by parts: a qualified name finds what was declared before it, not what follows.
template <class V>
V scale_by_parts(V x, V n) {
  return kernels::scale(x, n);
}
template <class V>
V scale_floor_by_parts(V x, V n) {
  return kernels::scale_floor(x, n);
}
template <class V>
void split_by_parts(V x, V& m, V& e) {
  kernels::split(x, m, e);
}

// What lanes.hpp and chain.hpp have for any lanes, for these.

template <class Real, class Slow>
Recorded<Real> rare(Mask<Real, recorded> m, Recorded<Real> fast, Slow) {
  codegen::Recording::graph().refuse(m.m.id);
  return fast;
}

template <class Real, class Slow>
Dual<Recorded<Real>> rare(Mask<Real, recorded> m, Dual<Recorded<Real>> fast, Slow) {
  codegen::Recording::graph().refuse(m.m.id);
  return fast;
}

/// The zero rule leaves the sign of a zero product alone, and this doesn't: but of adjoints and tangents that sign reaches nothing
/// other than signs of zeros, and derivatives have +0 added.
template <class Real>
Recorded<Real> chain(Recorded<Real> g, Recorded<Real> p, bool ieee) {
  codegen::Graph& graph = codegen::Recording::graph();
  if (ieee) return g * p;
  if (graph.is_zero(g.v.id) || graph.is_zero(p.v.id)) return Recorded<Real>::of({graph.nothing()});
  if (!codegen::Recording::zero_rule()) return g * p;
  return Recorded<Real>::of({graph.product_of_nonzeros(p.v.id, g.v.id)});
}

template <class F, class Real, class... More>
Recorded<Real> per_lane(F, Recorded<Real> x, More...) {
  codegen::Recording::graph().give_up();
  return x;
}

template <class Real>
Recorded<Real> scale(Recorded<Real> x, Recorded<Real> n) {
  codegen::Graph& graph = codegen::Recording::graph();
  if (!graph.target().exponents) return scale_by_parts(x, n);
  return Recorded<Real>::of({graph.binary(codegen::Do::scale, x.v.id, n.v.id)});
}
template <class Real>
Recorded<Real> scale_floor(Recorded<Real> x, Recorded<Real> n) {
  if (!codegen::Recording::graph().target().exponents) return scale_floor_by_parts(x, n);
  return scale(x, n);  // the instruction rounds n down itself
}
template <class Real>
void split(Recorded<Real> x, Recorded<Real>& m, Recorded<Real>& e) {
  codegen::Graph& graph = codegen::Recording::graph();
  if (!graph.target().exponents) return split_by_parts(x, m, e);
  const auto exponent = [&](Recorded<Real> of) {
    return Recorded<Real>::of({graph.unary(codegen::Do::exponent, of.v.id)});
  };
  m = Recorded<Real>::of({graph.unary(codegen::Do::mantissa, x.v.id)});
  e = exponent(x) - exponent(m);
}

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
