// Which ops matter, which are constants, which repeat an earlier one, which have derivatives, which are uniform.
#include <algorithm>
#include <bit>
#include <string>

#include "tape/compile.hpp"
#include "tape/records.hpp"
#include "wengert/error.hpp"

namespace wengert::plan {
namespace {

/// Places of a hash table that are looked at before something is taken for new: linear time also where somebody chose
/// numbers and ids for their hashes. A repeat that is missed for that is computed twice, to the same bits.
constexpr std::size_t most_probes = 256;

/// Finds an earlier op that computes the same: a hash table of op numbers, open addressing.
template <class Real>
class Repeats {
 public:
  Repeats(const TapeView<Real>& tape, const LargeVector<Id>& same, std::size_t most)
      : tape_(tape), same_(same), table_(std::bit_ceil(2 * most + 2), none) {}

  /// The first op like this one, which is itself if it is new.
  std::uint32_t first_like(std::uint32_t op) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash(op) & mask;
    for (std::size_t probe = 0; probe < most_probes; ++probe, at = (at + 1) & mask) {
      if (table_[at] == none) return table_[at] = op;
      if (alike(table_[at], op)) return table_[at];
    }
    return op;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;

  std::size_t hash(std::uint32_t op) const {
    const OpRecord& record = tape_.ops[op];
    std::uint64_t h = static_cast<std::uint64_t>(record.op);
    for (Id id : operands_of(tape_, record)) h = (std::rotl(h, 23) ^ same_[id]) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }

  bool alike(std::uint32_t a, std::uint32_t b) const {
    if (tape_.ops[a].op != tape_.ops[b].op || tape_.ops[a].constants != tape_.ops[b].constants) return false;
    if (tape_.ops[a].op == op_call && &rule_of(tape_, tape_.ops[a]) != &rule_of(tape_, tape_.ops[b])) return false;
    const Operands x = operands_of(tape_, tape_.ops[a]), y = operands_of(tape_, tape_.ops[b]);
    if (x.size() != y.size()) return false;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (same_[x.begin()[k]] != same_[y.begin()[k]]) return false;
    return true;
  }

  const TapeView<Real>& tape_;
  const LargeVector<Id>& same_;
  LargeVector<std::uint32_t> table_;
};

/// Constants of the same bits are one.
template <class Real>
class Constants {
 public:
  explicit Constants(std::size_t most) : table_(std::bit_ceil(2 * most + 2), no_id) {}

  Id first_like(std::span<const Real> values, Id id) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = static_cast<std::size_t>(bits(values[id]) * 0x9e3779b97f4a7c15u >> 20) & mask;
    for (std::size_t probe = 0; probe < most_probes; ++probe, at = (at + 1) & mask) {
      if (table_[at] == no_id) return table_[at] = id;
      if (bits(values[table_[at]]) == bits(values[id])) return table_[at];
    }
    return id;
  }

 private:
  static std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
  static std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

  LargeVector<Id> table_;
};

template <class Real>
[[noreturn]] void needs_own_sum(const TapeView<Real>& tape, const OpRecord& record, bool sums) {
  const std::string what = "id " + std::to_string(record.out) + " (" + name_of(tape, record) + ")";
  throw Error(
      ErrorCode::bad_argument,
      sums ? what +
                 " sums over the samples what depends on such a sum itself; a program sums once: compile the outer "
                 "part as a program of its own"
           : what +
                 " differs from sample to sample and needs a sum over the samples of the same pass; compile the "
                 "sum as a program of its own and hand its value in as a parameter");
}

}  // namespace

