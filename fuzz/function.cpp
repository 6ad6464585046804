// Code with branches, made of the bytes: a Function gives what recording each sample by itself gives, bit for bit.
#include "wengert/function.hpp"

#include "fuzz/bytes.hpp"
#include "tests/program/branchy.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"

namespace wengert::fuzz {
namespace {

template <class Real>
void compare(Bytes& bytes) {
  FunctionOptions options;
  options.replay.isa = "scalar";
  options.replay.lanes = bytes.below(5);
  options.most_paths = 1 + bytes.below(5);
  options.zero_rule = bytes.chance(0.2) ? ZeroRule::ieee : ZeroRule::exact;
  const std::size_t inputs = 1 + bytes.below(4), steps = 1 + bytes.below(24), samples = 1 + bytes.below(12);
  std::vector<Real> x(samples * inputs);
  const double special = bytes.chance(0.3) ? 0.3 : 0;
  for (Real& number : x) number = test::some_number<Real>(bytes, special);
  const auto code = [bytes, steps](std::span<const Var<Real>> at) { return test::branchy<Real>(bytes, steps, at); };

  Function<Real> f(inputs, code, options);
  std::vector<Real> values(samples * 2), gradients(samples * inputs), alone(samples * 2);
  for (int again = 0; again < 2; ++again) {
    f.vjp(samples, rows<const Real>(x.data(), inputs), {}, rows(values.data(), 2), rows(gradients.data(), inputs));
    f.values(samples, rows<const Real>(x.data(), inputs), rows(alone.data(), 2));
    require(f.statistics().paths <= options.most_paths, "too many paths");
    for (std::size_t e = 0; e < samples; ++e) {
      NaiveTape<Real> tape;
      tape.set_zero_rule(options.zero_rule);
      std::vector<Var<Real>> at;
      for (std::size_t i = 0; i < inputs; ++i) at.push_back(input(tape, x[e * inputs + i]));
      std::vector<Seed<Real>> seeds;
      for (const Var<Real>& y : code(at)) seeds.push_back({y.place(tape), Real(1)});
      tape.backward(seeds);
      require(seeds.size() == f.outputs(), "another number of outputs");
      for (std::size_t k = 0; k < seeds.size(); ++k) {
        require(test::same_bits(values[e * 2 + k], tape.value(seeds[k].id)), "an output");
        require(test::same_bits(alone[e * 2 + k], tape.value(seeds[k].id)), "a value");
      }
      for (std::size_t i = 0; i < inputs; ++i)
        require(test::same_bits(gradients[e * inputs + i], grad(at[i])), "a gradient");
    }
  }
}

}  // namespace
}  // namespace wengert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wengert::fuzz;
  return in_some_precision(data, size, [](auto real, Bytes& bytes) { compare<decltype(real)>(bytes); });
}
