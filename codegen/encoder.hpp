// Instructions of x86-64 as bytes: the few forms that straight-line vector code takes.
//
// Layouts: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, sections 2.3 (VEX) and 2.7 (EVEX).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

#include "codegen/large_vector.hpp"
#include "codegen/target.hpp"

namespace wengert::codegen {

/// General registers. A function gives rbx, rbp and those from r12 on back as it found them.
enum class Gpr : std::uint8_t { rax, rcx, rdx, rbx, rbp = 5, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, none };

/// A vector register, or memory at base + offset: a vector, or one number for all lanes; that at base + offset + index numbers.
/// In 8 bytes, so that it is handed over in a register.
struct Place {
  std::int32_t offset = 0;
  bool memory = false, broadcast = false;
  union {
    std::uint8_t reg = 0;
    Gpr base;  // of memory
  };
  Gpr index = Gpr::none;

  bool indexed() const { return index != Gpr::none; }

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
    place.index = index;
    return place;
  }
};

/// Whether an instruction has a VEX prefix too, and whether W is set there (which mostly makes no difference).
enum class Vex : std::uint8_t { none, narrow, wide };

/// What tells one instruction from another: opcode map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0: none, 1: 66, 2: F3, 3: F2),
/// whether W is set in EVEX, the code.
struct Opcode {
  /// The EVEX prefix of vectors of 128 bits with registers 0 and without a mask. Bits of register numbers are inverted in it.
  std::uint32_t prefix = 0;
  std::uint32_t vex_prefix = 0;  ///< the VEX prefix of three bytes, in the same way, and the code
  std::uint8_t code = 0;
  Vex vex = Vex::none;

  constexpr Opcode() = default;
  constexpr Opcode(unsigned map, unsigned prefix_66, unsigned wide, unsigned opcode, Vex has_vex = Vex::none)
      : prefix(0x62 | (0xf0 | map) << 8 | (wide << 7 | 0x7c | prefix_66) << 16 | 0x08u << 24),
        vex_prefix(0xc4 | (0xe0 | map) << 8 | (unsigned(has_vex == Vex::wide) << 7 | 0x78 | prefix_66) << 16 |
                   opcode << 24),
        code(static_cast<std::uint8_t>(opcode)),
        vex(has_vex) {}
};

