#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/dispatch.hpp"
#include "tape/calls.hpp"
#include "tape/records.hpp"
#include "wengert/tape.hpp"

namespace wengert {
namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& message) { throw Error(code, message); }

/// What it does is all or nothing.
template <class Do>
auto with_memory_for(const char* what, Do act) {
  try {
    return act();
  } catch (const std::exception&) {
    fail(ErrorCode::out_of_memory, std::string("no memory for ") + what + "; the tape is as it was before the call");
  }
}

/// Whether the backward of an n-ary op works in scratch(i) (ops.def).
constexpr bool works_in_scratch(Op op) {
  switch (op) {
#define WENGERT_OPN(name, outputs, forward, backward, ...)                                         \
  case Op::name: {                                                                                 \
    constexpr bool found = std::string_view(#backward).find("scratch(") != std::string_view::npos; \
    return found;                                                                                  \
  }
#include "wengert/ops.def"
    default: return false;
  }
}
static_assert(works_in_scratch(Op::prod) && !works_in_scratch(Op::sum));

template <class Array>
std::size_t used(const Array& v) {
  return v.size() * sizeof(*v.begin());
}
template <class Array>
std::size_t reserved(const Array& v) {
  return v.capacity() * sizeof(*v.begin());
}

}  // namespace

namespace detail {

void no_room(std::size_t count, std::size_t size) {
  fail(ErrorCode::out_of_memory, "a tape array needs " + std::to_string(count) + " elements of " +
                                     std::to_string(size) +
                                     " bytes, which can't be had; the tape is as it was before the call");
}

}  // namespace detail

template <class Real>
NaiveTape<Real>::NaiveTape() : backend_(&kernels::backend<Real>(Isa::scalar)) {}

template <class Real>
void NaiveTape<Real>::stale(Id id) const {
  fail(ErrorCode::stale_id, "id " + std::to_string(id) + " names nothing on this tape of " +
                                std::to_string(values_.size()) +
                                " variables: it was never recorded here, or was rewound or cleared");
}

template <class Real>
void NaiveTape<Real>::check_older(Id id, std::uint32_t epoch) const {
  if (id >= values_.size() || epochs_.forgotten(id, epoch)) stale(id);
}

template <class Real>
void NaiveTape<Real>::check_budget(std::size_t need, std::size_t others) const {
  if (others > budget_ || need > budget_ - others)
    fail(ErrorCode::out_of_memory, "a tape array needs " + std::to_string(need) + " bytes beside " +
                                       std::to_string(others) + " of the others, and the tape's budget is " +
                                       std::to_string(budget_) + " bytes; the tape is as it was before the call");
}

template <class Real>
template <class T>
void NaiveTape<Real>::make_room_slowly(detail::Array<T>& array, std::size_t extra) {
  if (budget_ == SIZE_MAX) return array.make_room(extra);
  const std::size_t others = statistics().bytes_reserved - reserved(array);
  check_budget((array.size() + extra) * sizeof(T), others);
  array.make_room(extra, (budget_ - others) / sizeof(T));
}

template <class Real>
inline void NaiveTape<Real>::make_room(std::size_t variables, std::size_t ops, std::size_t operands) {
  if (!values_.has_room(variables) || !ops_.has_room(ops) || !operands_.has_room(operands)) [[unlikely]]
    make_room_slowly(variables, ops, operands);
}

template <class Real>
void NaiveTape<Real>::make_room_slowly(std::size_t variables, std::size_t ops, std::size_t operands) {
  if (variables > no_id - values_.size())
    fail(ErrorCode::out_of_ids, "this tape has " + std::to_string(values_.size()) + " variables and is asked for " +
                                    std::to_string(variables) + " more; ids are 32 bits");
  if (operands > no_id - operands_.size())
    fail(ErrorCode::out_of_ids, "this tape has " + std::to_string(operands_.size()) + " operands and is asked for " +
                                    std::to_string(operands) + " more; places in the operand array are 32 bits");
  make_room(values_, variables);
  make_room(ops_, ops);
  make_room(operands_, operands);
}

