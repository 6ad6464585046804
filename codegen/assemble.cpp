// Registers by the rule that is best for a straight line: the value that is used next the farthest ahead gives up its own
// (L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5, 1966).
#include "codegen/assemble.hpp"

#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "codegen/encoder.hpp"

namespace wengert::codegen {
namespace {

constexpr std::uint32_t never = 0xffffffffu;
constexpr unsigned good = 1;  // the mask register of lanes that met all requirements
constexpr Gpr uniforms = Gpr::rsi, spills = Gpr::rdx, pool = Gpr::rcx;

class Assembler {
 public:
  Assembler(const Graph& graph, std::size_t vectors)
      : graph_(graph),
        nodes_(graph.nodes()),
        f64_(graph.real_bytes() == 8),
        wide_(f64_),
        packed_(f64_ ? 1 : 0),
        lanes_(f64_ ? 8 : 16),
        vectors_(vectors),
        out_(graph.real_bytes()) {}

  Assembly run() {
    find_uses();
    lay_out_pool();
    out_.make_room();
    out_.raw({0x4d, 0x31, 0xc9});  // xor r9, r9: bytes from the pointers to this round's vectors
    const std::size_t round = out_.size();
    out_.mask_op(0x46, lanes_, true, good, good, good);  // kxnor
    for (Value v = 0; v < nodes_.size(); ++v) {
      if (!live_[v]) continue;
      out_.make_room();
      node(v);
    }
    out_.raw({0xc5, f64_ ? 0xf9u : 0xf8u, 0x93, 0xc0 | good});  // kmov eax, good
    out_.byte(0x3d);                                            // cmp eax, all lanes
    out_.dword(f64_ ? 0xff : 0xffff);
    out_.raw({0x0f, 0x85});  // jne to the failure
    const std::size_t to_failure = out_.size();
    out_.dword(0);
    out_.raw({0x49, 0x81, 0xc1});  // add r9, bytes of a round
    out_.dword(static_cast<std::int32_t>(64 * vectors_));
    out_.raw({0x49, 0xff, 0xc8});  // dec r8
    out_.raw({0x0f, 0x85});        // jnz to the next round
    out_.dword(static_cast<std::int32_t>(round) - static_cast<std::int32_t>(out_.size() + 4));
    out_.byte(0xb8);  // mov eax, 1
    out_.dword(1);
    leave();
    out_.patch(to_failure, static_cast<std::int32_t>(out_.size() - to_failure - 4));
    out_.raw({0x31, 0xc0});  // xor eax, eax
    leave();
    const std::span<const std::uint8_t> code = out_.bytes();
    return {{code.begin(), code.end()}, std::move(pool_), slots_ * std::size_t(64)};
  }

 private:
  struct State {
    std::int8_t reg = -1;
    std::uint32_t next;      // use
    std::int32_t slot = -1;  // among the spills
  };

  /// Registers of one kind.
  struct Registers {
    Value value[32];
    std::uint32_t next[32];  // use of that value
    std::uint32_t usable, taken = 0, pinned = 0;

    explicit Registers(std::uint32_t usable_ones) : usable(usable_ones) {}
    /// The register to take: a free one, or that of the value used farthest ahead.
    unsigned choose() const {
      if (const std::uint32_t unused = usable & ~taken) return static_cast<unsigned>(std::countr_zero(unused));
      unsigned best = 32;
      for (std::uint32_t left = usable & ~pinned; left != 0; left &= left - 1) {
        const unsigned r = static_cast<unsigned>(std::countr_zero(left));
        if (best == 32 || next[r] > next[best]) best = r;
      }
      return best;
    }
    bool is_taken(unsigned r) const { return (taken >> r & 1) != 0; }
    void release(unsigned r) {
      taken &= ~(1u << r);
      pinned &= ~(1u << r);
    }
  };
  Registers& registers(bool mask) { return mask ? masks_ : vectors_in_; }
  void pin(Value v) { registers(is_mask(nodes_[v].what)).pinned |= 1u << state_[v].reg; }

