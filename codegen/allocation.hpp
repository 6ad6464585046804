// Where the values of a straight line of vector operations are: in registers, in spill slots, in the pool of constants.
// Registers by the rule that is best there: the value that is used next the farthest ahead gives up its own
// (L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5, 1966).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "codegen/assemble.hpp"
#include "codegen/opcodes.hpp"
#include "codegen/registers.hpp"

namespace wengert::codegen {

inline constexpr std::uint32_t never = 0xffffffffu;
inline constexpr Gpr step_registers[Loop::most_steps] = {Gpr::r12, Gpr::r13, Gpr::r14, Gpr::r15};
inline constexpr Gpr uniforms = Gpr::rsi, spills = Gpr::rdx, pool = Gpr::rcx;
inline constexpr Gpr round_index = Gpr::r9;  // of batches: numbers from the pointers to this round's vectors
inline constexpr Gpr point_tables[] = {Gpr::rdi, uniforms, Gpr::r8, Gpr::r9};  // by Table

/// Part of one Assembler (assemble.cpp), which writes the instructions between the moves that are written here.
class Allocation {
 protected:
  Allocation(const Graph& graph, Encoder& out)
      : graph_(graph),
        nodes_(graph.nodes().data()),
        f64_(graph.real_bytes() == 8),
        shape_(graph.shape()),
        target_(graph.target()),
        point_(shape_.point),
        vector_bytes_(static_cast<std::int32_t>(shape_.vector_bytes())),
        out_(out),
        opcodes_(shape_, graph.real_bytes()) {}

  /// Of a value. At first all bits are ones: it has no use, no slot, no register.
  struct State {
    std::uint32_t next;  // use
    std::int32_t
        slot;  // among the spills (from `home` on: not to be freed); of a constant or a table, its offset in the pool; of
               // an input, 0 once fetched
    std::int8_t reg;  // among all registers
    Do what;          // the node's, which is far away; known once it was reached
  };
  /// The uses of a node's operands' values after this one.
  struct Uses {
    std::uint32_t a, b, c;
  };

  /// Whether it goes to a mask register.
  bool to_mask(Value v) const { return target_.mask_registers && is_mask(state_[v].what); }
  /// The number of a register in instructions.
  static unsigned number_of(unsigned reg) { return reg % Registers::first_mask; }

  // ---- before -------------------------------------------------------------------------------------------------------

  /// Before node v is reached: whether anything comes of it.
  bool live(Value v) const { return state_[v].next != never || has_effect(state_[v].what); }

  /// For each operand of live nodes, the next use of its value after that one. And what of the pool is read.
  void find_uses() {
    const std::size_t n = graph_.nodes().size();
    uses_.resize(3 * n + 3);  // at most; they are written from the end
    std::uint32_t* next = uses_.data() + uses_.size();
    states_.resize(n + 1);  // the last: of operands that a node hasn't got
    std::memset(static_cast<void*>(states_.data()), 0xff, states_.size() * sizeof(State));
    State* const state = state_ = states_.data();
    std::size_t times = 1;
    for (Value v = static_cast<Value>(n); v-- > 0;) {
      const Node node = nodes_[v];
      state[v].what = node.what;
      if (!live(v)) continue;
      const std::int32_t reads = std::exchange(state[v].slot, -1) + 1;  // counted there as long as it has none
      if (at_hand(node.what)) {
        if (node.what == Do::input) inputs_ += times, reads_of_inputs_ += times * static_cast<std::size_t>(reads);
        if (node.what == Do::constant) constants_.push_back(v);
        else if (node.what == Do::table) tables_.push_back(v);
        continue;
      }
      if (node.what == Do::loop_again) times = graph_.loops()[node.a].iterations;
      if (node.what == Do::loop_begin) times = 1;
      // All three, whatever the node has: no branch, which nobody could predict.
      const int count = operand_count(node.what);
      State& a = state[count > 0 ? node.a : n];
      State& b = state[count > 1 ? node.b : n];
      State& c = state[count > 2 ? node.c : n];
      next[-1] = a.next;
      next[-2] = b.next;
      next[-3] = c.next;
      next -= count;
      a.next = b.next = c.next = v;
      ++a.slot, ++b.slot, ++c.slot;
    }
    next_ = next;
    std::reverse(constants_.begin(), constants_.end());
  }
  /// Those of the node that is written.
  Uses uses() const { return {next_[-1], next_[-2], next_[-3]}; }

