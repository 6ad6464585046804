// Stretches of a graph that can be loops: how what they do changes from iteration to iteration, and what others need of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "codegen/graph.hpp"
#include "codegen/repeats.hpp"

namespace wengert::codegen {

/// How an operand in an iteration differs from what it is in the one before.
enum class Relation : std::uint8_t {
  none,      ///< in no way that a loop could have
  same,      ///< the same node
  previous,  ///< of this iteration or one of the last before it
  streamed,  ///< of an earlier loop, `by` of its iterations on
  number,    ///< of uniforms, inputs, outputs, `by` further on
};
struct Change {
  Relation relation = Relation::none;
  std::int32_t by = 0;
  std::uint32_t loop = 0;  // that it is streamed from

  bool operator==(const Change&) const = default;
};
/// Of a node's operands; of an output its pointer's in the second place.
using Changes = std::array<Change, 3>;

/// How what isn't in its loop, and doesn't follow from the last iteration alone, gets a node.
struct Need {
  enum How : std::uint8_t { none, streamed, again } how = none;  ///< from memory, or computed once more
  bool kept = false;                                             ///< streamed, whatever comes
  Value first = no_value;                                        ///< iteration that a loop needs it of
  Value stream = 0;                                              ///< which of an iteration's vectors it is
};

/// A stretch that becomes a loop.
struct Stretch {
  Value first;  // node of the first iteration in the loop; the one before that stays in front of it
  Value period, iterations;
  std::vector<Changes> changes;         // [node of an iteration]
  std::vector<Value> carried;           // how many iterations after its own need it
  std::vector<Need> needs;              // by what isn't in it
  Value streams = 0, first_stream = 0;  // how many vectors of an iteration are streamed, where the first is

  const Change& change(Value v, int k) const { return changes[node(v)][static_cast<std::size_t>(k)]; }
  Value end() const { return first + period * iterations; }
  Value node(Value v) const { return (v - first) % period; }
  /// Of what the first iteration needs: how many iterations before it that is, and which node of that one.
  Value back(Value v) const { return v < first ? (first - 1 - v) / period + 1 : 0; }
  Value node_before(Value v) const { return v + back(v) * period - first; }
  bool in_first(Value v) const { return v - first < period; }
  bool in_last(Value v) const { return v >= end() - period; }
  Value iteration(Value v) const { return (v - first) / period; }
  Value streamed(Value v) const { return first_stream + iteration(v) * streams + needs[node(v)].stream; }
};

/// All of a graph, in its order.
class Stretches {
 public:
  explicit Stretches(const Graph& graph)
      : target_(graph.target()),
        slot_bytes_(graph.shape().slot_bytes()),
        real_bytes_(static_cast<std::int32_t>(graph.real_bytes())),
        place_bytes_(graph.shape().point ? real_bytes_ : 8),
        nodes_(graph.nodes()) {}

  /// Whether there are any.
  bool find();
  /// What of each others need, and where that is streamed. `again`: what is cheap to compute once more isn't, where there is much.
  void lay_out_streams(bool again);

 protected:
  Value operand(Value v, int k) const { return codegen::operand(nodes_[v], k); }
  bool live(Value v) const { return last_use_[v] != 0; }
  /// The one that a node is in, or null.
  const Stretch* stretch_of(Value v) const {
    const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), v,
                                        [](Value x, const Stretch& stretch) { return x < stretch.first; });
    return after != stretches_.begin() && v < std::prev(after)->end() ? &*std::prev(after) : nullptr;
  }

  const Target& target_;
  const std::size_t slot_bytes_;  // of a value that is streamed
  const std::int32_t real_bytes_;
  const std::int32_t place_bytes_;  // from an input or output to the next: of a pointer, or of a point's number
  const LargeVector<Node>& nodes_;
  LargeVector<Value> last_use_;  // of a node that is done for its effect, itself; 0: of none
  std::vector<Stretch> stretches_;
  Value streams_ = 0;

 private:
  void find_last_uses();
  bool in_mask_register(Value v) const { return target_.mask_registers && is_mask(nodes_[v].what); }
  /// From operand x of node v to y, that of the node a period later. What was there before `begin` may be in other loops.
  Change change(Value x, Value y, Value v, Value period, Value begin) const;
  /// From node v to the one a period later; false where they aren't alike.
  bool changes(Value v, Value period, Value begin, Changes& found) const;
  /// As much of a repeat as can be a loop of iterations of `period`: what is in its middle tells what has to change in which way. Whether
  /// there was any.
  bool add(const Repeat& repeat, Value period);
  /// Finds what is carried. Whether a loop has registers for all its steps, and saves enough.
  bool fits(Stretch& stretch) const;
  void find_needs();
  void find_cheap(Stretch& stretch) const;
  /// Whether node j of iterations from `first` on can be computed again by few operations, from what is needed anyway or at hand;
  /// and for that node `root`, from what of the iteration before is streamed.
  bool cheap_again(const Stretch& stretch, Value j, Value first, Value root, int& left) const;
  void compute_again(Stretch& stretch, Value j, Value first) const;
};

}  // namespace wengert::codegen
