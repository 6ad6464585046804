// What instructions there are: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. This file has prefixes,
// operands and general registers.
#include "tests/codegen/simulated_cpu.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace wengert::test {

int SimulatedCpu::run(std::initializer_list<Word> arguments) {
  for (std::size_t k = 0; k < general_.size(); ++k) general_[k] = 0x5a5a5a5a5a5a5a00 + k;
  for (Vector& v : vectors_) v.bytes.fill(0xff);
  masks_.fill(0x5a5a5a5a5a5a5a5a);
  constexpr unsigned in[] = {rdi, rsi, rdx, rcx, r8, r9};
  std::size_t k = 0;
  for (const Word argument : arguments) general_[in[k++]] = argument;
  general_[rsp] = word(stack_.data() + stack_.size());
  const std::array<Word, 16> before = general_;
  const std::size_t caller = code_.size() + 1;  // none of its places
  push(caller);
  at_ = 0;
  while (at_ != caller) step();
  for (const unsigned kept : {unsigned(rbx), unsigned(rsp), unsigned(rbp), 12u, 13u, 14u, 15u})
    if (general_[kept] != before[kept]) refuse("register " + std::to_string(kept) + " is not given back");
  return static_cast<int>(static_cast<std::uint32_t>(general_[rax]));
}

void SimulatedCpu::refuse(const std::string& why) const {
  std::string text = "the simulated CPU, at byte " + std::to_string(first_) + ": " + why + ":";
  for (std::size_t k = first_; k < std::min(first_ + 15, code_.size()); ++k) {
    char hex[4];
    std::snprintf(hex, sizeof hex, " %02x", code_[k]);
    text += hex;
  }
  throw std::runtime_error(text);
}

std::uint8_t SimulatedCpu::byte() {
  if (at_ >= code_.size()) refuse("past the end of the code");
  return code_[at_++];
}
std::int32_t SimulatedCpu::dword() {
  std::uint32_t x = 0;
  for (int k = 0; k < 4; ++k) x |= static_cast<std::uint32_t>(byte()) << 8 * k;
  return static_cast<std::int32_t>(x);
}
void SimulatedCpu::jump(std::int32_t distance) {
  const std::int64_t to = static_cast<std::int64_t>(at_) + distance;
  if (to < 0 || to >= static_cast<std::int64_t>(code_.size())) refuse("a jump out of the code");
  at_ = static_cast<std::size_t>(to);
}

void SimulatedCpu::step() {
  first_ = at_;
  ++instructions_;
  const unsigned first = byte();
  if (first != 0x62 && first != 0xc4 && first != 0xc5) return general(first);
  Instruction i;
  if (first == 0x62) read_evex(i);
  else read_vex(i, first);
  vector(i);
}

// ---- prefixes and operands -------------------------------------------------------------------------------------------

void SimulatedCpu::read_vex(Instruction& i, unsigned first) {
  i.form = Instruction::vex;
  i.map = 1;
  High high;
  unsigned p = byte();
  high.reg = (~p >> 7 & 1) << 3;
  if (first == 0xc4) {
    high.index = (~p >> 6 & 1) << 3;
    high.base = high.source = (~p >> 5 & 1) << 3;
    i.map = p & 31;
    p = byte();
    i.wide = p >> 7 != 0;
  }
  i.second = ~p >> 3 & 15;
  i.bytes = p & 4 ? 32 : 16;
  i.prefix = p & 3;
  i.code = byte();
  if (i.key() != key(1, 0, 0x77)) read_operands(i, high, false);  // vzeroupper has none
}