  void lay_out_pool() {
    const std::size_t bytes = graph_.real_bytes(), table = 16 * bytes;
    const std::size_t stride = constant_bytes(), first_table = (constants_.size() * stride + 63) / 64 * 64;
    const auto bias = static_cast<std::int32_t>(bias_of_numbers(bytes));
    pool_.assign(first_table + graph_.tables().size() * table, 0);
    for (std::size_t k = 0; k < constants_.size(); ++k) {
      const Node& node = nodes_[constants_[k]];
      const std::uint64_t bits = node.a | std::uint64_t(node.b) << 32;
      for (std::size_t at = k * stride; at < (k + 1) * stride; at += bytes)
        std::memcpy(pool_.data() + at, &bits, bytes);
      state_[constants_[k]].slot = static_cast<std::int32_t>(k * stride) - bias;
    }
    for (std::size_t k = 0; k < graph_.tables().size(); ++k)
      std::memcpy(pool_.data() + first_table + k * table, graph_.tables()[k], table);
    for (const Value v : tables_)
      state_[v].slot =
          static_cast<std::int32_t>(first_table + nodes_[v].a * table + nodes_[v].immediate * shape_.vector_bytes()) -
          bias;
  }
  /// As an operand for all lanes it takes one number, otherwise a vector.
  std::size_t constant_bytes() const { return target_.evex ? graph_.real_bytes() : shape_.vector_bytes(); }

  // ---- registers -----------------------------------------------------------------------------------------------------

  bool in_register(Value v) const { return state_[v].reg >= 0; }
  /// Where a value that is in no register is.
  Place memory(Value v) const {
    switch (state_[v].what) {
      case Do::constant: return target_.evex ? Place::all_lanes(pool, state_[v].slot) : Place::at(pool, state_[v].slot);
      case Do::table: return Place::at(pool, state_[v].slot);
      case Do::uniform:
        return stepping(Place::all_lanes(uniforms, static_cast<std::int32_t>(nodes_[v].a * graph_.real_bytes())),
                        nodes_[v].immediate);
      case Do::streamed: return stepping(streamed(nodes_[v].a), nodes_[v].immediate);
      case Do::input: return stepping(number(nodes_[v].b, nodes_[v].c), nodes_[v].immediate);
      default: return spilled(state_[v].slot);
    }
  }
  Place spilled(std::int32_t slot) const {
    return shape_.keeps_numbers() ? Place::all_lanes(spills, offset(slot)) : Place::at(spills, offset(slot));
  }
  std::int32_t offset(std::int32_t slot) const {
    return (slot & (home - 1)) * slot_bytes() - static_cast<std::int32_t>(spill_bias);
  }
  Place streamed(Value stream) const { return spilled(first_stream_ + static_cast<std::int32_t>(stream)); }
  /// That moves on from iteration to iteration of a loop.
  static Place stepping(Place place, unsigned step) {
    if (step != 0) place.index = step_registers[step - 1];
    return place;
  }
  std::int32_t slot_bytes() const { return static_cast<std::int32_t>(shape_.slot_bytes()); }
  /// Number k of a point's table.
  Place number(std::uint32_t k, std::uint32_t table) const {
    return Place::all_lanes(point_tables[table], static_cast<std::int32_t>(k * graph_.real_bytes()));
  }
  /// Whether its address isn't known before the code runs.
  bool behind_pointer(Value v) const { return !point_ && state_[v].what == Do::input; }
  /// Whether it has to be in a register to be an operand.
  bool needs_register(Value v) const {
    const Do what = state_[v].what;
    return behind_pointer(v) || (!target_.evex && (what == Do::input || what == Do::uniform));
  }

  std::int32_t new_slot() {
    if (unused_slots_.empty()) return slots_++;
    const std::int32_t slot = unused_slots_.back();
    unused_slots_.pop_back();
    return slot;
  }

