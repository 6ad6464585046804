// What a program that embeds wengert looks like from outside: it includes, records, differentiates, and catches.
#include <cmath>
#include <cstdio>

#include "wengert/wengert.hpp"

int main() {
  wengert::NaiveTape<double> tape;
  const wengert::Id x = tape.input(1.0), y = tape.input(2.0);
  const wengert::Id f = tape.softplus(tape.mul(tape.add(x, y), x));
  tape.backward(f);
  const double slope = 1 / (1 + std::exp(-3.0));  // of softplus at (1 + 2) * 1; d/dx of the inside is 2x + y, d/dy is x
  const bool right = std::abs(tape.value(f) - std::log1p(std::exp(3.0))) < 1e-14 &&
                     std::abs(tape.grad(x) - 4 * slope) < 1e-14 && std::abs(tape.grad(y) - slope) < 1e-14;
  std::printf("softplus((x + y) * x) = %.17g, slopes %.17g, %.17g\n", tape.value(f), tape.grad(x), tape.grad(y));
  try {
    tape.backward(f + 1);
  } catch (const wengert::Error& error) {  // thrown on the other side of the library's boundary
    return right && error.code() == wengert::ErrorCode::stale_id ? 0 : 1;
  }
  return 1;
}