template <class Real>
Id NaiveTape<Real>::variable(Real value, detail::Array<Id>& list) {
  if (values_.full() || list.full()) [[unlikely]] {
    make_room(1, 0, 0);
    make_room(list, 1);
  }
  const Id id = static_cast<Id>(values_.size());
  values_.push(value);
  list.push(id);
  return id;
}

template <class Real>
Id NaiveTape<Real>::input(Real value) {
  return variable(value, inputs_);
}

template <class Real>
Id NaiveTape<Real>::parameter(Real value) {
  make_room(parameters_, 1);
  const Id id = input(value);
  parameters_.push(id);
  return id;
}

template <class Real>
Id NaiveTape<Real>::constant(Real value) {
  return variable(value, constants_);
}

template <class Real>
Id NaiveTape<Real>::find_constant(Real value, Id more) {
  auto& known = shared_.at(value);
  // Another one of this epoch: so the value isn't known. Numbers that differ at every step come here each time.
  const bool room = values_.has_room(4) && constants_.has_room(4) && !ops_.full();
  if (known.epoch != epochs_.now() || !room) [[unlikely]]
    return find_constant_slowly(value, more);
  const Id id = static_cast<Id>(values_.size());
  values_.push(value);
  constants_.push(id);
  known = {value, id, known.epoch};
  return id;
}

template <class Real>
Id NaiveTape<Real>::find_constant_slowly(Real value, Id more) {
  auto& known = shared_.at(value);
  const bool there = known.id < values_.size() && known.is(value) && !epochs_.forgotten(known.id, known.epoch);
  if (!there) {
    make_room(1 + more, more != 0, 0);
    make_room(constants_, std::max<Id>(more, 1));
    known = {value, static_cast<Id>(values_.size()), 0};
    values_.push(value);
    constants_.push(known.id);
  }
  known.epoch = epochs_.now();
  return known.id;
}

template <class Real>
std::uint8_t NaiveTape<Real>::constant_operands(Op op, Id a, Id b, Id c, std::uint8_t known) const {
  const Id operands[3] = {a, b, c};
  std::uint8_t mask = known;
  for (int k = 0; k < info(op).arity; ++k) {
    if (known >> k & 1) continue;
    // From the end, in steps that double: operands are mostly recent.
    const Id* high = constants_.end();
    std::size_t step = 1;
    while (step < constants_.size() && operands[k] < *(constants_.end() - step))
      high = constants_.end() - step, step *= 2;
    if (std::binary_search(constants_.end() - std::min(step, constants_.size()), high, operands[k]))
      mask |= static_cast<std::uint8_t>(1 << k);
  }
  return mask;
}

template <class Real>
Id NaiveTape<Real>::record1(Op op, Id a) {
  check(a);
  const Real x = values_[a];
  return append(op, backend_->value(op, x, x, x), a, a, a);
}

template <class Real>
Id NaiveTape<Real>::record2(Op op, Id a, Id b) {
  check(a);
  check(b);
  return append(op, backend_->value(op, values_[a], values_[b], values_[a]), a, b, a);
}

template <class Real>
Id NaiveTape<Real>::record3(Op op, Id a, Id b, Id c) {
  check(a);
  check(b);
  check(c);
  return append(op, backend_->value(op, values_[a], values_[b], values_[c]), a, b, c);
}

template <class Real>
Id NaiveTape<Real>::record_n(Op op, std::span<const Id> operands) {
  for (Id id : operands) check(id);
  std::copy(operands.begin(), operands.end(), operand_room(op, operands.size()));
  return append_n(op, static_cast<std::uint32_t>(operands.size()));
}

template <class Real>
Id* NaiveTape<Real>::operand_room(Op op, std::size_t n) {
  if (n >= no_id)
    fail(ErrorCode::bad_size, std::string(name(op)) + " of " + std::to_string(n) + " operands: at most 2^32 - 2 fit");
  make_room(0, 1, n);
  return operands_.end();
}

template <class Real>
Id NaiveTape<Real>::append_n(Op op, std::uint32_t n) {
  const std::uint32_t outputs = info(op).outputs(n);
  if (outputs == 0)
    fail(ErrorCode::bad_size, std::string(name(op)) + " doesn't take " + std::to_string(n) + " operands");
  make_room(outputs, 1, 0);
  if (n > scratch_.size() && works_in_scratch(op)) {  // as many as the longest list: its backward needs them
    make_room(scratch_, n - scratch_.size());
    scratch_.extend(n - scratch_.size());
  }
  const Id out = append_record(op, n, outputs);
  // The sweep of this one op: the same code as a replay.
  backend_->forward({&ops_.back(), 1, operands_.data(), values_.data(), nullptr, scratch_.data(), 1, false, nullptr});
  return out;
}

