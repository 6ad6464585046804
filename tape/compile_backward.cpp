// The reverse sweep as instructions, in the order of the eager one: ops from the last to the first, operands in slot order.
#include <algorithm>
#include <optional>
#include <utility>

#include "tape/compile.hpp"
#include "tape/records.hpp"

namespace wengert::plan {
namespace {

using kernels::Slope;

template <class Real>
class BackwardLowering {
 public:
  BackwardLowering(const TapeView<Real>& tape, Simplified& simplified, std::uint32_t first_total)
      : tape_(tape), s_(simplified), next_total_(first_total), adjoint_(tape.values.size(), no_value) {
    const ValueId variables = static_cast<ValueId>(tape.values.size());
    out_.minus_zero = variables;
    out_.waste = variables + 1;
    out_.values = variables + 2;
    seen_.assign(variables, 0);
  }

  Backward run(std::span<const Id> outputs, std::span<const Id> differentiated) {
    std::size_t active_operands = 0;
    for (const OpRecord& record : tape_.ops)
      if (visited(record)) active_operands += operands_of(tape_, record).size();
    out_.body.items.reserve(active_operands);
    out_.body.words.reserve(5 * active_operands);
    out_.seeds.assign(outputs.size(), no_value);
    out_.gradients.assign(differentiated.size(), no_value);

    if (s_.has_uniform) {
      code_ = &out_.epilogue;
      plant_seeds(outputs, true);
      sweep(Phase::epilogue);
    }
    // Adjoints of uniform variables, so far. In the body each sample has its own.
    LargeVector<ValueId> uniform;
    if (s_.has_uniform) {
      uniform = adjoint_;
      std::fill(adjoint_.begin(), adjoint_.end(), no_value);
    }
    code_ = &out_.body;
    plant_seeds(outputs, false);
    if (s_.has_uniform) sweep_body(uniform);
    else sweep(Phase::body);
    for (std::size_t k = 0; k < differentiated.size(); ++k)
      if (!s_.uniform(differentiated[k])) out_.gradients[k] = adjoint_[differentiated[k]];

    if (s_.has_uniform) {
      code_ = &out_.prologue;
      std::swap(uniform, adjoint_);
      for (const Id id : taken_) {
        out_.totals.push_back(new_value());
        add_to(id, out_.totals.back(), Slope::one);
      }
      sweep(Phase::prologue);
      for (std::size_t k = 0; k < differentiated.size(); ++k)
        if (s_.uniform(differentiated[k])) out_.gradients[k] = adjoint_[differentiated[k]];
    }
    return std::move(out_);
  }

 private:
  bool visited(const OpRecord& record) const {
    constexpr std::uint8_t both = Simplified::live | Simplified::active;
    return (s_.flags[record.out] & both) == both;
  }
  bool active(Id id) const { return s_.is(id, Simplified::active); }

  void plant_seeds(std::span<const Id> outputs, bool uniform) {
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (active(outputs[k]) && s_.uniform(outputs[k]) == uniform)
        add_to(outputs[k], out_.seeds[k] = new_value(), Slope::one);
  }

