// jvp, hvp, Jacobians and Hessians by machine code, as a Replay has them: the interpreter's bits.
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tape/machine.hpp"
#include "tests/needs.hpp"
#include "tests/program/native_blocks.hpp"
#include "tests/program/objectives.hpp"
#include "tests/random.hpp"
#include "tests/same_bits.hpp"
#include "wengert/error.hpp"
#include "wengert/replay.hpp"
#include "wengert/var.hpp"

namespace wengert::test {
namespace {

enum class Kind { jvp, hvp, jacobian, hessian, sparse_jacobian, sparse_hessian };
constexpr Kind kinds[] = {Kind::jvp,           Kind::hvp, Kind::jacobian, Kind::hessian, Kind::sparse_jacobian,
                          Kind::sparse_hessian};
constexpr const char* names[] = {"jvp", "hvp", "jacobian", "hessian", "sparse_jacobian", "sparse_hessian"};

/// Functions of three columns of which the last has no derivatives, two more that hardly anything depends on, and a parameter.
template <class Real>
Program<Real> several(std::size_t outputs, bool guards = false) {
  NaiveTape<Real> tape;
  const Var<Real> p = parameter(tape, Real(0.7)), x = input(tape, Real(0.3)), y = input(tape, Real(0.4)),
                  z = input(tape, Real(0.5)), u = input(tape, Real(0.6)), unused = input(tape, Real(0.7));
  if (guards) static_cast<void>(x < Real(50));
  const Var<Real> f = p * exp(x) / y + z * square(y - x);
  const std::vector<Var<Real>> all = {f, sqrt(y) * z, z * z, u * u * p, x * z, tanh(f), log(y) + z};
  std::vector<Id> ids;
  for (std::size_t k = 0; k < outputs; ++k) ids.push_back(all[k].id());
  return compile(tape, std::span<const Id>(ids), {std::vector<Id>{x.id(), y.id(), u.id(), unused.id()}});
}

template <class Real>
struct Points {
  std::size_t samples;
  std::vector<Real> inputs, directions, weights;