template <class Real>
Id NaiveTape<Real>::append_n(Op op, std::uint32_t n, Real value) {
  make_room(1, 1, 0);
  const Id out = append_record(op, n, 1);
  values_[out] = value;
  return out;
}

template <class Real>
inline Id NaiveTape<Real>::append_record(Op op, std::uint32_t n, std::uint32_t outputs) {
  const Id out = static_cast<Id>(values_.size());
  const Id first = static_cast<Id>(operands_.size());
  operands_.extend(n);
  ops_.push({op, 0, 0, out, first, n, 0});
  values_.extend(outputs);
  return out;
}

template <class Real>
Id NaiveTape<Real>::call(std::shared_ptr<const CustomRule<Real>> rule, std::span<const Id> operands) {
  check_operands(*rule, operands.size());
  for (Id id : operands) check(id);
  const std::size_t results = rule->outputs + rule->kept;
  std::vector<Real> numbers;
  const bool full = calls_.size() == calls_.capacity();
  const std::size_t more = full ? 2 * calls_.size() + 1 : 0;
  if (full) check_budget(more * sizeof(Call<Real>), statistics().bytes_reserved - reserved(calls_));
  with_memory_for("a custom op", [&] {
    numbers.resize(operands.size() + results);
    if (full) calls_.reserve(more);
  });
  Real *const x = numbers.data(), *const y = x + operands.size();
  for (std::size_t i = 0; i < operands.size(); ++i) x[i] = values_[operands[i]];
  const std::uint32_t epoch = epochs_.now();
  const std::size_t size = values_.size();
  rule->values(1, columns(static_cast<const Real*>(x), 1), columns(y, 1));
  if (epoch != epochs_.now() || size != values_.size())
    fail(ErrorCode::bad_argument, "the code of custom op " + rule->name + " changed the tape that it is recorded on");
  make_room(results, 1, operands.size());
  const Id out = static_cast<Id>(values_.size()), first = static_cast<Id>(operands_.size());
  std::copy(operands.begin(), operands.end(), operands_.extend(operands.size()));
  ops_.push({op_call, 0, 0, out, first, static_cast<Id>(operands.size()), static_cast<Id>(calls_.size())});
  std::copy_n(y, results, values_.extend(results));
  calls_.push_back({static_cast<std::uint32_t>(ops_.size() - 1), std::move(rule)});
  return out;
}

/// Of the call that needs most.
template <class Real>
std::vector<Real> NaiveTape<Real>::call_room() const {
  std::size_t most = 0;
  for (const Call<Real>& call : calls_) most = std::max(most, room_for(*call.rule));
  return with_memory_for("custom ops", [&] { return std::vector<Real>(most); });
}

template <class Real>
Id NaiveTape<Real>::record(Op op, std::span<const Id> operands) {
  if (static_cast<std::size_t>(op) >= op_count)
    fail(ErrorCode::bad_argument, "op number " + std::to_string(static_cast<int>(op)) + " is not in the op table");
  const int arity = info(op).arity;
  if (arity != 0 && operands.size() != static_cast<std::size_t>(arity))
    fail(ErrorCode::bad_size, std::string(name(op)) + " takes " + std::to_string(arity) + " operands, not " +
                                  std::to_string(operands.size()));
  switch (arity) {
    case 1: return record1(op, operands[0]);
    case 2: return record2(op, operands[0], operands[1]);
    case 3: return record3(op, operands[0], operands[1], operands[2]);
    default: return record_n(op, operands);
  }
}