  void leave() { out_.raw({0xc5, 0xf8, 0x77, 0xc3}); }  // vzeroupper, ret

  // ---- before -------------------------------------------------------------------------------------------------------

  /// Which nodes are live, and for each operand the next use of its value after that one.
  void find_uses() {
    const std::size_t n = nodes_.size();
    live_.assign(n, 0);
    next_.resize(3 * n);
    state_.resize(n);
    std::vector<std::uint32_t> upcoming(n, never);
    for (Value v = static_cast<Value>(n); v-- > 0;) {
      const Node& node = nodes_[v];
      if (!has_effect(node.what) && upcoming[v] == never) continue;
      live_[v] = 1;
      state_[v].next = upcoming[v];
      const Value operands[] = {node.a, node.b, node.c};
      const int count = operand_count(node.what);
      for (int k = 0; k < count; ++k) next_[3 * v + static_cast<Value>(k)] = upcoming[operands[k]];
      for (int k = 0; k < count; ++k) upcoming[operands[k]] = v;
    }
  }

  void lay_out_pool() {
    const std::size_t bytes = graph_.real_bytes();
    std::int32_t constants = 0;
    home_.assign(nodes_.size(), 0);
    for (Value v = 0; v < nodes_.size(); ++v)
      if (live_[v] && nodes_[v].what == Do::constant) home_[v] = constants++ * static_cast<std::int32_t>(bytes);
    const std::size_t first_table = (static_cast<std::size_t>(constants) * bytes + 63) / 64 * 64, table = 16 * bytes;
    pool_.assign(first_table + graph_.tables().size() * table, 0);
    for (std::size_t k = 0; k < graph_.tables().size(); ++k)
      std::memcpy(pool_.data() + first_table + k * table, graph_.tables()[k], table);
    for (Value v = 0; v < nodes_.size(); ++v) {
      const Node& node = nodes_[v];
      if (!live_[v]) continue;
      if (node.what == Do::constant) {
        const std::uint64_t bits = node.a | std::uint64_t(node.b) << 32;
        std::memcpy(pool_.data() + home_[v], &bits, bytes);
      } else if (node.what == Do::table) {
        home_[v] = static_cast<std::int32_t>(first_table + node.a * table + node.immediate * 64u);
      }
      if (node.what == Do::constant || node.what == Do::table) home_[v] -= static_cast<std::int32_t>(pool_bias(bytes));
    }
  }

  // ---- registers -----------------------------------------------------------------------------------------------------

  bool in_register(Value v) const { return state_[v].reg >= 0; }
  /// Where a value that is in no register is.
  Place memory(Value v) const {
    switch (nodes_[v].what) {
      case Do::constant: return Place::all_lanes(pool, home_[v]);
      case Do::table: return Place::at(pool, home_[v]);
      case Do::uniform: return Place::all_lanes(uniforms, static_cast<std::int32_t>(nodes_[v].a * graph_.real_bytes()));
      default: return Place::at(spills, offset(state_[v].slot));
    }
  }
  static std::int32_t offset(std::int32_t slot) { return slot * 64 - static_cast<std::int32_t>(spill_bias); }

  std::int32_t new_slot() {
    if (unused_slots_.empty()) return slots_++;
    const std::int32_t slot = unused_slots_.back();
    unused_slots_.pop_back();
    return slot;
  }

