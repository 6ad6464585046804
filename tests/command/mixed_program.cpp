// mixed_program FILE: saves a program with outputs of samples, p x^2 summed over them, and q times the logarithm of that.
#include "wengert/wengert.hpp"

int main(int, char** argv) {
  wengert::NaiveTape<double> tape;
  const wengert::Id p = tape.parameter(2), q = tape.parameter(3), x = tape.input(1), y = tape.input(2);
  const wengert::Id sum = tape.sum_samples(tape.mul(p, tape.square(x)));
  const std::vector<wengert::Id> outputs = {tape.mul(x, y), sum, tape.mul(q, tape.log(sum))};
  wengert::compile(tape, std::span<const wengert::Id>(outputs)).save(argv[1]);
}
