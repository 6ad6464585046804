// Where derivatives come out NaN by plain products machine code gets the zero rule: where NaN comes from and goes to nothing, and if
// that isn't enough, at every product.
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "tape/special_partials.hpp"
#include "tests/program/native_blocks.hpp"
#include "tests/random.hpp"
#include "wengert/replay.hpp"
#include "wengert/var.hpp"

namespace wengert::test {
namespace {

/// Steps of a variance that is cut off at 0: the slope of its root is infinite there, and that of max zero.
Var<double> full_truncation(const std::vector<Var<double>>& x) {
  Var<double> v = x[0], sum = 0;
  for (std::size_t k = 1; k < x.size(); ++k) {
    const Var<double> cut = max(v, Var<double>(0)), root = sqrt(cut);
    sum = sum + root * x[k];
    v = v + 0.5 * (0.1 - cut) + root * x[k];
  }
  return sum * sum;
}
/// A norm: at 0 the slope of the root is infinite, and that of a square 0, whose other slopes are not special at all.
Var<double> root_of_squares(const std::vector<Var<double>>& x) {
  Var<double> sum = 0;
  for (const Var<double>& y : x) sum = sum + square(y);
  return sqrt(sum) + tanh(x[0]);
}

template <class Function>
Program<double> program_of(const Function& function, std::size_t inputs) {
  NaiveTape<double> tape;
  std::vector<Var<double>> x;
  for (std::size_t k = 0; k < inputs; ++k) x.push_back(input(tape, 0.5 + 0.1 * static_cast<double>(k)));
  return compile(tape, function(x).id());
}

std::vector<std::uint8_t> bytes_of(const NativeCode<double>& code) { return {code.code().begin(), code.code().end()}; }

/// Whether code does a batch whose plain products are NaN in the end, and whether it is that of `chain` then. Its bits are the
/// interpreter's.
void settles_for(const Program<double>& program, const std::vector<double>& x, std::size_t samples,
                 codegen::Chain chain) {
  const std::size_t d = program.differentiated();
  std::vector<double> y(samples), g(samples * d), wanted_y(samples), wanted_g(samples * d);
  Replay<double>(program, {.engine = "interpreter"})
      .gradient(samples, columns(x.data(), samples), columns(wanted_y.data(), samples),
                columns(wanted_g.data(), samples));
  for (const Isa isa : native_isas()) {
    const NativeCode<double> code(program.data(), isa, true, false, chain, SIZE_MAX);
    NativeRunner<double> runner(program.data(), isa, true);
    const NativeBatch<double> batch{
        samples, columns(x.data(), samples), {}, columns(y.data(), samples), columns(g.data(), samples)};
    bool done = false;
    for (int call = 0; call < 300; ++call) {
      runner.begin(batch, 1, nullptr);
      done = runner.run({0, samples}, 0, samples);
    }
    BOOST_TEST(done);
    BOOST_TEST((bytes_of(runner.code()) == bytes_of(code)));
    for (std::size_t k = 0; k < samples; ++k) BOOST_TEST_REQUIRE(same_bits(y[k], wanted_y[k]), k);
    for (std::size_t k = 0; k < samples * d; ++k) BOOST_TEST_REQUIRE(same_bits(g[k], wanted_g[k]), k);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(native_zero_rule)

BOOST_AUTO_TEST_CASE(ops_with_special_partials) {
  for (const Op op : {Op::sqrt, Op::cbrt, Op::div, Op::log, Op::log1p, Op::pow, Op::max, Op::min, Op::fmax, Op::select,
                      Op::clamp, Op::relu, Op::asin, Op::atanh})
    BOOST_TEST(plan::has_special_partials(op), name(op));
  for (const Op op : {Op::add, Op::sub, Op::mul, Op::fma, Op::neg, Op::square, Op::exp, Op::tanh, Op::sin, Op::softplus,
                      Op::sigmoid, Op::erf, Op::sum, Op::dot, Op::sqnorm, Op::prod, Op::softmax, Op::logsumexp})
    BOOST_TEST(!plan::has_special_partials(op), name(op));
}

BOOST_AUTO_TEST_CASE(where_it_comes_from_and_goes_to) {
  const std::size_t inputs = 9, samples = 64;
  const Program<double> program = program_of(full_truncation, inputs);
  Random random(1);
  std::vector<double> x(inputs * samples);
  for (double& number : x) number = random.in(-1, 1);
  settles_for(program, x, samples, codegen::Chain::special);
}

BOOST_AUTO_TEST_CASE(at_every_product) {
  const std::size_t inputs = 3, samples = 64;
  const Program<double> program = program_of(root_of_squares, inputs);
  settles_for(program, std::vector<double>(inputs * samples, 0.0), samples, codegen::Chain::zero_rule);
}

BOOST_AUTO_TEST_CASE(as_soon_as_it_pays) {
  using enum codegen::Chain;
  const Program<double> has_special = program_of(full_truncation, 4),
                        has_none =
                            program_of([](const std::vector<Var<double>>& x) { return x[0] * exp(x[1] * x[2]); }, 3);
  const auto after = [](codegen::Chain now, std::size_t tried, std::size_t failed, const Program<double>& program,
                        bool gradient = true) {
    return chain_after(now, tried, failed, program.data(), plan::Evaluation{gradient});
  };
  BOOST_TEST((after(plain, 3, 3, has_special) == plain));
  BOOST_TEST((after(plain, 127, 4, has_special) == special));
  BOOST_TEST((after(plain, 128, 4, has_special) == plain));
  BOOST_TEST((after(special, 16, 4, has_special) == special));
  BOOST_TEST((after(special, 15, 4, has_special) == zero_rule));
  BOOST_TEST((after(zero_rule, 10, 10, has_special) == zero_rule));
  BOOST_TEST((after(plain, 16, 4, has_none) == plain));
  BOOST_TEST((after(plain, 15, 4, has_none) == zero_rule));
  BOOST_TEST((after(plain, 10, 10, has_special, false) == plain));  // no derivatives
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
