// Instructions of x86-64 as bytes: the few forms that straight-line vector code takes.
//
// Layouts: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, sections 2.3 (VEX) and 2.7 (EVEX).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace wengert::codegen {

/// General registers, of those that a function may change.
enum class Gpr : std::uint8_t { rax = 0, rcx = 1, rdx = 2, rsi = 6, rdi = 7 };

/// A vector register, or memory at base + offset: a vector, or one number for all lanes.
struct Place {
  bool memory = false, broadcast = false;
  std::uint8_t reg = 0;
  Gpr base = Gpr::rax;
  std::int32_t offset = 0;

  static Place vector(unsigned number) { return {false, false, static_cast<std::uint8_t>(number), Gpr::rax, 0}; }
  static Place at(Gpr base, std::int32_t offset) { return {true, false, 0, base, offset}; }
  static Place all_lanes(Gpr base, std::int32_t offset) { return {true, true, 0, base, offset}; }
};

/// What tells one EVEX instruction from another: opcode map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0: none, 1: 66, 2: F3, 3: F2),
/// whether W is set.
struct Opcode {
  std::uint8_t map, prefix, wide, code;
};

class Encoder {
 public:
  /// `real_bytes`: of a number that is broadcast. `vector_bytes`: 64 or 16.
  explicit Encoder(std::size_t real_bytes, std::size_t vector_bytes = widest)
      : real_bytes_(static_cast<std::int32_t>(real_bytes)), vector_bytes_(static_cast<std::int32_t>(vector_bytes)) {}
  static constexpr std::int32_t widest = 64;

  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }
  std::size_t size() const { return size_; }

  /// Makes room for what is emitted until the next call, at most `most_bytes`.
  void make_room() {
    if (bytes_.size() < size_ + most_bytes) bytes_.resize(2 * size_ + 4096);
  }
  static constexpr std::size_t most_bytes = 1024;

  void byte(unsigned b) { bytes_[size_++] = static_cast<std::uint8_t>(b); }
  void raw(std::initializer_list<unsigned> list) {
    for (unsigned b : list) byte(b);
  }
  void dword(std::int32_t x) {
    for (int k = 0; k < 4; ++k) byte(static_cast<std::uint32_t>(x) >> 8 * k & 255);
  }
  void patch(std::size_t at, std::int32_t x) {
    for (int k = 0; k < 4; ++k)
      bytes_[at + static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(x) >> 8 * k);
  }

  /// With a mask: lanes that it leaves out become 0.
  static constexpr unsigned zeroing = 0x80;

  /// op reg, second, source: vectors, or a mask where the instruction writes one. `mask`: of the write (0: none), or of a blend.
  void evex(Opcode op, unsigned reg, unsigned second, Place source, unsigned mask = 0) {
    emit(op, reg, second, source, mask, source.broadcast, vector_bytes_);
  }
  void evex(Opcode op, unsigned reg, unsigned second, Place source, unsigned mask, unsigned immediate) {
    evex(op, reg, second, source, mask);
    byte(immediate);
  }
  /// An instruction whose source is one number in memory by its nature.
  void evex_of_number(Opcode op, unsigned reg, Place source) { emit(op, reg, 0, source, 0, false, vector_bytes_); }
  /// One of the widest vectors, whatever the others are.
  void evex_widest(Opcode op, unsigned reg, unsigned second, Place source) {
    emit(op, reg, second, source, 0, source.broadcast, widest);
  }

  /// A mask instruction: op to, a, b of masks of `lanes`. Without a second operand a is 0.
  void mask_op(unsigned code, int lanes, bool two_sources, unsigned to, unsigned a, unsigned b) {
    raw({0xc5, 1u << 7 | (~a & 15u) << 3 | unsigned(two_sources) << 2 | (lanes == 8 ? 1u : 0u), code,
         0xc0 | to << 3 | b});
  }
  /// kmovq between a mask and memory.
  void load_mask(unsigned mask, Gpr base, std::int32_t offset) { move_mask(0x90, mask, base, offset); }
  void store_mask(unsigned mask, Gpr base, std::int32_t offset) { move_mask(0x91, mask, base, offset); }

 private:
  void emit(Opcode op, unsigned reg, unsigned second, Place source, unsigned mask, bool broadcast,
            std::int32_t vector_bytes) {
    const unsigned x = source.memory ? 1 : ~(source.reg >> 4) & 1u, b = source.memory ? 1 : ~(source.reg >> 3) & 1u;
    byte(0x62);
    byte((~(reg >> 3) & 1u) << 7 | x << 6 | b << 5 | (~(reg >> 4) & 1u) << 4 | op.map);
    byte(unsigned(op.wide) << 7 | (~second & 15u) << 3 | 1u << 2 | op.prefix);
    byte((vector_bytes == widest ? 2u : 0u) << 5 | unsigned(broadcast) << 4 | (~(second >> 4) & 1u) << 3 | mask);
    byte(op.code);
    operand(reg, source, source.broadcast ? real_bytes_ : vector_bytes);
  }
  void move_mask(unsigned code, unsigned mask, Gpr base, std::int32_t offset) {
    raw({0xc4, 0xe1, 0xf8, code, 0x80 | mask << 3 | static_cast<unsigned>(base)});
    dword(offset);
  }
  void operand(unsigned reg, Place p, std::int32_t scale) {
    if (!p.memory) {
      byte(0xc0 | (reg & 7) << 3 | (p.reg & 7));
      return;
    }
    const std::int32_t scaled = p.offset / scale;
    const unsigned low = (reg & 7) << 3 | static_cast<unsigned>(p.base);
    if (p.offset == 0) {
      byte(low);
    } else if (scaled * scale == p.offset && scaled >= -128 && scaled < 128) {
      byte(0x40 | low);
      byte(static_cast<std::uint8_t>(scaled));
    } else {
      byte(0x80 | low);
      dword(p.offset);
    }
  }

  std::int32_t real_bytes_, vector_bytes_;
  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0;
};

}  // namespace wengert::codegen
