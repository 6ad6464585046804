// The instructions of a straight line of vector operations; where their values are is Allocation's.
#include "codegen/assemble.hpp"

#include <algorithm>
#include <utility>

#include "codegen/lookups.hpp"

namespace wengert::codegen {
namespace {

/// Where a subroutine begins in the code, and the registers that it uses.
struct Subroutine {
  std::size_t at;
  std::uint64_t registers;
};

/// Of one graph: of the code itself or of a subroutine.
class Assembler : Lookups {
 public:
  /// `loops`: whether the code has any, of its own or around calls.
  Assembler(const Graph& graph, Encoder& out, const std::vector<Subroutine>& subroutines, bool loops)
      : Lookups(graph, out, loops), subroutines_(subroutines) {
    find_uses();
    lay_out_pool();
  }

  /// Its constants and tables, whole cache lines.
  const std::vector<std::uint8_t>& numbers() const { return pool_; }
  std::int32_t slots() const { return slots_; }
  std::size_t reads_of_inputs() const { return reads_of_inputs_; }
  std::size_t spill_bytes() const { return static_cast<std::size_t>(slots_ * slot_bytes()); }

  /// `slots`: those of subroutines, before its own.
  void run(std::int32_t slots) {
    first_stream_ = slots;
    slots_ = slots + static_cast<std::int32_t>(graph_.streams());
    out_.make_room();
    begin();
    if (point_) {
      begin_requirements();
      all_nodes();
      end_point();
    } else {
      rounds();
    }
  }
  /// `pool_at`: where its part of the pool is.
  Subroutine subroutine(std::size_t pool_at) {
    out_.make_room();
    const std::size_t at = out_.size();
    out_.raw({0x48, 0x81, 0xc1});  // add rcx
    out_.dword(static_cast<std::int32_t>(pool_at));
    all_nodes();
    out_.raw({0x48, 0x81, 0xe9});  // sub rcx
    out_.dword(static_cast<std::int32_t>(pool_at));
    out_.byte(0xc3);  // ret
    return {at, registers_.used};
  }

 private:
  [[gnu::noinline]] void all_nodes() {
    const Value end = static_cast<Value>(graph_.nodes().size());
    for (Value v = 0; v < end; ++v) {
      if (!live(v)) continue;
      out_.make_room();
      next_ += operand_count(nodes_[v].what);
      node(v);
    }
  }
  void rounds() {
    out_.clear(round_index);
    const std::size_t round = out_.size();
    forget_pointer();
    begin_requirements();
    all_nodes();
    end_requirements();      // the zero flag: all were met
    out_.raw({0x0f, 0x85});  // jnz to the failure
    const std::size_t to_failure = out_.size();
    out_.dword(0);
    out_.add(round_index, static_cast<std::int32_t>(shape_.samples(graph_.real_bytes())));
    out_.raw({0x49, 0xff, 0xc8});  // dec r8
    out_.raw({0x0f, 0x85});        // jnz to the next round
    out_.dword(static_cast<std::int32_t>(round) - static_cast<std::int32_t>(out_.size() + 4));
    out_.byte(0xb8);  // mov eax, 1
    out_.dword(1);
    leave();
    out_.patch(to_failure, static_cast<std::int32_t>(out_.size() - to_failure - 4));
    out_.raw({0x31, 0xc0});  // xor eax, eax
    leave();
  }
  void begin() {
    if (saves_registers_)
      out_.raw({0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57});  // push rbx, rbp, r12 to r15
  }
  void leave() {
    if (saves_registers_) out_.raw({0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b});  // pop them
    if (!point_) out_.raw({0xc5, 0xf8, 0x77});  // vzeroupper: vectors of 128 bits leave nothing for it to do
    out_.byte(0xc3);                            // ret
  }
  /// Without a branch.
  void end_point() {
    if (target_.mask_registers) {
      move_good_to_eax();
      out_.raw({0x83, 0xe0, 0x01});  // and eax, 1: its lanes are alike
    } else {
      out_.raw({0x31, 0xc0});  // xor eax, eax
      out_.vector(Opcodes::test, bad_, 0, Place::vector(bad_));
      out_.raw({0x0f, 0x94, 0xc0});  // sete al
    }
    leave();
  }

