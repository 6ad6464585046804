// wengert/var.hpp: Var, the active scalar that templated code is instantiated with. It records as it computes.
//
//   wengert::NaiveTape<double> tape;
//   wengert::Var<double> x = wengert::input(tape, 1.0), y = wengert::input(tape, 2.0);
//   wengert::Var<double> f = softplus((x + y) * x) + 0.5 * sin(y);
//   backward(f);
//   std::printf("f = %g, df/dx = %g, df/dy = %g\n", value(f), grad(x), grad(y));
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "wengert/arithmetic.hpp"
#include "wengert/ops.hpp"
#include "wengert/tape.hpp"

namespace wengert {

template <class Real>
class Var;
template <class Real>
class Located;

namespace detail {

// Our own elementary functions, the same bits as a replay; for constants, which are on no tape.
WENGERT_API double value(Op op, double a, double b, double c);
WENGERT_API float value(Op op, float a, float b, float c);

/// Towards zero. Throws bad_argument.
WENGERT_API std::int64_t integer(double x);

[[noreturn]] WENGERT_API void mixed_tapes();

template <class T>
struct IsVar : std::false_type {};
template <class Real>
struct IsVar<Var<Real>> : std::true_type {};

/// For calls that record several things: all of them, or, where one throws, none.
template <class Real>
class Attempt {
 public:
  explicit Attempt(NaiveTape<Real>* tape) : tape_(tape) {
    if (!tape_) return;
    NaiveTape<Real>::check_lives(tape_);
    mark_ = tape_->mark();
    epoch_ = tape_->epoch();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    if (tape_ && tape_->epoch() == epoch_) tape_->take_back(mark_);
  }
  void keep() { tape_ = nullptr; }

 private:
  NaiveTape<Real>* tape_;
  Mark mark_;
  std::uint32_t epoch_ = 0;
};

/// Rows that answer a question: their functions return a Cond.
constexpr bool is_condition(const char* partial) { return std::string_view(partial) == "none"; }

}  // namespace detail

/// A recorded truth value: 1 or 0 on the tape, decided anew at each replay. Made by lt, le, gt, ge, eq, ne, isnan; combined
/// with &, |, !; used by `select`. For `if`, `decide(condition)` makes a bool and a guard of it.
template <class Real>
class Cond;

/// A number that knows how it came to be: its value and its place on a tape. Without a tape it is a constant, and what is
/// computed from constants alone is not recorded. 24 bytes, freely copied.
///
/// All ops of the table are functions found by argument-dependent lookup, mixing with double, float and int; so are the
/// usual operators. Comparisons return bool and record a guard, so that ordinary `if`, loops and sorting are right: a replay at
/// which one would come out otherwise is told (Replay) or recorded anew (Function). `select(lt(x, y), a, b)` decides at replay.
/// Errors, in release builds too: mixed_tapes for operands of two tapes, stale_id for a Var from before a clear or rewind.
template <class Real>
class Var {
  static_assert(!detail::IsVar<Real>::value, "no Var<Var>: for second derivatives use Replay::hvp or Replay::hessian");
  static_assert(std::is_same_v<Real, double> || std::is_same_v<Real, float>, "Var holds double or float");

 public:
  using value_type = Real;       ///< what it computes with
  using Tape = NaiveTape<Real>;  ///< where it records

  /// The constant 0.
  Var() noexcept = default;
  /// A constant.
  template <class T>
    requires std::is_arithmetic_v<T>
  Var(T constant) noexcept : value_(static_cast<Real>(constant)) {}
  /// The variable `id` of a tape. Throws stale_id.
  Var(Tape& tape, Id id) : value_(tape.value(id)), tape_(&tape), id_(id), epoch_(tape.epoch()) {}

  Real value() const noexcept { return value_; }  ///< at recording, whatever the tape was replayed at since
  /// Null for a constant.
  Tape* tape() const noexcept { return tape_; }
  /// `no_id` for a constant.
  Id id() const noexcept { return id_; }

