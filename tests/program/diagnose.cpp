// Finding trouble: the op that is to blame, gradients that are wrong, drawings.
#include "wengert/diagnose.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "tests/every_op.hpp"
#include "tests/program/program_file.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/says.hpp"
#include "tests/soak.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  BOOST_TEST_MESSAGE("no '" << part << "' in: " << text);
  return false;
}

/// sqrt(x) * log(y) + y, in two scopes.
struct Graph {
  NaiveTape<double> tape;
  Id x = tape.input(1), y = tape.input(2), root = no_id, logarithm = no_id, product = no_id, f = no_id;

  Graph() {
    tape.label(x, "x");
    tape.label(y, "y");
    {
      const Scope roots(tape, "roots");
      root = tape.sqrt(x);
    }
    const Scope rest(tape, "rest");
    logarithm = tape.log(y);
    tape.label(logarithm, "l");
    product = tape.mul(root, logarithm);
    f = tape.add(product, y);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(diagnosis)

BOOST_AUTO_TEST_CASE(finite_numbers_are_no_trouble) {
  Graph graph;
  const double points[3][2] = {{1, 2}, {4, 1}, {0.25, 3}};
  const Diagnosis found = diagnose(compile(graph.tape, graph.f), 3, rows(points[0], 2));
  BOOST_TEST(found.clean());
  BOOST_TEST(found.describe() == "every value and every adjoint is finite\n");
  graph.tape.backward(graph.f);
  BOOST_TEST(diagnose(graph.tape).clean());
  BOOST_TEST(diagnose(compile(graph.tape, graph.f), 0, rows(points[0], 2)).clean());
}

BOOST_AUTO_TEST_CASE(the_first_value_and_the_first_adjoint) {
  const Graph graph;
  const Program<double> program = compile(graph.tape, graph.f);
  double points[100][2];
  for (auto& point : points) point[0] = point[1] = 2;
  points[70][1] = -1;  // log
  points[80][0] = -1;  // sqrt
  points[66][0] = 0;   // slope of sqrt
  const Diagnosis found = diagnose(program, 100, rows(points[0], 2));
  BOOST_REQUIRE(found.value.has_value());
  BOOST_TEST(found.value->sample == 70u);
  BOOST_TEST(found.value->op == "log");
  BOOST_TEST(found.value->name == "rest/l");
  BOOST_TEST(found.value->id == graph.logarithm);
  BOOST_REQUIRE(found.value->operands.size() == 1u);
  BOOST_TEST(found.value->operands[0].name == "y");
  BOOST_TEST(found.value->operands[0].value == -1);
  BOOST_REQUIRE(found.adjoint.has_value());
  BOOST_TEST(found.adjoint->sample == 66u);
  BOOST_TEST(found.adjoint->op == "input");
  BOOST_TEST(found.adjoint->name == "x");
  BOOST_TEST(found.adjoint->number == inf);
  BOOST_TEST(found.adjoint->through == graph.root);
  BOOST_TEST(found.adjoint->through_op == "sqrt");
  BOOST_TEST(contains(found.describe(), "sample 70: log (id 3, rest/l) is nan, of id 1 (y) = -1\n"));
  BOOST_TEST(contains(found.describe(),
                      "sample 66: the adjoint of input (id 0, x) is inf, by sqrt (id 2, roots) with "
                      "adjoint 0.693147180559945"));
}

BOOST_AUTO_TEST_CASE(inputs_are_to_blame_for_themselves) {
  const Graph graph;
  const double point[2] = {nan, 2};
  const Diagnosis found = diagnose(compile(graph.tape, graph.f), 1, rows(point, 2));
  BOOST_REQUIRE(found.value.has_value());
  BOOST_TEST(found.value->op == "input");
  BOOST_TEST(found.value->name == "x");
  BOOST_TEST(found.value->operands.empty());
}

BOOST_AUTO_TEST_CASE(sums_of_contributions_that_overflow) {
  NaiveTape<double> tape;
  const Id x = tape.input(1), c = tape.constant(1.5e308);
  const Id f = tape.add(tape.mul(x, c), tape.mul(x, c));
  const double point = 1e-10;
  const Diagnosis found = diagnose(compile(tape, f), 1, rows(&point, 1));
  BOOST_TEST(!found.value);
  BOOST_REQUIRE(found.adjoint.has_value());
  BOOST_TEST(found.adjoint->id == x);
  BOOST_TEST(found.adjoint->through == no_id);
  BOOST_TEST(contains(found.describe(), "the sum of what several ops contribute"));
}

BOOST_AUTO_TEST_CASE(what_nobody_differentiates_is_not_looked_at) {
  const Graph graph;
  const double point[2] = {0, 2};
  CompileOptions options;
  options.differentiated = {graph.y};
  BOOST_TEST(diagnose(compile(graph.tape, graph.f, options), 1, rows(point, 2)).clean());
  BOOST_TEST(!diagnose(compile(graph.tape, graph.f), 1, rows(point, 2)).clean());
}

BOOST_AUTO_TEST_CASE(of_a_tape_as_it_is) {
  Graph graph;
  graph.tape.set_input(graph.x, 0);
  graph.tape.forward();
  BOOST_TEST(diagnose(graph.tape).clean());  // before any sweep
  graph.tape.backward(graph.f);
  const Diagnosis found = diagnose(graph.tape);
  BOOST_TEST(!found.value);
  BOOST_REQUIRE(found.adjoint.has_value());
  BOOST_TEST(found.adjoint->through_op == "sqrt");
}

BOOST_AUTO_TEST_CASE(parameters_and_sums) {
  NaiveTape<double> tape;
  const Id p = tape.parameter(1), x = tape.input(1), f = tape.log(tape.mul(p, x));
  const Program<double> program = compile(tape, f);
  const std::vector<double> point = {2}, parameters = {-1}, two = {1, 2};
  BOOST_TEST(diagnose(program, 1, rows(point.data(), 1)).clean());
  BOOST_TEST(!diagnose(program, 1, rows(point.data(), 1), std::span<const double>(parameters)).clean());
  const auto with = [](ErrorCode code) { return [code](const Error& error) { return error.code() == code; }; };
  BOOST_CHECK_EXCEPTION(diagnose(program, 1, rows(point.data(), 1), std::span<const double>(two)), Error,
                        with(ErrorCode::bad_size));
  const Diagnosis found = diagnose(compile(tape, tape.exp(tape.log(p))), 0, Samples<const double>(), parameters);
  BOOST_REQUIRE(found.value.has_value());
  BOOST_TEST(found.value->sample == Departure::every_sample);
  BOOST_TEST(contains(found.describe(), "the batch: log (id 2) is nan, of id 0 = -1\n"));
}

namespace {

/// log(sum over the samples of sqrt(log(w) x) - 5).
struct Summed {
  NaiveTape<double> tape;
  Id w = tape.parameter(1), x = tape.input(1), f = no_id;

  Summed() {
    tape.label(w, "w");
    const Id scale = tape.log(w), root = tape.sqrt(tape.mul(scale, x));
    tape.label(root, "root");
    const Id sum = tape.sum_samples(root);
    tape.label(sum, "sum");
    f = tape.log(tape.sub(sum, tape.constant(5)));
    tape.label(f, "f");
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(programs_that_sum_over_samples) {
  const Summed graph;
  const Program<double> program = compile(graph.tape, graph.f);
  std::vector<double> x(150, 1.0);
  const auto with_w = [&](double w) {
    return diagnose(program, x.size(), rows(x.data(), 1), std::span<const double>(&w, 1));
  };
  const double e = std::exp(1.0);
  BOOST_TEST(with_w(e).clean());

  // Before all samples.
  Diagnosis found = with_w(-1);
  BOOST_TEST(contains(found.describe(), "the batch: log (id 3) is nan, of id 0 (w) = -1\n"));

  // In one.
  x[130] = -1;
  found = with_w(e);
  BOOST_REQUIRE(found.value.has_value());
  BOOST_TEST(found.value->sample == 130u);
  BOOST_TEST(found.value->name == "root");
  BOOST_TEST(found.value->operands.size() == 1u);
  BOOST_REQUIRE(found.adjoint.has_value());  // of what is computed from the sum, which is NaN
  BOOST_TEST(found.adjoint->sample == Departure::every_sample);

  // In one, on the way back: the slope of sqrt.
  x[130] = 0;
  found = with_w(e);
  BOOST_TEST(!found.value);
  BOOST_REQUIRE(found.adjoint.has_value());
  BOOST_TEST(found.adjoint->sample == 130u);
  BOOST_TEST(found.adjoint->op == "mul");
  BOOST_TEST(found.adjoint->number == inf);
  BOOST_TEST(found.adjoint->through_op == "sqrt");
  BOOST_TEST(found.adjoint->through_name == "root");

  // After them: the logarithm of -1, then of 0, whose slope is infinite.
  x.assign(4, 1.0);
  found = with_w(e);
  BOOST_REQUIRE(found.value.has_value());
  BOOST_TEST(found.value->sample == Departure::every_sample);
  BOOST_TEST(contains(found.describe(), "the batch: log (id 8, f) is nan"));
  x.assign(5, 1.0);
  found = with_w(e);
  BOOST_REQUIRE(found.adjoint.has_value());
  BOOST_TEST(found.adjoint->sample == Departure::every_sample);
  BOOST_TEST(found.adjoint->op == "sub");
  BOOST_TEST(found.adjoint->through_name == "f");

  // A sum that overflows while no term does.
  NaiveTape<double> large;
  const Id y = large.input(1), total = large.sum_samples(large.mul(y, y));
  large.label(total, "total");
  const std::vector<double> huge(3, 1e154);
  found = diagnose(compile(large, total), 3, rows(huge.data(), 1));
  BOOST_TEST(!found.adjoint);
  BOOST_TEST(found.describe() == "the batch: sum_samples (id 2, total) is inf\n");
  BOOST_TEST(diagnose(compile(large, total), 1, rows(huge.data(), 1)).clean());
}

BOOST_AUTO_TEST_CASE(sums_agree_with_what_replays_find) {
  // Random parts before, in and after the samples: where a result isn't finite, something is found.
  std::size_t troubled = 0, clean = 0;
  const std::size_t count = soak(300);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    Random random(seed + 77);
    NaiveTape<double> tape;
    const std::vector<Op> ops = {Op::add, Op::mul, Op::sqrt, Op::log, Op::exp, Op::sin, Op::div, Op::max};
    const auto some = [&](std::vector<Id> from) {
      for (std::size_t k = 1 + random.below(4); k > 0; --k) {
        const Op op = random.of(ops);
        std::vector<Id> operands;
        for (int i = 0; i < info(op).arity; ++i) operands.push_back(random.of(from));
        from.push_back(tape.record(op, operands));
      }
      return from;
    };
    const std::vector<Id> inputs = {tape.input(), tape.input()}, uniform = some({tape.parameter(), tape.parameter()});
    std::vector<Id> all = inputs;
    all.insert(all.end(), uniform.begin(), uniform.end());
    all = some(all);
    std::vector<Id> late = uniform;
    for (std::size_t k = 1; k <= 2; ++k) late.push_back(tape.sum_samples(all[all.size() - k]));
    late = some(late);
    const Program<double> program = compile(tape, late.back());
    const std::size_t samples = random.below(4) == 0 ? 130 : random.below(6);
    std::vector<double> x(samples * 2), gradients(samples * 2), p(2);
    const double special = random.chance(0.5) ? 0 : 0.01;
    for (double& number : x) number = some_number<double>(random, special);
    for (double& number : p) number = some_number<double>(random, special);
    Replay<double> replay(program);
    replay.set_parameters(p);
    replay.gradient(samples, rows(std::as_const(x).data(), 2), {}, rows(gradients.data(), 2));
    const auto finite = [](std::span<const double> numbers) {
      return std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
    };
    const Diagnosis found = diagnose(program, samples, rows(std::as_const(x).data(), 2), p);
    if (!finite(replay.uniform_outputs())) BOOST_TEST_REQUIRE(found.value.has_value(), "graph " << seed);
    if (!finite(gradients) || !finite(replay.parameter_gradients()))
      BOOST_TEST_REQUIRE(found.adjoint.has_value(), "graph " << seed << "\n" << found.describe());
    ++(found.clean() ? clean : troubled);
  }
  if (count >= 100) {
    BOOST_TEST(troubled > count / 10);
    BOOST_TEST(clean > count / 10);
  }
}

BOOST_AUTO_TEST_CASE(agrees_with_the_eager_tape_on_random_graphs) {
  std::size_t troubled = 0;
  for (std::uint64_t seed = 1; seed <= soak(300); ++seed) {
    Random random(seed);
    RandomTape<double> graph = random_tape<double>(random, 1 + random.below(40));
    // Straight from the file, so that its ids are those of a tape.
    const Program<double> program = loaded<double>(saved(compile(graph.tape, std::span<const Id>(graph.outputs))));
    const std::size_t samples = 1 + random.below(20);
    std::vector<double> points(samples * graph.inputs.size());
    for (double& number : points) number = some_number<double>(random, 0.02);
    const Diagnosis found = diagnose(program, samples, rows(points.data(), graph.inputs.size()));
    std::optional<std::size_t> value, adjoint;  // samples by the tape
    for (std::size_t e = 0; e < samples; ++e) {
      for (std::size_t i = 0; i < graph.inputs.size(); ++i)
        graph.tape.set_input(graph.inputs[i], points[e * graph.inputs.size() + i]);
      graph.tape.forward();
      std::vector<Seed<double>> seeds;
      for (Id id : graph.outputs) seeds.push_back({id, 1});
      graph.tape.backward(seeds);
      bool bad = false;
      for (Id id : graph.inputs) bad |= !std::isfinite(graph.tape.grad(id));
      if (bad && !adjoint) adjoint = e;
      bad = false;
      for (Id id : graph.outputs)  // an infinite constant is meant to be
        bad |= !std::isfinite(graph.tape.value(id)) && !std::ranges::binary_search(graph.tape.view().constants, id);
      if (bad && !value) value = e;
    }
    // What reaches an output or a gradient was found, there or before: also among what constants come to.
    if (value)
      BOOST_TEST_REQUIRE(
          (found.value && (found.value->sample == Departure::every_sample || found.value->sample <= *value)),
          "graph " << seed << ": value");
    if (adjoint)
      BOOST_TEST_REQUIRE((found.adjoint && found.adjoint->sample <= *adjoint), "graph " << seed << ": adjoint");
    troubled += !found.clean();
    BOOST_TEST_REQUIRE(!found.describe().empty());
  }
  BOOST_TEST(troubled > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(gradient_check)

BOOST_AUTO_TEST_CASE(right_gradients_pass) {
  const Graph graph;
  const double points[3][2] = {{1, 2}, {4, 1e-3}, {1e-3, 3e5}};
  const GradientCheck check = check_gradient(compile(graph.tape, graph.f), 3, rows(points[0], 2));
  BOOST_TEST(check.passed(), check.describe());
  BOOST_TEST(check.entries.size() == 6u);
  for (const GradientCheck::Entry& entry : check.entries) {
    BOOST_TEST(entry.known);
    BOOST_TEST(std::fabs(entry.difference - entry.gradient) <= 1e-7 * std::fabs(entry.gradient));
  }
}

BOOST_AUTO_TEST_CASE(wrong_gradients_do_not) {
  // A slope that is right by the book and isn't what differences see: |x| at 0 leaves 1 and -1, relu the mean.
  NaiveTape<double> tape;
  const Id x = tape.input(), f = tape.relu(x);
  const double point = 0;
  const GradientCheck check = check_gradient(compile(tape, f), 1, rows(&point, 1));
  BOOST_TEST(!check.passed());
  BOOST_TEST(check.disagreeing() == 1u);
  BOOST_TEST(check.entries[0].difference == 0.5);
  BOOST_TEST(contains(check.describe(), "1 don't"));
  BOOST_TEST(contains(check.describe(), "sample 0, output 0, input 0: 0, by differences 0.5"));
}

BOOST_AUTO_TEST_CASE(where_there_is_nothing_to_compare_with) {
  NaiveTape<double> tape;
  const Id x = tape.input(), f = tape.log(x);
  const double point = -1;
  const GradientCheck check = check_gradient(compile(tape, f), 1, rows(&point, 1));
  BOOST_TEST(check.passed());
  BOOST_TEST(!check.entries[0].known);
  BOOST_TEST(contains(check.describe(), "1 have none to compare with"));
}

template <class Real>
void every_op_passes() {
  for (const Op op : fixed_ops) {
    if (op == Op::sum_samples) continue;
    const std::size_t n = static_cast<std::size_t>(info(op).arity);
    NaiveTape<Real> tape;
    std::vector<Id> x;
    for (std::size_t i = 0; i < n; ++i) x.push_back(tape.input());
    const Program<Real> program = compile(tape, tape.record(op, x));
    Random random(static_cast<std::uint64_t>(op) + 1);
    const std::size_t samples = 40;
    std::vector<Real> points;
    for (std::size_t k = 0; k < samples * n; ++k) {
      const OpInfo::Range range = info(op).domain[k % n];
      points.push_back(static_cast<Real>(random.in(std::fmax(range.low, -20), std::fmin(range.high, 20))));
    }
    const GradientCheck check = check_gradient(program, samples, rows(points.data(), n));
    // Near a jump or a kink differences may be off without knowing it.
    BOOST_TEST(check.disagreeing() <= samples / 10, name(op) << ": " << check.describe());
  }
}
BOOST_AUTO_TEST_CASE(every_op_f64) { every_op_passes<double>(); }
BOOST_AUTO_TEST_CASE(every_op_f32) { every_op_passes<float>(); }

BOOST_AUTO_TEST_CASE(several_outputs_and_what_is_left_out) {
  NaiveTape<double> tape;
  const Id x = tape.input(1), y = tape.input(2), p = tape.parameter(3);
  const std::vector<Id> outputs = {tape.mul(x, y), tape.exp(tape.mul(p, x)), tape.constant(4)};
  CompileOptions options;
  options.differentiated = {y, x};
  const double points[2][2] = {{1, 2}, {-1, 0.5}};
  const GradientCheck check =
      check_gradient(compile(tape, std::span<const Id>(outputs), options), 2, rows(points[0], 2));
  BOOST_TEST(check.passed(), check.describe());
  BOOST_TEST(check.entries.size() == 12u);
  BOOST_TEST(check.entries[0].gradient == 1);  // d(x y)/dy
  const Program<double> sum = compile(tape, tape.sum_samples(x));
  BOOST_CHECK_EXCEPTION(check_gradient(sum, 2, rows(points[0], 2)), Error,
                        says(ErrorCode::unsupported, "check_gradient of a program with sums over samples"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(drawing)

BOOST_AUTO_TEST_CASE(a_graph_in_scopes) {
  const std::string text = dot(compile(Graph().tape, Id(5)));
  const std::string expected = R"(digraph wengert {
  node [fontname="sans-serif"];
  n0 [label="x: input 0", shape=ellipse];
  n1 [label="y: input 1", shape=ellipse];
  subgraph cluster0 {
  label="roots";
  n2 [label="sqrt", shape=box];
  }
  subgraph cluster1 {
  label="rest";
  n3 [label="l: log", shape=box];
  n4 [label="mul", shape=box];
  n5 [label="add", shape=box];
  }
  n0 -> n2;
  n1 -> n3;
  n2 -> n4 [headlabel="0", fontsize=9];
  n3 -> n4 [headlabel="1", fontsize=9];
  n4 -> n5 [headlabel="0", fontsize=9];
  n1 -> n5 [headlabel="1", fontsize=9];
}
)";
  BOOST_TEST(text == expected);
}

BOOST_AUTO_TEST_CASE(names_that_would_break_the_language) {
  NaiveTape<double> tape;
  const Id x = tape.input();
  tape.label(x, "a \"b\" \\ c\n\x1b[31m}");
  const std::string text = dot(tape);
  BOOST_TEST(contains(text, R"(label="a \"b\" \\ c[31m}: input 0")"));
  BOOST_TEST(dot(NaiveTape<float>()) == "digraph wengert {\n  node [fontname=\"sans-serif\"];\n}\n");
}

BOOST_AUTO_TEST_CASE(several_outputs_parameters_and_constants) {
  NaiveTape<float> tape;
  const Id p = tape.parameter(), c = tape.constant(0.1f);
  const Id s = tape.softmax(std::vector<Id>{p, c});
  tape.add(s + 1, s);
  const std::string text = dot(tape);
  BOOST_TEST(contains(text, "n0 [label=\"parameter 0\", shape=ellipse, style=dashed]"));
  BOOST_TEST(contains(text, "n1 [label=\"0.1\", shape=plaintext]"));
  BOOST_TEST(contains(text, "n2 -> n4 [headlabel=\"0\", taillabel=\"1\", fontsize=9]"));
}

BOOST_AUTO_TEST_CASE(braces_are_even_on_random_recordings) {
  for (std::uint64_t seed = 1; seed <= soak(100); ++seed) {
    Random random(seed);
    NaiveTape<double> tape;
    std::vector<Id> ids = {tape.input()};
    std::vector<std::unique_ptr<Scope<double>>> scopes;
    for (int k = 0; k < 60; ++k) {
      if (random.chance(0.2)) scopes.push_back(std::make_unique<Scope<double>>(tape, "s"));
      else if (random.chance(0.3) && !scopes.empty()) scopes.pop_back();
      else ids.push_back(tape.exp(random.of(ids)));
    }
    while (!scopes.empty()) scopes.pop_back();
    for (const std::string& text : {dot(tape), dot(compile(tape, ids.back()))})
      BOOST_TEST_REQUIRE(std::count(text.begin(), text.end(), '{') == std::count(text.begin(), text.end(), '}'));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
