#include "codegen/schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace wengert::codegen {
namespace {

/// Nodes that are put into order together: more would want more registers than there are.
constexpr std::size_t together = 64;
/// Code so short is put into order as a whole all the same with AVX2: what it spills is less than what it waits for, and the next call
/// begins beside its end. (With AVX-512 that wasn't tried.)
constexpr std::size_t short_code = 1024;
/// Nodes for each cycle of the longest chain up to which waiting counts for more than computing.
constexpr std::int64_t most_per_cycle = 3;

/// Cycles until the result is there, of an AMD Zen 4; others differ little.
std::int32_t latency(Do what) {
  switch (what) {
    case Do::constant:
    case Do::uniform:
    case Do::table: return 0;
    case Do::max:
    case Do::min: return 2;
    case Do::fma: return 4;
    case Do::input: return 5;
    case Do::lookup: return 11;
    case Do::div: return 13;
    case Do::sqrt: return 21;
    case Do::compare: return 3;
    case Do::take: return 40;  // after the call
    default: return what < Do::bit_and ? 3 : 1;
  }
}
/// Part of a call: it stays where it is.
bool of_call(Do what) { return what >= Do::give; }

class Schedule {
 public:
  explicit Schedule(const Graph& graph)
      : nodes_(graph.nodes()), n_(nodes_.size()), few_registers_(graph.target().registers <= 16) {}

  /// Nothing where the order makes little difference.
  LargeVector<Node> run() {
    find_earliest();
    if (n_ == 0 || most_per_cycle * last_ < static_cast<std::int64_t>(n_)) return {};
    find_priorities();
    LargeVector<std::uint64_t> order;  // priority, node
    order.resize(n_);
    for (Value v = 0; v < n_; ++v) order[v] = static_cast<std::uint64_t>(priority_[v]) << 32 | v;
    const std::size_t most = few_registers_ && n_ <= short_code ? short_code : together;
    for (std::size_t first = 0; first < n_;) {
      std::size_t end = first;
      while (end < std::min(first + most, n_) && !of_call(nodes_[end].what)) ++end;
      std::sort(&order[0] + first, &order[0] + end);
      first = std::max(end, first + 1);
    }
    LargeVector<Value> now;
    now.resize(n_);
    LargeVector<Node> ordered;
    ordered.reserve(n_);
    for (const std::uint64_t item : order) {
      const auto v = static_cast<Value>(item);
      now[v] = static_cast<Value>(ordered.size());
      Node node = nodes_[v];
      Value* const operands[] = {&node.a, &node.b, &node.c};
      for (int k = 0; k < operand_count(node.what); ++k) *operands[k] = now[*operands[k]];
      ordered.push_back(node);
    }
    return ordered;
  }

 private:
  template <class Use>
  void each_operand(Value v, const Use& use) const {
    const Value operands[] = {nodes_[v].a, nodes_[v].b, nodes_[v].c};
    for (int k = 0; k < operand_count(nodes_[v].what); ++k) use(operands[k]);
  }
  void find_earliest() {
    earliest_.resize(n_);
    std::int32_t given = 0;  // when all that the last call was given is there
    bool after_call = true;
    for (Value v = 0; v < n_; ++v) {
      earliest_[v] = nodes_[v].what == Do::take ? given : 0;
      each_operand(v, [&](Value x) { earliest_[v] = std::max(earliest_[v], earliest_[x] + latency(nodes_[x].what)); });
      last_ = std::max(last_, earliest_[v] + latency(nodes_[v].what));
      if (nodes_[v].what == Do::give) given = std::max(after_call ? 0 : given, earliest_[v]);
      after_call = of_call(nodes_[v].what) && nodes_[v].what != Do::give;
    }
  }
  /// Smaller ones come first; none has a smaller one than its operands.
  void find_priorities() {
    LargeVector<std::int32_t> latest;  // when it ends
    latest.resize(n_);
    std::fill(latest.begin(), latest.end(), last_);
    std::int32_t given = last_;  // when what the call is given has to be there
    bool gives = false;
    for (Value v = static_cast<Value>(n_); v-- > 0;) {
      const Do what = nodes_[v].what;
      if (what == Do::take) {
        given = std::min(gives ? last_ : given, latest[v] - latency(what));
        gives = false;
      } else if (what == Do::give) {
        gives = true;
        latest[nodes_[v].a] = std::min(latest[nodes_[v].a], given);
      } else if (!has_effect(what)) {
        each_operand(v, [&](Value x) { latest[x] = std::min(latest[x], latest[v] - latency(what)); });
      }
    }
    priority_.resize(n_);
    for (Value v = 0; v < n_; ++v) {
      const bool effect =
          has_effect(nodes_[v].what);  // done when it can be: nothing waits for it, but its operand's register
      priority_[v] = effect ? 0 : (earliest_[v] + latest[v] - latency(nodes_[v].what)) / 2;
      // A load, whose index is in a general register long before: the later, the shorter its result takes a register.
      if (few_registers_ && nodes_[v].what == Do::lookup) priority_[v] = latest[v] - latency(Do::input);
      each_operand(v, [&](Value x) {
        priority_[v] = std::max(priority_[v], priority_[x] + (effect ? latency(nodes_[x].what) : 0));
      });
    }
  }

  const LargeVector<Node>& nodes_;
  const std::size_t n_;
  const bool few_registers_;
  std::int32_t last_ = 0;  // cycle of all
  LargeVector<std::int32_t> earliest_, priority_;
};

}  // namespace

void schedule(Graph& graph) {
  if (!graph.shape().point) return;
  for (Graph& body : graph.subroutines()) schedule(body);
  if (!graph.loops().empty()) return;
  if (LargeVector<Node> nodes = Schedule(graph).run(); !nodes.empty()) graph.replace(std::move(nodes));
}

}  // namespace wengert::codegen