  /// @{
  /// Records, as all arithmetic; of constants alone, only computes. Throws mixed_tapes, stale_id, out_of_ids, out_of_memory.
  Var& operator+=(const Var& b) { return *this = *this + b; }
  Var& operator-=(const Var& b) { return *this = *this - b; }
  Var& operator*=(const Var& b) { return *this = *this * b; }
  Var& operator/=(const Var& b) { return *this = *this / b; }
  Var& operator++() { return *this += Var(1); }
  Var& operator--() { return *this -= Var(1); }
  Var operator++(int) { return std::exchange(*this, *this + Var(1)); }
  Var operator--(int) { return std::exchange(*this, *this - Var(1)); }

  WENGERT_INLINED friend Var operator+(const Var& a, const Var& b) { return add(a, b); }
  WENGERT_INLINED friend Var operator-(const Var& a, const Var& b) { return sub(a, b); }
  WENGERT_INLINED friend Var operator*(const Var& a, const Var& b) { return mul(a, b); }
  WENGERT_INLINED friend Var operator/(const Var& a, const Var& b) { return div(a, b); }
  WENGERT_INLINED friend Var operator-(const Var& a) { return neg(a); }
  friend Var operator+(const Var& a) { return a; }
  /// @}

  /// @{
  /// Comparisons return bool, and record a guard: what follows is right as long as they come out so. Throws as arithmetic.
  friend bool operator<(const Located<Real>& a, const Located<Real>& b) {
    return compare(Op::lt, a->value_ < b->value_, *a, *b, a);
  }
  friend bool operator<=(const Located<Real>& a, const Located<Real>& b) {
    return compare(Op::le, a->value_ <= b->value_, *a, *b, a);
  }
  friend bool operator>(const Located<Real>& a, const Located<Real>& b) {
    return compare(Op::gt, a->value_ > b->value_, *a, *b, a);
  }
  friend bool operator>=(const Located<Real>& a, const Located<Real>& b) {
    return compare(Op::ge, a->value_ >= b->value_, *a, *b, a);
  }
  friend bool operator==(const Located<Real>& a, const Located<Real>& b) {
    return compare(Op::eq, a->value_ == b->value_, *a, *b, a);
  }
  friend bool operator!=(const Located<Real>& a, const Located<Real>& b) {
    return compare(Op::ne, a->value_ != b->value_, *a, *b, a);
  }
  /// @}

  /// @{
  /// So do these. (isnan, a row of the table, returns a Cond: decide(isnan(x)) is the bool.)
  friend bool isfinite(const Located<Real>& x) {
    const Real inf = std::numeric_limits<Real>::infinity();
    detail::Attempt<Real> attempt(x->tape_);
    const bool outcome = compare(Op::lt, -inf < x->value_ && x->value_ < inf, abs(*x), Var(inf), x);
    attempt.keep();
    return outcome;
  }
  friend bool isinf(const Located<Real>& x) {
    const Real inf = std::numeric_limits<Real>::infinity();
    detail::Attempt<Real> attempt(x->tape_);
    const bool outcome = compare(Op::eq, x->value_ == inf || x->value_ == -inf, abs(*x), Var(inf), x);
    attempt.keep();
    return outcome;
  }
  /// @}
  /// A NaN counts as positive, as for copysign.
  friend bool signbit(const Located<Real>& x) {
    detail::Attempt<Real> attempt(x->tape_);
    const Var one = copysign(Var(1), *x);
    const bool outcome = compare(Op::lt, one.value_ < 0, one, Var(0), x);
    attempt.keep();
    return outcome;
  }
  /// The number without its fraction, as an index or a count: a guard that it stays the same. Throws bad_argument where it is
  /// no 64-bit integer.
  friend std::int64_t to_integer(const Located<Real>& x) {
    const std::int64_t number = detail::integer(x->value_);
    detail::Attempt<Real> attempt(x->tape_);
    compare(Op::eq, true, trunc(*x), Var(number), x);
    attempt.keep();
    return number;
  }

  // Every fixed-arity row of the op table, by name.
#define WENGERT_RESULT(partial) std::conditional_t<detail::is_condition(#partial), Cond<Real>, Var>
#define WENGERT_OP1(name, value, dx, ...)                        \
  WENGERT_INLINED friend WENGERT_RESULT(dx) name(const Var& x) { \
    return record(Op::name, computed(Op::name, x, x, x), x);     \
  }
#define WENGERT_OP2(name, value, da, ...)                                      \
  WENGERT_INLINED friend WENGERT_RESULT(da) name(const Var& a, const Var& b) { \
    return record(Op::name, computed(Op::name, a, b, a), a, b);                \
  }
#define WENGERT_OP3(name, ...)                                                \
  WENGERT_INLINED friend Var name(const Var& a, const Var& b, const Var& c) { \
    return record(Op::name, computed(Op::name, a, b, c), a, b, c);            \
  }
#include "wengert/ops.def"
#undef WENGERT_RESULT
  /// As std::hypot of three.
  friend Var hypot(const Var& a, const Var& b, const Var& c) { return hypot3(a, b, c); }
  /// Use a Cond, which is decided at replay.
  friend Var select(bool, const Var&, const Var&) = delete;