void SimulatedCpu::read_evex(Instruction& i) {
  i.form = Instruction::evex;
  const unsigned p = byte(), q = byte(), r = byte();
  if ((p & 8) != 0 || (q & 4) == 0) refuse("bits of the prefix");
  i.map = p & 7;
  i.wide = q >> 7 != 0;
  i.second = (~q >> 3 & 15) | (~r >> 3 & 1) << 4;
  i.prefix = q & 3;
  i.zeroing = r >> 7 != 0;
  i.broadcast = (r & 16) != 0;
  i.mask = r & 7;
  const unsigned length = r >> 5 & 3;
  if (length == 3 || (i.zeroing && i.mask == 0)) refuse("bits of the prefix");
  i.bytes = 16u << length;
  const unsigned x = (~p >> 6 & 1) << 3, b = (~p >> 5 & 1) << 3;
  i.code = byte();
  read_operands(i, {(~p >> 7 & 1) << 3 | (~p >> 4 & 1) << 4, b, x, b | x << 1}, true);
  if (i.broadcast && !i.memory) refuse("a rounding of its own");
}

/// How many bytes a short displacement counts in, with EVEX.
unsigned SimulatedCpu::short_unit(const Instruction& i) {
  const unsigned number = i.wide ? 8 : 4;
  if (i.broadcast) return number;
  switch (i.key()) {
    case key(2, 1, 0x18):  // vbroadcastss, vbroadcastsd
    case key(2, 1, 0x19):
    case key(1, 2, 0x10):  // vmovss, vmovsd
    case key(1, 3, 0x10):
    case key(1, 2, 0x11):
    case key(1, 3, 0x11): return number;
    case key(1, 3, 0x12): return i.bytes == 16 ? 8 : i.bytes;  // vmovddup
    default: return i.bytes;
  }
}

void SimulatedCpu::read_operands(Instruction& i, const High& high, bool scaled) {
  const unsigned modes = byte(), mode = modes >> 6, low = modes & 7;
  i.reg = (modes >> 3 & 7) | high.reg;
  if (mode == 3) {
    i.source = low | high.source;
    return;
  }
  i.memory = true;
  unsigned base = low | high.base;
  if (low == 4) {
    const unsigned parts = byte(), index = (parts >> 3 & 7) | high.index;
    base = (parts & 7) | high.base;
    if (index != rsp) i.address += general_[index] << (parts >> 6);
  }
  if (mode == 0 && (base & 7) == rbp) refuse("an address without a base");
  i.address += general_[base];
  if (mode == 1) {
    const auto distance = static_cast<std::int8_t>(byte());
    i.address += static_cast<Word>(std::int64_t(distance) * (scaled ? short_unit(i) : 1));
  } else if (mode == 2) {
    i.address += static_cast<Word>(std::int64_t(dword()));
  }
}

// ---- general registers -----------------------------------------------------------------------------------------------

SimulatedCpu::Word SimulatedCpu::load(const Instruction& i) const {
  Word x = 0;
  std::memcpy(&x, i.memory ? reinterpret_cast<const void*>(i.address) : &general_[i.source], i.wide ? 8 : 4);
  return x;
}
void SimulatedCpu::store(const Instruction& i, Word x) {
  if (i.memory) std::memcpy(reinterpret_cast<void*>(i.address), &x, i.wide ? 8 : 4);
  else general_[i.source] = i.wide ? x : static_cast<std::uint32_t>(x);
}
void SimulatedCpu::push(Word x) {
  general_[rsp] -= 8;
  if (general_[rsp] < word(stack_.data())) refuse("the stack is full");
  std::memcpy(reinterpret_cast<void*>(general_[rsp]), &x, 8);
}
SimulatedCpu::Word SimulatedCpu::pop() {
  if (general_[rsp] >= word(stack_.data() + stack_.size())) refuse("the stack is empty");
  Word x;
  std::memcpy(&x, reinterpret_cast<const void*>(general_[rsp]), 8);
  general_[rsp] += 8;
  return x;
}

/// One of the eight operations that instructions number alike, on the source and `operand`.
void SimulatedCpu::arithmetic(unsigned what, const Instruction& i, bool to_reg, Word operand) {
  Word a = load(i), b = operand;
  if (to_reg) std::swap(a, b);
  Word x = 0;
  switch (what) {
    case 0: x = a + b; break;
    case 1: x = a | b; break;
    case 4: x = a & b; break;
    case 5:
    case 7: x = a - b; break;
    case 6: x = a ^ b; break;
    default: refuse("unknown arithmetic");
  }
  if (!i.wide) x = static_cast<std::uint32_t>(x);
  zero_ = x == 0;
  if (what == 7) return;  // a comparison
  if (to_reg) general_[i.reg] = x;
  else store(i, x);
}

