// A straight line of vector operations, of which stretches may be loops: what machine code is made of. Values are in static single
// assignment form and numbered: what was computed once, from whatever op it came, isn't computed again.
//
// Every operation here is one rounding or none, and means what the function of that name in kernels/native.hpp means.
// Values are vectors, except those of comparisons and of operations on them, which are masks (vectors too, where the target
// has no registers for masks). What the target has no instruction for isn't recorded: here and in recorded_lanes.hpp it
// becomes what there are instructions for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "codegen/large_vector.hpp"
#include "codegen/target.hpp"

namespace wengert::codegen {

using Value = std::uint32_t;
inline constexpr Value no_value = 0xffffffffu;

enum class Do : std::uint8_t {
  // Without operands: at hand in memory, to be loaded where they are needed.
  constant,  ///< bits in a (low) and b (high), in all lanes
  uniform,   ///< number a of a batch, in all lanes
  table,     ///< vector `immediate` of table a
  streamed,  ///< vector a of what loops stream to memory
  input,  ///< pointer b, vector c of those that a round of the code computes (a: not the first to be read there); of a point
          ///< number b of table c
  output,  ///< of a, to pointer b, vector c; of a point as number b of table c
  // Numbers.
  add,
  sub,
  mul,
  div,
  max,
  min,
  scale,  ///< a * 2^floor(b)
  fma,
  sqrt,
  round,     ///< as `immediate` says
  exponent,  ///< floor(log2(abs(a)))
  mantissa,  ///< a in [0.75, 1.5), over a power of two
  to_int,    ///< truncated
  to_real,
  blend,      ///< a (a mask) ? b : c
  mul_where,  ///< a (a mask) ? b * c : +0
  lookup,     ///< item b of the table whose vectors are a and, if it takes two, c, modulo its size
  permute,    ///< 32-bit item a mod 8 of table vector b
  items,      ///< number b (0 to 15) of the table whose first vector is a
  // Bits of numbers, integers.
  bit_and,
  bit_or,
  bit_xor,
  add_int,
  sub_int,
  greater_int,  ///< as masks, where these are vectors
  equal_int,
  shift_left,
  shift_right,  ///< filled with zeros
  shift_right_signed,
  // Masks.
  compare,        ///< `immediate`: a Comparison
  compare_where,  ///< a compare b, where c (a mask) is true
  compare_int,    ///< `immediate`: an IntComparison
  mask_and,
  mask_or,
  mask_xor,
  mask_not,
  // What the code is good for: a round whose requirement fails in some lane is to be computed in another way.
  require,  ///< a compare b
  require_int,
  require_not,  ///< of a mask
  // Subroutines. What they are given and what they give back is in registers 0, 1, ..., of the second vector from 8 on.
  give,  ///< a, into register `immediate`
  call,  ///< subroutine a, of all vectors at once
  // Loops (loops.hpp), in this order where each of them begins and ends. In between, numbers of uniforms, inputs, outputs and
  // streams are those of the first iteration; `immediate` tells by which of the loop's steps they go on (from 1; 0: by none).
  carried,      ///< a in the first iteration; before loop_begin
  loop_begin,   ///< loop a
  to_stream,    ///< of a, as vector b of the streams
  loop_end,     ///< what follows, up to loop_again, is what the next iteration needs
  carry,        ///< a, as what b has in the next iteration
  hold,         ///< a, which is the same in all iterations
  loop_again,   ///< loop a
  take,         ///< what is in register `immediate` after a call or when a subroutine begins
  copy,         ///< a, once for all iterations; before loop_begin
  carried_out,  ///< what `carried` value b would be in an iteration after the last; after loop_again
};
inline constexpr unsigned registers_of_a_vector = 8;  ///< to give to a subroutine or to take from it

/// Immediates of the instructions: how to compare (unordered: an operand is NaN), how to round.
enum class Comparison : std::uint8_t {
  equal = 0x00,
  unordered = 0x03,
  not_equal = 0x04,  // or unordered
  ordered = 0x07,
  less = 0x11,
  less_equal = 0x12,
  not_less = 0x15,  // or unordered
  not_less_equal = 0x16,
};
enum class IntComparison : std::uint8_t { equal = 0, less = 1, not_equal = 4, not_less = 5 };
enum class Rounding : std::uint8_t { current = 4, down = 9, up = 10, to_zero = 11 };

/// Where the numbers of a point are: what the code is called with.
enum class Table : std::uint8_t { inputs, uniforms, values, gradients };

struct Node {
  Do what;
  std::uint8_t immediate;
  Value a, b, c;
};

constexpr Value operand(const Node& node, int k) { return k == 0 ? node.a : k == 1 ? node.b : node.c; }

/// Nodes that are done again and again.
struct Loop {
  std::uint32_t iterations;
  std::vector<std::int32_t>
      steps;  ///< by which numbers grow from iteration to iteration: in bytes of an address. From 1 on
  static constexpr std::size_t most_steps = 4;
};

inline constexpr std::size_t operations = static_cast<std::size_t>(Do::carried_out) + 1;
extern const std::array<std::uint8_t, operations> operand_counts;
/// How many of a, b, c are values.
inline int operand_count(Do what) { return operand_counts[static_cast<std::size_t>(what)]; }
/// Calls use(k, operand k) for each, which it may change.
template <class Use>
void each_operand(Node& node, const Use& use) {
  Value* const operands[] = {&node.a, &node.b, &node.c};
  for (int k = 0; k < operand_count(node.what); ++k) use(k, *operands[k]);
}
constexpr bool is_mask(Do what) { return what >= Do::compare && what <= Do::mask_not; }
/// Whether it is in memory before the code runs.
constexpr bool at_hand(Do what) { return what <= Do::input; }
/// Whether it is as soon done again as its result would come from memory.
constexpr bool is_cheap(Do what) {
  switch (what) {
    case Do::add:
    case Do::sub:
    case Do::mul:
    case Do::max:
    case Do::min:
    case Do::fma:
    case Do::bit_and:
    case Do::bit_or:
    case Do::bit_xor: return true;
    default: return false;
  }
}
/// Whether it is done for its effect.
constexpr bool has_effect(Do what) { return what == Do::output || (what >= Do::require && what < Do::take); }

/// How adjoints are multiplied by partials: by plain products, which are right unless they are NaN, by the zero rule
/// (kernels/chain.hpp) where an op's partials may be 0 or infinite at ordinary numbers, by it at every product, or by plain products
/// because the program wants no such rule.
enum class Chain { plain, special, zero_rule, ieee };

class Graph {
 public:
  /// `expected`: how many nodes there will be at most, of which mostly half are. With `no_more` than that it is given up.
  Graph(const Shape& shape, std::size_t real_bytes, Chain chain = Chain::plain, std::size_t expected = 0,
        bool no_more = false)
      : shape_(shape),
        real_bytes_(real_bytes),
        chain_(chain),
        most_(no_more ? std::max<std::size_t>(expected, 1) : no_value),
        at_hand_(256, no_value),
        latest_(latest_size, 0),
        recent_(recent_size) {
    nodes_.reserve(no_more ? expected : expected / 16 * 9);
  }

