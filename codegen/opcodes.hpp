// The instruction of each operation.
#pragma once

#include <array>
#include <cstdint>

#include "codegen/encoder.hpp"
#include "codegen/graph.hpp"

namespace wengert::codegen {

/// For numbers of 8 or of 4 bytes. An operation that the target hasn't got has none that means anything.
class Opcodes {
 public:
  Opcodes(const Shape& shape, std::size_t real_bytes)
      : evex_(shape.target->evex),
        f64_(real_bytes == 8),
        copy_(real(1, 0x28)),
        load_(real(1, 0x10)),
        store_(real(1, 0x11)),
        broadcast_(f64_ && shape.point ? Opcode{1, 3, 1, 0x12, Vex::narrow}  // vmovddup
                                       : Opcode{2, 1, f64_, f64_ ? 0x19u : 0x18u, Vex::narrow}) {
    for (std::size_t what = 0; what < operations; ++what) of_[what] = opcode_of(static_cast<Do>(what));
  }

  const Opcode& operator[](Do what) const { return of_[static_cast<std::size_t>(what)]; }
  /// `order`: 0x98, 0xa8 or 0xb8 for 132, 213 or 231.
  Opcode fma(unsigned order) const { return {2, 1, f64_, order, f64_ ? Vex::wide : Vex::narrow}; }
  /// Copies a register.
  const Opcode& copy() const { return copy_; }
  const Opcode& load() const { return load_; }
  const Opcode& store() const { return store_; }
  /// Of one number in memory.
  const Opcode& broadcast() const { return broadcast_; }
  Opcode store_number() const { return {1, f64_ ? 3u : 2u, f64_, 0x11, Vex::narrow}; }
  /// Whether any bits of a vector are set.
  static constexpr Opcode test{2, 1, 0, 0x17, Vex::narrow};

 private:
  /// An instruction on numbers, told by its prefix; one that always has prefix 66.
  Opcode real(unsigned map, unsigned code) const { return {map, f64_, f64_, code, Vex::narrow}; }
  Opcode prefixed(unsigned map, unsigned code) const { return {map, 1, f64_, code, Vex::narrow}; }
  Opcode evex_alone(unsigned map, unsigned code) const { return {map, 1, f64_, code, Vex::none}; }
  Opcode integers(unsigned map, unsigned code) const { return {map, 1, 0, code, Vex::narrow}; }

  Opcode opcode_of(Do what) const {
    switch (what) {
      case Do::add: return real(1, 0x58);
      case Do::sub: return real(1, 0x5c);
      case Do::mul:
      case Do::mul_where: return real(1, 0x59);
      case Do::div: return real(1, 0x5e);
      case Do::max: return real(1, 0x5f);
      case Do::min: return real(1, 0x5d);
      case Do::scale: return evex_alone(2, 0x2c);
      case Do::sqrt: return real(1, 0x51);
      case Do::round: return prefixed(3, f64_ ? 0x09 : 0x08);
      case Do::exponent: return evex_alone(2, 0x42);
      case Do::mantissa: return evex_alone(3, 0x26);
      case Do::to_int: return f64_ ? evex_alone(1, 0x7a) : Opcode{1, 2, 0, 0x5b, Vex::narrow};
      case Do::to_real: return f64_ ? Opcode{1, 2, 1, 0xe6, Vex::none} : Opcode{1, 0, 0, 0x5b, Vex::narrow};
      case Do::blend: return evex_ ? evex_alone(2, 0x65) : prefixed(3, f64_ ? 0x4b : 0x4a);
      case Do::lookup: return evex_alone(2, f64_ ? 0x77 : 0x16);
      case Do::permute: return integers(2, 0x16);
      case Do::bit_and: return prefixed(1, 0xdb);
      case Do::bit_or: return prefixed(1, 0xeb);
      case Do::bit_xor: return prefixed(1, 0xef);
      case Do::add_int: return prefixed(1, f64_ ? 0xd4 : 0xfe);
      case Do::sub_int: return prefixed(1, f64_ ? 0xfb : 0xfa);
      case Do::greater_int: return f64_ ? integers(2, 0x37) : integers(1, 0x66);
      case Do::equal_int: return f64_ ? integers(2, 0x29) : integers(1, 0x76);
      case Do::shift_left:
      case Do::shift_right: return prefixed(1, f64_ ? 0x73 : 0x72);
      case Do::shift_right_signed: return f64_ ? evex_alone(1, 0x72) : prefixed(1, 0x72);
      case Do::compare:
      case Do::compare_where:
      case Do::require: return {1, f64_, f64_, 0xc2, evex_ ? Vex::none : Vex::narrow};
      default: return evex_alone(3, 0x1f);  // of integers
    }
  }

  bool evex_, f64_;
  Opcode copy_, load_, store_, broadcast_;
  std::array<Opcode, operations> of_;
};

}  // namespace wengert::codegen