void SimulatedCpu::general(unsigned first) {
  Instruction i;
  High high;
  if ((first & 0xf0) == 0x40) {
    i.wide = (first & 8) != 0;
    high = {(first & 4) << 1, (first & 1) << 3, (first & 2) << 2, (first & 1) << 3};
    first = byte();
  }
  i.code = first;
  const auto reg = [&] { return i.wide ? general_[i.reg] : static_cast<std::uint32_t>(general_[i.reg]); };
  const auto number = [](std::int32_t x) { return static_cast<Word>(std::int64_t(x)); };
  if (first < 0x40 && ((first & 7) == 1 || (first & 7) == 3)) {
    read_operands(i, high, false);
    return arithmetic(first >> 3, i, (first & 7) == 3, reg());
  }
  if (first < 0x40 && (first & 7) == 5) return arithmetic(first >> 3, i, false, number(dword()));  // with eax
  switch (first) {
    case 0x0f: return two_bytes(i, high);
    case 0x81: read_operands(i, high, false); return arithmetic(i.reg & 7, i, false, number(dword()));
    case 0x83:
      read_operands(i, high, false);
      return arithmetic(i.reg & 7, i, false, number(static_cast<std::int8_t>(byte())));
    case 0x85:  // test
      read_operands(i, high, false);
      zero_ = (load(i) & reg()) == 0;
      return;
    case 0x89: read_operands(i, high, false); return store(i, reg());
    case 0x8b:
      read_operands(i, high, false);
      general_[i.reg] = load(i);
      return;
    case 0x8d:  // lea
      read_operands(i, high, false);
      if (!i.memory || !i.wide) refuse("lea of a register or of 32 bits");
      general_[i.reg] = i.address;
      return;
    case 0xc7: read_operands(i, high, false); return store(i, number(dword()));
    case 0xff: {
      read_operands(i, high, false);
      if ((i.reg & 7) > 1) refuse("unknown arithmetic");
      const Word x = load(i) + ((i.reg & 7) == 0 ? 1 : ~Word(0));  // inc, dec
      zero_ = (i.wide ? x : static_cast<std::uint32_t>(x)) == 0;
      return store(i, x);
    }
    case 0x74:
    case 0x75: {
      const auto distance = static_cast<std::int8_t>(byte());
      if (zero_ == (first == 0x74)) jump(distance);
      return;
    }
    case 0xeb: return jump(static_cast<std::int8_t>(byte()));
    case 0xe9: return jump(dword());
    case 0xe8: {
      const std::int32_t distance = dword();
      push(at_);
      return jump(distance);
    }
    case 0xc3: at_ = static_cast<std::size_t>(pop()); return;
    default: break;
  }
  i.source = (first & 7) | high.base;
  switch (first & 0xf8) {
    case 0x50: return push(general_[i.source]);
    case 0x58: general_[i.source] = pop(); return;
    case 0xb8:
      if (i.wide) refuse("a number of 64 bits");
      return store(i, number(dword()));
    default: refuse("unknown instruction");
  }
}

void SimulatedCpu::two_bytes(const Instruction& before, const High& high) {
  Instruction i = before;
  i.code = byte();
  switch (i.code) {
    case 0x84:
    case 0x85: {
      const std::int32_t distance = dword();
      if (zero_ == (i.code == 0x84)) jump(distance);
      return;
    }
    case 0x18:  // prefetches nothing
      read_operands(i, high, false);
      if (!i.memory) refuse("a prefetch of a register");
      return;
    case 0x94:
    case 0x95:  // sete, setne
      read_operands(i, high, false);
      if (i.memory || i.source >= 4) refuse("a byte that isn't al, cl, dl or bl");
      general_[i.source] = (general_[i.source] & ~Word(255)) | Word(zero_ == (i.code == 0x94));
      return;
    default: refuse("unknown instruction");
  }
}

}  // namespace wengert::test