  /// Makes a register free, without an owner.
  unsigned vacate(Registers::Set among) {
    const unsigned r = registers_.choose(among);
    if (registers_.is_taken(r)) evict(r);
    return r;
  }
  /// What is in a register goes to memory, if it isn't there.
  [[gnu::noinline]] void evict(unsigned r) {
    const Value old = registers_.value[r];
    State& state = state_[old];
    if (!at_hand(state.what) && state.slot < 0) {
      state.slot = new_slot();
      if (r >= Registers::first_mask) out_.store_mask(number_of(r), spills, offset(state.slot));
      else store(r, spilled(state.slot));
    }
    state.reg = -1;
    registers_.release(r);
  }
  /// What is in one of `from` goes to another register if one is free, or to memory.
  void clear(unsigned r, Registers::Set from) {
    if (!registers_.is_taken(r)) return;
    const Value old = registers_.value[r];
    const Registers::Set unused =
        (r < Registers::first_mask ? vectors_ : masks_) & ~(from | registers_.given | registers_.taken);
    if (r >= Registers::first_mask || unused == 0 || at_hand(state_[old].what) || state_[old].slot >= 0)
      return evict(r);
    const unsigned to = static_cast<unsigned>(std::countr_zero(unused));
    out_.vector(opcodes_.copy(), to, 0, Place::vector(r));
    registers_.release(r);
    registers_.value[to] = old;
    registers_.set_next(to, registers_.next(r));
    registers_.take(to);
    state_[old].reg = static_cast<std::int8_t>(to);
  }
  void own(unsigned r, Value v) {
    registers_.value[r] = v;
    registers_.set_next(r, state_[v].next);
    registers_.take(r);
    state_[v].reg = static_cast<std::int8_t>(r);
  }
  /// A register for a node's result.
  unsigned result(Value v) {
    const unsigned r = vacate(to_mask(v) ? masks_ : vectors_);
    own(r, v);
    return number_of(r);
  }

  /// A register for one instruction to write and the next to read.
  unsigned to_work_in() {
    const unsigned r = vacate(vectors_);
    registers_.used |= Registers::Set(1) << r;
    return r;
  }

  void load(unsigned r, Value v) {
    if (behind_pointer(v)) {
      point_at(nodes_[v].b, nodes_[v].immediate);
      const Place from = vector_at_pointer(nodes_[v].c);
      out_.vector(opcodes_.load(), r, 0, from);
      fetch_ahead(v, from);
      return;
    }
    const Place from = memory(v);
    if (from.broadcast) out_.vector_of_number(opcodes_.broadcast(), r, from);
    else out_.vector(opcodes_.load(), r, 0, from);
  }
  void store(unsigned r, Place to) {
    if (to.broadcast) out_.vector_of_number(opcodes_.store_number(), r, to);
    else out_.vector(opcodes_.store(), r, 0, to);
  }
  /// The value in a register, to stay there for this node.
  unsigned get(Value v) {
    if (!in_register(v)) fetch(v);
    const unsigned r = static_cast<unsigned>(state_[v].reg);
    registers_.pin(r);
    return number_of(r);
  }
  [[gnu::noinline]] void fetch(Value v) { fill(vacate(to_mask(v) ? masks_ : vectors_), v); }
  /// Loads a value into a register that is free, to stay there for this node.
  void fill(unsigned r, Value v) {
    if (r >= Registers::first_mask) out_.load_mask(number_of(r), spills, offset(state_[v].slot));
    else load(r, v);
    own(r, v);
    registers_.pin(r);
  }
  /// The value where it is, or in a register where it is worth one.
  Place source(Value v, std::uint32_t next) {
    if (in_register(v)) return Place::vector(get(v));
    return source_in_memory(v, next);
  }
  [[gnu::noinline]] Place source_in_memory(Value v, std::uint32_t next) {
    if (needs_register(v)) return Place::vector(get(v));
    if (at_hand(state_[v].what) || next == never) return memory(v);
    const unsigned r = registers_.choose(vectors_);
    if (registers_.is_taken(r)) {
      if (registers_.next(r) <= next) return memory(v);  // it would give up one that is used before
      evict(r);
    }
    fill(r, v);
    return Place::vector(r);
  }

  /// An operand of node v has been read: what that leaves of it. Its register may be the result's, its slot may not. Without
  /// branches: whether it was the last time nobody could predict.
  void read(Value operand, std::uint32_t next) {
    State& state = state_[operand];
    const bool last = next == never,
               frees = last & (static_cast<std::uint32_t>(state.slot) < std::uint32_t(home)) & !at_hand(state.what);
    state.next = next;
    const unsigned r = static_cast<unsigned>(state.reg) % Registers::count;
    registers_.set_next(r, next);
    registers_.release(r, last);
    state.reg = static_cast<std::int8_t>(state.reg | -static_cast<int>(last));
    freed_[freed_count_] = state.slot;
    freed_count_ += frees;
    state.slot |= -static_cast<std::int32_t>(frees);
  }
  void read_all(const Node& node, const Uses& next) {
    read(node.a, next.a);
    read(node.b, next.b);
    read(node.c, next.c);
  }
  void finish() {
    registers_.pinned = 0;
    if (freed_count_ == 0) return;
    unused_slots_.insert(unused_slots_.end(), freed_.begin(), freed_.begin() + freed_count_);
    freed_count_ = 0;
  }

