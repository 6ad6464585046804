// wengert/tape.hpp: NaiveTape, the growing record of a computation.
//
//   wengert::NaiveTape<double> tape;
//   wengert::Id x = tape.input(1.0), y = tape.input(2.0);
//   wengert::Id f = tape.softplus(tape.mul(tape.add(x, y), x));  // softplus((x + y) * x)
//   tape.backward(f);
//   double value = tape.value(f), slope = tape.grad(x);           // softplus(3), 4 * sigmoid(3)
//   tape.set_input(x, 0.5);
//   tape.forward();                                                // replays every op
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/array.hpp"
#include "wengert/epochs.hpp"
#include "wengert/error.hpp"
#include "wengert/labels.hpp"
#include "wengert/ops.hpp"

namespace wengert {

namespace kernels {
template <class Real>
struct Backend;
}

template <class Real>
struct CustomRule;

/// What `OpRecord::op` is for a custom op (wengert/custom.hpp), which is no row of the table. Operands as n-ary ops have them;
/// `c`: which of the tape's calls it is.
inline constexpr Op op_call = static_cast<Op>(op_count);
static_assert(op_count < 255);

/// A custom op, once recorded.
template <class Real>
struct Call {
  std::uint32_t op;                              ///< place among the tape's ops
  std::shared_ptr<const CustomRule<Real>> rule;  ///< of all calls of the op
};

/// A branch of the recorded code: it went the way it did because the variable `condition` was zero, or wasn't.
struct Guard {
  Id condition;        ///< variable that decided
  bool outcome;        ///< at recording: not zero
  std::uint32_t line;  ///< in that file
  const char* file;    ///< of the comparison; must outlive the tape
};

/// The arrays of a tape, as the sweeps read them. Valid until the tape changes.
template <class Real>
struct TapeView {
  std::span<const OpRecord> ops;      ///< in the order recorded
  std::span<const Id> operands;       ///< of n-ary ops, one list after the other
  std::span<const Id> inputs;         ///< ascending
  std::span<const Id> constants;      ///< ascending
  std::span<const Real> values;       ///< one per variable
  std::span<const Id> parameters;     ///< those inputs that are parameters, ascending
  std::span<const Guard> guards;      ///< in the order recorded
  std::span<const Call<Real>> calls;  ///< of custom ops, in the order recorded
};

/// Weight of one output in a reverse sweep.
template <class Real>
struct Seed {
  Id id;        ///< the output
  Real weight;  ///< its adjoint at the start of the sweep
};

/// What a tape holds.
struct TapeStatistics {
  /// @{
  /// How many; inputs count parameters too, operands are those of n-ary ops.
  std::size_t variables = 0, ops = 0, operands = 0, inputs = 0, constants = 0, guards = 0;
  /// @}
  std::size_t bytes_in_use = 0;    ///< of the arrays, counting what is recorded
  std::size_t bytes_reserved = 0;  ///< of the arrays, counting their capacity
};

/// A position on a tape: `rewind` to it forgets what was recorded since.
struct Mark {
  /// @{
  /// How many there were.
  std::uint32_t variables = 0, ops = 0, operands = 0, inputs = 0, constants = 0, parameters = 0, guards = 0;
  /// @}
};

/// What multiplies an adjoint by a partial (docs/numerics.md).
enum class ZeroRule {
  exact,  ///< exactly 0 where either is exactly 0, so that a branch not taken can't poison a gradient
  ieee    ///< the plain product
};

/// A tape-based record of a scalar computation, in contiguous arrays addressed by ids. Recording an op computes it;
/// every result is kept. One thread at a time per tape; tapes share nothing.
///
/// It has a recording function for each op of the table (docs/ops.md): `Id exp(Id)`, `Id add(Id, Id)`, `Id fma(Id, Id, Id)`,
/// `Id sum(std::span<const Id>)` (n-ary; the first output where there are several, as for softmax). They throw stale_id,
/// bad_size for a number of operands that the op doesn't take, out_of_ids and out_of_memory.
template <class Real>
class WENGERT_API NaiveTape {
  static_assert(std::is_same_v<Real, double> || std::is_same_v<Real, float>, "wengert tapes hold double or float");