template <class Real>
Simplified simplify(const TapeView<Real>& tape, std::span<const Id> outputs, std::span<const Id> differentiated) {
  Simplified s;
  const std::size_t variables = tape.values.size();
  s.flags.assign(variables, 0);
  s.same.resize(variables);
  for (Id id = 0; id < variables; ++id) s.same[id] = id;

  // Dead code: what no output depends on.
  LargeVector<std::uint8_t> live(tape.ops.size(), 0);
  for (Id id : outputs) s.flags[id] |= Simplified::live;
  std::size_t live_ops = 0;
  for (std::size_t k = tape.ops.size(); k-- > 0;) {
    const OpRecord& record = tape.ops[k];
    const std::uint32_t results = outputs_of(tape, record);
    for (Id j = 0; j < results; ++j) live[k] |= s.flags[record.out + j] & Simplified::live;
    if (!live[k]) continue;
    ++live_ops;
    for (Id j = 0; j < results; ++j) s.flags[record.out + j] |= Simplified::live;
    for (Id id : operands_of(tape, record)) s.flags[id] |= Simplified::live;
  }
  s.dead_ops = tape.ops.size() - live_ops;

  // Constants, repeats and activity, in the order of the tape.
  for (Id id : differentiated) s.flags[id] |= Simplified::active;
  for (Id id : tape.inputs)
    if (!std::binary_search(tape.parameters.begin(), tape.parameters.end(), id)) s.flags[id] |= Simplified::varying;
  s.has_uniform = !tape.parameters.empty();
  std::size_t constants = tape.constants.size();
  for (Id id : tape.constants) s.flags[id] |= Simplified::constant;
  for (std::size_t k = 0; k < tape.ops.size(); ++k) {
    if (!live[k]) continue;
    const OpRecord& record = tape.ops[k];
    if (record.op == Op::sum_samples) continue;  // of a constant: that, as often as there are samples
    std::uint8_t all = Simplified::constant;
    for (Id id : operands_of(tape, record)) all &= s.flags[id];
    if (!all) continue;
    const std::uint32_t results = outputs_of(tape, record);
    for (Id j = 0; j < results; ++j) s.flags[record.out + j] |= Simplified::constant;
    constants += results;
    ++s.constant_ops;
  }
  Constants<Real> known(constants);
  Repeats<Real> repeats(tape, s.same, live_ops - s.constant_ops);
  for (Id id : tape.constants)
    if (s.flags[id] & Simplified::live) s.same[id] = known.first_like(tape.values, id);
  for (std::uint32_t k = 0; k < tape.ops.size(); ++k) {
    if (!live[k]) continue;
    const OpRecord& record = tape.ops[k];
    const std::uint32_t results = outputs_of(tape, record);
    if (s.flags[record.out] & Simplified::constant) {
      for (Id j = 0; j < results; ++j) s.same[record.out + j] = known.first_like(tape.values, record.out + j);
      continue;
    }
    std::uint8_t active = 0, when = 0;
    const Operands operands = operands_of(tape, record);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (has_slope(record.op, i)) active |= s.flags[operands[i]] & Simplified::active;
      when |= s.flags[operands[i]] & (Simplified::varying | Simplified::late);
    }
    if (record.op == Op::sum_samples) {
      if (when & Simplified::late) needs_own_sum(tape, record, true);
      when = Simplified::late;
      s.has_uniform = true;
    } else if (when == (Simplified::varying | Simplified::late)) {
      needs_own_sum(tape, record, false);
    }
    if (!(when & Simplified::varying)) ++s.hoisted_ops;
    for (Id j = 0; j < results; ++j) s.flags[record.out + j] |= active | when;
    if (!active) ++s.passive_ops;

    if (record.op == Op::sum && operands.size() == 1) {  // the value of its operand
      s.same[record.out] = s.same[operands[0]];
      ++s.common_ops;
      continue;
    }
    const std::uint32_t first = repeats.first_like(k);
    if (first == k) continue;
    ++s.common_ops;
    for (Id j = 0; j < results; ++j) s.same[record.out + j] = tape.ops[first].out + j;
  }
  return s;
}

template Simplified simplify(const TapeView<double>&, std::span<const Id>, std::span<const Id>);
template Simplified simplify(const TapeView<float>&, std::span<const Id>, std::span<const Id>);

}  // namespace wengert::plan
