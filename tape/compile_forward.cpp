// The values of a phase as instructions.
#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/checks.hpp"
#include "tape/compile.hpp"
#include "tape/records.hpp"

namespace wengert::plan {
namespace {

template <class Real>
class ForwardLowering {
 public:
  ForwardLowering(const TapeView<Real>& tape, const Simplified& simplified, const Guards& guards, CheckPlaces places,
                  Phase phase, ValueId& values)
      : tape_(tape), s_(simplified), guards_(guards), places_(places), phase_(phase), values_(values) {}

  Items run() {
    split_long_sums();
    find_checks();
    std::size_t next_part = 0, next_check = 0;
    std::uint32_t sum = 0;
    const auto check_all = [&](std::size_t op) {
      for (; next_check < checks_.size() && checks_[next_check].after <= op; ++next_check) emit(checks_[next_check]);
    };
    for (std::size_t k = 0; k < tape_.ops.size(); ++k) {
      const OpRecord& record = tape_.ops[k];
      if (computed(record) && !is_long_sum(record)) {
        if (!emit_uniform_dot(record)) emit(record);
      } else if (phase_ == Phase::body && s_.sums_samples(record)) {
        special(sum++);
        begin(take_sum);
        out_.words.push_back(s_.same[record.a]);
        end(0);
      }
      for (; next_part < parts_.size() && parts_[next_part].after == k; ++next_part) emit(parts_[next_part]);
      check_all(k);
    }
    check_all(tape_.ops.size());
    return std::move(out_);
  }

 private:
  /// A stretch of a long sum: the sum so far and up to 7 more operands, first of which is `first` in the operand array.
  struct Part {
    std::size_t after;  // the op to come after: the last one that it needs
    ValueId sum, so_far;
    std::uint32_t first, count;
  };

  /// A guard that is checked once its condition, or what that compares, is there.
  struct Check {
    std::size_t after;  // the op that it needs
    std::uint32_t guard;
    Op op;  // lt, le or eq
    bool outcome;
    ValueId a, b;
    auto asked() const { return std::tuple(op, outcome, a, b); }
  };

  bool computed(const OpRecord& record) const {
    return (s_.flags[record.out] & (Simplified::live | Simplified::constant | Simplified::asked)) == Simplified::live &&
           s_.same[record.out] == record.out && s_.phase(record.out) == phase_ && record.op != Op::sum_samples;
  }
  static bool is_long_sum(const OpRecord& record) { return record.op == Op::sum && record.b > kernels::most_operands; }

  /// Cuts each long sum into parts that run as soon as what they add is there, so that it needn't all be kept to the end.
  void split_long_sums() {
    bool any = false;
    for (const OpRecord& record : tape_.ops) any |= is_long_sum(record) && computed(record);
    if (!any) return;
    LargeVector<std::uint32_t> written_by(tape_.values.size(), 0);
    for (std::uint32_t k = 0; k < tape_.ops.size(); ++k)
      for (Id j = 0; j < outputs_of(tape_, tape_.ops[k]); ++j) written_by[tape_.ops[k].out + j] = k;
    for (const OpRecord& record : tape_.ops) {
      if (!is_long_sum(record) || !computed(record)) continue;
      std::size_t after = 0;
      ValueId so_far = no_value;
      for (std::uint32_t i = 0; i < record.b;) {
        const std::uint32_t room = kernels::most_operands - (so_far == no_value ? 0 : 1),
                            count = std::min(room, record.b - i);
        for (std::uint32_t k = 0; k < count; ++k)
          after = std::max<std::size_t>(after, written_by[s_.same[tape_.operands[record.a + i + k]]]);
        const ValueId sum = i + count == record.b ? record.out : values_++;
        parts_.push_back({after, sum, so_far, record.a + i, count});
        so_far = sum;
        i += count;
      }
    }
    std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.after < b.after; });
  }

  void emit(const OpRecord& record) {
    const Operands operands = operands_of(tape_, record);
    const std::uint32_t results = outputs_of(tape_, record);
    const bool pair = record.op == Op::sum && operands.size() == 2;
    if (record.op == op_call) special(record.c);
    begin(record.op == op_call ? call_values
          : pair               ? kernels::value_kernel(Op::add)
                               : kernels::value_kernel(record.op, static_cast<std::uint32_t>(operands.size())),
          record.constants != 0);
    for (Id j = 0; j < results; ++j) out_.words.push_back(record.out + j);
    for (Id id : operands) out_.words.push_back(s_.same[id]);
    end(results);
  }

  /// A dot of several terms that each have a factor which is the same for all samples.
  bool emit_uniform_dot(const OpRecord& record) {
    if (record.op != Op::dot || phase_ != Phase::body || record.b < 4) return false;
    const Operands operands = operands_of(tape_, record);
    const std::size_t terms = operands.size() / 2;
    const auto same_for_all = [&](std::size_t k) { return !s_.is(operands[k], Simplified::varying); };
    for (std::size_t k = 0; k < terms; ++k)
      if (!same_for_all(k) && !same_for_all(terms + k)) return false;
    special(record.b);
    begin(uniform_dots);
    out_.words.push_back(record.out);
    for (const bool other : {false, true})
      for (std::size_t k = 0; k < terms; ++k)
        out_.words.push_back(s_.same[operands[same_for_all(k) == other ? terms + k : k]]);
    end(1);
    return true;
  }

