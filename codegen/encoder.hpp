// Instructions of x86-64 as bytes: the few forms that straight-line vector code takes.
//
// Layouts: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, sections 2.3 (VEX) and 2.7 (EVEX).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "codegen/large_vector.hpp"
#include "codegen/target.hpp"

namespace wengert::codegen {

/// General registers, of those that a function may change. As a base, one of the first five.
enum class Gpr : std::uint8_t { rax = 0, rcx = 1, rdx = 2, rsi = 6, rdi = 7, r8 = 8, r9 = 9, r10 = 10, r11 = 11 };

/// A vector register, or memory at base + offset: a vector, or one number for all lanes; that at base + offset + index numbers.
struct Place {
  bool memory = false, broadcast = false, indexed = false;
  std::uint8_t reg = 0;
  Gpr base = Gpr::rax, index = Gpr::rax;
  std::int32_t offset = 0;

  static Place vector(unsigned number) {
    Place place;
    place.reg = static_cast<std::uint8_t>(number);
    return place;
  }
  static Place at(Gpr base, std::int32_t offset) {
    Place place;
    place.memory = true;
    place.base = base;
    place.offset = offset;
    return place;
  }
  static Place all_lanes(Gpr base, std::int32_t offset) {
    Place place = at(base, offset);
    place.broadcast = true;
    return place;
  }
  static Place item(Gpr base, std::int32_t offset, Gpr index) {
    Place place = all_lanes(base, offset);
    place.indexed = true;
    place.index = index;
    return place;
  }
};

/// Whether an instruction has a VEX prefix too, and whether W is set there (which mostly makes no difference).
enum class Vex : std::uint8_t { none, narrow, wide };

/// What tells one instruction from another: opcode map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0: none, 1: 66, 2: F3, 3: F2),
/// whether W is set in EVEX.
struct Opcode {
  std::uint8_t map, prefix, wide, code;
  Vex vex = Vex::none;
};

class Encoder {
 public:
  /// `real_bytes`: of a number that is broadcast.
  Encoder(const Shape& shape, std::size_t real_bytes)
      : evex_(shape.target->evex),
        real_bytes_(static_cast<std::int32_t>(real_bytes)),
        vector_bytes_(static_cast<std::int32_t>(shape.vector_bytes())) {}

  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }
  /// They alone, which the encoder has no more.
  LargeVector<std::uint8_t> release() {
    bytes_.resize(size_);
    return std::move(bytes_);
  }
  std::size_t size() const { return size_; }

  /// Makes room for what is emitted until the next call, at most `most_bytes`.
  void make_room() {
    if (bytes_.size() < size_ + most_bytes) reserve(2 * size_ + 4096);
  }
  void reserve(std::size_t room) { bytes_.resize(room); }
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
  /// With EVEX the source may be a number for all lanes.
  void vector(Opcode op, unsigned reg, unsigned second, Place source, unsigned mask = 0) {
    emit(op, reg, second, source, mask, source.broadcast);
  }
  void vector(Opcode op, unsigned reg, unsigned second, Place source, unsigned mask, unsigned immediate) {
    vector(op, reg, second, source, mask);
    byte(immediate);
  }
  /// An instruction whose source is one number in memory by its nature.
  void vector_of_number(Opcode op, unsigned reg, Place source) { emit(op, reg, 0, source, 0, false); }