template <class Real>
Id NaiveTape<Real>::output(Id first, std::size_t k) const {
  check(first);
  const auto op =
      std::lower_bound(ops_.begin(), ops_.end(), first, [](const OpRecord& record, Id id) { return record.out < id; });
  if (op == ops_.end() || op->out != first)
    fail(ErrorCode::bad_argument, "id " + std::to_string(first) + " is not the first output of an op");
  const std::size_t outputs = op->op == op_call ? rule_of(view(), *op).outputs : outputs_of(view(), *op);
  if (k >= outputs)
    fail(ErrorCode::bad_argument, name_of(view(), *op) + " at id " + std::to_string(first) + " has " +
                                      std::to_string(outputs) + " outputs; there is no output " + std::to_string(k));
  return first + static_cast<Id>(k);
}

template <class Real>
void NaiveTape<Real>::set_input(Id id, Real value) {
  check(id);
  if (!std::binary_search(inputs_.begin(), inputs_.end(), id))
    fail(ErrorCode::not_an_input, "id " + std::to_string(id) + " is not an input, so its value can't be set");
  values_[id] = value;
}

template <class Real>
void NaiveTape<Real>::guard(Id condition, const char* file, std::uint32_t line) {
  check(condition);
  guard({condition, values_[condition] != Real(0), line, file});
}

template <class Real>
void NaiveTape<Real>::guard(const Guard& guard) {
  check(guard.condition);
  if (!guard.file) throw Error(ErrorCode::bad_argument, "a guard without the name of a file; \"\" is one");
  make_room(guards_, 1);
  guards_.push(guard);
}

template <class Real>
bool NaiveTape<Real>::compare(Op op, bool outcome, Id a, Id b, const char* file, std::uint32_t line) {
  make_room(guards_, 1);
  guards_.push({append(op, Real(outcome ? 1 : 0), a, b, a), outcome, line, file});
  return outcome;
}

template <class Real>
std::optional<std::size_t> NaiveTape<Real>::departure() const {
  const auto departed = std::find_if(guards_.begin(), guards_.end(), [&](const Guard& guard) {
    return (values_[guard.condition] != Real(0)) != guard.outcome;
  });
  if (departed == guards_.end()) return std::nullopt;
  return static_cast<std::size_t>(departed - guards_.begin());
}

template <class Real>
void NaiveTape<Real>::label(Id id, std::string_view name) {
  check(id);
  with_memory_for("a label", [&] { labels_.name(id, name); });
}

template <class Real>
std::string NaiveTape<Real>::label(Id id) const {
  check(id);
  return with_memory_for("a label", [&] { return labels_.of(id); });
}

template <class Real>
void NaiveTape<Real>::open_scope(std::string_view name) {
  with_memory_for("a scope", [&] { labels_.open(static_cast<Id>(values_.size()), name); });
}

template <class Real>
void NaiveTape<Real>::reserve(std::size_t variables, std::size_t ops, std::size_t operands) {
  make_room(variables > values_.size() ? variables - values_.size() : 0, ops > ops_.size() ? ops - ops_.size() : 0,
            operands > operands_.size() ? operands - operands_.size() : 0);
  if (variables > adjoints_.size()) make_room(adjoints_, variables - adjoints_.size());
}

template <class Real>
TapeStatistics NaiveTape<Real>::statistics() const {
  return {values_.size(),
          ops_.size(),
          operands_.size(),
          inputs_.size(),
          constants_.size(),
          guards_.size(),
          used(values_) + used(adjoints_) + used(ops_) + used(operands_) + used(inputs_) + used(constants_) +
              used(parameters_) + used(guards_) + used(scratch_) + used(calls_),
          reserved(values_) + reserved(adjoints_) + reserved(ops_) + reserved(operands_) + reserved(inputs_) +
              reserved(constants_) + reserved(parameters_) + reserved(guards_) + reserved(scratch_) + reserved(calls_)};
}

template <class Real>
TapeView<Real> NaiveTape<Real>::view() const {
  return {ops_, operands_, inputs_, constants_, values_, parameters_, guards_, calls_};
}

template class NaiveTape<double>;
template class NaiveTape<float>;
#define WENGERT_ROOM(Real, T) template void NaiveTape<Real>::make_room_slowly(detail::Array<T>&, std::size_t);
#define WENGERT_ROOMS(Real) \
  WENGERT_ROOM(Real, Real) WENGERT_ROOM(Real, Id) WENGERT_ROOM(Real, OpRecord) WENGERT_ROOM(Real, Guard)
WENGERT_ROOMS(double)
WENGERT_ROOMS(float)

}  // namespace wengert
