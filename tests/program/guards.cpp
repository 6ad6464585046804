// Guards in programs: a replay tells which samples leave the recorded path, and where; the others have the eager bits.
#include <boost/test/unit_test.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "tests/program/branchy.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {
namespace {

using V = Var<double>;

/// One evaluation, recorded by itself.
template <class Real>
struct Recorded {
  NaiveTape<Real> tape;
  std::vector<Id> inputs, outputs;
  std::vector<std::pair<bool, Real>>
      path;  // of each guard the outcome, and the constant compared with: to_integer has many
};

template <class Real>
void record(Recorded<Real>& r, std::uint64_t seed, std::size_t steps, std::span<const Real> at) {
  std::vector<Var<Real>> x;
  for (const Real v : at) x.push_back(input(r.tape, v));
  for (const Var<Real>& v : x) r.inputs.push_back(v.id());
  for (const Var<Real>& y : branchy<Real>(Random(seed), steps, x)) r.outputs.push_back(y.place(r.tape));
  const TapeView<Real> view = r.tape.view();
  for (const Guard& guard : view.guards) {
    const auto op = std::lower_bound(view.ops.begin(), view.ops.end(), guard.condition,
                                     [](const OpRecord& op_, Id id) { return op_.out < id; });
    const bool constant = std::binary_search(view.constants.begin(), view.constants.end(), op->b);
    r.path.emplace_back(guard.outcome, constant ? view.values[op->b] : Real(0));
  }
}

template <class Real>
void random_functions(std::size_t count) {
  std::size_t stayed = 0, left = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 7 + sizeof(Real));
    const std::size_t inputs = 1 + random.below(4), steps = 1 + random.below(25);
    const std::vector<std::size_t> sizes = {1, 2, 7, 17, 64, 65};
    const std::size_t n = random.of(sizes);
    const double spread = random.chance(0.5) ? 0.05 : 1.5;  // samples near each other mostly share a path
    std::vector<Real> x(n * inputs);
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t i = 0; i < inputs; ++i)
        x[e * inputs + i] = static_cast<Real>(0.3 * static_cast<double>(i) + spread * random.in(-1, 1));
    const auto sample = [&](std::size_t e) { return std::span<const Real>(x).subspan(e * inputs, inputs); };
    Recorded<Real> first;
    record<Real>(first, seed, steps, sample(random.below(n)));

    const Isa isa = random.of(usable_isas());
    ReplayOptions options;
    options.isa = std::string(name(isa));
    options.threads = random.chance(0.7) ? 1 : 3;
    options.report_departures = true;
    Replay<Real> replay(compile(first.tape, std::span<const Id>(first.outputs)), options);
    BOOST_TEST_REQUIRE(replay.program().statistics().guards == first.path.size());
    const std::size_t outputs = first.outputs.size();
    std::vector<Real> y(n * outputs), g(n * inputs), alone(n * outputs), jacobian(n * outputs * inputs);
    const std::vector<Real> ones(n * std::max(inputs, outputs), Real(1));
    const std::string what = "function " + std::to_string(seed) + ", " + options.isa;
    const auto departures = [&] {
      return std::vector<Departure>(replay.departures().begin(), replay.departures().end());
    };
    const auto in = rows(std::as_const(x).data(), inputs);
    replay.vjp(n, in, {}, rows(y.data(), outputs), rows(g.data(), inputs));
    const std::vector<Departure> seen = departures();
    const auto expect_same = [&](const char* method) {
      const std::vector<Departure> now = departures();
      bool same = now.size() == seen.size();
      for (std::size_t k = 0; same && k < seen.size(); ++k)
        same = seen[k].sample == now[k].sample && seen[k].guard == now[k].guard;
      BOOST_TEST_REQUIRE(same,
                         what << ": " << method << " reports " << now.size() << " departures, vjp " << seen.size());
    };
    replay.values(n, in, rows(alone.data(), outputs));
    expect_same("values");
    replay.jacobian(n, in, {}, rows(jacobian.data(), outputs * inputs));
    expect_same("jacobian");
    std::vector<Real> tangents(n * outputs), products(n * inputs);
    replay.jvp(n, in, rows(ones.data(), inputs), {}, rows(tangents.data(), outputs));
    expect_same("jvp");
    replay.hvp(n, in, rows(ones.data(), inputs), {}, {}, rows(products.data(), inputs), rows(ones.data(), outputs));
    expect_same("hvp");

    std::size_t next = 0;
    for (std::size_t e = 0; e < n; ++e) {
      Recorded<Real> eager;
      record<Real>(eager, seed, steps, sample(e));
      std::optional<std::size_t> guard;
      for (std::size_t k = 0; k < first.path.size() && !guard; ++k)
        if (eager.path.at(k) != first.path[k]) guard = k;
      if (guard) {
        ++left;
        BOOST_TEST_REQUIRE(next < seen.size(), what << ": sample " << e << " left unseen");
        BOOST_TEST_REQUIRE(seen[next].sample == e, what);
        BOOST_TEST_REQUIRE(seen[next].guard == *guard,
                           what << ", sample " << e << ": guard " << seen[next].guard << ", eager " << *guard);
        ++next;
        continue;
      }
      ++stayed;
      std::vector<Seed<Real>> seeds;
      for (const Id id : eager.outputs) seeds.push_back({id, Real(1)});
      eager.tape.backward(seeds);
      for (std::size_t k = 0; k < outputs; ++k) {
        BOOST_TEST_REQUIRE(same_bits(y[e * outputs + k], eager.tape.value(eager.outputs[k])), what);
        BOOST_TEST_REQUIRE(same_bits(alone[e * outputs + k], eager.tape.value(eager.outputs[k])), what);
      }
      for (std::size_t i = 0; i < inputs; ++i)
        BOOST_TEST_REQUIRE(same_bits(g[e * inputs + i], eager.tape.grad(eager.inputs[i])), what);
    }
    BOOST_TEST_REQUIRE(next == seen.size(), what << ": departures that are none");
  }
  if (count >= 100) {
    BOOST_TEST(stayed > count);
    BOOST_TEST(left > count);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guards)