class Encoder {
 public:
  /// `real_bytes`: of a number that is broadcast.
  Encoder(const Shape& shape, std::size_t real_bytes)
      : evex_(shape.target->evex),
        log_real_bytes_(std::countr_zero(real_bytes)),
        length_(std::countr_zero(shape.vector_bytes()) - 4) {}

  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size()}; }
  /// They alone, which the encoder has no more.
  LargeVector<std::uint8_t> release() {
    bytes_.resize(size());
    return std::move(bytes_);
  }
  std::size_t size() const { return static_cast<std::size_t>(end_ - bytes_.data()); }

  /// Makes room for what is emitted until the next call, at most `most_bytes`.
  void make_room() {
    if (static_cast<std::size_t>(bytes_.data() + bytes_.size() - end_) < most_bytes)
      reserve(size() + size() / 2 + 4096);
  }
  void reserve(std::size_t room) {
    const std::size_t before = size();
    bytes_.resize(room);
    end_ = bytes_.data() + before;
  }
  static constexpr std::size_t most_bytes = 1024;

  void byte(unsigned b) { *end_++ = static_cast<std::uint8_t>(b); }
  void raw(std::initializer_list<unsigned> list) {
    for (unsigned b : list) byte(b);
  }
  void dword(std::int32_t x) { end_ = put(end_, static_cast<std::uint32_t>(x)); }
  void patch(std::size_t at, std::int32_t x) { put(bytes_.data() + at, static_cast<std::uint32_t>(x)); }

  /// With a mask: lanes that it leaves out become 0.
  static constexpr unsigned zeroing = 0x80;

  /// op reg, second, source: vectors, or a mask where the instruction writes one. `mask`: of the write (0: none), or of a blend.
  /// With EVEX the source may be a number for all lanes.
  void vector(const Opcode& op, unsigned reg, unsigned second, Place source, unsigned mask = 0) {
    if (source.memory) emit(op, reg, second, source, mask, source.broadcast);
    else emit(op, reg, second, source.reg, mask);
  }
  void vector(const Opcode& op, unsigned reg, unsigned second, Place source, unsigned mask, unsigned immediate) {
    vector(op, reg, second, source, mask);
    byte(immediate);
  }
  /// An instruction whose source is one number in memory by its nature.
  void vector_of_number(const Opcode& op, unsigned reg, Place source) { emit(op, reg, 0, source, 0, false); }

  /// Brings the line at `from` into the first cache.
  void prefetch(Place from) {
    if (from.indexed() && static_cast<unsigned>(from.index) >= 8) byte(0x42);
    raw({0x0f, 0x18});
    operand(end_, 1, from, 0);
  }

  /// mov rax, from memory.
  void load_pointer(Place from) {
    raw({from.indexed() && static_cast<unsigned>(from.index) >= 8 ? 0x4au : 0x48u, 0x8b});
    operand(end_, 0, from, 0);
  }
  /// Of a general register from r8 on: to zero; to add a number to; to compare with one.
  void clear(Gpr r) { raw({0x4d, 0x31, 0xc0 | low_bits(r) << 3 | low_bits(r)}); }
  void add(Gpr r, std::int32_t x) { with_number(0, r, x); }
  void compare(Gpr r, std::int32_t x) { with_number(7, r, x); }

  /// to = the lowest number of a vector of integers, mod 16.
  void index_mod_16(Gpr to, unsigned vector_number) {
    const unsigned reg = static_cast<unsigned>(to);
    const bool f64 = log_real_bytes_ == 3;
    emit({1, 1, f64, 0x7e, f64 ? Vex::wide : Vex::narrow}, vector_number, 0, reg, 0);  // vmovq, vmovd
    if (reg >= 8) byte(0x41);
    raw({0x83, 0xe0 | (reg & 7), 15});  // and
  }

  /// The four integers of a vector, in general registers. `other`: a vector register that is changed.
  void indices(const Gpr* to, unsigned vector_number, unsigned other) {
    two_indices(to, vector_number);
    emit({3, 1, 0, 0x39, Vex::narrow}, vector_number, 0, other, 0);  // vextracti128
    byte(1);
    two_indices(to + 2, other);
  }
  /// A vector of the numbers that four indices name, counted from base + offset. `other`: a vector register that is changed.
  void items(unsigned to, unsigned other, Gpr base, std::int32_t offset, const Gpr* indices) {
    two_items(to, base, offset, indices);
    two_items(other, base, offset, indices + 2);
    emit({3, 1, 0, 0x18, Vex::narrow}, to, to, other, 0);  // vinsertf128
    byte(1);
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
  static unsigned low_bits(Gpr r) { return static_cast<unsigned>(r) & 7; }
  void with_number(unsigned operation, Gpr r, std::int32_t x) {
    raw({0x49, 0x81, 0xc0 | operation << 3 | low_bits(r)});
    dword(x);
  }
  /// Of the lower half of a vector of 256 bits.
  void two_indices(const Gpr* to, unsigned vector_number) {
    const int whole = std::exchange(length_, 0);
    emit({1, 1, 1, 0x7e, Vex::wide}, vector_number, 0, static_cast<unsigned>(to[0]), 0);  // vmovq
    emit({3, 1, 1, 0x16, Vex::wide}, vector_number, 0, static_cast<unsigned>(to[1]), 0);  // vpextrq
    byte(1);
    length_ = whole;
  }
  void two_items(unsigned to, Gpr base, std::int32_t offset, const Gpr* indices) {
    const int whole = std::exchange(length_, 0);
    emit({1, 3, 1, 0x10, Vex::narrow}, to, 0, Place::item(base, offset, indices[0]), 0, false);   // vmovsd
    emit({1, 1, 1, 0x16, Vex::narrow}, to, to, Place::item(base, offset, indices[1]), 0, false);  // vmovhpd
    length_ = whole;
  }

  /// Of registers. With the prefix that the instruction set has; with EVEX, VEX where it is shorter: of 128 bits.
  void emit(const Opcode& op, unsigned reg, unsigned second, unsigned source, unsigned mask) {
    const bool evex_wanted =
        evex_ && (length_ != 0 || op.vex == Vex::none || mask != 0 || ((reg | second | source) & 16) != 0);
    std::uint8_t* const to = evex_wanted ? evex(op, of_registers(reg, second) | (source & 24) << 10, mask, false)
                                         : vex(op, reg, second, (source & 8) << 10);
    *to = static_cast<std::uint8_t>(0xc0 | (reg & 7) << 3 | (source & 7));
    end_ = to + 1;
  }
  /// Of registers, and memory.
  void emit(const Opcode& op, unsigned reg, unsigned second, Place source, unsigned mask, bool broadcast) {
    const unsigned index = source.indexed() ? static_cast<unsigned>(source.index) : 0,
                   of_address = (static_cast<unsigned>(source.base) & 8) << 10 | (index & 8) << 11;
    if (evex_)
      operand(evex(op, of_registers(reg, second) | of_address, mask, broadcast), reg, source,
              source.broadcast ? log_real_bytes_ : 4 + length_);
    else operand(vex(op, reg, second, of_address), reg, source, 0);
  }
  /// Bits of register numbers where EVEX has them.
  static unsigned of_registers(unsigned reg, unsigned second) {
    return (reg & 8) << 12 | (reg & 16) << 8 | (second & 15) << 19 | (second & 16) << 23;
  }
  /// Prefix and code; returns where the operands go.
  std::uint8_t* evex(const Opcode& op, unsigned registers, unsigned mask, bool broadcast) {
    std::uint8_t* const to = put(
        end_, (op.prefix ^ registers) | static_cast<unsigned>(length_) << 29 | unsigned(broadcast) << 28 | mask << 24);
    *to = op.code;
    return to + 1;
  }
  /// The same. Two bytes of prefix where they are enough - in the first map, without W and with low numbers in the source -, or
  /// three. Without branches: that depends on the registers, which nobody could predict.
  std::uint8_t* vex(const Opcode& op, unsigned reg, unsigned second, unsigned of_source) {
    const unsigned three =
        (op.vex_prefix ^ ((reg & 8) << 12 | second << 19 | of_source)) | static_cast<unsigned>(length_) << 18;
    const bool short_one = (three & 0x807f00) == 0x6100;
    const unsigned two = 0xc5 | (three & 0x8000) | (three >> 8 & 0xff7f00);
    return put(end_, short_one ? two : three) - short_one;
  }
  void move_mask(unsigned code, unsigned mask, Gpr base, std::int32_t offset) {
    raw({0xc4, 0xe1, 0xf8, code, 0x80 | mask << 3 | static_cast<unsigned>(base)});
    dword(offset);
  }
  /// ModRM, SIB, displacement of memory: short ones count in 2^scale bytes.
  void operand(std::uint8_t* to, unsigned reg, Place p, int scale) {
    const std::int32_t scaled = p.offset >> scale;
    const unsigned base = static_cast<unsigned>(p.base) & 7, low = (reg & 7) << 3 | (p.indexed() ? 4u : base);
    const bool none = p.offset == 0,
               is_short = static_cast<std::int8_t>(scaled) == scaled && p.offset == scaled * (1 << scale);
    *to++ = static_cast<std::uint8_t>((none ? 0u : is_short ? 0x40u : 0x80u) | low);
    if (p.indexed())
      *to++ = static_cast<std::uint8_t>(static_cast<unsigned>(log_real_bytes_) << 6 |
                                        (static_cast<unsigned>(p.index) & 7) << 3 | base);
    put(to, static_cast<std::uint32_t>(is_short ? scaled : p.offset));
    end_ = to + (none ? 0 : is_short ? 1 : 4);
  }
  /// Four bytes, the lowest first; returns where the next goes.
  static std::uint8_t* put(std::uint8_t* to, std::uint32_t x) {
    if constexpr (std::endian::native == std::endian::little) std::memcpy(to, &x, 4);
    else
      for (int k = 0; k < 4; ++k) to[k] = static_cast<std::uint8_t>(x >> 8 * k);
    return to + 4;
  }

  bool evex_;
  int log_real_bytes_, length_;  // of a vector: 0, 1 or 2 for 16, 32 or 64 bytes
  LargeVector<std::uint8_t> bytes_;
  std::uint8_t* end_ = bytes_.data();
};

}  // namespace wengert::codegen
