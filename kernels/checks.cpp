// Compiled once per instruction set, as backend.cpp: guards, compared in registers.
#include "kernels/checks.hpp"

#include <type_traits>

#include "kernels/lanes.hpp"
#include "kernels/widths.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace checks {

/// Where the vectors of a slot lie.
struct Shape {
  std::size_t width, step;
};

/// What is compared, vector by vector.
template <Lane V, Same same>
struct Pair {
  using Real = typename V::Real;
  const Real *a, *b;

  template <class Compare>
  WENGERT_INLINE typename V::Mask compared(Compare compare, std::size_t w) const {
    return compare(same == Same::first ? V(*a) : V::load(a + w), same == Same::second ? V(*b) : V::load(b + w));
  }
};

/// Whether a comparison comes out other than `outcome` in any lane.
template <bool outcome, class V, Same same, class Compare>
WENGERT_INLINE bool any_other(Shape shape, Pair<V, same> pair, Compare compare) {
  typename V::Mask all = pair.compared(compare, 0);
  for (std::size_t w = shape.step; w < shape.width; w += shape.step) {
    const typename V::Mask next = pair.compared(compare, w);
    all = outcome ? all & next : all | next;
  }
  return any(outcome ? !all : all);
}

/// Writes down in which lanes: the first guard stays.
template <bool outcome, class V, Same same, class Compare>
WENGERT_NOINLINE void note(Shape shape, Pair<V, same> pair, Compare compare, typename V::Real* failed,
                           std::uint32_t guard) {
  for (std::size_t w = 0; w < shape.width; w += shape.step) {
    const typename V::Mask as_asked = pair.compared(compare, w);
    const V before = V::load(failed + w), first = min(V(static_cast<typename V::Real>(guard)), before);
    select(outcome ? as_asked : !as_asked, before, first).store(failed + w);
  }
}

/// f with a constant for each of the questions.
template <class V, class F>
WENGERT_INLINE bool ask(std::uint32_t question, F f) {
  const auto with_outcome = [&](auto compare, auto same) __attribute__((always_inline)) {
    return outcome_of(question) ? f.template operator()<true>(compare, same)
                                : f.template operator()<false>(compare, same);
  };
  const auto with_same = [&](auto compare) __attribute__((always_inline)) {
    switch (same_of(question)) {
      case Same::first: return with_outcome(compare, std::integral_constant<Same, Same::first>());
      case Same::second: return with_outcome(compare, std::integral_constant<Same, Same::second>());
      default: return with_outcome(compare, std::integral_constant<Same, Same::neither>());
    }
  };
  switch (op_asked(question)) {
    case Op::lt: return with_same([](V a, V b) __attribute__((always_inline)) { return a < b; });
    case Op::le: return with_same([](V a, V b) __attribute__((always_inline)) { return a <= b; });
    default: return with_same([](V a, V b) __attribute__((always_inline)) { return a == b; });
  }
}

template <Lane V>
bool check(const Frame<typename V::Real>& frame, bool dual, const std::uint32_t* code, std::size_t count) {
  const Shape shape{frame.width, dual ? 2 * std::size_t(V::step) : std::size_t(V::step)};
  const auto slot = [&](std::uint32_t number) { return frame.slots + std::size_t(number) * frame.width; };
  bool some = false;
  for (; count != 0; --count, code += check_words)
    some |= ask<V>(
        code[1], [&]<bool outcome>(auto compare, auto same) __attribute__((always_inline)) {
          const Pair<V, same()> pair{slot(code[3]), slot(code[4])};
          if (!any_other<outcome>(shape, pair, compare)) [[likely]]
            return false;
          note<outcome>(shape, pair, compare, slot(code[2]), code[0]);
          return true;
        });
  return some;
}

}  // namespace checks
}  // namespace WENGERT_ISA

#define WENGERT_JOIN_(a, b) a##b
#define WENGERT_JOIN(a, b) WENGERT_JOIN_(a, b)

const Check<double> WENGERT_JOIN(WENGERT_ISA, _check_f64) = checks::check<Widest<double>>;
const Check<float> WENGERT_JOIN(WENGERT_ISA, _check_f32) = checks::check<Widest<float>>;

}  // namespace wengert::kernels