  const Shape& shape() const { return shape_; }
  const Target& target() const { return *shape_.target; }
  Chain chain() const { return chain_; }
  std::size_t real_bytes() const { return real_bytes_; }
  const LargeVector<Node>& nodes() const { return nodes_; }
  /// Tables of 16 numbers, by number.
  const std::vector<const void*>& tables() const { return tables_; }

  Value constant(double x) { return constant_bits(bits_of(x)); }
  Value constant_bits(std::uint64_t bits);
  /// A zero whose sign nobody sees: the tangent of what has none. So sums with it needn't be computed.
  Value nothing() { return nothing_ != no_value ? nothing_ : nothing_ = number_at_hand({Do::constant, 1, 0, 0, 0}); }
  bool is_zero(Value v) const { return is(v, 0.0) || is(v, -0.0); }
  Value uniform(std::uint32_t number) { return number_at_hand({Do::uniform, 0, number, 0, 0}); }
  /// Of a batch: vector 0 of a pointer; of a point: number `at` of a table.
  Value input(std::uint32_t at, Table of) { return number_at_hand({Do::input, 0, 0, at, vector_or_table(of)}); }
  void output(Value value, std::uint32_t at, Table of);
  Value binary(Do what, Value a, Value b);
  Value unary(Do what, Value a, unsigned immediate = 0);
  Value ternary(Do what, Value a, Value b, Value c);
  Value compare(Comparison how, Value a, Value b);
  /// a * b, but +0 where either is zero.
  Value product_of_nonzeros(Value a, Value b);
  Value compare_int(IntComparison how, Value a, Value b);
  Value mask_not(Value mask);
  /// Whether `lookup` can be had.
  bool has_lookup() const { return shape_.point || target().permutes_16; }
  /// Item `index` mod 16 of 16 numbers.
  Value lookup(const void* table, Value index);
  /// The same by loads.
  Value items(const void* numbers, Value index) {
    return binary(Do::items, table(numbers, 0), binary(Do::bit_and, index, constant_bits(15)));
  }
  /// Vector k of 16 numbers.
  Value table(const void* numbers, unsigned k);

  /// No lane of the mask may be true.
  void refuse(Value mask);
  /// No lane may be NaN in a or in b.
  void refuse_nan(Value a, Value b);