 public:
  /// Empty.
  NaiveTape();
  /// @{
  /// A copy holds the same under the same ids; a Var stays with the tape it was made on. A tape that was moved from is empty.
  NaiveTape(const NaiveTape&) = default;
  NaiveTape& operator=(const NaiveTape& other) {
    if (this != &other) *this = NaiveTape(other);  // as it was, where there is no memory for a copy
    return *this;
  }
  NaiveTape(NaiveTape&&) noexcept = default;
  NaiveTape& operator=(NaiveTape&&) noexcept = default;
  /// @}
  ~NaiveTape() = default;

  /// A variable that `set_input` may change and whose gradient is asked for.
  Id input(Real value = 0);
  /// An input that is the same for all samples of a batch (wengert/replay.hpp). To the tape itself it is one like any other.
  Id parameter(Real value = 0);
  /// A variable that never changes. A tie of max, min, clamp against it has slope 0 (docs/numerics.md).
  Id constant(Real value);

#define WENGERT_OP1(name, ...) \
  Id name(Id x) { return record1(Op::name, x); }
#define WENGERT_OP2(name, ...) \
  Id name(Id a, Id b) { return record2(Op::name, a, b); }
#define WENGERT_OP3(name, ...) \
  Id name(Id a, Id b, Id c) { return record3(Op::name, a, b, c); }
#define WENGERT_OPN(name, ...) \
  Id name(std::span<const Id> operands) { return record_n(Op::name, operands); }
#include "wengert/ops.def"

  /// The k-th output of the op whose first output is `first` (softmax has several). Throws stale_id, bad_argument.
  Id output(Id first, std::size_t k) const;

  /// Value at the last recording or `forward`. Throws stale_id.
  Real value(Id id) const {
    check(id);
    return values_[id];
  }
  /// Adjoint of the last `backward` (0 before any, and for what was recorded since). Throws stale_id.
  Real grad(Id id) const {
    check(id);
    return id < adjoints_.size() ? adjoints_[id] + Real(0) : Real(0);
  }
  /// Changes an input; values downstream follow at the next `forward`. Throws not_an_input, stale_id.
  void set_input(Id id, Real value);

  /// Records that what follows was recorded because `condition` is (not) zero: `if (a < b)` on Vars is a guard on lt(a, b).
  /// A replay at which it comes out otherwise doesn't pass for the recorded code. Throws stale_id, out_of_memory.
  void guard(Id condition, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE());
  /// The same with an outcome that is given, whatever the condition is now.
  void guard(const Guard& guard);
  /// The first guard, counted in the order recorded, that comes out otherwise than at recording.
  std::optional<std::size_t> departure() const;

  /// Computes every op again, in order. Throws other_path where a guard comes out otherwise than at recording; everything
  /// is computed all the same, as if the recorded branch had been taken.
  void forward();
  /// Adjoints of all variables for the one output `id`, seeded with 1. Forgets those of earlier sweeps.
  void backward(Id id);
  /// Adjoints for the weighted sum of several outputs. An output listed twice counts twice.
  void backward(std::span<const Seed<Real>> seeds);

  /// Names a variable, for messages and drawings. An earlier name is forgotten. Throws stale_id, out_of_memory.
  void label(Id id, std::string_view name);
  /// Its name after those of the scopes it was recorded in: "layer/y". Empty where there are none. Throws stale_id.
  std::string label(Id id) const;

