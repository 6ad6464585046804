// Machine code for single samples: tables of any strides, given or not, weights or not, give the bits of the interpreter.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tape/native_point.hpp"
#include "tests/needs.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"
#include "tests/soak.hpp"
#include "wengert/error.hpp"
#include "wengert/replay.hpp"
#include "wengert/var.hpp"

namespace wengert::test {
namespace {

/// The numbers of one sample in memory of their own, at a stride.
template <class Real>
struct Row {
  std::vector<Real> memory;
  std::ptrdiff_t item;

  Row(std::size_t items, std::ptrdiff_t item_) : memory(items * static_cast<std::size_t>(item_) + 1), item(item_) {}
  Samples<Real> table(bool wanted = true) { return wanted ? Samples<Real>{memory.data(), 0, item} : Samples<Real>{}; }
};

template <class Real>
void random_tables(std::size_t graphs) {
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    RandomTape<Real> graph = random_tape<Real>(random, 1 + random.below(40), 0.05, true);
    const Program<Real> program = compile(graph.tape, std::span<const Id>(graph.outputs));
    const std::vector<Real> sums(program.uniform_outputs(), Real(0.5));  // weights of them
    const std::size_t n = graph.inputs.size(), m = program.outputs(), d = program.differentiated();
    for (const Isa isa : usable_isas()) {
      if (!native_target(isa)) continue;
      Replay<Real> interpreter(program), native(program, {.isa = std::string(name(isa)), .engine = "native"});
      for (int call = 0; call < 12; ++call) {
        // Mostly as in the first call, which the code is made for.
        const auto stride = [&](std::ptrdiff_t usual) {
          return random.chance(0.7) ? usual : static_cast<std::ptrdiff_t>(1 + random.below(4));
        };
        Row<Real> x(n, stride(1)), along(d, stride(1)), w(m, stride(2)), y(m, stride(3)), g(d, stride(2)),
            t(std::max(m, d), stride(2)), wanted_y(m, 1), wanted_g(d, 1), wanted_t(t.memory.size(), 1);
        for (Row<Real>* row : {&x, &along, &w})
          for (Real& number : row->memory) number = some_number<Real>(random, 0.002);
        const bool weighted = random.chance(0.3), with_y = random.chance(0.8), with_g = random.chance(0.8),
                   values_alone = random.chance(0.2), tangents = random.chance(0.5);
        const bool hessian = tangents && !values_alone;
        if (values_alone && tangents) {
          native.jvp(1, x.table(), along.table(), y.table(), t.table());
          interpreter.jvp(1, x.table(), along.table(), wanted_y.table(), wanted_t.table());
        } else if (values_alone) {
          native.values(1, x.table(), y.table());
          interpreter.values(1, x.table(), wanted_y.table());
        } else if (hessian) {
          native.hvp(1, x.table(), along.table(), y.table(with_y), g.table(with_g), t.table(), w.table(), sums);
          interpreter.hvp(1, x.table(), along.table(), wanted_y.table(), wanted_g.table(), wanted_t.table(), w.table(),
                          sums);
        } else {
          native.vjp(1, x.table(), w.table(weighted), y.table(with_y), g.table(with_g));
          interpreter.vjp(1, x.table(), w.table(weighted), wanted_y.table(), wanted_g.table());
        }
        const auto check = [&](Row<Real>& ours, Row<Real>& theirs, std::size_t items, const char* what) {
          for (std::size_t k = 0; k < items; ++k)
            BOOST_TEST_REQUIRE(same_bits(ours.table()(0, k), theirs.table()(0, k)),
                               "graph " << seed << ", " << name(isa) << ", call " << call << ", " << what << ' ' << k
                                        << ": " << show(ours.table()(0, k)) << ", interpreter "
                                        << show(theirs.table()(0, k)));
        };
        if (values_alone || with_y) check(y, wanted_y, m, "value");
        if (!values_alone && with_g) check(g, wanted_g, d, "derivative");
        if (tangents) check(t, wanted_t, values_alone ? m : d, "tangent");
        for (std::size_t k = 0; k < program.differentiated_parameters(); ++k)
          BOOST_TEST_REQUIRE(same_bits(native.parameter_gradients()[k], interpreter.parameter_gradients()[k]));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(native_point, *needs(Isa::avx2))

BOOST_AUTO_TEST_CASE(random_tables_f64) { random_tables<double>(soak(150)); }
BOOST_AUTO_TEST_CASE(random_tables_f32) { random_tables<float>(soak(150)); }

/// Derivatives are there before the last inputs are read: not in their memory. And where nothing depends on an input there is +0.
BOOST_AUTO_TEST_CASE(results_over_inputs) {
  constexpr std::size_t n = 60;
  NaiveTape<double> tape;
  std::vector<Id> inputs, terms;
  for (std::size_t i = 0; i < n; ++i) inputs.push_back(tape.input(1.0));
  for (std::size_t i = 0; i + 2 < n; ++i) terms.push_back(tape.mul(inputs[i], inputs[i + 1]));
  const Program<double> program = compile(tape, tape.record(Op::sum, terms));
  Replay<double> replay(program, {.engine = "native"}), interpreter(program);
  std::vector<double> point(n), wanted(n);
  for (std::size_t i = 0; i < n; ++i) point[i] = 0.5 + static_cast<double>(i);
  interpreter.gradient(1, rows(std::as_const(point).data(), n), {}, rows(wanted.data(), n));
  BOOST_TEST(wanted[n - 1] == 0);
  for (int call = 0; call < 3; ++call) {
    std::vector<double> apart(n, -1), here(n + 1, -1);
    replay.gradient(1, rows(point.data(), n), {}, rows(apart.data(), n));
    BOOST_TEST(apart == wanted, boost::test_tools::per_element());
    for (const std::size_t shift : {0u, 1u}) {
      std::copy(point.begin(), point.end(), here.begin() + 1);
      const std::vector<double> before = here;
      BOOST_CHECK_EXCEPTION(replay.gradient(1, rows(here.data() + 1, n), {}, rows(here.data() + shift, n)), Error,
                            says(ErrorCode::bad_argument, "the tables of inputs and of gradients"));
      BOOST_TEST(here == before, boost::test_tools::per_element());
    }
    for (const std::size_t place : {std::size_t(0), n / 2, n - 1}) {
      const std::vector<double> before = apart;
      BOOST_CHECK_EXCEPTION(
          replay.gradient(1, rows(point.data(), n), rows(apart.data() + place, 1), rows(apart.data(), n)), Error,
          says(ErrorCode::bad_argument, "have memory in common"));
      BOOST_TEST(apart == before, boost::test_tools::per_element());
    }
    std::vector<double> both(n + 1);  // the value right before its gradient
    replay.gradient(1, rows(point.data(), n), rows(both.data(), 1), rows(both.data() + 1, n));
    BOOST_TEST(std::vector<double>(both.begin() + 1, both.end()) == wanted, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(tables_whose_numbers_share_places) {
  NaiveTape<double> tape;
  const Id x = tape.input(1.0), y = tape.input(1.0);
  Replay<double> replay(compile(tape, tape.mul(x, y)), {.engine = "native"});
  const double point[2] = {2, 3};
  double gradient[2];
  for (int call = 0; call < 2; ++call) {
    replay.gradient(1, rows(point, 2), {}, rows(gradient, 2));
    BOOST_TEST(gradient[0] == 3);
    BOOST_CHECK_THROW(replay.gradient(1, rows(point, 2), {}, Samples<double>(gradient, 2, 0)), Error);
  }
}

BOOST_AUTO_TEST_CASE(a_sample_that_leaves_the_recorded_path) {
  NaiveTape<double> tape;
  const Var<double> x = input(tape, 1.0), y = input(tape, 2.0);
  const Var<double> f = x < y ? x * y : x;
  Replay<double> replay(compile(tape, f.id()), {.report_departures = true, .engine = "native"});
  const double on[2] = {1, 2}, off[2] = {3, 2};
  double value, gradient[2];
  for (int call = 0; call < 200; ++call) {
    const bool leaves = call % 7 == 3;
    replay.gradient(1, rows(leaves ? off : on, 2), rows(&value, 1), rows(gradient, 2));
    BOOST_TEST_REQUIRE(replay.departures().size() == (leaves ? 1u : 0u));
    if (!leaves) BOOST_TEST_REQUIRE(gradient[0] == 2);
  }
}

/// Most derivatives are zeros, which are most of the code: it is made beside that of batches, and within a budget.
BOOST_AUTO_TEST_CASE(code_that_is_mostly_zeros) {
  constexpr std::size_t n = 300;
  NaiveTape<double> tape;
  std::vector<Id> inputs;
  for (std::size_t i = 0; i < n; ++i) inputs.push_back(tape.input(1.0));
  const Program<double> program = compile(tape, tape.mul(inputs[0], inputs[1]));
  constexpr std::size_t many = 100;
  const std::vector<double> points(many * n, 0.5);
  std::vector<double> gradients(many * n);
  for (const Isa isa : usable_isas()) {
    if (!native_target(isa)) continue;
    Replay<double> replay(program, {.isa = std::string(name(isa)), .engine = "native"});
    replay.gradient(many, rows(points.data(), n), {}, rows(gradients.data(), n));
    const std::size_t before = replay.bytes();
    replay.gradient(1, rows(points.data(), n), {}, rows(gradients.data(), n));
    BOOST_TEST(replay.bytes() > before + n, name(isa));
    BOOST_TEST(NativePoint<double>(program.data(), isa, true, {}, 1'000'000).why_not() == "");
  }
}
BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
