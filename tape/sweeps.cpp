// A tape's own sweeps, one evaluation at a time: forward, and backward from one seed or several.
#include <algorithm>
#include <functional>
#include <string>

#include "kernels/dispatch.hpp"
#include "tape/calls.hpp"
#include "tape/guards.hpp"
#include "tape/records.hpp"
#include "tape/visit.hpp"
#include "wengert/tape.hpp"

namespace wengert {
namespace {

/// Whether a tape has what it had: code of a custom op may not change that.
template <class Real>
class Unchanged {
 public:
  explicit Unchanged(const NaiveTape<Real>& tape)
      : tape_(tape), epoch_(tape.epoch()), size_(tape.size()), ops_(tape.view().ops.size()) {}
  explicit operator bool() const {
    return tape_.epoch() == epoch_ && tape_.size() == size_ && tape_.view().ops.size() == ops_;
  }

 private:
  const NaiveTape<Real>& tape_;
  std::uint32_t epoch_;
  std::size_t size_, ops_;
};

/// -0 is the true zero of addition: assigning the first contribution and adding it are the same bits. In stretches, which
/// compilers make a few wide stores of.
template <class Real>
void fill_with_zeros(Real* adjoints, std::size_t count) {
  constexpr std::size_t stretch = 64 / sizeof(Real);
  std::size_t i = 0;
  for (; i + stretch <= count; i += stretch)
    for (std::size_t k = 0; k < stretch; ++k) adjoints[i + k] = Real(-0.0);
  for (; i < count; ++i) adjoints[i] = Real(-0.0);
}

/// Numbers of a tape that are as they were where a custom op throws half way.
template <class Real>
struct Restored {
  Restored(const NaiveTape<Real>& tape, detail::Array<Real>& of) : numbers(of), unchanged(tape) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() {
    if (!taken || !unchanged) return;
    numbers.truncate(copy.size());
    std::copy(copy.begin(), copy.end(), numbers.begin());
  }
  /// There must be room in `copy`.
  void take() {
    std::copy(numbers.begin(), numbers.end(), copy.extend(numbers.size()));
    taken = true;
  }
  void keep_new() { taken = false; }

