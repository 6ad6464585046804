// The simulated CPU's instructions that move and choose; those on masks.
#include <cmath>

#include "tests/codegen/simulated_lanes.hpp"

namespace wengert::test {

bool SimulatedCpu::moves(const Instruction& i) {
  const bool evex = i.form == Instruction::evex;
  const auto to_all_lanes = [&]<class T>(T x) {
    if (i.memory) std::memcpy(&x, reinterpret_cast<const void*>(i.address), sizeof x);
    else x = vectors_[i.source].get<T>(0);
    Vector v;
    for (std::size_t k = 0; k < i.bytes / sizeof(T); ++k) v.set(k, x);
    write<T>(i, i.reg, v);
    return true;
  };
  const auto chosen = [&]<class T>(T) {  // by a mask register: the source where it is set
    const Vector a = vectors_[i.second], b = source<T>(i);
    Vector v;
    for (std::size_t k = 0; k < i.bytes / sizeof(T); ++k)
      v.set(k, active(i, k) ? b.get<T>(k) : i.zeroing ? T(0) : a.get<T>(k));
    vectors_[i.reg] = v;
    return true;
  };
  const auto chosen_by_signs = [&]<class T>(T) {
    const Vector by = vectors_[byte() >> 4];
    const Vector a = vectors_[i.second], b = source<T>(i);
    Vector v;
    for (std::size_t k = 0; k < i.bytes / sizeof(T); ++k)
      v.set(k, std::signbit(by.get<T>(k)) ? b.get<T>(k) : a.get<T>(k));
    vectors_[i.reg] = v;
    return true;
  };
  switch (i.key()) {
    case key(1, 0, 0x28):
    case key(1, 1, 0x28):
      if (i.memory) refuse("a load that would have to be aligned");
      [[fallthrough]];
    case key(1, 0, 0x10):
    case key(1, 1, 0x10): return by_prefix(i, [&]<class T>(T) { return write<T>(i, i.reg, source<T>(i)), true; });
    case key(1, 0, 0x11):
    case key(1, 1, 0x11):
      wide_by_prefix(i);
      if (!i.memory || i.mask != 0) refuse("a store into a register, or of part of a vector");
      std::memcpy(reinterpret_cast<void*>(i.address), vectors_[i.reg].bytes.data(), i.bytes);
      return true;
    case key(1, 2, 0x11):
    case key(1, 3, 0x11):
      if (!i.memory || i.mask != 0) refuse("a store into a register, or of part of a vector");
      std::memcpy(reinterpret_cast<void*>(i.address), vectors_[i.reg].bytes.data(), wide_by_prefix(i) ? 8 : 4);
      return true;
    case key(1, 3, 0x12):  // vmovddup
      if (i.bytes != 16) return false;
      wide_by_prefix(i);
      return to_all_lanes(0.0);
    case key(2, 1, 0x18): return i.wide ? false : to_all_lanes(0.0f);
    case key(2, 1, 0x19): return i.wide != evex ? false : to_all_lanes(0.0);
    case key(2, 1, 0x65): return evex && by_width(i, chosen);
    case key(3, 1, 0x4a): return !evex && chosen_by_signs(0.0f);
    case key(3, 1, 0x4b): return !evex && chosen_by_signs(0.0);
    case key(2, 1, 0x16): {  // vpermps
      if (i.wide || i.bytes == 16) return false;
      const Vector from = source<float>(i);
      return each<std::uint32_t, std::uint32_t>(
          i, i.reg, [&](std::uint32_t a, auto, auto) { return from.get<std::uint32_t>(a & (i.bytes / 4 - 1)); });
    }
    case key(2, 1, 0x77): {  // vpermi2pd
      if (!evex || !i.wide) return false;
      const Vector first = vectors_[i.second], last = source<double>(i);
      const Word lanes = i.bytes / 8;
      return each<Word, Word>(i, i.reg, [&](Word, Word, Word index) {
        return (index & lanes ? last : first).get<Word>(index & (lanes - 1));
      });
    }
    default: return false;
  }
}

/// With VEX: numbers of general registers, halves of vectors.
bool SimulatedCpu::halves(const Instruction& i) {
  if (i.form == Instruction::evex) {
    if (i.key() == key(1, 1, 0x7e) && i.bytes == 16 && !i.memory && i.mask == 0) {  // of high registers
      general_[i.source & 15] = i.wide ? vectors_[i.reg].get<Word>(0) : vectors_[i.reg].get<std::uint32_t>(0);
      return true;
    }
    return false;
  }
  const auto number = [&] {
    double x;
    if (!i.memory) refuse("not of memory");
    std::memcpy(&x, reinterpret_cast<const void*>(i.address), sizeof x);
    return x;
  };
  Vector v;
  switch (i.key()) {
    case key(1, 1, 0x7e):  // vmovd, vmovq
    case key(3, 1, 0x16):  // vpextrq
    {
      const unsigned k = i.map == 3 ? byte() & 1 : 0;
      if (i.memory || i.bytes != 16 || (i.map == 3 && !i.wide)) return false;
      general_[i.source] = i.wide ? vectors_[i.reg].get<Word>(k) : vectors_[i.reg].get<std::uint32_t>(k);
      return true;
    }
    case key(1, 3, 0x10):  // vmovsd
      v.set(0, number());
      vectors_[i.reg] = v;
      return true;
    case key(1, 1, 0x16):  // vmovhpd
      v.set(0, vectors_[i.second].get<double>(0));
      v.set(1, number());
      vectors_[i.reg] = v;
      return true;
    case key(3, 1, 0x39):  // vextracti128, into the "source"
      if (i.memory || i.bytes != 32) return false;
      std::memcpy(v.bytes.data(), vectors_[i.reg].bytes.data() + 16 * (byte() & 1), 16);
      vectors_[i.source] = v;
      return true;
    case key(3, 1, 0x18): {  // vinsertf128
      if (i.memory || i.bytes != 32) return false;
      std::memcpy(v.bytes.data(), vectors_[i.second].bytes.data(), 32);
      std::memcpy(v.bytes.data() + 16 * (byte() & 1), vectors_[i.source].bytes.data(), 16);
      vectors_[i.reg] = v;
      return true;
    }
    case key(2, 1, 0x17): {  // vptest
      const Vector b = source<Word>(i);
      zero_ = true;
      for (std::size_t k = 0; k < i.bytes / 8; ++k) zero_ &= (vectors_[i.reg].get<Word>(k) & b.get<Word>(k)) == 0;
      return true;
    }
    default: return false;
  }
}

// ---- masks -----------------------------------------------------------------------------------------------------------

bool SimulatedCpu::masks(const Instruction& i) {
  if (i.form != Instruction::vex || i.map != 1) return false;
  // Of so many bits, the others become 0.
  const unsigned bits = i.prefix == 0 ? i.wide ? 64 : 16 : i.prefix == 1 ? i.wide ? 32 : 8 : 0;
  if (bits == 0) return false;
  const Word all = ~Word(0) >> (64 - bits);
  const bool from_general = i.code == 0x92, to_general = i.code == 0x93;
  if ((!to_general && i.reg >= 8) || (!i.memory && !from_general && i.source >= 8)) refuse("no such mask");
  Word& to = masks_[i.reg & 7];
  if (i.code == 0x90 || i.code == 0x91) {  // kmov
    if (!i.memory || i.bytes != 16) return false;
    if (i.code == 0x91) {
      std::memcpy(reinterpret_cast<void*>(i.address), &to, bits / 8);
    } else {
      to = 0;
      std::memcpy(&to, reinterpret_cast<const void*>(i.address), bits / 8);
    }
    return true;
  }
  if (i.memory || (i.bytes == 32) != (i.code >= 0x41 && i.code <= 0x47 && i.code != 0x44)) return false;
  if ((from_general || to_general) && (i.wide || bits == 32)) return false;
  if (from_general) return to = general_[i.source] & all, true;
  if (to_general) return general_[i.reg] = masks_[i.source] & all, true;
  const Word a = i.second < 8 ? masks_[i.second] : 0, b = masks_[i.source];
  if (i.code != 0x44 && i.second >= 8) refuse("no such mask");
  switch (i.code) {
    case 0x41: return to = a & b & all, true;
    case 0x42: return to = ~a & b & all, true;
    case 0x44: return to = ~b & all, true;
    case 0x45: return to = (a | b) & all, true;
    case 0x46: return to = ~(a ^ b) & all, true;
    case 0x47: return to = (a ^ b) & all, true;
    default: return false;
  }
}

}  // namespace wengert::test