  void sweep(Phase phase) {
    for (std::size_t k = tape_.ops.size(); k-- > 0;)
      if (const OpRecord& record = tape_.ops[k];
          visited(record) && s_.phase(record.out) == phase && record.op != Op::sum_samples)
        adjoint(record);
  }
  /// `uniform`: adjoints that the epilogue left.
  void sweep_body(const LargeVector<ValueId>& uniform) {
    const auto in_body = [&](const OpRecord& record) {
      return visited(record) && (record.op == Op::sum_samples || s_.phase(record.out) == Phase::body);
    };
    // A uniform variable's adjoint is whole once the first op that reads it has been visited.
    uses_.assign(tape_.values.size(), 0);
    LargeVector<std::size_t> last_of(tape_.ops.size() + 1, 0);
    std::vector<Id> whole;
    for (std::size_t k = 0; k < tape_.ops.size(); ++k) {
      if (in_body(tape_.ops[k]))
        for (const Id id : operands_of(tape_, tape_.ops[k]))
          if (s_.uniform(id) && active(id) && uses_[id]++ == 0) whole.push_back(id);
      last_of[k + 1] = whole.size();
    }
    for (std::size_t k = tape_.ops.size(); k-- > 0;) {
      const OpRecord& record = tape_.ops[k];
      if (!in_body(record)) continue;
      if (record.op != Op::sum_samples) {
        adjoint(record);
      } else if (uniform[record.out] != no_value) {
        out_.sums.push_back({uniform[record.out], new_value()});
        add_to(record.a, out_.sums.back().to, Slope::one);
      }
      for (std::size_t w = last_of[k]; w < last_of[k + 1]; ++w)
        if (adjoint_[whole[w]] != no_value) take(whole[w]);
    }
  }
  /// Sums a uniform variable's adjoint over the samples.
  void take(Id id) {
    special(next_total_++, 0);
    taken_.push_back(id);
    begin(take_sum);
    word(adjoint_[id]);
    end(0);
  }
  void special(std::uint32_t number, std::uint32_t more) {
    code_->specials.push_back({static_cast<std::uint32_t>(code_->items.size()), number, more});
  }
  /// The factors of a product, of which one is uniform and gets no other contribution: that one first.
  using Factors = std::pair<Id, Id>;
  std::optional<Factors> with_uniform_factor(Id a, Id b) const {
    if (code_ != &out_.body || uses_.empty()) return std::nullopt;
    const auto alone = [&](Id id) { return s_.uniform(id) && active(id) && uses_[id] == 1; };
    if (s_.uniform(a) == s_.uniform(b)) return std::nullopt;
    if (alone(a)) return Factors(a, b);
    if (alone(b)) return Factors(b, a);
    return std::nullopt;
  }
  /// The adjoint of products, or of their sum, with uniform factors: their shares are summed over the samples at once.
  void uniform_factors(std::span<const Factors> terms, ValueId g) {
    const bool both = active(terms[0].second);
    special(next_total_, kernels::uniform_product_kernel(both));
    next_total_ += static_cast<std::uint32_t>(terms.size());
    begin(uniform_products);
    const ValueId first = out_.values;
    const std::size_t writes = terms.size() * (both ? 2 : 1);
    for (std::size_t k = 0; k < writes; ++k) word(new_value());
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const auto [uniform, other] = terms[k];
      taken_.push_back(uniform);
      word(g);
      if (both) read(uniform);
      read(other);
      if (!both) continue;
      word(or_zero(adjoint_[other]));
      adjoint_[other] = first + static_cast<ValueId>(2 * k + 1);
    }
    end(writes);
  }
  void adjoint(const OpRecord& record) {
    if (record.op == op_call) call(record);
    else if (record.op == Op::sum) sum(record);
    else if (record.op == Op::dot) dot(record);
    else if (record.op == Op::sqnorm) sqnorm(record);
    else if (info(record.op).arity == 0) list(record);
    else fixed(record);
  }

  ValueId new_value() { return out_.values++; }

  void word(ValueId value) { code_->words.push_back(value); }
  /// A value of the forward sweep, which has to be kept for this. (All uniform ones are.)
  void read(Id id) {
    const Id same = s_.same[id];
    if (code_ == &out_.body) s_.flags[same] |= Simplified::kept;
    word(same);
  }
  void begin(std::uint16_t kind, bool no_tie = false) {
    code_->items.push_back({kind, no_tie, static_cast<std::uint32_t>(code_->words.size()), 0, 0});
  }
  void end(std::size_t writes) {
    Item& item = code_->items.back();
    item.writes = static_cast<std::uint32_t>(writes);
    item.reads = static_cast<std::uint32_t>(code_->words.size()) - item.first - item.writes;
  }

  /// Adds a contribution that needs no product. The first one is no work: it is the contribution itself.
  void add_to(Id id, ValueId contribution, Slope slope) {
    ValueId& adjoint = adjoint_[id];
    if (adjoint == no_value && slope == Slope::one) {
      adjoint = contribution;
      return;
    }
    const Op op = adjoint == no_value ? Op::neg : slope == Slope::one ? Op::add : Op::sub;
    begin(kernels::value_kernel(op));
    const ValueId sum = new_value();
    word(sum);
    if (adjoint != no_value) word(adjoint);
    word(contribution);
    end(1);
    adjoint = sum;
  }

