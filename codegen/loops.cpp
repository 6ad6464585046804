#include "codegen/loops.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "codegen/stretches.hpp"

namespace wengert::codegen {
namespace {

/// Writes a graph's nodes once more, with the loops. Names in it are those of the nodes that were there before, but for what is
/// in now_ and in_loop_.
class Rewriting : Stretches {
 public:
  using Stretches::Stretches;

  void run(Graph& graph) {
    if (!find()) return;
    // What is computed again may take more steps than there are registers for; streams don't.
    for (const bool again : {true, false}) {
      lay_out_streams(again);
      write_all();
      if (enough_registers_) break;
    }
    if (enough_registers_ && written_.size() < nodes_.size())
      graph.set_loops(std::move(written_), std::move(loops_), streams_);
  }

 private:
  Value add(const Node& node) {
    written_.push_back(node);
    return static_cast<Value>(written_.size() - 1);
  }
  /// What a node outside a loop, or the same for all its iterations, is now.
  Value named(Value x) {
    if (now_[x] != no_value) return now_[x];
    const Stretch& stretch = *stretch_of(x);
    if (stretch.needs[stretch.node(x)].how == Need::streamed)
      return now_[x] = add({Do::streamed, 0, stretch.streamed(x), 0, 0});
    Node node = nodes_[x];
    each_operand(node, [&](int, Value& y) { y = named(y); });
    return now_[x] = add(node);
  }
  /// The same in a loop, where it changes with each iteration by `by` of those of its own.
  Value named_in_loop(Value x, std::int32_t by) {
    const Stretch& stretch = *stretch_of(x);
    if (stretch.needs[stretch.node(x)].how == Need::streamed)
      return stepping({Do::streamed, 0, stretch.streamed(x), 0, 0},
                      by * static_cast<std::int32_t>(stretch.streams * slot_bytes_), x);
    if (const auto there = in_loop_.find({x, by}); there != in_loop_.end()) return there->second;
    Node node = nodes_[x];
    each_operand(node, [&](int k, Value& y) {
      const Change& change = stretch.change(x, k);
      switch (change.relation) {
        case Relation::previous: y = named_in_loop(y, by); break;
        case Relation::streamed: y = named_in_loop(y, by * change.by); break;
        case Relation::number: y = number_in_loop(y, by * change.by); break;
        default: y = held(y);
      }
    });
    return in_loop_[{x, by}] = add(node);
  }
  Value number_in_loop(Value x, std::int32_t by) {
    Node node = nodes_[x];
    if (node.what == Do::uniform) return stepping(node, by * real_bytes_, x);
    node.a = read_[x];
    return stepping(node, by * place_bytes_, x);
  }
  Value held(Value x) {
    const auto copy = in_loop_.find({x, 0});
    const Value value = copy != in_loop_.end() ? copy->second : named(x);
    if (!at_hand(written_[value].what)) held_.push_back(value);
    return value;
  }
  /// What changes from iteration to iteration by so many bytes of an address.
  std::uint8_t step(std::int32_t bytes) {
    if (bytes == 0) return 0;
    std::vector<std::int32_t>& steps = loops_.back().steps;
    const auto at = std::find(steps.begin(), steps.end(), bytes);
    const auto number = static_cast<std::uint8_t>(at - steps.begin() + 1);
    if (at == steps.end()) steps.push_back(bytes);
    enough_registers_ &= steps.size() <= Loop::most_steps;
    return number;
  }
  /// The number at hand that x is in the first iteration.
  Value stepping(Node node, std::int32_t bytes, Value x) {
    if (bytes == 0) return named(x);
    const auto [there, is_new] = in_loop_.try_emplace({x, bytes}, no_value);
    if (!is_new) return there->second;
    node.immediate = step(bytes);
    return there->second = add(node);
  }

