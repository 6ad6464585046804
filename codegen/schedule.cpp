#include "codegen/schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace wengert::codegen {
namespace {

/// Nodes that are put into order together: more would want more registers than there are.
constexpr std::size_t together = 64;
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
    default: return what < Do::bit_and ? 3 : 1;
  }
}

class Schedule {
 public:
  explicit Schedule(const Graph& graph) : nodes_(graph.nodes()), n_(nodes_.size()) {}

  /// Nothing where the order makes little difference.
  LargeVector<Node> run() {
    find_earliest();
    if (most_per_cycle * last_ < static_cast<std::int64_t>(n_)) return {};
    find_priorities();
    LargeVector<Value> order, now;
    order.resize(n_);
    now.resize(n_);
    for (Value v = 0; v < n_; ++v) order[v] = v;
    for (std::size_t first = 0; first < n_; first += together)
      std::stable_sort(&order[first], &order[first] + std::min(together, n_ - first),
                       [&](Value a, Value b) { return priority_[a] < priority_[b]; });
    for (Value at = 0; at < n_; ++at) now[order[at]] = at;
    LargeVector<Node> ordered;
    ordered.reserve(n_);
    for (const Value v : order) {
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
    for (Value v = 0; v < n_; ++v) {
      earliest_[v] = 0;
      each_operand(v, [&](Value x) { earliest_[v] = std::max(earliest_[v], earliest_[x] + latency(nodes_[x].what)); });
      last_ = std::max(last_, earliest_[v] + latency(nodes_[v].what));
    }
  }
  /// Smaller ones come first; none has a smaller one than its operands.
  void find_priorities() {
    LargeVector<std::int32_t> latest;  // when it ends
    latest.resize(n_);
    std::fill(latest.begin(), latest.end(), last_);
    for (Value v = static_cast<Value>(n_); v-- > 0;)
      if (!has_effect(nodes_[v].what))
        each_operand(v, [&](Value x) { latest[x] = std::min(latest[x], latest[v] - latency(nodes_[v].what)); });
    priority_.resize(n_);
    for (Value v = 0; v < n_; ++v) {
      const bool effect = has_effect(nodes_[v].what);  // done when it can be: nothing waits for it, but its operand's register
      priority_[v] = effect ? 0 : (earliest_[v] + latest[v] - latency(nodes_[v].what)) / 2;
      each_operand(v, [&](Value x) {
        priority_[v] = std::max(priority_[v], priority_[x] + (effect ? latency(nodes_[x].what) : 0));
      });
    }
  }

  const LargeVector<Node>& nodes_;
  const std::size_t n_;
  std::int32_t last_ = 0;  // cycle of all
  LargeVector<std::int32_t> earliest_, priority_;
};

}  // namespace

void schedule(Graph& graph) {
  if (!graph.shape().point || !graph.subroutines().empty()) return;
  if (LargeVector<Node> nodes = Schedule(graph).run(); !nodes.empty()) graph.replace(std::move(nodes));
}

}  // namespace wengert::codegen
