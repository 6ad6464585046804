// The passes that make a Program of a tape, in the order they run. Each takes time linear in the tape.
//
//   simplify        which ops matter, which are constants, which repeat an earlier one, which have derivatives
//   sort_guards     which guards are the samples', and which comparisons are made for guards alone
//   lower_backward  the reverse sweep as instructions that each write new values only, and what they need kept
//   lower_forward   the same for the values
//   schedule        an order with long stretches of one kind
//   place           slots
//
// Instructions before `place` are in static single assignment form: each names the values that it writes and reads, and
// each value is written once. So an adjoint that n ops contribute to is n values, each the one before plus a
// contribution: the order of contributions, and with it every bit, is in the data flow, and whatever reorders instructions
// can't change it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/large_vector.hpp"
#include "kernels/uniform_products.hpp"
#include "tape/program.hpp"

namespace wengert::plan {

using codegen::LargeVector;  // of what passes leave to the next

/// Of a value in static single assignment form. Ids of the tape are those of its variables' values; others follow.
using ValueId = std::uint32_t;
inline constexpr ValueId no_value = 0xffffffffu;

/// When a value is computed: once before all samples, for each sample, or once after all samples.
enum class Phase { prologue, body, epilogue };

/// What simplify found out, per variable of the tape.
struct Simplified {
  enum : std::uint8_t {
    live = 1,      ///< an output depends on it
    constant = 2,  ///< its value never changes
    active = 4,    ///< it depends on a differentiated input
    kept = 8,      ///< a reverse sweep reads its value (lower_backward)
    varying = 16,  ///< it depends on an input that isn't a parameter, other than through sum_samples
    late = 32,     ///< it depends on a sum over the samples
    asked = 64,    ///< the result of a comparison that guards alone want: their checks compare
  };
  LargeVector<std::uint8_t> flags;
  LargeVector<Id> same;  ///< the first variable that always has the same value
  std::size_t dead_ops = 0, constant_ops = 0, common_ops = 0, passive_ops = 0, hoisted_ops = 0;
  bool has_uniform = false;  ///< parameters, sums, and what depends on them alone

  bool is(Id id, unsigned what) const { return (flags[id] & what) != 0; }
  /// Of a variable that isn't constant.
  Phase phase(Id id) const { return is(id, varying) ? Phase::body : is(id, late) ? Phase::epilogue : Phase::prologue; }
  bool uniform(Id id) const { return !is(id, varying | constant); }
  /// Whether a record is a sum over the samples that has to be computed.
  bool sums_samples(const OpRecord& record) const {
    return record.op == Op::sum_samples && is(record.out, live) && same[record.out] == record.out;
  }
};

/// Throws bad_argument where an op of the samples needs their sum.
template <class Real>
Simplified simplify(const TapeView<Real>& tape, std::span<const Id> outputs, std::span<const Id> differentiated);

/// Guards, in the order recorded: first those that differ between samples, then those that are the same for the batch.
struct Guards {
  std::vector<Guard> all;
  std::size_t of_samples = 0;
};

/// Throws out_of_ids.
template <class Real>
Guards sort_guards(const TapeView<Real>& tape, std::span<const Guard> guards, Simplified& simplified,
                   std::span<const Id> outputs);

/// An instruction: `words` from `first`: values written, then read.
struct Item {
  std::uint16_t kind;
  bool no_tie;  ///< a tie's slope is 0 (kernels::has_tie)
  std::uint32_t first, writes, reads;
};

struct Items {
  LargeVector<Item> items;
  LargeVector<ValueId> words;

  /// What else there is to know of items of a kind past those of the catalogue: the rule's, the (first) sum's or the guard's number,
  /// of a dot how many operands; of a call how many of the reads are adjoints of outputs, of products their kernel.
  struct Special {
    std::uint32_t item, number, more;
  };
  std::vector<Special> specials;  ///< by item, ascending

  std::span<const ValueId> writes(const Item& item) const { return {words.data() + item.first, item.writes}; }
  std::span<const ValueId> reads(const Item& item) const {
    return {words.data() + item.first + item.writes, item.reads};
  }
};

/// The reverse sweep: epilogue, body, prologue.
struct Backward {
  Items epilogue, body, prologue;
  ValueId values;                  ///< how many ids there are
  ValueId minus_zero, waste;       ///< a constant -0; what is written and never read
  std::vector<ValueId> seeds;      ///< per output, no_value where it has no derivative
  std::vector<ValueId> gradients;  ///< per differentiated input, no_value: zero

  /// A value of one side that the other side starts from.
  struct Crossing {
    ValueId from, to;
  };
  std::vector<Crossing> sums;   ///< a sum's adjoint, which is that of every sample's term
  std::vector<ValueId> totals;  ///< sums over what the samples give to the adjoints of uniform variables
};

/// `first_total`: the number of the first sum over the samples that is this sweep's.
template <class Real>
Backward lower_backward(const TapeView<Real>& tape, Simplified& simplified, std::span<const Id> outputs,
                        std::span<const Id> differentiated, std::uint32_t first_total);

/// What checks of guards read beside their operands: a zero, and where they write down which failed.
struct CheckPlaces {
  ValueId zero, failed;
};

/// The values of one phase; of sum_samples the taking of the samples' terms; of guards the checks. Long sums are taken apart, so
/// that each part can run as soon as its operands are there; `values` grows by what that takes.
template <class Real>
Items lower_forward(const TapeView<Real>& tape, const Simplified& simplified, const Guards& guards, CheckPlaces places,
                    Phase phase, ValueId& values);

/// The order to run them in: positions in `code.items`.
LargeVector<std::uint32_t> schedule(const Items& code, ValueId values);

/// What place makes of values.
class Slots {
 public:
  explicit Slots(ValueId values) : slot_(values, no_slot) {}

  Slot operator[](ValueId value) const { return slot_[value]; }
  /// Gives a value a slot of its own for good.
  Slot keep(ValueId value) {
    if (slot_[value] == no_slot) slot_[value] = kept_++;
    return slot_[value];
  }
  Slot kept() const { return kept_; }

  /// Gives slots past the kept ones to all that `code` writes, and to `arriving` values that are there before it; a slot is free
  /// again once its value has been read for the last time. `pinned` values keep theirs to the end. Emits the words.
  Code place(const Items& code, std::span<const std::uint32_t> order, std::span<const ValueId> arriving,
             std::span<const ValueId> pinned);
  /// Slots in use at most.
  Slot count() const { return count_; }

 private:
  LargeVector<Slot> slot_;
  Slot kept_ = 0, count_ = 0;
};

}  // namespace wengert::plan
