// The values of a phase as instructions.
#include <algorithm>

#include "tape/compile.hpp"
#include "tape/records.hpp"

namespace wengert::plan {
namespace {

template <class Real>
class ForwardLowering {
 public:
  ForwardLowering(const TapeView<Real>& tape, const Simplified& simplified, Phase phase, ValueId& values)
      : tape_(tape), s_(simplified), phase_(phase), values_(values) {}

  Items run() {
    split_long_sums();
    std::size_t next_part = 0;
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k < tape_.ops.size(); ++k) {
      const OpRecord& record = tape_.ops[k];
      if (computed(record) && !is_long_sum(record)) {
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
      } else if (phase_ == Phase::body && s_.sums_samples(record)) {
        special(sum++);
        begin(take_sum);
        out_.words.push_back(s_.same[record.a]);
        end(0);
      }
      for (; next_part < parts_.size() && parts_[next_part].after == k; ++next_part) emit(parts_[next_part]);
    }
    return std::move(out_);
  }

 private:
  /// A stretch of a long sum: the sum so far and up to 7 more operands, first of which is `first` in the operand array.
  struct Part {
    std::size_t after;  // the op to come after: the last one that it needs
    ValueId sum, so_far;
    std::uint32_t first, count;
  };

  bool computed(const OpRecord& record) const {
    return (s_.flags[record.out] & (Simplified::live | Simplified::constant)) == Simplified::live &&
           s_.same[record.out] == record.out && s_.phase(record.out) == phase_ && record.op != Op::sum_samples;
  }
  static bool is_long_sum(const OpRecord& record) { return record.op == Op::sum && record.b > kernels::most_operands; }

  /// Cuts each long sum into parts that run as soon as what they add is there, so that it needn't all be kept to the end.
  void split_long_sums() {
    bool any = false;
    for (const OpRecord& record : tape_.ops) any |= is_long_sum(record) && computed(record);
    if (!any) return;
    std::vector<std::uint32_t> written_by(tape_.values.size(), 0);
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

  void emit(const Part& part) {
    const std::uint32_t terms = part.count + (part.so_far != no_value);
    begin(terms == 2 ? kernels::value_kernel(Op::add) : kernels::value_kernel(Op::sum, terms));
    out_.words.push_back(part.sum);
    if (part.so_far != no_value) out_.words.push_back(part.so_far);
    for (std::uint32_t i = 0; i < part.count; ++i) out_.words.push_back(s_.same[tape_.operands[part.first + i]]);
    end(1);
  }

  void special(std::uint32_t number) {
    out_.specials.push_back({static_cast<std::uint32_t>(out_.items.size()), number, 0});
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
  const Phase phase_;
  ValueId& values_;
  std::vector<Part> parts_;
  Items out_;
};

}  // namespace

template <class Real>
Items lower_forward(const TapeView<Real>& tape, const Simplified& simplified, Phase phase, ValueId& values) {
  return ForwardLowering<Real>(tape, simplified, phase, values).run();
}

template Items lower_forward(const TapeView<double>&, const Simplified&, Phase, ValueId&);
template Items lower_forward(const TapeView<float>&, const Simplified&, Phase, ValueId&);

}  // namespace wengert::plan