  void emit(const Part& part) {
    const std::uint32_t terms = part.count + (part.so_far != no_value);
    begin(terms == 2 ? kernels::value_kernel(Op::add) : kernels::value_kernel(Op::sum, terms));
    out_.words.push_back(part.sum);
    if (part.so_far != no_value) out_.words.push_back(part.so_far);
    for (std::uint32_t i = 0; i < part.count; ++i) out_.words.push_back(s_.same[tape_.operands[part.first + i]]);
    end(1);
  }

  /// The op that a variable is a result of; of an input or a constant one before which it is there, 0 at least.
  std::size_t op_of(Id id) const {
    const auto past = std::upper_bound(tape_.ops.begin(), tape_.ops.end(), id,
                                       [](Id wanted, const OpRecord& record) { return wanted < record.out; });
    return past == tape_.ops.begin() ? 0 : static_cast<std::size_t>(past - tape_.ops.begin()) - 1;
  }

  void find_checks() {
    for (std::uint32_t k = 0; k < guards_.all.size(); ++k) {
      const Guard& guard = guards_.all[k];
      const Id condition = s_.same[guard.condition];
      const bool constant = s_.is(condition, Simplified::constant);
      if (constant && (tape_.values[condition] != 0) == guard.outcome) continue;  // it will
      const Phase of_constants = s_.has_uniform ? Phase::prologue : Phase::body;
      if ((constant ? of_constants : s_.phase(condition)) == phase_) checks_.push_back(check_of(k, condition));
    }
    // Of those that ask the same the first does: where another fails, so does it.
    const auto less = [](const Check& x, const Check& y) {
      return std::tuple_cat(x.asked(), std::tuple(x.guard)) < std::tuple_cat(y.asked(), std::tuple(y.guard));
    };
    std::sort(checks_.begin(), checks_.end(), less);
    checks_.erase(std::unique(checks_.begin(), checks_.end(),
                              [](const Check& x, const Check& y) { return x.asked() == y.asked(); }),
                  checks_.end());
    std::sort(checks_.begin(), checks_.end(),
              [](const Check& x, const Check& y) { return std::pair(x.after, x.guard) < std::pair(y.after, y.guard); });
  }

  Check check_of(std::uint32_t number, Id condition) const {
    Check check{op_of(condition), number, Op::ne, guards_.all[number].outcome, condition, places_.zero};
    if (s_.is(condition, Simplified::asked)) {
      const OpRecord& record = tape_.ops[check.after];
      check.op = record.op, check.a = s_.same[record.a], check.b = s_.same[record.b];
    }
    if (check.op == Op::gt || check.op == Op::ge) {
      check.op = check.op == Op::gt ? Op::lt : Op::le;
      std::swap(check.a, check.b);
    } else if (check.op == Op::ne) {
      check.op = Op::eq;
      check.outcome = !check.outcome;
    }
    return check;
  }

  void emit(const Check& of) {
    const auto constant = [&](ValueId value) { return value == places_.zero || s_.is(value, Simplified::constant); };
    const kernels::Same same = constant(of.a)   ? kernels::Same::first
                               : constant(of.b) ? kernels::Same::second
                                                : kernels::Same::neither;
    special(of.guard);
    begin(static_cast<std::uint16_t>(first_check + kernels::number_of({of.op, same, of.outcome})));
    out_.words.insert(out_.words.end(), {places_.failed, of.a, of.b});
    end(0);
  }

  void special(std::uint32_t number, std::uint32_t more = 0) {
    out_.specials.push_back({static_cast<std::uint32_t>(out_.items.size()), number, more});
  }
  void begin(std::uint16_t kind, bool no_tie = false) {
    out_.items.push_back({kind, no_tie, static_cast<std::uint32_t>(out_.words.size()), 0, 0});
  }
  void end(std::uint32_t writes) {
    Item& item = out_.items.back();
    item.writes = writes;
    item.reads = static_cast<std::uint32_t>(out_.words.size()) - item.first - writes;
  }

  const TapeView<Real>& tape_;
  const Simplified& s_;
  const Guards& guards_;
  const CheckPlaces places_;
  const Phase phase_;
  ValueId& values_;
  std::vector<Part> parts_;
  std::vector<Check> checks_;
  Items out_;
};

}  // namespace

template <class Real>
Items lower_forward(const TapeView<Real>& tape, const Simplified& simplified, const Guards& guards, CheckPlaces places,
                    Phase phase, ValueId& values) {
  return ForwardLowering<Real>(tape, simplified, guards, places, phase, values).run();
}

template Items lower_forward(const TapeView<double>&, const Simplified&, const Guards&, CheckPlaces, Phase, ValueId&);
template Items lower_forward(const TapeView<float>&, const Simplified&, const Guards&, CheckPlaces, Phase, ValueId&);

}  // namespace wengert::plan
