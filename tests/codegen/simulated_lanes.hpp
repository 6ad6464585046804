// Operands and results of the simulated CPU's instructions on vectors, lane by lane.
#pragma once

#include "tests/codegen/simulated_cpu.hpp"

namespace wengert::test {

template <class T>
SimulatedCpu::Vector SimulatedCpu::source(const Instruction& i) const {
  if (!i.memory) return vectors_[i.source];
  Vector v;
  const void* const from = reinterpret_cast<const void*>(i.address);
  if (!i.broadcast) {
    std::memcpy(v.bytes.data(), from, i.bytes);
  } else {
    T x;
    std::memcpy(&x, from, sizeof(T));
    for (std::size_t k = 0; k < i.bytes / sizeof(T); ++k) v.set(k, x);
  }
  return v;
}

/// With the instruction's mask. What is beyond the vector becomes 0.
template <class T>
void SimulatedCpu::write(const Instruction& i, unsigned to, const Vector& result) {
  Vector v;
  for (std::size_t k = 0; k < i.bytes / sizeof(T); ++k)
    v.set(k, active(i, k) ? result.get<T>(k) : i.zeroing ? T(0) : vectors_[to].get<T>(k));
  vectors_[to] = v;
}

/// f of the second operand, the source and what was in the result's register, lane by lane. True.
template <class To, class T, class F>
bool SimulatedCpu::each(const Instruction& i, unsigned to, const F& f) {
  static_assert(sizeof(To) == sizeof(T));
  const Vector b = source<T>(i);
  Vector result;
  for (std::size_t k = 0; k < i.bytes / sizeof(T); ++k)
    result.set<To>(k, f(vectors_[i.second].get<T>(k), b.get<T>(k), vectors_[to].get<T>(k)));
  write<To>(i, to, result);
  return true;
}

template <class T, class F>
bool SimulatedCpu::compare(const Instruction& i, const F& f) {
  const Vector b = source<T>(i);
  Vector ones;
  Word bits = 0;
  for (std::size_t k = 0; k < i.bytes / sizeof(T); ++k) {
    if (!active(i, k) || !f(vectors_[i.second].get<T>(k), b.get<T>(k))) continue;
    bits |= Word(1) << k;
    std::memset(ones.bytes.data() + k * sizeof(T), 0xff, sizeof(T));
  }
  if (i.form != Instruction::evex) {
    vectors_[i.reg] = ones;
  } else {
    if (i.reg >= masks_.size() || i.zeroing) refuse("no such mask");
    masks_[i.reg] = bits;
  }
  return true;
}

inline bool SimulatedCpu::wide_by_prefix(const Instruction& i) const {
  const bool wide = i.prefix == 1 || i.prefix == 3;
  if (i.form == Instruction::evex && i.wide != wide) refuse("W doesn't go with the prefix");
  return wide;
}
/// f of a 0 of the type that lanes have.
template <class F>
bool SimulatedCpu::by_prefix(const Instruction& i, const F& f) {
  return wide_by_prefix(i) ? f(0.0) : f(0.0f);
}
template <class F>
bool SimulatedCpu::by_width(const Instruction& i, const F& f) {
  return i.wide ? f(0.0) : f(0.0f);
}
template <class F>
bool SimulatedCpu::words_by_width(const Instruction& i, const F& f) {
  return i.wide ? f(std::uint64_t(0)) : f(std::uint32_t(0));
}

}  // namespace wengert::test