  Mark mark() const;  ///< here, to rewind to
  /// Forgets what was recorded after `mark`. Throws bad_argument if the mark isn't of this tape as it is: the tape is shorter, or
  /// was rewound further back since.
  void rewind(const Mark& mark);
  /// Makes room, so that recording up to that size doesn't allocate.
  void reserve(std::size_t variables, std::size_t ops, std::size_t operands = 0);
  /// Forgets everything, keeps the memory.
  void clear();

  /// How many bytes its arrays may take (statistics().bytes_reserved); none of them grows past that: what would is refused
  /// before it is allocated, with out_of_memory and the number of bytes. While an array grows, its old place is held too.
  void set_budget(std::size_t bytes) { budget_ = bytes; }
  std::size_t budget() const { return budget_; }  ///< bytes; SIZE_MAX where none was set

  void set_zero_rule(ZeroRule rule) { zero_rule_ = rule; }  ///< of sweeps, and of what is compiled, from now on
  ZeroRule zero_rule() const { return zero_rule_; }         ///< `exact` where none was set

  std::size_t size() const { return values_.size(); }  ///< variables

  // What Var stands on.

  /// Changes whenever ids are forgotten (rewind, clear). An id obtained at an earlier epoch may name something else now.
  std::uint32_t epoch() const { return epochs_.now(); }
  /// Throws stale_id where `tape` has ended, in checked builds; otherwise nothing.
  WENGERT_INLINED static void check_lives([[maybe_unused]] const NaiveTape* tape) {
#ifdef WENGERT_CHECKED
    detail::Lifetime::check(&tape->lifetime_);
#endif
  }
  /// Throws stale_id unless `id`, obtained at `epoch`, still names what it named.
  WENGERT_INLINED void check(Id id, std::uint32_t epoch) const {
    if (epoch != epochs_.now()) [[unlikely]]  // those of this epoch are all there
      check_older(id, epoch);
  }
  /// Makes room for a guard, so that the next `compare` needs none. Throws out_of_memory.
  WENGERT_INLINED void expect_guard() { make_room(guards_, 1); }
  /// Records the comparison `op` of two operands that were checked, and a guard on it. Returns its outcome.
  bool compare(Op op, bool outcome, Id a, Id b, const char* file, std::uint32_t line);
  /// A constant of that value, one used lately where there is one: so a literal in a loop isn't recorded every time. `more`: how
  /// many more variables an op that it is for records, constants and result. There is room for them once it is recorded, so that
  /// the op doesn't fail half way.
  WENGERT_INLINED Id shared_constant(Real value, Id more = 0) {
    const auto& known = shared_.at(value);
    if (known.epoch == epochs_.now() && known.is(value)) [[likely]]
      return known.id;
    return find_constant(value, more);
  }
  /// Appends a fixed-arity op whose value is known, with operands that were checked; bit k of `constants` where operand k is
  /// known to be one.
  WENGERT_INLINED Id append(Op op, Real value, Id a, Id b, Id c, std::uint8_t constants = 0) {
    if (values_.full() || ops_.full()) [[unlikely]]
      make_room(1, 1, 0);
    const Id out = static_cast<Id>(values_.size());
    // Mostly operands are younger than the last constant.
    const Id last = constants_.empty() ? 0 : constants_.back();
    if (!reads_tie(op)) constants = 0;
    else if (((a <= last) | (b <= last) << 1 | (c <= last) << 2) & ~constants)
      constants = constant_operands(op, a, b, c, constants);
    OpRecord& record = *ops_.extend(1);
    record.op = op, record.constants = constants, record.reserved = 0;
    record.out = out, record.a = a, record.b = b, record.c = c;
    values_.push(value);
    return out;
  }
  /// Forgets what was recorded since `mark`, of which nobody knows yet.
  void take_back(const Mark& mark) noexcept;
  /// What Scope does (wengert/labels.hpp).
  void open_scope(std::string_view name);
  void close_scope() noexcept { labels_.close(static_cast<Id>(values_.size())); }   ///< likewise
  const detail::Labels& labels() const { return labels_; }                          ///< all names and scopes
  void set_labels(detail::Labels labels) noexcept { labels_ = std::move(labels); }  ///< instead of those there are
  /// Records and computes a custom op; its first output, which the others follow (wengert/custom.hpp). Throws bad_size for
  /// another number of operands than it takes, stale_id, out_of_ids, out_of_memory, and what the rule's `values` throws; the tape
  /// is then as it was before.
  Id call(std::shared_ptr<const CustomRule<Real>> rule, std::span<const Id> operands);
  /// Room for the operands of an n-ary op, for the caller to fill in and then append_n. Throws bad_size, out_of_ids,
  /// out_of_memory.
  Id* operand_room(Op op, std::size_t n);
  /// Appends an n-ary op on the operands, all checked, that were written to operand_room(op, n); its first output.
  /// Throws bad_size where it doesn't take that many, out_of_ids, out_of_memory.
  Id append_n(Op op, std::uint32_t n);
  /// The same for an op of one output whose value is known.
  Id append_n(Op op, std::uint32_t n, Real value);