  /// The number, frozen: no guard, and no derivative.
  friend Real value(const Var& x) noexcept { return x.value_; }
  /// The adjoint of the last sweep; 0 for a constant. Throws stale_id.
  friend Real grad(const Var& x) {
    if (!x.tape_) return Real(0);
    Tape::check_lives(x.tape_);
    x.tape_->check(x.id_, x.epoch_);
    return x.tape_->grad(x.id_);
  }
  /// Names it, for messages and drawings (wengert/labels.hpp); nothing happens to a constant. Throws stale_id, out_of_memory.
  friend Var label(const Var& x, std::string_view name) {
    if (x.tape_) x.tape_->label(x.place(*x.tape_), name);
    return x;
  }
  /// Adjoints of everything `y` was computed from. A constant has none: all stay as they are. Throws stale_id.
  friend void backward(const Var& y) {
    if (!y.tape_) return;
    Tape::check_lives(y.tape_);
    y.tape_->check(y.id_, y.epoch_);
    y.tape_->backward(y.id_);
  }

  /// Where this value is on `tape`; a constant is recorded there. Throws mixed_tapes, stale_id.
  WENGERT_INLINED Id place(Tape& tape) const {
    if (!tape_) return tape.shared_constant(value_);
    if (tape_ != &tape) detail::mixed_tapes();
    Tape::check_lives(tape_);
    tape.check(id_, epoch_);
    return id_;
  }

  /// Writes the number.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& stream, const Var& x) {
    return stream << x.value_;
  }

 private:
  Var(Real value, Tape* tape, Id id, std::uint32_t epoch) : value_(value), tape_(tape), id_(id), epoch_(epoch) {}

  /// `op` is known at compile time. What takes an instruction or two is computed here; the rest is a call.
  WENGERT_INLINED static Real computed(Op op, const Var& a, const Var& b, const Var& c) {
    switch (op) {
      case Op::add: return a.value_ + b.value_;
      case Op::sub: return a.value_ - b.value_;
      case Op::mul: return detail::rounded(a.value_ * b.value_);
      case Op::div: return a.value_ / b.value_;
      case Op::neg: return -a.value_;
      case Op::square: return detail::rounded(a.value_ * a.value_);
      case Op::sqrt: return detail::sqrt(a.value_);
      case Op::fma: return detail::fma(a.value_, b.value_, c.value_);
      case Op::max: return a.value_ < b.value_ ? b.value_ : a.value_;
      case Op::min: return b.value_ < a.value_ ? b.value_ : a.value_;
      default: return detail::value(op, a.value_, b.value_, c.value_);
    }
  }
  // Inlined, so that a Var lives in registers: written to memory in parts and read as a whole, it would stall the loads.
  template <class... More>
  WENGERT_INLINED static Var record(Op op, Real value, const Var& a, const More&... more) {
    Tape* tape = a.tape_;
    const auto [x, y, z] = places(tape, a, more...);
    if (!tape) return Var(value);
    return Var(value, tape, tape->append(op, value, x, y, z, constants(a, more...)), tape->epoch());
  }
  struct Places {
    Id a, b, c;
  };
  /// Of the operands of an op, once checked on the tape that they are on, none for constants alone. What may be refused is looked
  /// at before a constant is recorded.
  template <class... More>
  WENGERT_INLINED static Places places(Tape*& tape, const Var& a, const More&... more) {
    constexpr std::size_t count = 1 + sizeof...(More);
    const Var* const operands[] = {&a, &more...};
    Id ids[3] = {a.id_, more.id_...};
    if (((a.tape_ == more.tape_) && ...)) {
      if (tape) a.check_on(*tape), (more.check_on(*tape), ...);
    } else {
      ((tape = tape ? tape : more.tape_), ...);
      a.check_on(*tape), (more.check_on(*tape), ...);
      for (std::size_t k = 0; k < count; ++k)
        if (!operands[k]->tape_) ids[k] = tape->shared_constant(operands[k]->value_, static_cast<Id>(count - k));
    }
    return {ids[0], count > 1 ? ids[1] : ids[0], count > 2 ? ids[2] : ids[0]};
  }
  template <class... Operands>
  static std::uint8_t constants(const Operands&... operands) {
    unsigned mask = 0, bit = 1;
    ((mask |= operands.tape_ ? 0 : bit, bit <<= 1), ...);
    return static_cast<std::uint8_t>(mask);
  }

