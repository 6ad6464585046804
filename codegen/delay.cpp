#include "codegen/delay.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace wengert::codegen {
namespace {

/// Nodes of such chains from which on it is worth the registers, and how many times as long the chain is as all others.
constexpr std::uint32_t long_chain = 256, times_as_long = 2;

class Delay {
 public:
  explicit Delay(const Graph& graph) : nodes_(graph.nodes()) {}

  /// Nothing where it is hardly worth it.
  LargeVector<Node> run() {
    const std::size_t n = nodes_.size();
    if (n < long_chain) return {};
    find_late();
    find_chains();
    if (chain_[true] < long_chain || chain_[true] < times_as_long * chain_[false]) return {};
    now_.resize(n);
    std::fill(now_.begin(), now_.end(), no_value);
    ordered_.reserve(n);
    Value late = next_late(0);
    std::size_t early_done = 0, late_done = 0;
    const std::size_t early = n - late_;
    for (Value v = 0; v < n; ++v) {
      if (is_late_[v]) continue;
      add(v);
      // So many of the late ones as their share is, unless what they need isn't there yet.
      for (++early_done; late < n && late_done * early < early_done * late_ && ready(late);
           late = next_late(late + 1)) {
        add(late);
        ++late_done;
      }
    }
    for (; late < n; late = next_late(late + 1)) add(late);
    return std::move(ordered_);
  }

 private:
  bool is_value_output(const Node& node) const {
    return node.what == Do::output && node.c == static_cast<std::uint32_t>(Table::values);
  }

  /// Nodes of which nothing comes but values that go out.
  void find_late() {
    const std::size_t n = nodes_.size();
    is_late_.resize(n);
    for (Value v = 0; v < n; ++v)
      is_late_[v] = !at_hand(nodes_[v].what) && (!has_effect(nodes_[v].what) || is_value_output(nodes_[v]));
    for (Value v = static_cast<Value>(n); v-- > 0;) {
      Node node = nodes_[v];
      if (!is_late_[v]) each_operand(node, [&](int, Value x) { is_late_[x] = false; });
    }
    late_ = static_cast<std::size_t>(std::count(is_late_.begin(), is_late_.end(), 1));
  }
  /// The longest of nodes that wait for each other: of the late ones, of the others.
  void find_chains() {
    LargeVector<std::uint32_t> length;
    length.resize(nodes_.size());
    for (Value v = 0; v < nodes_.size(); ++v) {
      Node node = nodes_[v];
      std::uint32_t most = 0;
      each_operand(node, [&](int, Value x) {
        if (is_late_[x] == is_late_[v]) most = std::max(most, length[x]);
      });
      length[v] = most + !at_hand(node.what);
      std::uint32_t& chain = chain_[is_late_[v]];
      chain = std::max(chain, length[v]);
    }
  }
  Value next_late(Value v) const {
    while (v < nodes_.size() && !is_late_[v]) ++v;
    return v;
  }
  bool ready(Value v) const {
    Node node = nodes_[v];
    bool all = true;
    each_operand(node, [&](int, Value x) { all = all && now_[x] != no_value; });
    return all;
  }
  void add(Value v) {
    Node node = nodes_[v];
    each_operand(node, [&](int, Value& x) { x = now_[x]; });
    now_[v] = static_cast<Value>(ordered_.size());
    ordered_.push_back(node);
  }

  const LargeVector<Node>& nodes_;
  LargeVector<std::uint8_t> is_late_;
  std::size_t late_ = 0;
  std::uint32_t chain_[2] = {0, 0};
  LargeVector<Value> now_;
  LargeVector<Node> ordered_;
};

}  // namespace

bool delay(Graph& graph) {
  if (!graph.shape().point || !graph.subroutines().empty() || !graph.loops().empty()) return false;
  LargeVector<Node> nodes = Delay(graph).run();
  if (nodes.empty()) return false;
  graph.replace(std::move(nodes));
  return true;
}

}  // namespace wengert::codegen