  TapeStatistics statistics() const;  ///< what it holds
  TapeView<Real> view() const;        ///< its arrays

  /// Records any op of the table by its name in the enum: for interpreters, fuzzers and tests.
  Id record(Op op, std::span<const Id> operands);

 private:
  Id record1(Op op, Id a);
  Id record2(Op op, Id a, Id b);
  Id record3(Op op, Id a, Id b, Id c);
  Id record_n(Op op, std::span<const Id> operands);
  Id variable(Real value, detail::Array<Id>& list);
  void check(Id id) const {
    if (id >= values_.size()) [[unlikely]]
      stale(id);
  }
  void check_older(Id id, std::uint32_t epoch) const;
  [[noreturn]] void stale(Id id) const;
  Id find_constant(Real value, Id more);
  Id find_constant_slowly(Real value, Id more);
  static constexpr bool reads_tie(Op op) {
    return ((info(op).uses[0] | info(op).uses[1] | info(op).uses[2]) & uses::T) != 0;
  }
  bool fits(const Mark& mark) const;
  void truncate(const Mark& mark) noexcept;
  void make_room(std::size_t variables, std::size_t ops, std::size_t operands);
  void make_room_slowly(std::size_t variables, std::size_t ops, std::size_t operands);
  template <class T>
  void make_room(detail::Array<T>& array, std::size_t extra) {
    if (!array.has_room(extra)) [[unlikely]]
      make_room_slowly(array, extra);
  }
  template <class T>
  void make_room_slowly(detail::Array<T>& array, std::size_t extra);
  /// Throws out_of_memory.
  void check_budget(std::size_t need, std::size_t others) const;
  std::vector<Real> call_room() const;
  void forward_with_calls();
  void backward_with_calls(std::span<const Seed<Real>> seeds, std::size_t count);
  void seed(std::span<const Seed<Real>> seeds) noexcept;
  void sweep_back(std::size_t first, std::size_t end, const std::uint8_t* visits) noexcept;
  Id append_record(Op op, std::uint32_t n, std::uint32_t outputs);
  std::uint8_t constant_operands(Op op, Id a, Id b, Id c, std::uint8_t known) const;

  const kernels::Backend<Real>* backend_;
  detail::Array<Real> values_, adjoints_;
  detail::Array<OpRecord> ops_;
  detail::Array<Id> operands_, inputs_, constants_, parameters_;
  detail::Array<Guard> guards_;
  std::vector<Call<Real>> calls_;
  detail::Array<Real> scratch_;
  ZeroRule zero_rule_ = ZeroRule::exact;
  std::size_t budget_ = SIZE_MAX;

  detail::Lifetime lifetime_;
  detail::Labels labels_;
  detail::Epochs epochs_;
  detail::SharedConstants<Real> shared_;
};

extern template class NaiveTape<double>;
extern template class NaiveTape<float>;

}  // namespace wengert