  /// Makes a register free, without an owner.
  unsigned vacate(bool mask) {
    Registers& file = registers(mask);
    const unsigned r = file.choose();
    if (!file.is_taken(r)) return r;
    const Value old = file.value[r];
    State& state = state_[old];
    if (!at_hand(nodes_[old].what) && state.slot < 0) {
      state.slot = new_slot();
      if (mask) out_.store_mask(r, spills, offset(state.slot));
      else out_.evex(store_op(), r, 0, Place::at(spills, offset(state.slot)));
    }
    state.reg = -1;
    file.release(r);
    return r;
  }
  void own(unsigned r, Value v, bool mask) {
    Registers& file = registers(mask);
    file.value[r] = v;
    file.next[r] = state_[v].next;
    file.taken |= 1u << r;
    state_[v].reg = static_cast<std::int8_t>(r);
  }
  /// A register for a node's result.
  unsigned result(Value v) {
    const bool mask = is_mask(nodes_[v].what);
    const unsigned r = vacate(mask);
    own(r, v, mask);
    return r;
  }

  void load(unsigned r, Value v) {
    if (nodes_[v].what == Do::input) {
      point_at(nodes_[v].b);
      out_.evex(load_op(), r, 0, Place::at(Gpr::rax, static_cast<std::int32_t>(64 * nodes_[v].c)));
      return;
    }
    const Place from = memory(v);
    if (from.broadcast) out_.evex_of_number(broadcast_op(), r, from);
    else out_.evex(load_op(), r, 0, from);
  }
  /// The value in a register, to stay there for this node.
  unsigned get(Value v) {
    State& state = state_[v];
    if (state.reg < 0) {
      const bool mask = is_mask(nodes_[v].what);
      const unsigned r = vacate(mask);
      if (mask) out_.load_mask(r, spills, offset(state.slot));
      else load(r, v);
      own(r, v, mask);
    }
    pin(v);
    return static_cast<unsigned>(state.reg);
  }
  /// The value where it is, or in a register where it is worth one.
  Place source(Value v, std::uint32_t next) {
    if (!in_register(v) && nodes_[v].what != Do::input &&
        (at_hand(nodes_[v].what) || next == never || !room_until(next)))
      return memory(v);
    return Place::vector(get(v));
  }
  /// Whether a register can be had without giving up one that is used before `next`.
  bool room_until(std::uint32_t next) const {
    const unsigned r = vectors_in_.choose();
    return !vectors_in_.is_taken(r) || vectors_in_.next[r] > next;
  }

  /// An operand of node v has been read: what that leaves of it. Its register may be the result's, its slot may not.
  void read(Value operand, std::uint32_t next) {
    State& state = state_[operand];
    state.next = next;
    if (state.reg >= 0) {
      Registers& file = registers(is_mask(nodes_[operand].what));
      const unsigned r = static_cast<unsigned>(state.reg);
      file.next[r] = next;
      if (next == never) {
        file.release(r);
        state.reg = -1;
      }
    }
    if (next != never) return;
    if (state.slot >= 0) {
      freed_.push_back(state.slot);
      state.slot = -1;
    }
  }
  void read_all(const Node& node, const std::uint32_t* next) {
    read(node.a, next[0]);
    read(node.b, next[1]);
    read(node.c, next[2]);
  }
  void finish() {
    vectors_in_.pinned = masks_.pinned = 0;
    unused_slots_.insert(unused_slots_.end(), freed_.begin(), freed_.end());
    freed_.clear();
  }

  // ---- instructions --------------------------------------------------------------------------------------------------

  using Byte = std::uint8_t;
  Opcode real(unsigned map, unsigned code) const { return {Byte(map), packed_, wide_, Byte(code)}; }
  Opcode prefixed(unsigned map, unsigned code) const { return {Byte(map), 1, wide_, Byte(code)}; }
  Opcode load_op() const { return real(1, 0x10); }
  Opcode store_op() const { return real(1, 0x11); }
  Opcode broadcast_op() const { return prefixed(2, f64_ ? 0x19 : 0x18); }

