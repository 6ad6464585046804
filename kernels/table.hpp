// The op table over lanes: one struct per row, with its formulas as functions.
#pragma once

#include "kernels/slopes.hpp"
#include "wengert/ops.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {
namespace rows {

using namespace wengert::uses;
using Count = std::uint32_t;

// A fixed-arity row: value(a, b, c) and partial<k>(a, b, c, y, tie), operands it lacks being ignored; used<k>: what
// partial k reads.
#define WENGERT_FORMULA(name_, expression)                                                           \
  template <class V>                                                                                 \
  WENGERT_INLINE static auto name_([[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c, \
                                   [[maybe_unused]] V y, [[maybe_unused]] V tie) {                   \
    [[maybe_unused]] const V x = a;                                                                  \
    return expression;                                                                               \
  }
#define WENGERT_VALUE(expression)                                                                   \
  template <class V>                                                                                \
  WENGERT_INLINE static V value([[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c) { \
    [[maybe_unused]] const V x = a;                                                                 \
    return expression;                                                                              \
  }
#define WENGERT_OP1(name, value_, dx, uses_dx, ...)      \
  struct name##_ {                                       \
    static constexpr Op op = Op::name;                   \
    static constexpr int arity = 1;                      \
    static constexpr unsigned used[3] = {uses_dx, 0, 0}; \
    WENGERT_VALUE(value_)                                \
    WENGERT_FORMULA(d0, dx)                              \
    WENGERT_FORMULA(d1, none)                            \
    WENGERT_FORMULA(d2, none)                            \
  };
#define WENGERT_OP2(name, value_, da, db, uses_da, uses_db, ...) \
  struct name##_ {                                               \
    static constexpr Op op = Op::name;                           \
    static constexpr int arity = 2;                              \
    static constexpr unsigned used[3] = {uses_da, uses_db, 0};   \
    WENGERT_VALUE(value_)                                        \
    WENGERT_FORMULA(d0, da)                                      \
    WENGERT_FORMULA(d1, db)                                      \
    WENGERT_FORMULA(d2, none)                                    \
  };
#define WENGERT_OP3(name, value_, da, db, dc, uses_da, uses_db, uses_dc, ...) \
  struct name##_ {                                                            \
    static constexpr Op op = Op::name;                                        \
    static constexpr int arity = 3;                                           \
    static constexpr unsigned used[3] = {uses_da, uses_db, uses_dc};          \
    WENGERT_VALUE(value_)                                                     \
    WENGERT_FORMULA(d0, da)                                                   \
    WENGERT_FORMULA(d1, db)                                                   \
    WENGERT_FORMULA(d2, dc)                                                   \
  };
// An n-ary row: forward(io) and backward(io), over whatever gives the operands (sweeps.hpp).
#define FORWARD(...) __VA_ARGS__
#define BACKWARD(...) __VA_ARGS__
#define WENGERT_OPN(name, outputs_, forward_, backward_, uses_, ...)    \
  struct name##_ {                                                      \
    static constexpr Op op = Op::name;                                  \
    static constexpr int arity = 0;                                     \
    static constexpr unsigned used[3] = {uses_, 0, 0};                  \
    static Count outputs([[maybe_unused]] Count n) { return outputs_; } \
    template <class V, class Io>                                        \
    WENGERT_INLINE static void forward(Io io) {                         \
      [[maybe_unused]] const Count n = io.n();                          \
      forward_                                                          \
    }                                                                   \
    template <class V, class Io>                                        \
    WENGERT_INLINE static void backward(Io io) {                        \
      [[maybe_unused]] const Count n = io.n();                          \
      backward_                                                         \
    }                                                                   \
  };
#include "wengert/ops.def"
#undef FORWARD
#undef BACKWARD
#undef WENGERT_VALUE
#undef WENGERT_FORMULA

/// Partial k of a fixed-arity row.
template <class Row, int k, class V>
WENGERT_INLINE auto partial(V a, V b, V c, V y, V tie) {
  if constexpr (k == 0) return Row::d0(a, b, c, y, tie);
  else if constexpr (k == 1) return Row::d1(a, b, c, y, tie);
  else return Row::d2(a, b, c, y, tie);
}

}  // namespace rows
}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