  void sum(const OpRecord& record) {
    const ValueId g = adjoint_[record.out];
    if (g == no_value) return;
    for (Id id : operands_of(tape_, record))
      if (active(id)) add_to(id, g, Slope::one);
  }

  /// Of these ops' adjoints each term is that of a product or a square.
  void dot(const OpRecord& record) {
    const ValueId g = adjoint_[record.out];
    if (g == no_value) return;
    const Operands operands = operands_of(tape_, record);
    const std::size_t half = operands.size() / 2;
    bool repeated = false;
    for (Id id : operands) repeated |= seen_[id]++ != 0;
    for (Id id : operands) seen_[id] = 0;
    if (!repeated && uniform_dot(operands, g)) return;
    const auto pair = [&](std::size_t i, unsigned mask) {
      const Id factors[] = {operands[i], operands[half + i]};
      for (unsigned k = 0; k < 2; ++k)
        if (!active(factors[k])) mask &= ~(1u << k);
      if (mask != 0) product(Op::mul, factors, record.out, false, mask);
    };
    if (!repeated)
      for (std::size_t i = 0; i < half; ++i) pair(i, 3);
    else  // a variable in several places gets its contributions in their order
      for (const unsigned mask : {1u, 2u})
        for (std::size_t i = 0; i < half; ++i) pair(i, mask);
  }
  /// Of a dot whose terms all have a factor that is uniform, if no other contribution comes to any of these.
  bool uniform_dot(const Operands& operands, ValueId g) {
    const std::size_t half = operands.size() / 2;
    factors_.clear();
    for (std::size_t i = 0; i < half; ++i) {
      const auto factors = with_uniform_factor(operands[i], operands[half + i]);
      if (!factors || active(factors->second) != active(factors_.empty() ? factors->second : factors_[0].second))
        return false;
      factors_.push_back(*factors);
    }
    uniform_factors(factors_, g);
    return true;
  }
  void sqnorm(const OpRecord& record) {
    if (adjoint_[record.out] == no_value) return;
    for (const Id id : operands_of(tape_, record))
      if (active(id)) product(Op::square, {&id, 1}, record.out, false, 1);
  }

  /// The products for the operands in `mask`, whose variables differ.
  void product(const OpRecord& record, unsigned mask) {
    product(record.op, operands_of(tape_, record), record.out, record.constants != 0, mask);
  }
  void product(Op op, std::span<const Id> operands, Id out, bool no_tie, unsigned mask) {
    const bool assigns = kernels::assigns(kernels::adjoint_row(op));
    unsigned assign = 0;
    for (unsigned k = 0; k < operands.size(); ++k)
      if (assigns && mask >> k & 1 && adjoint_[operands[k]] == no_value) assign |= 1u << k;
    const unsigned used = kernels::used(op, mask);

    begin(kernels::adjoint_kernel(op, mask, assign), no_tie);
    const ValueId first = out_.values;
    for (unsigned k = 0; k < operands.size(); ++k)
      if (mask >> k & 1) word(new_value());
    word(adjoint_[out]);
    for (unsigned k = 0; k < operands.size(); ++k)
      if (used >> k & 1) read(operands[k]);
    if (used & uses::Y) read(out);
    ValueId next = first;
    for (unsigned k = 0; k < operands.size(); ++k)
      if (mask >> k & 1) {
        ValueId& adjoint = adjoint_[operands[k]];
        if (!(assign >> k & 1)) word(adjoint == no_value ? out_.minus_zero : adjoint);
        adjoint = next++;
      }
    end(next - first);
  }

  void fixed(const OpRecord& record) {
    const ValueId g = adjoint_[record.out];
    if (g == no_value) return;
    const Operands operands = operands_of(tape_, record);
    unsigned mask = 0;
    bool repeated = false;  // a variable in several places gets its contributions one after the other
    for (unsigned k = 0; k < operands.size(); ++k)
      if (slope_of(record.op, k) != Slope::none && active(operands[k])) {
        mask |= 1u << k;
        for (unsigned i = 0; i < k; ++i) repeated |= (mask >> i & 1) && operands[i] == operands[k];
      }
    const unsigned products = mask & kernels::products(record.op);
    if (products && !repeated && !uniform_product(record, g)) product(record, products);
    for (unsigned k = 0; k < operands.size(); ++k) {
      if (!(mask >> k & 1)) continue;
      if (!(products >> k & 1)) add_to(operands[k], g, slope_of(record.op, k));
      else if (repeated) product(record, 1u << k);
    }
  }