  /// How many values a subroutine is given at most, and gives back.
  std::size_t most_given() const { return std::min<std::size_t>(registers_of_a_vector, target().registers / 2 - 1u); }
  /// A graph for a subroutine, which is empty, and its number. It computes as many vectors.
  Graph new_subroutine() const { return Graph(shape_, real_bytes_, chain_); }
  std::uint32_t add_subroutine(Graph body) {
    body.at_hand_ = {};  // it grows no more
    body.latest_ = {};
    body.recent_ = {};
    subroutines_.push_back(std::move(body));
    return static_cast<std::uint32_t>(subroutines_.size() - 1);
  }
  const std::vector<Graph>& subroutines() const { return subroutines_; }
  std::vector<Graph>& subroutines() { return subroutines_; }
  /// In this order: what a subroutine is given, by the first vector and the second, the call, what is taken of it, by both.
  void give(Value value, unsigned number) { add({Do::give, static_cast<std::uint8_t>(number), value, 0, 0}); }
  void call(std::uint32_t subroutine) { add({Do::call, 0, subroutine, 0, 0}); }
  Value take(unsigned number) { return add({Do::take, static_cast<std::uint8_t>(number), 0, 0, 0}); }

  /// Adds all that was added since the last call once more, for a second vector: its inputs and outputs, and what comes of
  /// these. Values of its own go by no name: `input` and the operations give the first vector's. Nothing if there is one vector.
  void repeat_for_second_vector();

  const std::vector<Loop>& loops() const { return loops_; }
  /// Vectors that loops stream to memory.
  std::uint32_t streams() const { return streams_; }
  void set_loops(LargeVector<Node> nodes, std::vector<Loop> loops, std::uint32_t streams) {
    nodes_ = std::move(nodes);
    loops_ = std::move(loops);
    streams_ = streams;
  }

  /// Other nodes in the place of these, if they aren't too many. The graph grows no more.
  void replace(LargeVector<Node> nodes) {
    if (nodes.size() <= most_) nodes_ = std::move(nodes);
  }

  /// Called where an operation has no place in straight-line code: this graph can't be had.
  void give_up() { complete_ = false; }
  bool complete() const { return complete_; }

 private:
  std::uint32_t vector_or_table(Table table) const { return shape_.point ? static_cast<std::uint32_t>(table) : 0; }
  std::uint64_t bits_of(double x) const;
  bool is_constant(Value v) const { return nodes_[v].what == Do::constant; }
  std::uint64_t bits(Value v) const { return nodes_[v].a | std::uint64_t(nodes_[v].b) << 32; }
  bool is(Value v, double x) const { return is_constant(v) && bits(v) == bits_of(x); }
  /// What a binary operation on two constants gives, if it is folded.
  bool folded(Do what, Value a, Value b, std::uint64_t& result) const;
  /// A sum, difference or change of sign of nothing, without computing it; `no_value` if it is another operation.
  Value with_nothing(Do what, Value a, Value b);
  void refuse_not(Value mask);
  Value blend(Value mask, Value b, Value c);
  Value number_at_hand(const Node& node);
  /// Of one that is computed. By its parts, which are in registers: a node that was just written field by field is slow to be read.
  Value number_of(Do what, unsigned immediate, Value a, Value b = 0, Value c = 0);
  Value add(const Node& node) {
    if (nodes_.size() == most_) [[unlikely]]
      give_up();
    else nodes_.push_back(node);
    return static_cast<Value>(nodes_.size() - 1);
  }
  void grow();

  Shape shape_;
  std::size_t real_bytes_;
  Chain chain_;
  std::size_t most_;  // nodes
  bool complete_ = true;
  LargeVector<Node> nodes_;
  LargeVector<Value> second_;  // of each node, the second vector's
  Value repeated_ = 0;         // nodes that have one
  std::vector<const void*> tables_;
  std::vector<Graph> subroutines_;
  std::vector<Loop> loops_;
  std::uint32_t streams_ = 0;
  Value nothing_ = no_value;    // its node, once there is one
  std::vector<Value> at_hand_;  // all that is at hand, by hash: open addressing
  std::size_t at_hand_count_ = 0;
  // What was computed or asked for lately, by hash: the latest of each, and before each the one before it of the same. Older
  // values would hardly be worth a register so long, and this stays in the caches. All of these are found, so that what repeats
  // itself in a program does so here. More of the hash is kept beside them, since their nodes are in the caches no longer.
  struct Recent {
    Value value;
    std::uint16_t back;  // to the one before it; 0: there is none
    std::uint8_t tag;
  };
  static constexpr std::uint32_t recent_size = 2048, latest_size = 4096;
  static constexpr std::uint32_t recent_masks = 64;  // of which few have registers: as soon computed again as loaded
  std::vector<std::uint16_t>
      latest_;  // the lower half of its number. Where that comes up again it leads to others, no farther back
  std::vector<Recent> recent_;  // by number, in a ring
  std::uint32_t recent_count_ = recent_size + 1;
};

}  // namespace wengert::codegen
