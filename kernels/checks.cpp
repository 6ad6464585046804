// Compiled once per instruction set, as backend.cpp: guards, compared in registers.
#include "kernels/checks.hpp"

#include <utility>

#include "kernels/lanes.hpp"
#include "kernels/widths.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace checks {

/// The slots that one check compares.
template <Lane V, std::size_t question>
struct Compared {
  using Real = typename V::Real;
  using Mask = typename V::Mask;
  static constexpr Question asked = questions[question];
  const Real *a, *b;

  WENGERT_INLINE Compared(const Frame<Real>& frame, const std::uint32_t* code)
      : a(frame.slots + std::size_t(code[2]) * frame.width), b(frame.slots + std::size_t(code[3]) * frame.width) {}

  /// What comes out in the vector at w.
  WENGERT_INLINE Mask at(std::size_t w) const {
    const V x = asked.same == Same::first ? V(*a) : V::load(a + w),
            y = asked.same == Same::second ? V(*b) : V::load(b + w);
    if constexpr (asked.op == Op::lt) return x < y;
    else if constexpr (asked.op == Op::le) return x <= y;
    else return x == y;
  }
  /// Of both, what shows any lane that came out otherwise.
  WENGERT_INLINE static Mask both(Mask one, Mask other) { return asked.outcome ? one & other : one | other; }
  WENGERT_INLINE static Mask otherwise(Mask mask) { return asked.outcome ? !mask : mask; }
};

template <Lane V, bool dual>
inline constexpr std::size_t step = dual ? 2 * std::size_t(V::step) : std::size_t(V::step);

/// Writes down in which lanes: the first guard stays.
template <Lane V, bool dual, std::size_t question>
WENGERT_NOINLINE void note(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  for (; count != 0; --count, code += check_words) {
    const Compared<V, question> compared(frame, code);
    typename V::Real* const failed = frame.slots + std::size_t(code[1]) * frame.width;
    const V guard(static_cast<typename V::Real>(code[0]));
    for (std::size_t w = 0; w < frame.width; w += step<V, dual>) {
      const V before = V::load(failed + w);
      select(compared.otherwise(compared.at(w)), min(guard, before), before).store(failed + w);
    }
  }
}

/// One look at the end, and four vectors at a time: a comparison each, and hardly more.
template <Lane V, bool dual, std::size_t question>
bool check(const Frame<typename V::Real>& frame, const std::uint32_t* code, std::size_t count) {
  using Of = Compared<V, question>;
  constexpr std::size_t one = step<V, dual>, four = 4 * one;
  typename V::Mask all{V::Ops::mask_splat(Of::asked.outcome)};
  const std::uint32_t* of = code;
  for (std::size_t left = count; left != 0; --left, of += check_words) {
    const Of compared(frame, of);
    std::size_t w = 0;
    for (; w + four <= frame.width; w += four)
      all = Of::both(all, Of::both(Of::both(compared.at(w), compared.at(w + one)),
                                   Of::both(compared.at(w + 2 * one), compared.at(w + 3 * one))));
    for (; w < frame.width; w += one) all = Of::both(all, compared.at(w));
  }
  if (!any(Of::otherwise(all))) [[likely]]
    return false;
  note<V, dual, question>(frame, code, count);
  return true;
}

template <Lane V, bool dual>
constexpr CheckTable<typename V::Real> make_table() {
  return [&]<std::size_t... question>(std::index_sequence<question...>) {
    return CheckTable<typename V::Real>{check<V, dual, question>...};
  }(std::make_index_sequence<questions.size()>());
}

}  // namespace checks
}  // namespace WENGERT_ISA

#define WENGERT_JOIN_(a, b) a##b
#define WENGERT_JOIN(a, b) WENGERT_JOIN_(a, b)

const CheckTable<double> WENGERT_JOIN(WENGERT_ISA,
                                      _checks_f64) = checks::make_table<Widest<double>, false>(),
                                      WENGERT_JOIN(WENGERT_ISA,
                                                   _dual_checks_f64) = checks::make_table<Widest<double>, true>();
const CheckTable<float> WENGERT_JOIN(WENGERT_ISA,
                                     _checks_f32) = checks::make_table<Widest<float>, false>(),
                                     WENGERT_JOIN(WENGERT_ISA,
                                                  _dual_checks_f32) = checks::make_table<Widest<float>, true>();

}  // namespace wengert::kernels