  Points(const Program<Real>& program, std::size_t samples_, const std::function<bool(std::size_t)>& odd)
      : samples(samples_) {
    Random random(samples);
    const auto some = [&](std::size_t columns) {
      std::vector<Real> numbers(columns * samples);
      for (Real& number : numbers) number = static_cast<Real>(random.in(0.1, 2));
      return numbers;
    };
    inputs = some(program.inputs());
    directions = some(program.differentiated());
    weights = some(program.outputs());
    for (std::size_t e = 0; e < samples; ++e)
      if (odd(e)) inputs[e] = std::numeric_limits<Real>::infinity();
  }
};

/// How the caller's tables lie.
enum class Tables { columns, rows, derivatives_alone };

/// All that a call gives, with more room than it needs, all of it compared.
template <class Real>
std::vector<Real> evaluate(Replay<Real>& replay, Kind kind, const Points<Real>& x, Tables tables,
                           bool uniform_weights = false) {
  const Program<Real>& program = replay.program();
  const std::size_t n = x.samples, stride = n + 3, m = program.outputs(), d = program.differentiated(),
                    all_outputs = m + program.uniform_outputs();
  const std::size_t items = kind == Kind::jvp               ? m
                            : kind == Kind::hvp             ? d
                            : kind == Kind::jacobian        ? all_outputs * d
                            : kind == Kind::hessian         ? d * d
                            : kind == Kind::sparse_jacobian ? program.jacobian_sparsity().nonzeros()
                                                            : program.hessian_sparsity().nonzeros();
  std::vector<Real> values(stride * (m + 1), Real(-77)), gradients(stride * (d + 1), Real(-77)),
      derivatives(stride * (items + 1), Real(-77)), sums(program.uniform_outputs(), Real(0.5));
  const auto table = [&](std::vector<Real>& numbers, std::size_t of) {
    return tables == Tables::rows ? rows(numbers.data(), of + 1) : columns(numbers.data(), stride);
  };
  const auto given = [&](const std::vector<Real>& numbers) { return columns(numbers.data(), n); };
  const bool alone = tables == Tables::derivatives_alone;
  const Samples<Real> to_values = alone || m == 0 ? Samples<Real>{} : table(values, m),
                      to_gradients = alone ? Samples<Real>{} : table(gradients, d), to = table(derivatives, items);
  const Samples<const Real> weights = m == 0 ? Samples<const Real>{} : given(x.weights);
  const std::span<const Real> of_sums = uniform_weights ? std::span<const Real>(sums) : std::span<const Real>();
  switch (kind) {
    case Kind::jvp:
      replay.jvp(n, given(x.inputs), given(x.directions), to_values, m == 0 ? Samples<Real>{} : to);
      break;
    case Kind::hvp:
      replay.hvp(n, given(x.inputs), given(x.directions), to_values, to_gradients, to, weights, of_sums);
      break;
    case Kind::jacobian: replay.jacobian(n, given(x.inputs), to_values, to); break;
    case Kind::hessian: replay.hessian(n, given(x.inputs), to_values, to_gradients, to, weights, of_sums); break;
    case Kind::sparse_jacobian: replay.sparse_jacobian(n, given(x.inputs), to_values, to); break;
    case Kind::sparse_hessian:
      replay.sparse_hessian(n, given(x.inputs), to_values, to_gradients, to, weights, of_sums);
      break;
  }
  std::vector<Real> results = std::move(values);
  for (const std::vector<Real>* more : {&gradients, &derivatives})
    results.insert(results.end(), more->begin(), more->end());
  const auto add = [&](std::span<const Real> more) { results.insert(results.end(), more.begin(), more.end()); };
  add(replay.uniform_outputs());
  if (kind == Kind::jvp || kind == Kind::hvp) add(replay.uniform_tangents());
  if (kind == Kind::hvp) add(replay.parameter_products());
  return results;
}

template <class Real>
void compare(const std::vector<Real>& ours, const std::vector<Real>& wanted, const std::string& what) {
  BOOST_TEST_REQUIRE(ours.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (!same_bits(ours[k], wanted[k]))
      BOOST_FAIL(what << ", number " << k << ": " << show(ours[k]) << ", not " << show(wanted[k]));
}

template <class Real>
void compare(const Program<Real>& program, std::size_t samples, unsigned threads, int times,
             const std::function<bool(std::size_t)>& odd) {
  const Points<Real> x(program, samples, odd);
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    for (const Kind kind : kinds) {
      Replay<Real> interpreter(program), native(program, {.isa = set, .threads = threads, .engine = "native"});
      for (const Tables tables : {Tables::columns, Tables::rows, Tables::derivatives_alone}) {
        const std::vector<Real> wanted = evaluate(interpreter, kind, x, tables);
        for (int time = 0; time < times; ++time)
          compare(evaluate(native, kind, x, tables), wanted,
                  set + ", " + names[static_cast<int>(kind)] + ", " + std::to_string(samples) + " samples of " +
                      std::to_string(program.outputs()) + " outputs");
      }
      BOOST_TEST_REQUIRE(native.engine() == "native: " + set, names[static_cast<int>(kind)]);
    }
  }
}
bool never(std::size_t) { return false; }

/// Jacobians of two outputs come by rows, of seven by columns.
template <class Real>
void any_number_of_samples() {
  for (const std::size_t outputs : {2, 7}) {
    const Program<Real> program = several<Real>(outputs);
    for (const std::size_t samples : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129, 200, 1031}) {
      compare<Real>(program, samples, 1, 1, never);
      compare<Real>(program, samples, 1, 2, [=](std::size_t e) { return e == samples - 1 - samples / 7; });
    }
  }
}

template <class Real>
void odd_samples_among_others() {
  for (const std::size_t outputs : {2, 7})
    for (const unsigned threads : {1u, 3u})
      for (const std::size_t every : {3, 700})
        compare<Real>(several<Real>(outputs), 2011, threads, 3, [=](std::size_t e) { return e % every == every / 2; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(native_derivatives, *needs(Isa::avx2))

BOOST_AUTO_TEST_CASE(any_number_of_samples_f64) { any_number_of_samples<double>(); }
BOOST_AUTO_TEST_CASE(any_number_of_samples_f32) { any_number_of_samples<float>(); }
BOOST_AUTO_TEST_CASE(odd_samples_among_others_f64, *uses_threads()) { odd_samples_among_others<double>(); }
BOOST_AUTO_TEST_CASE(odd_samples_among_others_f32, *uses_threads()) { odd_samples_among_others<float>(); }

/// Where lanes are so few that code of a point is quicker there is none of batches; one of many samples has both.
BOOST_AUTO_TEST_CASE(few_samples_are_done_one_by_one) {
  const Program<double> program = several<double>(2);
  for (const Isa isa : native_isas())
    for (const Kind kind : kinds) {
      Replay<double> native(program, {.isa = std::string(name(isa)), .engine = "native"});
      std::size_t bytes = 0;
      for (const std::size_t samples : {1, 2, 1, 2}) {
        if (samples == 2 && kind != Kind::jvp && kind != Kind::hvp) continue;  // with several seeds each
        evaluate(native, kind, Points<double>(program, samples, never), Tables::columns);
        if (bytes == 0) bytes = native.bytes();
        BOOST_TEST(native.bytes() == bytes, names[static_cast<int>(kind)] << " of " << samples);
      }
      evaluate(native, kind, Points<double>(program, 100, never), Tables::columns);
      BOOST_TEST(native.bytes() > bytes + 4096, names[static_cast<int>(kind)]);
    }
}

/// Derivatives that are NaN in every block: code with the zero rule at each product.
BOOST_AUTO_TEST_CASE(products_that_are_not_plain) {
  NaiveTape<double> tape;
  const Id x = tape.input(1.0), y = tape.input(1.0);
  const Program<double> program = compile(tape, tape.mul(tape.sqrt(x), y));
  for (const Isa isa : native_isas())
    for (const Kind kind : kinds) {
      for (const std::size_t samples : {1, 2, 300}) {
        Points<double> at(program, samples, never);
        for (std::size_t e = 0; e < samples; ++e) {
          if (e % 3 != 0 || samples < 3) at.inputs[e] = 0;  // where the slope of the root is infinite
          if (e % 5 != 0 || samples < 3) at.inputs[samples + e] = at.directions[e] = 0;
        }
        Replay<double> interpreter(program), native(program, {.isa = std::string(name(isa)), .engine = "native"});
        const std::vector<double> wanted = evaluate(interpreter, kind, at, Tables::columns);
        for (int time = 0; time < 40; ++time)
          compare(evaluate(native, kind, at, Tables::columns), wanted, names[static_cast<int>(kind)]);
      }
    }
}

/// With them code has tangents of what is the same for all samples, without them, where nothing is summed, none.
BOOST_AUTO_TEST_CASE(directions_of_parameters) {
  const Program<double> program = several<double>(2);
  const Points<double> x(program, 100, never), one(program, 1, never);
  for (const Isa isa : native_isas()) {
    Replay<double> interpreter(program), native(program, {.isa = std::string(name(isa)), .engine = "native"});
    for (const double direction : {0.0, 1.5, 0.0, -0.25}) {
      for (Replay<double>* replay : {&interpreter, &native}) {
        replay->set_parameters(std::vector<double>{0.5 + direction});
        if (program.differentiated_parameters() != 0)
          replay->set_parameter_directions(std::vector<double>(program.differentiated_parameters(), direction));
      }
      for (const Points<double>* at : {&x, &one})
        for (const Kind kind : kinds)
          compare(evaluate(native, kind, *at, Tables::columns), evaluate(interpreter, kind, *at, Tables::columns),
                  names[static_cast<int>(kind)]);
    }
  }
}
BOOST_AUTO_TEST_CASE(sums_over_samples) {
  NaiveTape<double> tape;
  const Var<double> p = parameter(tape, 0.7), x = input(tape, 0.3), y = input(tape, 0.4);
  const Id f = tape.sum_samples((p * exp(x) * y).id()), g = tape.sum_samples((p * x * y * y).id());
  for (const bool differentiated : {false, true}) {
    std::vector<Id> in = {x.id(), y.id()};
    if (differentiated) in.push_back(p.id());
    const std::vector<Id> out = {f, g, (x * square(y)).id()};
    const Program<double> program = compile(tape, std::span<const Id>(out), {in});
    for (const std::size_t samples : {1, 5, 100, 1100}) {
      const Points<double> at(program, samples, never);
      for (const Isa isa : native_isas())
        for (const Kind kind : kinds) {
          Replay<double> interpreter(program), native(program, {.isa = std::string(name(isa)), .engine = "native"});
          for (Replay<double>* replay : {&interpreter, &native})
            if (differentiated) replay->set_parameter_directions(std::vector<double>{0.25});
          compare(evaluate(native, kind, at, Tables::columns, true),
                  evaluate(interpreter, kind, at, Tables::columns, true), names[static_cast<int>(kind)]);
          BOOST_TEST(native.engine() == "native: " + std::string(name(isa)), names[static_cast<int>(kind)]);
        }
    }
  }
}
/// Nothing of ordinary numbers is left to the interpreter.
BOOST_AUTO_TEST_CASE(tangents_of_parameters_and_sums_by_code_alone) {
  for (const Objective objective : {logistic, nonlinear}) {
    const Program<double> program = program_of(objective);
    const plan::Uniform<double>& part = program.data().uniform;
    const Data data(300);
    const std::vector<double> some(std::max(part.sums.size(), part.totals.size()), 0.5);
    for (const Isa isa : native_isas())
      for (const bool gradient : {false, true}) {
        Machine<double> machine(program, {.isa = std::string(name(isa))});
        machine.uniform().set_parameters(data.w);
        machine.uniform().set_directions(data.w);
        machine.uniform().begin(true);
        machine.uniform().values_after(std::span(some).first(part.sums.size()),
                                       std::span(some).first(part.sums.size()));
        machine.uniform().adjoints_before({});
        NativeRunner<double> code(program.data(), isa, {gradient, plan::Numbers::dual, true});
        BOOST_TEST_REQUIRE(code.why_not() == "");
        code.begin({data.samples, data.inputs(), {}, {}, {}}, 1, &machine.uniform().workspace());
        for (std::size_t first = 0; first < data.samples; first += 100) BOOST_TEST(code.run({first, 100}, 0, 100));
      }
  }
}

/// Zeros meet infinities: the same bits, while code comes to have the zero rule.
BOOST_AUTO_TEST_CASE(sums_of_products_that_are_not_plain) {
  NaiveTape<double> tape;
  const Id p = tape.parameter(0.5), q = tape.parameter(2), x = tape.input(1), y = tape.input(1);
  const Id f = tape.mul(tape.sqrt(tape.mul(p, x)), tape.mul(y, q));
  const Program<double> program = compile(tape, tape.square(tape.sum_samples(f)));
  Points<double> at(program, 2100, never);
  for (std::size_t e = 0; e < at.samples; ++e) {
    if (e % 3 != 0) at.inputs[e] = 0;  // where the slope of the root is infinite
    if (e % 3 != 0 || e % 5 == 0) at.inputs[at.samples + e] = at.directions[e] = at.directions[at.samples + e] = 0;
  }
  for (const Isa isa : native_isas())
    for (const Kind kind : {Kind::jvp, Kind::hvp}) {
      Replay<double> interpreter(program), native(program, {.isa = std::string(name(isa)), .engine = "native"});
      for (Replay<double>* replay : {&interpreter, &native})
        replay->set_parameter_directions(std::vector<double>{0.25, -1});
      const std::vector<double> wanted = evaluate(interpreter, kind, at, Tables::columns);
      for (int time = 0; time < 20; ++time)
        compare(evaluate(native, kind, at, Tables::columns), wanted, names[static_cast<int>(kind)]);
    }
}

/// Without the zero rule a tangent of 0 meets the infinite slope of a root, outside the samples: not a number, by code too.
BOOST_AUTO_TEST_CASE(tangents_of_parameters_without_the_zero_rule) {
  NaiveTape<double> tape;
  tape.set_zero_rule(ZeroRule::ieee);
  const Id p = tape.parameter(0.5), q = tape.parameter(0), x = tape.input(1);
  const Id sum = tape.sum_samples(tape.add(tape.mul(p, x), tape.mul(tape.sqrt(q), x)));
  const Program<double> program = compile(tape, sum, {std::vector<Id>{p, x}});
  for (const std::size_t samples : {1, 5, 100})
    for (const Isa isa : native_isas())
      for (const Kind kind : {Kind::jvp, Kind::hvp}) {
        const Points<double> at(program, samples, never);
        Replay<double> interpreter(program), native(program, {.isa = std::string(name(isa)), .engine = "native"});
        for (Replay<double>* replay : {&interpreter, &native})
          replay->set_parameter_directions(std::vector<double>{0.25});
        compare(evaluate(native, kind, at, Tables::columns), evaluate(interpreter, kind, at, Tables::columns),
                names[static_cast<int>(kind)]);
        BOOST_TEST(std::isnan(native.uniform_tangents()[0]));
      }
}

BOOST_AUTO_TEST_CASE(departures_are_reported) {
  const Program<double> program = several<double>(2, true);
  for (const std::size_t samples : {1, 3, 200}) {
    Points<double> x(program, samples, never), on_path = x;
    const std::size_t odd = samples * 2 / 5;
    x.inputs[odd] = 60;
    for (const Isa isa : native_isas())
      for (const Kind kind : kinds) {
        Replay<double> replay(program, {.isa = std::string(name(isa)), .report_departures = true, .engine = "native"});
        for (int time = 0; time < 3; ++time) {
          evaluate(replay, kind, x, Tables::columns);
          BOOST_TEST_REQUIRE(replay.departures().size() == 1u, names[static_cast<int>(kind)] << " of " << samples);
          BOOST_TEST(replay.departures()[0].sample == odd);
          evaluate(replay, kind, on_path, Tables::columns);
          BOOST_TEST_REQUIRE(replay.departures().size() == 0u, names[static_cast<int>(kind)] << " of " << samples);
        }
        BOOST_TEST(replay.engine() == "native: " + std::string(name(isa)));
      }
  }
}

/// Seeds are side by side where samples are few, one after the other where there are more; more of either for more threads.
BOOST_AUTO_TEST_CASE(any_way_of_seeds, *uses_threads()) {
  const Program<double> program = several<double>(7);
  for (const std::size_t samples : {30, 500, 5000}) {
    Points<double> x(program, samples, never);
    for (std::size_t e = 5; e < samples; e += 97) x.inputs[e] = std::numeric_limits<double>::infinity();
    for (const Kind kind : {Kind::jacobian, Kind::hessian, Kind::sparse_hessian}) {
      Replay<double> alone(program, {.lanes = 16});
      const std::vector<double> wanted = evaluate(alone, kind, x, Tables::columns);
      for (const unsigned threads : {1u, 2u, 5u})
        for (const char* engine : {"interpreter", "native"}) {
          Replay<double> replay(program, {.threads = threads, .engine = engine});
          compare(evaluate(replay, kind, x, Tables::columns), wanted, names[static_cast<int>(kind)]);
        }
    }
  }
}

/// Made when first wanted, each by itself; and within the budget.
BOOST_AUTO_TEST_CASE(code_of_its_own) {
  const Program<double> program = several<double>(2);
  const Points<double> x(program, 100, never);
  for (const Isa isa : native_isas()) {
    const std::string set(name(isa));
    std::size_t before = 0;
    Replay<double> native(program, {.isa = set, .engine = "native"});
    for (const Kind kind : {Kind::jvp, Kind::hvp}) {
      evaluate(native, kind, x, Tables::columns);
      BOOST_TEST(native.bytes() > before);
      before = native.bytes();
      evaluate(native, kind, x, Tables::columns);
      BOOST_TEST(native.bytes() == before);
    }
    for (std::size_t budget = before; budget > 0; budget = budget * 3 / 4) {
      Replay<double> replay(program, {.isa = set, .engine = "native", .budget = budget});
      bool refused = false;
      for (const Kind kind : kinds) try {
          evaluate(replay, kind, x, Tables::columns);
          BOOST_TEST(replay.bytes() <= budget);
        } catch (const Error& error) {
          BOOST_TEST((error.code() == ErrorCode::out_of_memory));
          refused = true;
        }
      if (refused) break;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