  Opcode opcode(Do what) const {
    switch (what) {
      case Do::add: return real(1, 0x58);
      case Do::sub: return real(1, 0x5c);
      case Do::mul:
      case Do::mul_where: return real(1, 0x59);
      case Do::div: return real(1, 0x5e);
      case Do::max: return real(1, 0x5f);
      case Do::min: return real(1, 0x5d);
      case Do::scale: return prefixed(2, 0x2c);
      case Do::sqrt: return real(1, 0x51);
      case Do::round: return prefixed(3, f64_ ? 0x09 : 0x08);
      case Do::exponent: return prefixed(2, 0x42);
      case Do::mantissa: return prefixed(3, 0x26);
      case Do::to_int: return f64_ ? Opcode{1, 1, 1, 0x7a} : Opcode{1, 2, 0, 0x5b};
      case Do::to_real: return f64_ ? Opcode{1, 2, 1, 0xe6} : Opcode{1, 0, 0, 0x5b};
      case Do::blend: return prefixed(2, 0x65);
      case Do::lookup: return prefixed(2, f64_ ? 0x77 : 0x16);
      case Do::bit_and: return prefixed(1, 0xdb);
      case Do::bit_or: return prefixed(1, 0xeb);
      case Do::bit_xor: return prefixed(1, 0xef);
      case Do::add_int: return prefixed(1, f64_ ? 0xd4 : 0xfe);
      case Do::sub_int: return prefixed(1, f64_ ? 0xfb : 0xfa);
      case Do::shift_left:
      case Do::shift_right: return prefixed(1, f64_ ? 0x73 : 0x72);
      case Do::shift_right_signed: return prefixed(1, 0x72);
      case Do::compare:
      case Do::compare_where:
      case Do::require: return real(1, 0xc2);
      default: return prefixed(3, 0x1f);  // of integers
    }
  }

  void node(Value v) {
    const Node& n = nodes_[v];
    const std::uint32_t* const next = &next_[3 * v];
    switch (n.what) {
      case Do::constant:
      case Do::uniform:
      case Do::table:
      case Do::input: return;
      case Do::output: {
        const unsigned r = get(n.a);
        point_at(n.b);
        out_.evex(store_op(), r, 0, Place::at(Gpr::rax, static_cast<std::int32_t>(64 * n.c)));
        read(n.a, next[0]);
        break;
      }
      case Do::fma: fma(v); break;
      case Do::lookup: lookup(v); break;
      case Do::blend: {
        const unsigned mask = get(n.a), no = get(n.c);
        const Place yes = source(n.b, next[1]);
        read_all(n, next);
        out_.evex(opcode(n.what), result(v), no, yes, mask);
        break;
      }
      case Do::mul_where: {
        const unsigned mask = get(n.a), first = get(n.b);
        const Place second = source(n.c, next[2]);
        read_all(n, next);
        out_.evex(opcode(n.what), result(v), first, second, mask | Encoder::zeroing);
        break;
      }
      case Do::compare_where: {
        const unsigned a = get(n.a), mask = get(n.c);
        const Place b = source(n.b, next[1]);
        read_all(n, next);
        out_.evex(opcode(n.what), result(v), a, b, mask, n.immediate);
        break;
      }
      case Do::sqrt:
      case Do::exponent:
      case Do::to_int:
      case Do::to_real: {
        const Place from = source(n.a, next[0]);
        read(n.a, next[0]);
        out_.evex(opcode(n.what), result(v), 0, from);
        break;
      }
      case Do::round:
      case Do::mantissa: {
        const Place from = source(n.a, next[0]);
        read(n.a, next[0]);
        out_.evex(opcode(n.what), result(v), 0, from, 0, n.what == Do::mantissa ? 3 : n.immediate);
        break;
      }
      case Do::shift_left:
      case Do::shift_right:
      case Do::shift_right_signed: {
        const Place from = source(n.a, next[0]);
        read(n.a, next[0]);
        const unsigned which = n.what == Do::shift_left ? 6 : n.what == Do::shift_right ? 2 : 4;
        out_.evex(opcode(n.what), which, result(v), from, 0, n.immediate);
        break;
      }
      case Do::compare:
      case Do::compare_int:
      case Do::require:
      case Do::require_int: {
        const unsigned a = get(n.a);
        const Place b = source(n.b, next[1]);
        read(n.a, next[0]);
        read(n.b, next[1]);
        const bool to_good = n.what == Do::require || n.what == Do::require_int;
        out_.evex(opcode(n.what), to_good ? good : result(v), a, b, to_good ? good : 0, n.immediate);
        break;
      }
      case Do::mask_and:
      case Do::mask_or:
      case Do::mask_xor: {
        const unsigned a = get(n.a), b = get(n.b);
        read(n.a, next[0]);
        read(n.b, next[1]);
        out_.mask_op(n.what == Do::mask_and  ? 0x41
                     : n.what == Do::mask_or ? 0x45
                                             : 0x47,
                     lanes_, true, result(v), a, b);
        break;
      }
      case Do::mask_not: {
        const unsigned a = get(n.a);
        read(n.a, next[0]);
        out_.mask_op(0x44, lanes_, false, result(v), 0, a);
        break;
      }
      case Do::require_not: {
        const unsigned a = get(n.a);
        read(n.a, next[0]);
        out_.mask_op(0x42, lanes_, true, good, a, good);  // kandn: good where not a
        break;
      }
      default: {  // of two numbers
        Value a = n.a, b = n.b;
        std::uint32_t next_a = next[0], next_b = next[1];
        const bool any_order = n.what == Do::add || n.what == Do::mul || n.what == Do::bit_and ||
                               n.what == Do::bit_or || n.what == Do::bit_xor || n.what == Do::add_int;
        if (any_order && !in_register(a) && in_register(b)) {
          std::swap(a, b);
          std::swap(next_a, next_b);
        }
        const unsigned first = get(a);
        const Place second = source(b, next_b);
        read(a, next_a);
        read(b, next_b);
        out_.evex(opcode(n.what), result(v), first, second);
      }
    }
    finish();
  }