  /// to = the lowest number of a vector of integers, mod 16.
  void index_mod_16(Gpr to, unsigned vector_number) {
    const unsigned reg = static_cast<unsigned>(to);
    emit({1, 1, real_bytes_ == 8, 0x7e, real_bytes_ == 8 ? Vex::wide : Vex::narrow}, vector_number, 0,
         Place::vector(reg), 0, false);  // vmovq, vmovd
    if (reg >= 8) byte(0x41);
    raw({0x83, 0xe0 | (reg & 7), 15});  // and
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
  /// With the prefix that the instruction set has. With EVEX, VEX where it is shorter: on registers of 128 bits.
  void emit(Opcode op, unsigned reg, unsigned second, Place source, unsigned mask, bool broadcast) {
    const bool shorter = vector_bytes_ == 16 && op.vex != Vex::none && mask == 0 && !source.memory &&
                         ((reg | second | source.reg) & 16) == 0;
    if (evex_ && !shorter) emit_evex(op, reg, second, source, mask, broadcast);
    else emit_vex(op, reg, second, source);
  }
  /// What X and B of a prefix add to: bit 3 of the index or base, which are registers below 16.
  static unsigned index_bit(Place source) {
    return source.indexed ? ~static_cast<unsigned>(source.index) >> 3 & 1u : 1;
  }

  void emit_evex(Opcode op, unsigned reg, unsigned second, Place source, unsigned mask, bool broadcast) {
    const unsigned x = source.memory ? index_bit(source) : ~(source.reg >> 4) & 1u,
                   b = source.memory ? 1 : ~(source.reg >> 3) & 1u;
    byte(0x62);
    byte((~(reg >> 3) & 1u) << 7 | x << 6 | b << 5 | (~(reg >> 4) & 1u) << 4 | op.map);
    byte(unsigned(op.wide) << 7 | (~second & 15u) << 3 | 1u << 2 | op.prefix);
    byte((vector_bytes_ == 64 ? 2u : 0u) << 5 | unsigned(broadcast) << 4 | (~(second >> 4) & 1u) << 3 | mask);
    byte(op.code);
    operand(reg, source, source.broadcast ? real_bytes_ : vector_bytes_);
  }
  /// Two bytes of prefix where they are enough, or three.
  void emit_vex(Opcode op, unsigned reg, unsigned second, Place source) {
    const unsigned r = ~reg >> 3 & 1u, x = source.memory ? index_bit(source) : 1u,
                   b = source.memory ? 1 : ~(source.reg >> 3) & 1u,
                   rest = (~second & 15u) << 3 | (vector_bytes_ == 32 ? 1u : 0u) << 2 | op.prefix;
    const bool wide = op.vex == Vex::wide;
    if (op.map == 1 && (x & b) != 0 && !wide) raw({0xc5, r << 7 | rest});
    else raw({0xc4, r << 7 | x << 6 | b << 5 | op.map, unsigned(wide) << 7 | rest});
    byte(op.code);
    operand(reg, source, 1);
  }
  void move_mask(unsigned code, unsigned mask, Gpr base, std::int32_t offset) {
    raw({0xc4, 0xe1, 0xf8, code, 0x80 | mask << 3 | static_cast<unsigned>(base)});
    dword(offset);
  }
  /// ModRM, SIB, displacement: short ones count in `scale` bytes.
  void operand(unsigned reg, Place p, std::int32_t scale) {
    if (!p.memory) {
      byte(0xc0 | (reg & 7) << 3 | (p.reg & 7));
      return;
    }
    const std::int32_t scaled = p.offset / scale;
    const unsigned low = (reg & 7) << 3 | (p.indexed ? 4u : static_cast<unsigned>(p.base));
    const bool is_short = scaled * scale == p.offset && scaled >= -128 && scaled < 128;
    byte((p.offset == 0 ? 0u : is_short ? 0x40u : 0x80u) | low);
    if (p.indexed)
      byte((real_bytes_ == 8 ? 3u : 2u) << 6 | (static_cast<unsigned>(p.index) & 7) << 3 |
           static_cast<unsigned>(p.base));
    if (p.offset == 0) return;
    if (is_short) byte(static_cast<std::uint8_t>(scaled));
    else dword(p.offset);
  }

  bool evex_;
  std::int32_t real_bytes_, vector_bytes_;
  LargeVector<std::uint8_t> bytes_;
  std::size_t size_ = 0;
};

}  // namespace wengert::codegen