  // ---- masks and requirements ------------------------------------------------------------------------------------------

  int mask_bits() const { return f64_ ? 8 : 16; }

  void begin_requirements() {
    if (!target_.mask_registers) return out_.vector(opcodes_[Do::bit_xor], bad_, bad_, Place::vector(bad_));
    // Not by kxnor, which waits for what was in the mask: for all the requirements of the round before.
    out_.byte(0xb8);  // mov eax, all lanes
    out_.dword(-1);
    out_.raw({0xc5, 0xf8, 0x92, 0xc0 | good << 3});  // kmovw from eax
  }
  void end_requirements() {
    if (!target_.mask_registers) return out_.vector(Opcodes::test, bad_, 0, Place::vector(bad_));
    move_good_to_eax();
    out_.byte(0x3d);  // cmp eax, all lanes
    out_.dword(f64_ ? 0xff : 0xffff);
  }
  void move_good_to_eax() { out_.raw({0xc5, f64_ ? 0xf9u : 0xf8u, 0x93, 0xc0 | good}); }  // kmov
  void refuse(Value mask, std::uint32_t next) {
    const unsigned a = get(mask);
    read(mask, next);
    if (target_.mask_registers) out_.mask_op(0x42, mask_bits(), true, good, a, good);  // kandn: good where not a
    else out_.vector(opcodes_[Do::bit_or], bad_, bad_, Place::vector(a));
  }
  void blend(Value v, const Node& n, const Uses& next) {
    const unsigned mask = get(n.a), no = get(n.c);
    const Place yes = source(n.b, next.b);
    read_all(n, next);
    const Opcode& op = opcodes_[Do::blend];
    if (target_.mask_registers) out_.vector(op, result(v), no, yes, mask);
    else out_.vector(op, result(v), no, yes, 0, mask << 4);
  }

  // ---- instructions --------------------------------------------------------------------------------------------------

