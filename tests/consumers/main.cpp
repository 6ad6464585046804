// What a program that embeds wengert looks like from outside: it includes, records, differentiates, replays, catches.
#include <cmath>
#include <cstdio>

#include "wengert/wengert.hpp"

int main() {
  wengert::NaiveTape<double> tape;
  const wengert::Var<double> x = wengert::input(tape, 1.0), y = wengert::input(tape, 2.0);
  const wengert::Var<double> f = softplus((x + y) * x);
  backward(f);
  const double slope = 1 / (1 + std::exp(-3.0));  // of softplus at (1 + 2) * 1; d/dx of the inside is 2x + y, d/dy is x
  bool right = std::abs(value(f) - std::log1p(std::exp(3.0))) < 1e-14 && std::abs(grad(x) - 4 * slope) < 1e-14 &&
               std::abs(grad(y) - slope) < 1e-14;

  const double points[3][2] = {{1, 2}, {0.5, 2}, {1, 2}};
  double values[3], gradients[3][2];
  wengert::Replay<double> replay(wengert::compile(tape, f.id()));
  replay.gradient(3, wengert::rows(points[0], 2), wengert::rows(values, 1), wengert::rows(gradients[0], 2));
  right = right && values[0] == value(f) && gradients[2][0] == grad(x) && gradients[2][1] == grad(y);  // to the bit

  std::printf("softplus((x + y) * x) = %.17g, slopes %.17g, %.17g\n", value(f), grad(x), grad(y));
  try {
    tape.backward(f.id() + 1);
  } catch (const wengert::Error& error) {  // thrown on the other side of the library's boundary
    return right && error.code() == wengert::ErrorCode::stale_id ? 0 : 1;
  }
  return 1;
}