  detail::Array<Real>& numbers;
  detail::Array<Real> copy;
  Unchanged<Real> unchanged;
  bool taken = false;
};

/// To be called after code of a custom op: a sweep doesn't go on with a tape that isn't what it was.
template <class Real>
std::function<void()> watch(const NaiveTape<Real>& tape, const char* sweep) {
  return [sweep, unchanged = Unchanged<Real>(tape)] {
    if (!unchanged)
      throw Error(ErrorCode::bad_argument,
                  std::string("code of a custom op changed the tape whose ") + sweep + " called it");
  };
}

}  // namespace

template <class Real>
void NaiveTape<Real>::forward() {
  if (calls_.empty())
    backend_->forward(
        {ops_.data(), ops_.size(), operands_.data(), values_.data(), nullptr, scratch_.data(), 1, false, nullptr});
  else forward_with_calls();
  if (guards_.empty()) return;
  if (const std::optional<std::size_t> k = departure()) {
    const Guard& guard = guards_[*k];
    other_path("forward", guard.file, guard.line, name_of_decider(decider(view(), guard.condition)), guard.outcome);
  }
}

template <class Real>
void NaiveTape<Real>::forward_with_calls() {
  std::vector<Real> room = call_room();
  Restored<Real> before(*this, values_);
  make_room(before.copy, values_.size());
  before.take();
  const std::function<void()> look = watch(*this, "forward");
  each_stretch(
      std::span<const Call<Real>>(calls_), ops_.size(),
      [&](std::size_t first, std::size_t end) {
        backend_->forward({ops_.data() + first, end - first, operands_.data(), values_.data(), nullptr, scratch_.data(),
                           1, false, nullptr});
      },
      [&](const Call<Real>& call) {
        // Copies: code of the op may make room, which moves the arrays, or forget the op.
        const OpRecord record = ops_[call.op];
        const std::shared_ptr<const CustomRule<Real>> rule = call.rule;
        const auto operand = [&](std::size_t i) { return operands_[record.a + i]; };
        const auto one = [&](Id id) { return LaneSlot<Real>{values_.data() + id, 1, 1, 1}; };
        RunningCall<Real>(*rule, 1, room.data(), &look)
            .values([&](std::size_t i) { return one(operand(i)); },
                    [&](std::size_t j) { return one(record.out + static_cast<Id>(j)); });
      });
  before.keep_new();
}

template <class Real>
void NaiveTape<Real>::backward(Id id) {
  const Seed<Real> seed{id, Real(1)};
  backward(std::span(&seed, 1));
}

template <class Real>
void NaiveTape<Real>::backward(std::span<const Seed<Real>> seeds) {
  Id last = 0;
  for (const Seed<Real>& seed : seeds) {
    check(seed.id);
    last = std::max(last, seed.id);
  }
  if (adjoints_.size() < values_.size()) make_room(adjoints_, values_.size() - adjoints_.size());
  // Ops recorded after the last output have adjoints of exactly zero, and chain makes nothing of those.
  std::size_t count = ops_.size();
  if (count != 0 && last < ops_.back().out)
    count = static_cast<std::size_t>(std::upper_bound(static_cast<const OpRecord*>(ops_.begin()),
                                                      static_cast<const OpRecord*>(ops_.end()), last,
                                                      [](Id id, const OpRecord& record) { return id < record.out; }) -
                                     ops_.begin());
  if (!calls_.empty()) return backward_with_calls(seeds, count);
  if (zero_rule_ == ZeroRule::ieee) {
    const std::vector<std::uint8_t> visit = visited_ops<Real>(view(), seeds);
    seed(seeds);
    return sweep_back(0, count, visit.data());
  }
  seed(seeds);
  sweep_back(0, count, nullptr);
}

template <class Real>
inline void NaiveTape<Real>::seed(std::span<const Seed<Real>> seeds) noexcept {
  adjoints_.truncate(0);
  fill_with_zeros(adjoints_.extend(values_.size()), values_.size());
  for (const Seed<Real>& seed : seeds) adjoints_[seed.id] += seed.weight;
}

template <class Real>
inline void NaiveTape<Real>::sweep_back(std::size_t first, std::size_t end, const std::uint8_t* visits) noexcept {
  backend_->backward({ops_.data() + first, end - first, operands_.data(), values_.data(), adjoints_.data(),
                      scratch_.data(), 1, zero_rule_ == ZeroRule::ieee, visits ? visits + first : nullptr});
}

template <class Real>
void NaiveTape<Real>::backward_with_calls(std::span<const Seed<Real>> seeds, std::size_t count) {
  const bool ieee = zero_rule_ == ZeroRule::ieee;
  std::vector<std::uint8_t> visit;
  if (ieee) visit = visited_ops<Real>(view(), seeds);
  const std::uint8_t* const visits = ieee ? visit.data() : nullptr;
  std::vector<Real> room = call_room(), contributions = call_room();
  Restored<Real> before(*this, adjoints_);
  make_room(before.copy, adjoints_.size());
  before.take();
  seed(seeds);
  const std::function<void()> look = watch(*this, "backward");
  each_stretch_back(
      std::span<const Call<Real>>(calls_), count,
      [&](std::size_t first, std::size_t end) { sweep_back(first, end, visits); },
      [&](const Call<Real>& call) {
        if (visits && !visits[call.op]) return;
        // Copies: code of the op may make room, which moves the arrays, or forget the op.
        const OpRecord record = ops_[call.op];
        const std::shared_ptr<const CustomRule<Real>> rule = call.rule;
        const auto operand = [&](std::size_t i) { return operands_[record.a + i]; };
        const auto one = [](auto& array, Id id) { return LaneSlot<Real>{array.data() + id, 1, 1, 1}; };
        const auto result = [&](std::size_t j) { return record.out + static_cast<Id>(j); };
        RunningCall<Real>(*rule, 1, room.data(), &look)
            .adjoint(
                ieee, [&](std::size_t i) { return one(values_, operand(i)); },
                [&](std::size_t j) { return one(values_, result(j)); },
                [&](std::size_t j) { return one(adjoints_, result(j)); },
                [&](std::size_t i) { return one(contributions, static_cast<Id>(i)); });
        for (std::size_t i = 0; i < record.b; ++i) adjoints_[operand(i)] += contributions[i];
      });
  before.keep_new();
}

template <class Real>
std::vector<std::uint8_t> visited_ops(const TapeView<Real>& tape, std::span<const Seed<Real>> seeds) {
  std::vector<std::uint8_t> active(tape.values.size(), 0), reached(tape.values.size(), 0), visit(tape.ops.size(), 0);
  for (Id id : tape.inputs) active[id] = 1;
  for (const OpRecord& record : tape.ops) {
    std::uint8_t any = 0;
    const Operands operands = operands_of(tape, record);
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (has_slope(record.op, k)) any |= active[operands[k]];
    for (Id j = 0; j < outputs_of(tape, record); ++j) active[record.out + j] = any;
  }
  for (const Seed<Real>& seed : seeds) reached[seed.id] = 1;
  for (std::size_t k = tape.ops.size(); k-- > 0;) {
    const OpRecord& record = tape.ops[k];
    std::uint8_t any = 0;
    for (Id j = 0; j < outputs_of(tape, record); ++j) any |= reached[record.out + j];
    if (!any || !active[record.out]) continue;
    visit[k] = 1;
    const Operands operands = operands_of(tape, record);
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (has_slope(record.op, i)) reached[operands[i]] = 1;
  }
  return visit;
}

#define WENGERT_SWEEPS(Real)                                                                         \
  template void NaiveTape<Real>::seed(std::span<const Seed<Real>>) noexcept;                         \
  template void NaiveTape<Real>::sweep_back(std::size_t, std::size_t, const std::uint8_t*) noexcept; \
  template void NaiveTape<Real>::forward();                                                          \
  template void NaiveTape<Real>::backward(Id);                                                       \
  template void NaiveTape<Real>::backward(std::span<const Seed<Real>>);                              \
  template void NaiveTape<Real>::forward_with_calls();                                               \
  template void NaiveTape<Real>::backward_with_calls(std::span<const Seed<Real>>, std::size_t);      \
  template std::vector<std::uint8_t> visited_ops(const TapeView<Real>&, std::span<const Seed<Real>>);
WENGERT_SWEEPS(double)
WENGERT_SWEEPS(float)
#undef WENGERT_SWEEPS

}  // namespace wengert