BOOST_AUTO_TEST_CASE(random_functions_f64, *uses_threads()) { random_functions<double>(soak(400)); }
BOOST_AUTO_TEST_CASE(random_functions_f32, *uses_threads()) { random_functions<float>(soak(400)); }

BOOST_AUTO_TEST_CASE(by_default_another_path_is_refused) {
  NaiveTape<double> tape;
  const V x = input(tape, 1);
  const unsigned line = __LINE__ + 1;
  const V f = x < 2 ? V(x * x) : V(-x);
  Replay<double> replay(compile(tape, f.id()));
  std::vector<double> at = {1, 1.5, 3, 4}, values(4), gradients(4);
  const auto said = [&](std::size_t n) -> std::string {
    try {
      replay.gradient(n, rows(at.data(), 1), rows(values.data(), 1), rows(gradients.data(), 1));
    } catch (const Error& error) {
      BOOST_TEST((error.code() == ErrorCode::other_path));
      return error.what();
    }
    return "";
  };
  BOOST_TEST(said(2) == "");
  BOOST_TEST(values[1] == 2.25);
  BOOST_TEST(gradients[1] == 3);
  const std::string message = said(4);
  BOOST_TEST(message.find("sample 2 takes another path") == 0u, message);
  BOOST_TEST(message.find("lt at " __FILE__ ":" + std::to_string(line) + " was true and is false") != std::string::npos,
             message);
  BOOST_TEST(replay.departures().size() == 2u);
  BOOST_TEST(said(2) == "");  // usable as before
  BOOST_TEST(replay.departures().size() == 0u);
  BOOST_TEST(said(0) == "");

  const GuardInfo guard = replay.program().guard(0);
  BOOST_TEST(guard.file == __FILE__);
  BOOST_TEST(guard.line == line);
  BOOST_TEST(guard.condition == "lt");
  BOOST_TEST(guard.outcome);
  BOOST_CHECK_THROW(replay.program().guard(1), Error);
  BOOST_TEST(replay.program().describe().find("1 guards") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(they_can_be_left_out) {
  NaiveTape<double> tape;
  const V x = input(tape, 1);
  const V f = x < 2 ? V(x * x) : V(-x);
  CompileOptions options;
  options.guards = false;
  Replay<double> replay(compile(tape, f.id(), options));
  const double at = 3;
  double value = 0;
  replay.values(1, rows(&at, 1), rows(&value, 1));
  BOOST_TEST(value == 9);
  BOOST_TEST(replay.program().statistics().guards == 0u);
  BOOST_TEST(replay.program().statistics().recorded_ops == 2u);
  BOOST_TEST(replay.program().statistics().dead_ops == 1u);  // the comparison
}

BOOST_AUTO_TEST_CASE(no_output_needs_to_depend_on_them) {
  NaiveTape<double> tape;
  const V x = input(tape, 1), y = input(tape, 2);
  BOOST_TEST(exp(x) < 100);
  Replay<double> replay(compile(tape, y.id()));
  const double at[4] = {1, 7, 5, 8};
  double values[2];
  BOOST_CHECK_THROW(replay.values(2, rows(at, 2), rows(values, 1)), Error);
  BOOST_TEST_REQUIRE(replay.departures().size() == 1u);
  BOOST_TEST(replay.departures()[0].sample == 1u);
  BOOST_TEST(replay.departures()[0].guard == 0u);

  // Nor an input that is differentiated, nor one at all.
  CompileOptions options;
  options.differentiated = std::vector<Id>();
  Replay<double> passive(compile(tape, y.id(), options));
  BOOST_CHECK_THROW(passive.jacobian(2, rows(at, 2), {}, {}), Error);
  BOOST_CHECK_NO_THROW(passive.jacobian(1, rows(at, 2), {}, {}));
}

BOOST_AUTO_TEST_CASE(thousands_of_them) {
  // Taken apart by the passes, so they take no more slots than a few.
  NaiveTape<float> tape;
  const Var<float> x = input(tape, 0.5f);
  Var<float> y = x;
  for (int k = 0; k < 5000; ++k) {
    y += 1;
    if (k % 2 == 0) BOOST_TEST_REQUIRE(y < k + 2);
    else BOOST_TEST_REQUIRE(!(y > k + 2));
  }
  Program<float> program = compile(tape, y.id());
  BOOST_TEST(program.statistics().guards == 5000u);
  BOOST_TEST(program.statistics().recorded_ops == 10000u);
  ReplayOptions options;
  options.report_departures = true;
  Replay<float> replay(program, options);
  std::vector<float> at(100, 0.5f), values(100);
  at[40] = 0.9999f;  // rounds up to a whole number as y grows
  replay.values(100, rows(at.data(), 1), rows(values.data(), 1));
  BOOST_TEST_REQUIRE(replay.departures().size() == 1u);
  BOOST_TEST(replay.departures()[0].sample == 40u);
  tape.set_input(x.id(), 0.9999f);
  BOOST_CHECK_THROW(tape.forward(), Error);
  BOOST_TEST(replay.departures()[0].guard == tape.departure().value());
}

BOOST_AUTO_TEST_CASE(the_first_that_fails_is_named) {
  // Comparisons are made by the checks. Every third is no comparison, if so asked.
  for (const bool numbers : {false, true})
    for (const std::size_t count : {1, 2, 3, 15, 16, 17, 40}) {
      NaiveTape<double> tape;
      const Id x = tape.input(-1);
      for (std::size_t k = 0; k < count; ++k) {
        const double bound = static_cast<double>(count - k);  // the last is the first to fail
        const Id one = tape.constant(bound);
        const Id condition = numbers && k % 3 == 2 ? tape.relu(tape.sub(x, one))  // 0 up to the bound
                             : k % 2 == 0          ? tape.le(x, one)
                                                   : tape.gt(x, one);
        tape.guard({condition, tape.value(condition) != 0, static_cast<std::uint32_t>(k), "here"});
      }
      const Program<double> program = compile(tape, x);
      BOOST_TEST(program.statistics().forward_instructions == count + (numbers ? count / 3 * 2 : 0));
      for (const char* const engine : {"interpreter", "native"}) {
        ReplayOptions options;
        options.report_departures = true;
        options.engine = engine;
        Replay<double> replay(program, options);
        std::vector<double> at(67), values(67), expected;
        for (std::size_t e = 0; e < at.size(); ++e) at[e] = static_cast<double>(e) - 3.5;
        for (const bool again : {false, true}) {
          if (again) replay.gradient(at.size(), rows(at.data(), 1), {}, rows(values.data(), 1));
          else replay.values(at.size(), rows(at.data(), 1), rows(values.data(), 1));
          std::size_t next = 0;
          for (std::size_t e = 0; e < at.size(); ++e) {
            std::optional<std::size_t> guard;
            for (std::size_t k = 0; k < count && !guard; ++k)
              if (at[e] > static_cast<double>(count - k)) guard = k;
            if (!guard) continue;
            BOOST_TEST_REQUIRE(next < replay.departures().size());
            BOOST_TEST(replay.departures()[next].sample == e);
            BOOST_TEST(replay.departures()[next].guard == *guard);
            ++next;
          }
          BOOST_TEST(next == replay.departures().size());
        }
        if (count < 10) BOOST_TEST(!replay.departures().empty());
      }
    }
}

BOOST_AUTO_TEST_CASE(what_is_asked_again_is_checked_once) {
  NaiveTape<double> tape;
  const V x = input(tape, 1), y = input(tape, 2);
  BOOST_TEST_REQUIRE(x < 5);
  for (int again = 0; again < 3; ++again) {
    BOOST_TEST_REQUIRE(x < y);
    BOOST_TEST_REQUIRE(y > x);
    BOOST_TEST_REQUIRE(!(x >= y));  // this isn't the same of NaN
  }
  BOOST_TEST_REQUIRE(x < 5);
  const Program<double> program = compile(tape, V(x + y).id());
  BOOST_TEST(program.statistics().guards == 11u);
  BOOST_TEST(program.statistics().forward_instructions == 1u + 3u);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double at[] = {1, 2, 3, 2, 6, 7, 1, nan};
  double values[4];
  for (const char* const engine : {"interpreter", "native"}) {
    Replay<double> replay(program, {.report_departures = true, .engine = engine});
    replay.values(4, rows(at, 2), rows(values, 1));
    BOOST_TEST_REQUIRE(replay.departures().size() == 3u);
    const std::size_t guards[] = {1, 0, 1};
    for (std::size_t k = 0; k < 3; ++k) {
      BOOST_TEST(replay.departures()[k].sample == k + 1);
      BOOST_TEST(replay.departures()[k].guard == guards[k]);
    }
  }
}

// Each comparison, of variables and of a constant on either side, wanted by the guard alone or by the value too, at what is special.
BOOST_AUTO_TEST_CASE(every_comparison) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> numbers = {0, -0.0, 1, -1, 2, inf, -inf, nan};
  std::vector<double> at;
  for (const double a : numbers)
    for (const double b : numbers) at.insert(at.end(), {a, b});
  const std::size_t n = at.size() / 2;
  for (const Op op : {Op::lt, Op::le, Op::gt, Op::ge, Op::eq, Op::ne, Op::isnan})
    for (const int constant : {-1, 0, 1})  // neither, which
      for (const double first : {1.0, 0.0})
        for (const bool wanted : {false, true}) {
          NaiveTape<double> tape;
          const Id inputs[2] = {tape.input(first), tape.input(1)};
          Id operands[2] = {inputs[0], inputs[1]};
          if (constant >= 0) operands[constant] = tape.constant(1);
          const Id condition = tape.record(op, std::span<const Id>(operands, op == Op::isnan ? 1 : 2));
          const bool outcome = tape.value(condition) != 0;
          tape.guard({condition, outcome, 1, "here"});
          const Program<double> program = compile(tape, wanted ? condition : inputs[0]);
          const std::string what = std::string(name(op)) + ", constant " + std::to_string(constant);
          for (const Isa isa : usable_isas())
            for (const char* const engine : {"interpreter", "native"}) {
              Replay<double> replay(program,
                                    {.isa = std::string(name(isa)), .report_departures = true, .engine = engine});
              std::vector<double> values(n), gradients(2 * n), tangents(n);
              const auto check = [&](std::size_t from, std::size_t samples) {
                std::size_t next = 0;
                for (std::size_t e = from; e < from + samples; ++e) {
                  tape.set_input(inputs[0], at[2 * e]);
                  tape.set_input(inputs[1], at[2 * e + 1]);
                  try {
                    tape.forward();
                    if (wanted) BOOST_TEST_REQUIRE(values[e] == tape.value(condition), what);
                    continue;
                  } catch (const Error&) {
                  }
                  BOOST_TEST_REQUIRE(next < replay.departures().size(),
                                     what << ", " << at[2 * e] << ' ' << at[2 * e + 1]);
                  BOOST_TEST_REQUIRE(replay.departures()[next++].sample == e - from, what);
                }
                BOOST_TEST_REQUIRE(next == replay.departures().size(), what);
              };
              const auto in = [&](std::size_t e) { return rows(std::as_const(at).data() + 2 * e, 2); };
              replay.gradient(n, in(0), rows(values.data(), 1), rows(gradients.data(), 2));
              check(0, n);
              replay.jvp(n, in(0), in(0), rows(values.data(), 1), rows(tangents.data(), 1));
              check(0, n);
              for (std::size_t e = 0; e < n; e += 5) {
                replay.values(1, in(e), rows(values.data() + e, 1));
                check(e, 1);
              }
            }
        }
}

BOOST_AUTO_TEST_CASE(of_constants) {
  // What never changes, said to have been otherwise: nobody stays on the path.
  for (const bool with_parameter : {false, true}) {
    NaiveTape<double> tape;
    const Id x = tape.input(1), one = tape.constant(1), never = tape.lt(one, one);
    const Id f = with_parameter ? tape.mul(x, tape.parameter(2)) : x;
    tape.guard({never, false, 1, "here"});
    Replay<double> stays(compile(tape, f), {.report_departures = true});
    tape.guard({never, true, 2, "here"});
    Replay<double> leaves(compile(tape, f), {.report_departures = true});
    const double at[3] = {1, 2, 3};
    double values[3];
    stays.values(3, rows(at, 1), rows(values, 1));
    BOOST_TEST(stays.departures().empty());
    leaves.values(3, rows(at, 1), rows(values, 1));
    BOOST_TEST_REQUIRE(leaves.departures().size() == (with_parameter ? 1u : 3u));
    BOOST_TEST(leaves.departures()[0].sample == (with_parameter ? Departure::every_sample : 0u));
    BOOST_TEST(leaves.program().guard(leaves.departures()[0].guard).line == 2u);
  }
}

BOOST_AUTO_TEST_CASE(of_parameters_and_sums) {
  NaiveTape<double> tape;
  const V scale = parameter(tape, 2), x = input(tape, 1);
  const V term = x < scale ? V(scale * x) : V(x);
  const V total(tape, tape.sum_samples(term.id()));
  const V f = scale > 0 ? (total < 100 ? V(total * total) : V(total)) : V(-total);
  ReplayOptions options;
  options.report_departures = true;
  Replay<double> replay(compile(tape, f.id()), options);
  BOOST_TEST_REQUIRE(replay.program().statistics().guards == 3u);
  std::vector<double> at = {1, 0.5, -3, 1.5, 40, 0}, gradients(6);
  const auto run = [&](double parameter, std::size_t n) {
    replay.set_parameters(std::span<const double>(&parameter, 1));
    replay.gradient(n, rows(at.data(), 1), {}, rows(gradients.data(), 1));
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (const Departure& d : replay.departures()) found.emplace_back(d.sample, d.guard);
    replay.values(n, rows(at.data(), 1), {});
    std::size_t k = 0;
    BOOST_TEST_REQUIRE(replay.departures().size() == found.size());
    for (const Departure& d : replay.departures()) {
      BOOST_TEST(d.sample == found[k].first);
      BOOST_TEST(d.guard == found[k++].second);
    }
    return found;
  };
  using Found = std::vector<std::pair<std::size_t, std::size_t>>;
  const std::size_t all = Departure::every_sample;
  BOOST_TEST((run(2, 4) == Found{}));
  BOOST_TEST(replay.uniform_outputs()[0] == 0);
  BOOST_TEST((run(2, 6) == Found{{4, 0}}));
  BOOST_TEST((run(1, 6) == Found{{0, 0}, {3, 0}, {4, 0}}));
  BOOST_TEST((run(50, 6) == Found{{all, 2}}));
  BOOST_TEST((run(-5, 0) == Found{{all, 1}}));
  BOOST_TEST(replay.program().guard(2).condition == "lt");
  BOOST_TEST(replay.program().guard(1).condition == "gt");

  // What knows no sums: guards of parameters alone.
  NaiveTape<double> plain;
  const V p = parameter(plain, 2), z = input(plain, 1);
  const V g = p > 1 ? V(p * z * z) : z;
  Replay<double> second(compile(plain, g.id()));
  double jacobian = 0;
  second.jacobian(1, rows(at.data(), 1), {}, rows(&jacobian, 1));
  BOOST_TEST(jacobian == 4);
  const double half = 0.5;
  second.set_parameters(std::span<const double>(&half, 1));
  BOOST_CHECK_EXCEPTION(second.jacobian(1, rows(at.data(), 1), {}, rows(&jacobian, 1)), Error, [](const Error& error) {
    return std::string(error.what()).find("the whole batch takes another path") == 0;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