  static bool compare(Op op, bool outcome, const Var& a, const Var& b, const Located<Real>& at) {
    Tape* tape = a.tape_ ? a.tape_ : b.tape_;
    if (!tape) return outcome;
    Tape::check_lives(tape);
    tape->expect_guard();
    const Places at_tape = places(tape, a, b);
    return tape->compare(op, outcome, at_tape.a, at_tape.b, at.file, at.line);
  }
  /// Unless it is a constant, it has to be on `tape`, and to be there still.
  WENGERT_INLINED void check_on(Tape& tape) const {
    if (tape_) place(tape);
  }

  Real value_ = 0;
  Tape* tape_ = nullptr;
  Id id_ = no_id;
  std::uint32_t epoch_ = 0;
};

static_assert(sizeof(Var<double>) == 24);

/// An operand of a comparison: a Var, or what converts to one, and where in the source it is compared. Made by conversion.
template <class Real>
class Located {
 public:
  /// What the defaults say is where the conversion stands.
  template <class T>
    requires std::is_convertible_v<const T&, Var<Real>>
  Located(const T& operand, const char* file_ = __builtin_FILE(), std::uint32_t line_ = __builtin_LINE())
      : file(file_), line(line_), operand_(operand) {}
  const Var<Real>* operator->() const { return &operand_; }  ///< the operand
  const Var<Real>& operator*() const { return operand_; }    ///< the operand

  const char* const file;    ///< of the comparison
  const std::uint32_t line;  ///< in that file

 private:
  const Var<Real> operand_;
};

template <class Real>
class Cond {
 public:
  /// A condition known at recording.
  explicit Cond(bool known) : truth_(known ? 1 : 0) {}
  Cond(const Var<Real>& truth) : truth_(truth) {}       ///< true where it isn't 0
  operator const Var<Real>&() const { return truth_; }  ///< 1 or 0, as a number
  /// What it is at recording.
  bool value() const { return truth_.value() != 0; }

  /// @{
  /// Recorded, and decided at replay. Throws as arithmetic.
  friend Cond operator&(const Cond& a, const Cond& b) { return logical_and(a.truth_, b.truth_); }
  friend Cond operator|(const Cond& a, const Cond& b) { return logical_or(a.truth_, b.truth_); }
  friend Cond operator!(const Cond& a) { return logical_not(a.truth_); }
  /// @}
  /// `a` where c holds, else `b`; the other's adjoint is exactly 0. Both are computed. Throws as arithmetic.
  friend Var<Real> select(const Cond& c, const Var<Real>& a, const Var<Real>& b) { return select(c.truth_, a, b); }
  /// What it is at recording, for `if`: a guard, as of a comparison. Throws stale_id.
  friend bool decide(const Cond& c, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    if (NaiveTape<Real>* const tape = c.truth_.tape()) tape->guard(c.truth_.place(*tape), file, line);
    return c.value();
  }

 private:
  Var<Real> truth_;
};

/// An input: what `Replay` varies and differentiates.
template <class Real>
Var<Real> input(NaiveTape<Real>& tape, std::type_identity_t<Real> value = 0) {
  return Var<Real>(tape, tape.input(value));
}
/// An input that is the same for all samples of a batch (wengert/replay.hpp).
template <class Real>
Var<Real> parameter(NaiveTape<Real>& tape, std::type_identity_t<Real> value = 0) {
  return Var<Real>(tape, tape.parameter(value));
}

}  // namespace wengert

/// As of the real type inside.
namespace std {
template <class Real>
struct numeric_limits<wengert::Var<Real>> : numeric_limits<Real> {};
}  // namespace std
