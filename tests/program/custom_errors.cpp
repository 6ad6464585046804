// Custom ops: what is refused, what messages call them, what their code throws.
#include "wengert/custom.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/needs.hpp"
#include "tests/program/custom_rules.hpp"
#include "tests/says.hpp"
#include "wengert/diagnose.hpp"
#include "wengert/serialize.hpp"

namespace wengert::test {

BOOST_AUTO_TEST_SUITE(custom_errors)

BOOST_AUTO_TEST_CASE(what_is_refused) {
  CustomRule<double> rule = polar_rule<double>();
  const auto refused = [](CustomRule<double> wrong, const char* why) {
    BOOST_CHECK_EXCEPTION(CustomOp<double>(std::move(wrong)), Error, says(ErrorCode::bad_argument, why));
  };
  CustomRule<double> wrong = rule;
  wrong.name = "";
  refused(wrong, "without name");
  wrong = rule, wrong.inputs = 0;
  refused(wrong, "without inputs");
  wrong = rule, wrong.outputs = 0;
  refused(wrong, "without outputs");
  wrong = rule, wrong.values = nullptr;
  refused(wrong, "without values");
  wrong = rule, wrong.vjp = nullptr;
  refused(wrong, "without vjp");
  wrong = product_rule<double>(), wrong.jvp = nullptr;
  refused(wrong, "without jvp, which hvp needs");

  const CustomOp<double> polar(rule);
  NaiveTape<double> tape, other;
  const Var<double> a = input(tape, 3.0), b = input(tape, 4.0), elsewhere = input(other, 1.0);
  const std::size_t size = tape.size();
  BOOST_CHECK_EXCEPTION(polar(a), Error, says(ErrorCode::bad_size, "polar takes 2 operands, not 1"));
  BOOST_CHECK_EXCEPTION(polar(Var<double>(1)), Error, says(ErrorCode::bad_size, "polar takes 2 operands, not 1"));
  BOOST_CHECK_EXCEPTION(polar(a, elsewhere), Error, says(ErrorCode::mixed_tapes, ""));
  const Id stale[] = {0, 77};
  BOOST_CHECK_EXCEPTION(polar.record(tape, stale), Error, says(ErrorCode::stale_id, "77"));
  BOOST_TEST(tape.size() == size);
  CustomRule<double> meddler = rule;
  meddler.values = [&](std::size_t, Samples<const double>, Samples<double>) { tape.constant(1); };
  BOOST_CHECK_EXCEPTION(CustomOp<double>{meddler}(a, b), Error, says(ErrorCode::bad_argument, "changed the tape"));

  const Program<double> program = compiled<double>(polar);
  std::ostringstream file;
  BOOST_CHECK_EXCEPTION(program.save(file), Error, says(ErrorCode::unsupported, "custom op polar can't be saved"));
  BOOST_CHECK_EXCEPTION(compile(tape, Var<double>(tape, tape.sum_samples(a.id())).id() + 7), Error,
                        says(ErrorCode::stale_id, ""));
  const Var<double> mixed = polar(Var<double>(tape, tape.sum_samples(a.id())), b)[0];
  BOOST_CHECK_EXCEPTION(compile(tape, mixed.id()), Error, says(ErrorCode::bad_argument, "(polar) differs from sample"));
  Replay<double> small(program, {.budget = 100});
  double x[] = {3, 4}, y[1];
  BOOST_CHECK_EXCEPTION(small.values(1, rows(x, 2), rows(y, 1)), Error, says(ErrorCode::out_of_memory, "budget"));
}

BOOST_AUTO_TEST_CASE(its_name_in_messages) {
  const CustomOp<double> polar(polar_rule<double>());
  NaiveTape<double> tape;
  const Var<double> a = input(tape, 0.0), b = input(tape, 0.0);
  const Var<double> f = exp(polar(a, b)[0]);
  BOOST_TEST(dot(tape).find("label=\"polar\"") != std::string::npos);
  const Program<double> program = compile(tape, f.id());
  BOOST_TEST(dot(program).find("label=\"polar\"") != std::string::npos);
  double x[] = {3, 4, 0, 0};
  const std::string said = diagnose(program, 2, rows(static_cast<const double*>(x), 2)).describe();
  BOOST_TEST(said.find("sample 1: the adjoint of input (id 1) is ") == 0, said);
  BOOST_TEST(said.find("nan, by polar (id 2)") != std::string::npos, said);
  backward(f);
  BOOST_TEST(diagnose(tape).describe().find("by polar (id 2)") != std::string::npos);
  const double inf = std::numeric_limits<double>::infinity();
  double far[] = {inf, 1};
  BOOST_TEST(diagnose(program, 1, rows(static_cast<const double*>(far), 2)).value->op == "input");
  double large[] = {1e200, 1};
  BOOST_TEST(diagnose(program, 1, rows(static_cast<const double*>(large), 2)).value->op == "polar");
}

BOOST_AUTO_TEST_CASE(native_code_leaves_it_to_the_interpreter, *needs(Isa::avx2)) {
  const Program<double> program = compiled<double>(CustomOp<double>(polar_rule<double>()));
  Replay<double> native(program, {.engine = "native"}), interpreter(program);
  const std::vector<double> x = random_numbers<double>(1, 200);
  std::vector<double> y(100), z(100);
  native.values(100, rows(x.data(), 2), rows(y.data(), 1));
  interpreter.values(100, rows(x.data(), 2), rows(z.data(), 1));
  BOOST_TEST(y == z, boost::test_tools::per_element());
  BOOST_TEST(native.engine() == "interpreter: the custom op polar is code, not vector operations");
}

BOOST_AUTO_TEST_CASE(what_its_code_throws, *uses_threads()) {
  struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  CustomRule<double> rule = polar_rule<double>();
  rule.values = [inner = rule.values](std::size_t n, Samples<const double> x, Samples<double> y) {
    for (std::size_t e = 0; e < n; ++e)
      if (x(e, 0) < 0) throw Refusal("no negative numbers");
    inner(n, x, y);
  };
  rule.vjp = [inner = rule.vjp](std::size_t n, Samples<const double> x, Samples<const double> y,
                                Samples<const double> w, Samples<double> g) {
    for (std::size_t e = 0; e < n; ++e)
      if (x(e, 1) < 0) throw Refusal("no slope there");
    inner(n, x, y, w, g);
  };
  const CustomOp<double> polar(rule);
  NaiveTape<double> tape;
  const Var<double> a = input(tape, 3.0), b = input(tape, 4.0);
  const TapeStatistics before = tape.statistics();
  BOOST_CHECK_THROW(polar(a - 5, b), Refusal);
  BOOST_TEST(tape.statistics().variables == before.variables + 2);  // a - 5
  BOOST_TEST(tape.statistics().operands == before.operands);
  BOOST_CHECK_THROW(polar(-5, b), Refusal);
  BOOST_TEST(tape.statistics().variables == before.variables + 2);  // and no constant
  const Var<double> f = polar(a, b)[0];
  tape.set_input(a.id(), -1);
  BOOST_CHECK_THROW(tape.forward(), Refusal);
  tape.set_input(a.id(), 6);
  tape.set_input(b.id(), -8);
  tape.forward();
  BOOST_TEST(tape.value(f.id()) == 10);
  BOOST_CHECK_THROW(backward(f), Refusal);
  tape.set_input(b.id(), 8);
  tape.forward();
  backward(f);
  BOOST_TEST(grad(a) == 0.6);
  // What throws leaves values and adjoints as they were, of what comes before the op in the sweep too.
  const Var<double> g = exp(f);
  backward(g);
  const double slopes[] = {grad(g), grad(f), grad(a), tape.value(3)};
  BOOST_TEST(slopes[3] == 1);  // a - 5
  tape.set_input(b.id(), -8);
  tape.forward();
  BOOST_CHECK_THROW(backward(f), Refusal);
  tape.set_input(a.id(), -1);
  BOOST_CHECK_THROW(tape.forward(), Refusal);
  BOOST_TEST(tape.value(f.id()) == 10);
  const double still[] = {grad(g), grad(f), grad(a), tape.value(3)};
  BOOST_TEST(still == slopes, boost::test_tools::per_element());
  tape.set_input(a.id(), 6);
  tape.set_input(b.id(), 8);

  for (const unsigned threads : {1u, 2u, 5u}) {
    Replay<double> replay(compile(tape, f.id()), {.threads = threads});
    const std::size_t n = 1000;
    std::vector<double> x = random_numbers<double>(7, 2 * n), y(n), g(2 * n), again(n);
    replay.values(n, rows(x.data(), 2), rows(y.data(), 1));
    x[2 * 700] *= -1;
    BOOST_CHECK_THROW(replay.values(n, rows(x.data(), 2), rows(again.data(), 1)), Refusal);
    x[2 * 700] *= -1;
    x[2 * 5 + 1] *= -1;
    BOOST_CHECK_THROW(replay.gradient(n, rows(x.data(), 2), {}, rows(g.data(), 2)), Refusal);
    x[2 * 5 + 1] *= -1;
    replay.gradient(n, rows(x.data(), 2), rows(again.data(), 1), rows(g.data(), 2));
    BOOST_TEST(y == again, boost::test_tools::per_element());
    BOOST_TEST(g[0] == x[0] / y[0]);
  }
}

BOOST_AUTO_TEST_CASE(code_that_changes_the_tape) {
  NaiveTape<double> tape;
  const std::function<void()> acts[] = {[&] { tape.input(1); },
                                        [&] { tape.exp(0); },
                                        [&] { tape.clear(); },
                                        [&] { tape.rewind({}); },
                                        [&] { tape = NaiveTape<double>(); },
                                        [&] { tape.guard(0); },
                                        [&] { tape.reserve(5000, 5000); }};
  const std::size_t harmless = 5;  // from this one on
  for (std::size_t k = 0; k < std::size(acts); ++k) {
    int when = 0;
    CustomRule<double> rule = product_rule<double>();
    rule.values = [&, inner = rule.values](std::size_t n, Samples<const double> x, Samples<double> y) {
      if (when == 1) acts[k]();
      inner(n, x, y);
    };
    rule.vjp = [&, inner = rule.vjp](std::size_t n, Samples<const double> x, Samples<const double> y,
                                     Samples<const double> w, Samples<double> g) {
      if (when == 2) acts[k]();
      inner(n, x, y, w, g);
    };
    const CustomOp<double> product(rule);
    for (const int at : {1, 2}) {
      when = 0;
      tape = NaiveTape<double>();
      const Var<double> a = input(tape, 3.0), b = input(tape, 4.0), f = exp(product(a, b)[0] * 0.125) * a;
      tape.set_input(a.id(), 2);
      when = at;
      const auto sweep = [&] {
        if (at == 1) tape.forward();
        else tape.backward(f.id());
      };
      if (k >= harmless) {
        sweep();
        BOOST_TEST(tape.value(f.id()) == (at == 1 ? std::exp(1.0) * 2 : std::exp(1.5) * 3),
                   1e-12 % boost::test_tools::tolerance());
      } else {
        BOOST_CHECK_EXCEPTION(sweep(), Error, says(ErrorCode::bad_argument, "changed the tape"));
      }
      when = 0;
      tape.forward();
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
