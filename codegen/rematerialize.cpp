#include "codegen/rematerialize.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace wengert::codegen {
namespace {

constexpr std::uint32_t never = 0xffffffffu;

/// Nodes after which a value that wasn't used isn't in a register any more; within which it counts as needed.
constexpr std::uint32_t far = 128, soon = 40;
/// That are worth it to have one value again.
constexpr int most_operations = 4;
/// Of values that wait and may be had again: a good part of the first cache.
constexpr std::size_t cache_bytes = 12 << 10;
/// Shorter vectors are half the way to memory and as much to compute: there it gains nothing.
constexpr std::size_t vector_bytes = 64;

/// Copies a graph's nodes, and some more than once. Names in it are those of the nodes that were there before, but for `now_`.
class Rematerialization {
 public:
  explicit Rematerialization(const Graph& graph) : graph_(graph), nodes_(graph.nodes()) {}

  /// Nothing where it is hardly worth it.
  LargeVector<Node> run() {
    const std::size_t n = nodes_.size();
    if (graph_.shape().vector_bytes() < vector_bytes || n * vector_bytes <= cache_bytes) return {};
    upcoming_.resize(n);
    if (most_candidates() * vector_bytes <= cache_bytes) return {};
    next_.resize(3 * n);
    find_uses([&](Value v, int k, std::uint32_t next) { next_[3 * std::size_t(v) + std::size_t(k)] = next; });
    left_ = n / 4;
    copied_.reserve(n + left_);
    now_.resize(n);
    touched_.resize(n);
    for (Value v = 0; v < n; ++v) {
      if (!live(v)) continue;
      Node node = nodes_[v];
      Value* const operands[] = {&node.a, &node.b, &node.c};
      const int count = operand_count(node.what);
      for (int k = 0; k < count; ++k) *operands[k] = operand(*operands[k], v, most_operations);
      for (int k = 0; k < count; ++k) upcoming_[of(v, k)] = next_[3 * std::size_t(v) + std::size_t(k)];
      add(v, node, v);
    }
    return std::move(copied_);
  }

 private:
  Value of(Value v, int k) const { return codegen::operand(nodes_[v], k); }
  bool live(Value v) const { return upcoming_[v] != never || has_effect(nodes_[v].what); }

  /// Finds each value's first use, and tells each(v, k, next use after this one) for operand k of node v.
  template <class Each>
  void find_uses(const Each& each) {
    std::fill(upcoming_.begin(), upcoming_.end(), never);
    for (Value v = static_cast<Value>(nodes_.size()); v-- > 0;) {
      if (!live(v)) continue;
      const int count = operand_count(nodes_[v].what);
      for (int k = 0; k < count; ++k) each(v, k, upcoming_[of(v, k)]);
      for (int k = 0; k < count; ++k) upcoming_[of(v, k)] = v;
    }
  }
  /// How many values that one operation on what is at hand would give again wait for a use that is far, at most, at a time.
  std::size_t most_candidates() {
    LargeVector<std::int32_t> more;  // wait from a node on than before it
    more.resize(nodes_.size());
    std::fill(more.begin(), more.end(), 0);
    find_uses([&](Value v, int k, std::uint32_t next) {
      const Value x = of(v, k);
      if (next == never || next - v <= far || !is_cheap(nodes_[x].what)) return;
      if (!at_hand(nodes_[nodes_[x].a].what) && !at_hand(nodes_[nodes_[x].b].what)) return;
      ++more[v];
      --more[next];
    });
    std::int64_t waiting = 0, most = 0;
    for (const std::int32_t change : more) most = std::max(most, waiting += change);
    return static_cast<std::size_t>(most);
  }

  void add(Value v, const Node& node, Value at) {
    now_[v] = static_cast<Value>(copied_.size());
    touched_[v] = at;
    copied_.push_back(node);
  }

  /// The operand `x` of node `at`, computed again if `left` operations are enough for that.
  Value operand(Value x, Value at, int left) {
    if (!at_hand(nodes_[x].what) && at - touched_[x] > far && left_ >= most_operations)
      if (int rest = left; again(x, at, rest)) compute(x, at, left);
    touched_[x] = at;
    return now_[x];
  }
  /// Whether it can be had at a node by computing it, taking from the operations that are left.
  bool again(Value x, Value at, int& left) const {
    if (!is_cheap(nodes_[x].what) || left == 0) return false;
    int rest = left - 1;
    for (int k = 0; k < operand_count(nodes_[x].what); ++k) {
      const Value y = of(x, k);
      if (at_hand(nodes_[y].what) || at - touched_[y] <= far || again(y, at, rest)) continue;
      if (upcoming_[y] == never || upcoming_[y] - at > soon) return false;
    }
    left = rest;
    return true;
  }
  void compute(Value x, Value at, int left) {
    Node node = nodes_[x];
    Value* const operands[] = {&node.a, &node.b, &node.c};
    for (int k = 0; k < operand_count(node.what); ++k) *operands[k] = operand(*operands[k], at, left - 1);
    add(x, node, at);
    --left_;
  }

  const Graph& graph_;
  const LargeVector<Node>& nodes_;
  LargeVector<std::uint32_t> next_;      // [node][operand]: the next use of that value
  LargeVector<std::uint32_t> upcoming_;  // its next use
  LargeVector<Value> now_, touched_;     // the node that has it, where it was used last
  LargeVector<Node> copied_;
  std::size_t left_ = 0;  // operations that may be added
};

}  // namespace

void rematerialize(Graph& graph) {
  if (LargeVector<Node> nodes = Rematerialization(graph).run(); !nodes.empty()) graph.replace(std::move(nodes));
}

}  // namespace wengert::codegen
