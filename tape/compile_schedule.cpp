// An order with long stretches of instructions of one kind: a call and a hard-to-predict jump per stretch, not per
// instruction.
#include <algorithm>

#include "tape/compile.hpp"

namespace wengert::plan {
namespace {

constexpr std::uint32_t none = 0xffffffffu;

/// How far ahead of the first instruction not yet run another may be moved. Farther makes longer stretches, but keeps more
/// values in use at a time.
constexpr std::uint32_t window = 96;

/// List scheduling: instructions whose operands are there wait in one queue per kind. A kind runs until its queue is
/// empty, then the fullest queue is next.
class Scheduler {
 public:
  Scheduler(const Items& code, ValueId values)
      : code_(code),
        size_(static_cast<std::uint32_t>(code.items.size())),
        missing_(size_, 0),
        next_(size_, none),
        queues_(kind_count) {
    // Who waits for whom: for each instruction a list of those that read what it writes, the first of them first.
    LargeVector<std::uint32_t> writer(values, none);
    for (std::uint32_t i = 0; i < size_; ++i)
      for (ValueId value : code.writes(code.items[i])) writer[value] = i;
    first_reader_.assign(size_, none);
    readers_.resize(code.words.size());
    std::uint32_t readers = 0;
    for (std::uint32_t i = size_; i-- > 0;)
      for (ValueId value : code.reads(code.items[i]))
        if (const std::uint32_t from = writer[value]; from != none) {
          readers_[readers] = {i, first_reader_[from]};
          first_reader_[from] = readers++;
          ++missing_[i];
        }
  }

  LargeVector<std::uint32_t> run() {
    LargeVector<std::uint32_t> order;
    order.reserve(size_);
    LargeVector<std::uint8_t> done(size_, 0);
    std::uint32_t oldest = 0;
    std::uint16_t kind = 0;
    admit(oldest);
    while (order.size() < size_) {
      if (queues_[kind].length == 0) kind = fullest();
      const std::uint32_t item = pop(kind);
      order.push_back(item);
      done[item] = 1;
      for (std::uint32_t r = first_reader_[item]; r != none; r = readers_[r].next)
        if (const std::uint32_t reader = readers_[r].item; --missing_[reader] == 0 && reader < limit_) push(reader);
      if (item == oldest) {
        while (oldest < size_ && done[oldest]) ++oldest;
        admit(oldest);
      }
    }
    return order;
  }

 private:
  struct Queue {
    std::uint32_t first = none, last = none, length = 0;
  };
  struct Reader {
    std::uint32_t item, next;
  };

  /// Lets instructions up to a window past the oldest take part.
  void admit(std::uint32_t oldest) {
    const std::uint32_t limit = size_ - oldest < window ? size_ : oldest + window;
    for (; limit_ < limit; ++limit_)
      if (missing_[limit_] == 0) push(limit_);
  }

  void push(std::uint32_t item) {
    Queue& queue = queues_[code_.items[item].kind];
    if (queue.length++ == 0) {
      queue.first = item;
      waiting_.push_back(code_.items[item].kind);
    } else {
      next_[queue.last] = item;
    }
    queue.last = item;
  }

  std::uint32_t pop(std::uint16_t kind) {
    Queue& queue = queues_[kind];
    const std::uint32_t item = queue.first;
    queue.first = next_[item];
    --queue.length;
    return item;
  }

  /// The kind with the longest queue; of several, that of the oldest instruction. Checks, which nobody waits for, come when there
  /// is nothing else, and so together. Forgets kinds that wait no longer.
  std::uint16_t fullest() {
    std::size_t left = 0, best = 0;
    for (const std::uint16_t kind : waiting_) {
      if (queues_[kind].length == 0) continue;
      waiting_[left] = kind;
      if (left != 0) {
        const std::uint16_t best_kind = waiting_[best];
        const Queue &a = queues_[kind], &b = queues_[best_kind];
        const bool better = is_check(kind) != is_check(best_kind) ? is_check(best_kind)
                            : a.length != b.length                ? a.length > b.length
                                                                  : a.first < b.first;
        if (better) best = left;
      }
      ++left;
    }
    waiting_.resize(left);
    return waiting_[best];
  }

  const Items& code_;
  std::uint32_t size_, limit_ = 0;
  LargeVector<std::uint32_t> missing_;  // operands that an instruction still waits for
  LargeVector<std::uint32_t> next_;     // in its queue
  std::vector<Queue> queues_;
  std::vector<std::uint16_t> waiting_;  // kinds whose queues may not be empty
  LargeVector<std::uint32_t> first_reader_;
  LargeVector<Reader> readers_;
};

}  // namespace

LargeVector<std::uint32_t> schedule(const Items& code, ValueId values) { return Scheduler(code, values).run(); }

}  // namespace wengert::plan