  [[gnu::always_inline]] void node(Value v) {
    const Node& n = nodes_[v];
    const Uses next = uses();
    switch (n.what) {
      case Do::constant:
      case Do::uniform:
      case Do::table:
      case Do::streamed:
      case Do::input: return;
      case Do::output: {
        const unsigned r = get(n.a);
        if (point_) {
          store(r, stepping(number(n.b, n.c), n.immediate));
        } else {
          point_at(n.b, n.immediate);
          store(r, vector_at_pointer(n.c));
        }
        read(n.a, next.a);
        break;
      }
      case Do::fma: fma(v); break;
      case Do::lookup: lookup(v); break;
      case Do::items: items(v); break;
      case Do::blend: blend(v, n, next); break;
      case Do::mul_where: {
        const unsigned mask = get(n.a), first = get(n.b);
        const Place second = source(n.c, next.c);
        read_all(n, next);
        out_.vector(opcodes_[n.what], result(v), first, second, mask | Encoder::zeroing);
        break;
      }
      case Do::compare_where: {
        const unsigned a = get(n.a), mask = get(n.c);
        const Place b = source(n.b, next.b);
        read_all(n, next);
        out_.vector(opcodes_[n.what], result(v), a, b, mask, n.immediate);
        break;
      }
      case Do::sqrt:
      case Do::exponent:
      case Do::to_int:
      case Do::to_real: {
        const Place from = source(n.a, next.a);
        read(n.a, next.a);
        out_.vector(opcodes_[n.what], result(v), 0, from);
        break;
      }
      case Do::round:
      case Do::mantissa: {
        const Place from = source(n.a, next.a);
        read(n.a, next.a);
        out_.vector(opcodes_[n.what], result(v), 0, from, 0, n.what == Do::mantissa ? 3 : n.immediate);
        break;
      }
      case Do::shift_left:
      case Do::shift_right:
      case Do::shift_right_signed: {
        const Place from = target_.evex ? source(n.a, next.a) : Place::vector(get(n.a));
        read(n.a, next.a);
        const unsigned which = n.what == Do::shift_left ? 6 : n.what == Do::shift_right ? 2 : 4;
        out_.vector(opcodes_[n.what], which, result(v), from, 0, n.immediate);
        break;
      }
      case Do::compare:
      case Do::compare_int:
      case Do::require:
      case Do::require_int: {
        const unsigned a = get(n.a);
        const Place b = source(n.b, next.b);
        read(n.a, next.a);
        read(n.b, next.b);
        const bool to_good = n.what == Do::require || n.what == Do::require_int;
        out_.vector(opcodes_[n.what], to_good ? good : result(v), a, b, to_good ? good : 0, n.immediate);
        break;
      }
      case Do::mask_and:
      case Do::mask_or:
      case Do::mask_xor: {
        const unsigned a = get(n.a), b = get(n.b);
        read(n.a, next.a);
        read(n.b, next.b);
        out_.mask_op(n.what == Do::mask_and  ? 0x41
                     : n.what == Do::mask_or ? 0x45
                                             : 0x47,
                     mask_bits(), true, result(v), a, b);
        break;
      }
      case Do::mask_not: {
        const unsigned a = get(n.a);
        read(n.a, next.a);
        out_.mask_op(0x44, mask_bits(), false, result(v), 0, a);
        break;
      }
      case Do::require_not: refuse(n.a, next.a); break;
      case Do::give: give(n.immediate, n.a, next.a); break;
      case Do::call: call(subroutines_[n.a]); break;
      case Do::take: own(n.immediate, v); break;
      case Do::copy: taken_over(v, n.a, next.a); break;
      case Do::carried: {
        State &from = state_[n.a], &to = state_[v];
        if (in_register(n.a) || from.slot < 0 || at_hand(from.what) || next.a != never) {
          taken_over(v, n.a, next.a);
        } else {
          to.slot = std::exchange(from.slot, -1);
          read(n.a, next.a);
        }
        break;
      }
      case Do::to_stream:
        store(get(n.a), stepping(streamed(n.b), n.immediate));
        read(n.a, next.a);
        break;
      case Do::carry:
      case Do::hold: read(n.a, next.a); break;
      case Do::loop_begin:
      case Do::loop_end:
      case Do::loop_again: at_edge(v); break;
      case Do::carried_out: carried_out(v); break;
      default: {  // of two numbers
        Value a = n.a, b = n.b;
        std::uint32_t next_a = next.a, next_b = next.b;
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
        out_.vector(opcodes_[n.what], result(v), first, second);
      }
    }
    finish();
  }

  /// Of a loop.
  [[gnu::noinline]] void at_edge(Value v) {
    forget_indices();
    forget_pointer();
    switch (nodes_[v].what) {
      case Do::loop_begin: begin_loop(v); break;
      case Do::loop_end: end_loop(); break;
      default: repeat_loop();
    }
  }

  // ---- subroutines -----------------------------------------------------------------------------------------------------

  void give(unsigned r, Value v, std::uint32_t next) {
    if (state_[v].reg != static_cast<int>(r)) {
      clear(r, Registers::Set(1) << r);
      if (in_register(v)) out_.vector(opcodes_.copy(), r, 0, Place::vector(static_cast<unsigned>(state_[v].reg)));
      else load(r, v);
    }
    read(v, next);
    registers_.given |= Registers::Set(1) << r;
    registers_.used |= Registers::Set(1) << r;
  }
  void call(const Subroutine& subroutine) {
    for (Registers::Set left = subroutine.registers & registers_.taken; left != 0; left &= left - 1)
      clear(static_cast<unsigned>(std::countr_zero(left)), subroutine.registers);
    out_.byte(0xe8);  // call
    out_.dword(static_cast<std::int32_t>(subroutine.at) - static_cast<std::int32_t>(out_.size() + 4));
    registers_.given = 0;
    forget_indices();
    forget_pointer();
  }