  /// What is the same for all iterations, so that it is before them; of numbers at hand, if they are no operands where they are, a
  /// copy.
  void name_invariants(const Stretch& stretch) {
    for (Value v = stretch.first; v < stretch.first + stretch.period; ++v)
      for (int k = 0; live(v) && k < operand_count(nodes_[v].what); ++k) {
        if (stretch.change(v, k).relation != Relation::same) continue;
        const Value x = operand(v, k), value = named(x);
        if (nodes_[x].what != Do::input && (nodes_[x].what != Do::uniform || target_.evex)) continue;
        if (Value& copy = in_loop_.try_emplace({x, 0}, no_value).first->second; copy == no_value)
          copy = add({Do::copy, 0, value, 0, 0});
      }
  }
  void write_all() {
    enough_registers_ = true;
    written_.clear();
    loops_.clear();
    now_.resize(nodes_.size());
    std::fill(now_.begin(), now_.end(), no_value);
    read_.resize(nodes_.size());
    std::fill(read_.begin(), read_.end(), std::uint8_t(0));
    auto next = stretches_.begin();
    for (Value v = 0; v < nodes_.size(); ++v) {
      if (next != stretches_.end() && v == next->first) {
        write(*next);
        v = next++->end() - 1;
      } else if (live(v)) {
        Node node = nodes_[v];
        each_operand(node, [&](int, Value& x) {
          read_[x] = 1;
          x = named(x);
        });
        now_[v] = add(node);
      }
    }
  }
  void write(const Stretch& stretch) {
    const auto number = static_cast<std::uint32_t>(loops_.size());
    loops_.push_back({stretch.iterations, {}});
    std::vector<std::vector<Value>> carried(stretch.period);  // [node][iterations back, less one]
    for (Value j = 0; j < stretch.period; ++j)
      for (Value back = 1; back <= stretch.carried[j]; ++back)
        carried[j].push_back(add({Do::carried, 0, named(stretch.first - back * stretch.period + j), 0, 0}));
    name_invariants(stretch);
    add({Do::loop_begin, 0, number, 0, 0});
    for (Value v = stretch.first; v < stretch.first + stretch.period; ++v) {
      if (!live(v)) continue;
      Node node = nodes_[v];
      each_operand(node, [&](int k, Value& x) {
        const Change& change = stretch.change(v, k);
        switch (change.relation) {
          case Relation::previous:
            x = x >= stretch.first ? now_[x] : carried[stretch.node_before(x)][stretch.back(x) - 1];
            break;
          case Relation::streamed: x = named_in_loop(x, change.by); break;
          case Relation::number:
            x = number_in_loop(x, change.by);
            for (Value at = v; at < stretch.end(); at += stretch.period) read_[operand(at, k)] = 1;
            break;
          default: x = held(x);
        }
      });
      if (node.what == Do::output) node.immediate = step(place_bytes_ * stretch.change(v, 1).by);
      now_[v] = add(node);
      if (const Need& need = stretch.needs[v - stretch.first]; need.how == Need::streamed)
        add({Do::to_stream, step(static_cast<std::int32_t>(stretch.streams * slot_bytes_)), now_[v],
             stretch.first_stream + need.stream, 0});
    }
    add({Do::loop_end, 0, number, 0, 0});
    for (Value j = 0; j < stretch.period; ++j)
      for (Value back = stretch.carried[j]; back-- > 0;)
        add({Do::carry, 0, back == 0 ? now_[stretch.first + j] : carried[j][back - 1], carried[j][back], 0});
    std::sort(held_.begin(), held_.end());
    held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
    for (const Value value : held_) add({Do::hold, 0, value, 0, 0});
    held_.clear();
    add({Do::loop_again, 0, number, 0, 0});
    for (Value v = stretch.first; v < stretch.first + stretch.period; ++v) now_[v] = no_value;
    for (Value j = 0; j < stretch.period; ++j)
      if (stretch.carried[j] != 0)
        now_[stretch.end() - stretch.period + j] = add({Do::carried_out, 0, 0, carried[j][0], 0});
    in_loop_.clear();
  }

  LargeVector<Value> now_;  // [node]: what it is now
  std::map<std::pair<Value, std::int32_t>, Value>
      in_loop_;                     // what a node and its change are in the loop that is written
  std::vector<Value> held_;         // that this loop needs in all iterations
  LargeVector<std::uint8_t> read_;  // of inputs: whether they were, once a round
  LargeVector<Node> written_;
  std::vector<Loop> loops_;
  bool enough_registers_ = true;
};

}  // namespace

void find_loops(Graph& graph) { Rewriting(graph).run(graph); }

}  // namespace wengert::codegen
