// Random numbers for tests: the same on every platform.
#pragma once

#include <cstdint>
#include <cstring>

namespace wengert::test {

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// 0 ... n - 1.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }
  bool chance(double p) { return unit() < p; }
  /// [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double in(double low, double high) { return low + (high - low) * unit(); }
  template <class T>
  const typename T::value_type& of(const T& choices) {
    return choices[below(choices.size())];
  }
  /// Any bit pattern: every exponent as likely as another, NaN and infinities among them.
  template <class Real>
  Real any_bits() {
    const std::uint64_t b = bits();
    Real r;
    std::memcpy(&r, reinterpret_cast<const char*>(&b) + (sizeof b - sizeof r), sizeof r);
    return r;
  }

 private:
  std::uint64_t state_;
};

}  // namespace wengert::test
