// The simulated CPU's instructions that compute: on floating-point numbers, on integers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tests/codegen/simulated_lanes.hpp"

namespace wengert::test {
namespace {

/// By the immediate of a comparison, as far as codegen::Comparison goes; what it signals is nobody's business here.
template <class T>
bool holds(unsigned predicate, T a, T b) {
  const bool unordered = a != a || b != b;
  switch (predicate & 7) {
    case 0: return a == b;
    case 1: return a < b;
    case 2: return a <= b;
    case 3: return unordered;
    case 4: return !(a == b);
    case 5: return !(a < b);
    case 6: return !(a <= b);
    default: return !unordered;
  }
}
bool holds_of_integers(unsigned predicate, std::int64_t a, std::int64_t b) {
  switch (predicate & 7) {
    case 0: return a == b;
    case 1: return a < b;
    case 2: return a <= b;
    case 3: return false;
    case 4: return a != b;
    case 5: return a >= b;
    case 6: return a > b;
    default: return true;
  }
}

template <class T>
T rounded(T x, unsigned how) {
  switch (how & 4 ? 0 : how & 3) {
    case 0: return std::nearbyint(x);
    case 1: return std::floor(x);
    case 2: return std::ceil(x);
    default: return std::trunc(x);
  }
}

/// x * 2^floor(n), rounded once: vscalef.
template <class T>
T scaled(T x, T n) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  if (std::isnan(x)) return n == inf ? inf : n == -inf ? T(0) : x;
  if (std::isnan(n)) return n;
  if (std::isinf(n)) {
    if (n > 0) return x == 0 ? std::numeric_limits<T>::quiet_NaN() : std::copysign(inf, x);
    return std::isinf(x) ? std::numeric_limits<T>::quiet_NaN() : std::copysign(T(0), x);
  }
  return std::ldexp(x, static_cast<int>(std::clamp(std::floor(n), T(-10000), T(10000))));
}

/// Over a power of two, from 3/4 to 3/2, with its sign: vgetmant with 3.
template <class T>
T mantissa(T x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x) || x == 0) return std::copysign(T(1), x);
  int exponent;
  const T m = std::frexp(x, &exponent);
  return std::fabs(m) < T(0.75) ? 2 * m : m;
}

/// Towards zero; what no integer is becomes the least.
template <class Int, class T>
Int truncated(T x) {
  constexpr Int least = std::numeric_limits<Int>::min();
  return x >= static_cast<T>(least) && x < -static_cast<T>(least) ? static_cast<Int>(x) : least;
}

}  // namespace

void SimulatedCpu::vector(const Instruction& i) {
  if (i.key() == key(1, 0, 0x77)) {  // vzeroupper
    for (unsigned k = 0; k < 16; ++k)
      std::fill(vectors_[k].bytes.begin() + 16, vectors_[k].bytes.end(), std::uint8_t(0));
    return;
  }
  if (!floats(i) && !integers(i) && !moves(i) && !halves(i) && !masks(i)) refuse("unknown instruction");
}

// ---- numbers ---------------------------------------------------------------------------------------------------------

bool SimulatedCpu::floats(const Instruction& i) {
  const bool evex = i.form == Instruction::evex;
  const auto prefixed = [&](const auto& f) {
    return by_prefix(i, [&]<class T>(T) { return each<T, T>(i, i.reg, f); });
  };
  const auto sized = [&](const auto& f) { return by_width(i, [&]<class T>(T) { return each<T, T>(i, i.reg, f); }); };
  if (i.map == 1 && i.prefix < 2) switch (i.code) {
      case 0x58: return prefixed([](auto a, auto b, auto) { return a + b; });
      case 0x5c: return prefixed([](auto a, auto b, auto) { return a - b; });
      case 0x59: return prefixed([](auto a, auto b, auto) { return a * b; });
      case 0x5e: return prefixed([](auto a, auto b, auto) { return a / b; });
      case 0x5f: return prefixed([](auto a, auto b, auto) { return a > b ? a : b; });
      case 0x5d: return prefixed([](auto a, auto b, auto) { return a < b ? a : b; });
      case 0x51: return prefixed([](auto, auto b, auto) { return std::sqrt(b); });
      case 0xc2: {
        const unsigned predicate = byte();
        if (predicate & 8) refuse("unknown comparison");
        return by_prefix(i,
                         [&]<class T>(T) { return compare<T>(i, [&](T a, T b) { return holds(predicate, a, b); }); });
      }
      default: break;
    }
  switch (i.key()) {
    case key(2, 1, 0x98): return sized([](auto a, auto b, auto c) { return std::fma(c, b, a); });
    case key(2, 1, 0xa8): return sized([](auto a, auto b, auto c) { return std::fma(a, c, b); });
    case key(2, 1, 0xb8): return sized([](auto a, auto b, auto c) { return std::fma(a, b, c); });
    case key(3, 1, 0x08):
    case key(3, 1, 0x09): {
      const unsigned how = byte();
      const bool wide = i.code == 9;
      if (how >> 4 != 0 || (evex && i.wide != wide)) refuse("a rounding to other than integers");
      const auto round = [&](auto, auto b, auto) { return rounded(b, how); };
      return wide ? each<double, double>(i, i.reg, round) : each<float, float>(i, i.reg, round);
    }
    case key(1, 2, 0x5b):
      return each<std::int32_t, float>(i, i.reg, [](float, float b, float) { return truncated<std::int32_t>(b); });
    case key(1, 0, 0x5b):
      if (i.wide) return false;
      return each<float, std::int32_t>(i, i.reg, [](int, int b, int) { return static_cast<float>(b); });
    default: break;
  }
  if (!evex) return false;
  switch (i.key()) {
    case key(2, 1, 0x2c): return sized([](auto a, auto b, auto) { return scaled(a, b); });
    case key(2, 1, 0x42): return sized([](auto, auto b, auto) { return std::logb(b); });
    case key(3, 1, 0x26): {
      if (byte() != 3) refuse("a mantissa from elsewhere");
      return sized([](auto, auto b, auto) { return mantissa(b); });
    }
    case key(1, 1, 0x7a):
      if (!i.wide) return false;
      return each<std::int64_t, double>(i, i.reg, [](double, double b, double) { return truncated<std::int64_t>(b); });
    case key(1, 2, 0xe6):
      if (!i.wide) return false;
      return each<double, std::int64_t>(i, i.reg, [](auto, std::int64_t b, auto) { return static_cast<double>(b); });
    default: return false;
  }
}