  /// The result takes the place of an operand: of one that isn't needed any more, if there is one.
  void fma(Value v) {
    const Node& n = nodes_[v];
    const Uses next = uses();
    struct Operand {
      Value value;
      std::uint32_t next;
      bool here, dies;
    };
    const auto of = [&](Value value, std::uint32_t next_use) {
      return Operand{value, next_use, in_register(value), in_register(value) && next_use == never};
    };
    Operand a = of(n.a, next.a), b = of(n.b, next.b), c = of(n.c, next.c);
    for (const Operand& operand : {a, b, c})
      if (operand.here) registers_.pin(static_cast<unsigned>(state_[operand.value].reg));
    // a: the factor that is to be in a register, b: the other.
    if ((!a.here && b.here) || (!a.dies && b.dies)) std::swap(a, b);
    const auto in = [&](Operand& operand) {
      get(operand.value);
      operand.here = true;
      operand.dies = operand.next == never;
    };
    if (!a.here) in(a);
    if (!b.here && needs_register(b.value)) in(b);
    if (!c.here && needs_register(c.value)) in(c);
    if (a.value == b.value) b = a;
    if (a.value == c.value) c.here = true, c.dies = a.dies;
    if (!b.here && !c.here) {  // one of them may stay in memory, or come from there into the result's register
      if (b.value == c.value || (!at_hand(state_[b.value].what) && b.next != never) || a.dies) in(b);
      else if (!at_hand(state_[c.value].what) && c.next != never) in(c);
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
      out_.vector(opcodes_.fma(0xa8), to, second, third);
      read(b.value, b.next);
      if (c.value != b.value) read(c.value, c.next);
    } else if (!b.here && a.dies && a_alone && c.here && !c.dies) {
      // 132: a = a * b + c
      const unsigned second = reg(c);
      const Place third = place(b);
      const unsigned to = taken_over(v, a.value, a.next);
      out_.vector(opcodes_.fma(0x98), to, second, third);
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
        to = vacate(vectors_);
        out_.vector(opcodes_.copy(), to, 0, place(c));
        own(to, v);
      }
      out_.vector(opcodes_.fma(0xb8), to, second, third);
      read(a.value, a.next);
      if (b.value != a.value) read(b.value, b.next);
      if (!c_alone && c.value != a.value && c.value != b.value) read(c.value, c.next);
    }
  }

  const std::vector<Subroutine>& subroutines_;
};

}  // namespace

Assembly assemble(const Graph& graph) {
  Encoder out(graph.shape(), graph.real_bytes());
  out.reserve(most_bytes_of_node * graph.nodes().size() + 2 * Encoder::most_bytes);
  std::vector<Subroutine> subroutines;
  const bool loops = !graph.loops().empty();
  Assembler main(graph, out, subroutines, loops);
  std::vector<std::uint8_t> pool = main.numbers();
  std::int32_t slots = 0;
  const bool jumps = !graph.subroutines().empty();
  if (jumps) out.raw({0xe9, 0, 0, 0, 0});  // jmp, past the subroutines
  const std::size_t first = out.size();
  for (const Graph& body : graph.subroutines()) {
    Assembler assembler(body, out, subroutines, loops);
    subroutines.push_back(assembler.subroutine(pool.size()));
    pool.insert(pool.end(), assembler.numbers().begin(), assembler.numbers().end());
    slots = std::max(slots, assembler.slots());  // they don't call each other: all have the same
  }
  if (jumps) out.patch(first - 4, static_cast<std::int32_t>(out.size() - first));
  main.run(slots);
  return {out.release(), std::move(pool), main.spill_bytes(), main.reads_of_inputs()};
}

}  // namespace wengert::codegen
