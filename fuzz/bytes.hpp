// A fuzzer's bytes as a source of choices, with the functions of tests/random.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "tests/random.hpp"

namespace wengert::fuzz {

/// Each choice takes as few bytes as it needs, so that a changed byte changes one choice. When they have run out, choices go on
/// at random (always 0 would never end what is drawn until it fits).
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : bytes_(data, size), rest_(size) {}

  bool empty() const { return bytes_.empty(); }
  std::size_t below(std::size_t n) {
    std::size_t number = 0;
    for (std::size_t most = n - 1; most != 0; most >>= 8) number = number << 8 | byte();
    return number % n;
  }
  bool chance(double p) { return byte() < 256 * p; }
  double unit() { return static_cast<double>(byte() << 8 | byte()) / 65536; }
  double in(double low, double high) { return low + (high - low) * unit(); }
  template <class T>
  const typename T::value_type& of(const T& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::size_t byte() {
    if (bytes_.empty()) return static_cast<std::size_t>(rest_.bits() >> 56);
    const std::size_t b = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return b;
  }

  std::span<const std::uint8_t> bytes_;
  test::Random rest_;
};

/// Ends the process, as a fuzzer wants to hear of it.
inline void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  std::abort();
}

/// Runs run(double(), bytes) or run(float(), bytes): a fuzzer's whole work on one input.
template <class Run>
int in_some_precision(const std::uint8_t* data, std::size_t size, Run run) {
  Bytes bytes(data, size);
  if (bytes.chance(0.5)) run(double(), bytes);
  else run(float(), bytes);
  return 0;
}

}  // namespace wengert::fuzz