bool SimulatedCpu::integers(const Instruction& i) {
  const bool evex = i.form == Instruction::evex;
  // Bits are the same in words of any size, but for the mask's.
  const auto words = [&](const auto& f) {
    return words_by_width(i, [&]<class T>(T) { return each<T, T>(i, i.reg, f); });
  };
  const auto of_size = [&](bool wide, const auto& f) {
    if (evex && i.wide != wide) refuse("W doesn't go with the code");
    return wide ? f(std::int64_t(0)) : f(std::int32_t(0));
  };
  const auto sums = [&](bool wide, const auto& f) {
    return of_size(wide, [&]<class T>(T) {
      using U = std::make_unsigned_t<T>;
      return each<U, U>(i, i.reg, f);
    });
  };
  switch (i.key()) {
    case key(1, 1, 0xdb): return words([](auto a, auto b, auto) { return a & b; });
    case key(1, 1, 0xeb): return words([](auto a, auto b, auto) { return a | b; });
    case key(1, 1, 0xef): return words([](auto a, auto b, auto) { return a ^ b; });
    case key(1, 1, 0xd4): return sums(true, [](auto a, auto b, auto) { return a + b; });
    case key(1, 1, 0xfe): return sums(false, [](auto a, auto b, auto) { return a + b; });
    case key(1, 1, 0xfb): return sums(true, [](auto a, auto b, auto) { return a - b; });
    case key(1, 1, 0xfa): return sums(false, [](auto a, auto b, auto) { return a - b; });
    case key(2, 1, 0x37):
    case key(1, 1, 0x66):
      return of_size(i.map == 2, [&]<class T>(T) { return compare<T>(i, [](T a, T b) { return a > b; }); });
    case key(2, 1, 0x29):
    case key(1, 1, 0x76):
      return of_size(i.map == 2, [&]<class T>(T) { return compare<T>(i, [](T a, T b) { return a == b; }); });
    case key(3, 1, 0x1f): {
      if (!evex) return false;
      const unsigned predicate = byte();
      return of_size(i.wide, [&]<class T>(T) {
        return compare<T>(i, [&](T a, T b) { return holds_of_integers(predicate, a, b); });
      });
    }
    case key(1, 1, 0x72):
    case key(1, 1, 0x73): {
      const unsigned what = i.reg & 7, by = byte();
      if (i.memory && !evex) refuse("a shift of memory");
      if (what == 4 && i.code != 0x72) return false;
      const bool wide = what == 4 ? evex && i.wide : i.code == 0x73;
      return of_size(wide, [&]<class T>(T) {
        using U = std::make_unsigned_t<T>;
        if (by >= 8 * sizeof(T)) refuse("a shift by all bits or more");
        return each<T, T>(i, i.second, [&](T, T b, T) {
          const U u = static_cast<U>(b);
          switch (what) {
            case 2: return static_cast<T>(u >> by);
            case 4: return static_cast<T>(b >> by);
            case 6: return static_cast<T>(u << by);
            default: refuse("unknown shift");
          }
        });
      });
    }
    default: return false;
  }
}

}  // namespace wengert::test