  // ---- moves ----------------------------------------------------------------------------------------------------------

  /// rax = pointer number k (they are at rdi), if it isn't there from the vector before.
  void point_at(std::uint32_t k, unsigned step) {
    if (pointer_ == Pointer{k, step}) return;
    pointer_ = {k, step};
    out_.load_pointer(stepping(Place::at(Gpr::rdi, static_cast<std::int32_t>(8 * k)), step));
  }
  /// Vector k of this round.
  Place vector_at_pointer(std::uint32_t k) const {
    Place place = Place::at(Gpr::rax, static_cast<std::int32_t>(k) * vector_bytes_);
    place.index = round_index;
    return place;
  }
  /// Where rax may get something else, and where code is entered from elsewhere.
  void forget_pointer() { pointer_ = {}; }

  /// Once a round for each input: its numbers of a later round. Of many columns at once processors don't see by themselves
  /// what is to come.
  void fetch_ahead(Value v, Place from) {
    static constexpr std::size_t few = 16;  // columns
    static constexpr std::int32_t rounds = 2;
    State& state = state_[v];
    if (state.slot >= 0 || nodes_[v].a != 0 || inputs_ <= few * shape_.vectors) return;
    state.slot = 0;
    if (from.offset % 64 != 0) return;  // in the line of the vector before it, or the next round's
    from.offset += rounds * vector_bytes_ * static_cast<std::int32_t>(shape_.vectors);
    out_.prefetch(from);
  }

  /// A copy of `v` in a register that its caller gives to the result, or its own where it isn't needed any more.
  unsigned taken_over(Value result_of, Value v, std::uint32_t next) {
    if (in_register(v) && next == never) {
      const unsigned r = static_cast<unsigned>(state_[v].reg);
      read(v, next);
      own(r, result_of);
      return r;
    }
    const unsigned r = vacate(vectors_);
    if (in_register(v)) out_.vector(opcodes_.copy(), r, 0, Place::vector(static_cast<unsigned>(state_[v].reg)));
    else load(r, v);
    read(v, next);
    own(r, result_of);
    return r;
  }

  const Graph& graph_;
  const Node* const nodes_;
  const bool f64_;
  const Shape shape_;
  const Target& target_;
  const bool point_;
  const std::int32_t vector_bytes_;
  Encoder& out_;
  const Opcodes opcodes_;
  std::vector<Value> constants_, tables_;  // live ones
  std::vector<std::uint8_t> pool_;
  LargeVector<std::uint32_t> uses_;  // of each operand of each live node, as far as these are: the next of its value
  const std::uint32_t* next_ = nullptr;  // behind those of the node that is written, from the last operand to the first
  LargeVector<State> states_;
  State* state_ = nullptr;  // [value]
  /// What is gathered of the requirements: a mask register of the lanes that met them all, or a vector of those that didn't.
  static constexpr unsigned good = 1;
  const unsigned bad_ = target_.registers - 1u;
  const Registers::Set vectors_ = (Registers::Set(1) << (target_.mask_registers ? target_.registers : bad_)) - 1,
                       masks_ = Registers::Set(0xfc) << Registers::first_mask;  // 0 means no mask
  Registers registers_{target_.registers};
  std::size_t inputs_ = 0, reads_of_inputs_ = 0;  // vectors of them, by operations
  struct Pointer {
    std::uint32_t number = never;
    unsigned step = 0;
    bool operator==(const Pointer&) const = default;
  };
  Pointer pointer_;                              // in rax
  static constexpr std::int32_t home = 1 << 30;  // slots from here on stay what they are
  std::int32_t slots_ = 0, first_stream_ = 0;
  std::vector<std::int32_t> unused_slots_;
  std::array<std::int32_t, 4> freed_;  // by this node
  std::ptrdiff_t freed_count_ = 0;
};

}  // namespace wengert::codegen