  /// rax = pointer number k (they are at rdi), moved on to this round.
  void point_at(std::uint32_t k) {
    out_.raw({0x48, 0x8b, 0x87});
    out_.dword(static_cast<std::int32_t>(8 * k));
    out_.raw({0x4c, 0x01, 0xc8});
  }

  /// A copy of `v` in a register that its caller gives to the result, or its own where it isn't needed any more.
  unsigned taken_over(Value result_of, Value v, std::uint32_t next) {
    if (in_register(v) && next == never) {
      const unsigned r = static_cast<unsigned>(state_[v].reg);
      read(v, next);
      own(r, result_of, false);
      return r;
    }
    const unsigned r = vacate(false);
    if (in_register(v)) out_.evex(real(1, 0x28), r, 0, Place::vector(static_cast<unsigned>(state_[v].reg)));
    else load(r, v);
    read(v, next);
    own(r, result_of, false);
    return r;
  }

  /// The result takes the place of an operand: of one that isn't needed any more, if there is one.
  void fma(Value v) {
    const Node& n = nodes_[v];
    const std::uint32_t* const next = &next_[3 * v];
    struct Operand {
      Value value;
      std::uint32_t next;
      bool here, dies;
    };
    const auto of = [&](Value value, std::uint32_t next_use) {
      return Operand{value, next_use, in_register(value), in_register(value) && next_use == never};
    };
    Operand a = of(n.a, next[0]), b = of(n.b, next[1]), c = of(n.c, next[2]);
    for (const Operand& operand : {a, b, c})
      if (operand.here) pin(operand.value);
    // a: the factor that is to be in a register, b: the other.
    if ((!a.here && b.here) || (!a.dies && b.dies)) std::swap(a, b);
    const auto in = [&](Operand& operand) {
      get(operand.value);
      operand.here = true;
      operand.dies = operand.next == never;
    };
    if (!a.here) in(a);
    if (!b.here && nodes_[b.value].what == Do::input) in(b);
    if (!c.here && nodes_[c.value].what == Do::input) in(c);
    if (a.value == b.value) b = a;
    if (a.value == c.value) c.here = true, c.dies = a.dies;
    if (!b.here && !c.here) {  // one of them may stay in memory, or come from there into the result's register
      if (b.value == c.value || (!at_hand(nodes_[b.value].what) && b.next != never) || a.dies) in(b);
      else if (!at_hand(nodes_[c.value].what) && c.next != never) in(c);
    }
    if (b.value == c.value) c = b;
    const auto place = [&](const Operand& operand) {
      return operand.here ? Place::vector(static_cast<unsigned>(state_[operand.value].reg)) : memory(operand.value);
    };
    const auto reg = [&](const Operand& operand) { return static_cast<unsigned>(state_[operand.value].reg); };
    const bool a_alone = a.value != b.value && a.value != c.value, c_alone = c.value != a.value && c.value != b.value;
    if (b.here && a.dies && a_alone && !(c.dies && c_alone)) {
      // 213: a = b * a + c
      const unsigned second = reg(b);
      const Place third = place(c);
      const unsigned to = taken_over(v, a.value, a.next);
      out_.evex(prefixed(2, 0xa8), to, second, third);
      read(b.value, b.next);
      if (c.value != b.value) read(c.value, c.next);
    } else if (!b.here && a.dies && a_alone && c.here && !c.dies) {
      // 132: a = a * b + c
      const unsigned second = reg(c);
      const Place third = place(b);
      const unsigned to = taken_over(v, a.value, a.next);
      out_.evex(prefixed(2, 0x98), to, second, third);
      read(b.value, b.next);
      read(c.value, c.next);
    } else {
      // 231: c = a * b + c, in a copy of c where c is needed, or in memory
      const unsigned second = reg(a);
      const Place third = place(b);
      unsigned to;
      if (c_alone) {
        to = taken_over(v, c.value, c.next);
      } else {
        to = vacate(false);
        out_.evex(real(1, 0x28), to, 0, place(c));
        own(to, v, false);
      }
      out_.evex(prefixed(2, 0xb8), to, second, third);
      read(a.value, a.next);
      if (b.value != a.value) read(b.value, b.next);
      if (!c_alone && c.value != a.value && c.value != b.value) read(c.value, c.next);
    }
  }

