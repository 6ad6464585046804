// Where a loop begins and ends: what is in registers at its beginning is there again before it is done once more.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/allocation.hpp"

namespace wengert::codegen {

class LoopEdges : protected Allocation {
 protected:
  using Allocation::Allocation;

  /// What the loop doesn't use goes to memory; what it may have to load again is there too.
  void begin_loop(Value v) {
    loop_ = &graph_.loops()[nodes_[v].a];
    end_ = v;
    while (nodes_[end_].what != Do::loop_end) ++end_;
    each_taken([&](unsigned r) {
      out_.make_room();
      const Value value = registers_.value[r];
      State& state = state_[value];
      if (registers_.next(r) >= end_ || r >= Registers::first_mask) evict(r);
      else if (state.what != Do::carried && !at_hand(state.what) && state.slot < 0)
        store(r, spilled(state.slot = new_slot()));
    });
    if (const unsigned r = registers_.choose(vectors_); registers_.is_taken(r)) evict(r);  // one is to move things by
    // What is carried on from a slot goes to one: slots change one after the other, before registers do.
    for (Value c = end_carries(); nodes_[--c].what == Do::carry;)
      if (state_[nodes_[c].a].what == Do::carried && !in_register(nodes_[c].a) && in_register(nodes_[c].b))
        evict(reg(nodes_[c].b));
    here_.clear();
    each_taken([&](unsigned r) { here_.push_back({r, registers_.value[r]}); });
    each_carry([&](Value, Value carried) {
      State& state = state_[carried];
      if (state.slot < 0) return;
      if (in_register(carried)) unused_slots_.push_back(std::exchange(state.slot, -1));
      else state.slot |= home;
    });
    for (std::size_t k = 0; k < steps(); ++k) out_.clear(step_registers[k]);
    again_ = out_.size();
  }

  /// All goes where the next iteration expects it.
  void end_loop() {
    std::vector<Move> moves = here_;
    std::vector<Home> homes;
    each_carry([&](Value value, Value carried) {
      const auto in = std::find_if(here_.begin(), here_.end(), [&](const Move& m) { return m.value == carried; });
      if (in != here_.end()) moves[static_cast<std::size_t>(in - here_.begin())].value = value;
      else homes.push_back({spilled(state_[carried].slot), value});
    });
    Registers::Set to_move = 0, to_store = 0;
    for (const Move& move : moves)
      if (in_register(move.value)) to_move |= bit(move.value);
    for (const Home& to : homes)
      if (in_register(to.value)) to_store |= bit(to.value);
    each_taken([&](unsigned r) {
      if (!((to_move | to_store) >> r & 1)) leave(r);
    });
    for (const Home& to : homes) {
      out_.make_room();
      if (!in_register(to.value)) {
        if ((vectors_ & ~registers_.taken) == 0)
          evict(static_cast<unsigned>(std::countr_zero(registers_.taken & vectors_ & ~to_move)));
        move(unused(), to.value);
      }
      store(reg(to.value), to.place);
      leave(reg(to.value));
    }
    move_all(std::move(moves));
    each_taken([&](unsigned r) { leave(r); });
  }

  void repeat_loop() {
    for (std::size_t k = 0; k < steps(); ++k) out_.add(step_registers[k], step(k));
    out_.compare(step_registers[0], step(0) * static_cast<std::int32_t>(loop_->iterations));
    out_.raw({0x0f, 0x85});  // jne
    out_.dword(static_cast<std::int32_t>(again_) - static_cast<std::int32_t>(out_.size() + 4));
    for (const auto& [r, value] : here_)
      if (state_[value].what != Do::carried && state_[value].next != never) own(r, value);
  }

  void carried_out(Value v) {
    const Value carried = nodes_[v].b;
    for (const auto& [r, value] : here_)
      if (value == carried) return own(r, v);
    state_[v].slot = state_[carried].slot;
  }

 private:
  struct Move {
    unsigned to;  // a register
    Value value;
  };
  struct Home {
    Place place;
    Value value;
  };

  Registers::Set bit(Value v) const { return Registers::Set(1) << reg(v); }
  unsigned reg(Value v) const { return static_cast<unsigned>(state_[v].reg); }
  unsigned unused() const { return static_cast<unsigned>(std::countr_zero(vectors_ & ~registers_.taken)); }
  template <class Each>
  void each_taken(const Each& each) const {
    for (Registers::Set left = registers_.taken; left != 0; left &= left - 1)
      each(static_cast<unsigned>(std::countr_zero(left)));
  }
  Value end_carries() const {
    Value v = end_ + 1;
    while (nodes_[v].what == Do::carry) ++v;
    return v;
  }
  /// Of what a carried value is in the next iteration, and itself.
  template <class Each>
  void each_carry(const Each& each) const {
    for (Value v = end_ + 1; nodes_[v].what == Do::carry; ++v) each(nodes_[v].a, nodes_[v].b);
  }
  std::size_t steps() const { return std::max<std::size_t>(loop_->steps.size(), 1); }
  /// In numbers, of which an index counts so many.
  std::int32_t step(std::size_t k) const {
    return loop_->steps.empty() ? 1 : loop_->steps[k] / static_cast<std::int32_t>(graph_.real_bytes());
  }

  void leave(unsigned r) {
    state_[registers_.value[r]].reg = -1;
    registers_.release(r);
  }
  void move(unsigned to, Value value) {
    out_.make_room();
    if (!in_register(value)) {
      load(to, value);
    } else if (reg(value) != to) {
      out_.vector(opcodes_.copy(), to, 0, Place::vector(reg(value)));
      registers_.release(reg(value));
    }
    own(to, value);
  }
  /// None before what is there was moved itself. There is always a register unused.
  void move_all(std::vector<Move> moves) {
    while (!moves.empty()) {
      const auto ready = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
        return !registers_.is_taken(m.to) || registers_.value[m.to] == m.value;
      });
      if (ready == moves.end()) {
        move(unused(), registers_.value[moves.front().to]);
      } else {
        move(ready->to, ready->value);
        moves.erase(ready);
      }
    }
  }

  const Loop* loop_ = nullptr;
  Value end_ = 0;  // its loop_end
  std::size_t again_ = 0;
  std::vector<Move> here_;  // what registers have where it begins
};

}  // namespace wengert::codegen