  /// Of a product, on its own or of an fma, with a uniform factor.
  bool uniform_product(const OpRecord& record, ValueId g) {
    if (kernels::adjoint_row(record.op) != kernels::adjoint_row(Op::mul)) return false;
    const auto factors = with_uniform_factor(record.a, record.b);
    if (factors) uniform_factors({&*factors, 1}, g);
    return factors.has_value();
  }

  void list(const OpRecord& record) {
    const std::uint32_t results = outputs_of(tape_, record);
    bool reached = false;
    for (Id j = 0; j < results; ++j) reached |= adjoint_[record.out + j] != no_value;
    if (!reached) return;
    const Operands operands = operands_of(tape_, record);
    const unsigned used = info(record.op).uses[0];

    bool repeated = false;
    for (Id id : operands) repeated |= seen_[id]++ != 0;
    for (Id id : operands) seen_[id] = 0;

    begin(kernels::nary_adjoint_kernel(record.op, static_cast<std::uint32_t>(operands.size())));
    const ValueId first = out_.values;
    for (Id id : operands) word(active(id) ? new_value() : out_.waste);
    for (Id j = 0; j < results; ++j) word(or_zero(adjoint_[record.out + j]));
    if (used & uses::X)
      for (Id id : operands) read(id);
    if (used & uses::Y)
      for (Id j = 0; j < results; ++j) read(record.out + j);
    for (Id id : operands) word(repeated || !active(id) ? out_.minus_zero : or_zero(adjoint_[id]));
    end(operands.size());

    ValueId next = first;
    for (Id id : operands) {
      if (!active(id)) continue;
      if (repeated) add_to(id, next++, Slope::one);
      else adjoint_[id] = next++;
    }
  }
  void call(const OpRecord& record) {
    const std::uint32_t results = outputs_of(tape_, record),
                        outputs = static_cast<std::uint32_t>(rule_of(tape_, record).outputs);
    bool reached = false;
    for (Id j = 0; j < outputs; ++j) reached |= adjoint_[record.out + j] != no_value;
    if (!reached) return;
    const Operands operands = operands_of(tape_, record);
    special(record.c, outputs);
    begin(call_adjoint);
    const ValueId first = out_.values;
    for (Id id : operands) word(active(id) ? new_value() : out_.waste);
    for (Id j = 0; j < outputs; ++j) word(or_zero(adjoint_[record.out + j]));
    for (Id id : operands) read(id);
    for (Id j = 0; j < results; ++j) read(record.out + j);
    end(operands.size());
    ValueId next = first;
    for (Id id : operands)
      if (active(id)) add_to(id, next++, Slope::one);
  }
  ValueId or_zero(ValueId value) const { return value == no_value ? out_.minus_zero : value; }

  const TapeView<Real>& tape_;
  Simplified& s_;
  std::uint32_t next_total_;
  std::vector<Id> taken_;            // uniform variables whose adjoints are summed over the samples, in the sums' order
  LargeVector<std::uint32_t> uses_;  // of each of them, by ops of the samples
  std::vector<Factors> factors_;     // scratch of `uniform_dot`
  LargeVector<ValueId> adjoint_;     // of each variable, so far
  LargeVector<std::uint8_t> seen_;   // scratch of `list`
  Backward out_{};
  Items* code_ = nullptr;  // what is being written
};

}  // namespace

template <class Real>
Backward lower_backward(const TapeView<Real>& tape, Simplified& simplified, std::span<const Id> outputs,
                        std::span<const Id> differentiated, std::uint32_t first_total) {
  return BackwardLowering<Real>(tape, simplified, first_total).run(outputs, differentiated);
}

template Backward lower_backward(const TapeView<double>&, Simplified&, std::span<const Id>, std::span<const Id>,
                                 std::uint32_t);
template Backward lower_backward(const TapeView<float>&, Simplified&, std::span<const Id>, std::span<const Id>,
                                 std::uint32_t);

}  // namespace wengert::plan