  void lookup(Value v) {
    const Node& n = nodes_[v];
    const std::uint32_t* const next = &next_[3 * v];
    if (n.immediate == 1) {  // vpermps
      const unsigned index = get(n.b);
      const Place table = source(n.a, next[0]);
      read(n.b, next[1]);
      read(n.a, next[0]);
      out_.evex(opcode(n.what), result(v), index, table);
      return;
    }
    if (in_register(n.b)) pin(n.b);
    const unsigned first = get(n.a);
    const Place second = source(n.c, next[2]);
    const unsigned to = taken_over(v, n.b, next[1]);  // vpermi2pd: the index gives way to the result
    out_.evex(opcode(n.what), to, first, second);
    read(n.a, next[0]);
    read(n.c, next[2]);
  }

  const Graph& graph_;
  const std::vector<Node>& nodes_;
  const bool f64_;
  const std::uint8_t wide_, packed_;
  const int lanes_;
  const std::size_t vectors_;
  Encoder out_;
  std::vector<std::uint8_t> live_, pool_;
  std::vector<std::uint32_t> next_;  // [node][operand]
  std::vector<State> state_;
  std::vector<std::int32_t> home_;  // offsets in the pool
  Registers vectors_in_{0xffffffffu};
  Registers masks_{0xfcu};  // 0 means no mask, 1 is `good`
  std::int32_t slots_ = 0;
  std::vector<std::int32_t> unused_slots_, freed_;
};

}  // namespace

Assembly assemble(const Graph& graph, std::size_t vectors) { return Assembler(graph, vectors).run(); }

}  // namespace wengert::codegen
