// Many threads, processes forked off, callables that throw: defined, and without a trace in the results.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <stdexcept>
#include <thread>

#include "tests/needs.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

constexpr std::size_t samples = 3000;

/// exp(x) * softplus(x y), and samples to run it on.
struct Problem {
  Program<double> program = [] {
    NaiveTape<double> tape;
    const Id x = tape.input(1), y = tape.input(2);
    return compile(tape, tape.mul(tape.exp(x), tape.softplus(tape.mul(x, y))));
  }();
  std::vector<double> points = std::vector<double>(2 * samples);

  Problem() {
    Random random(1);
    for (double& number : points) number = random.in(-2, 2);
  }
  /// Values, then gradients.
  std::vector<double> run(Replay<double>& replay) const {
    std::vector<double> out(3 * samples);
    replay.gradient(samples, rows(points.data(), 2), rows(out.data(), 1), rows(out.data() + samples, 2));
    return out;
  }
};

ReplayOptions with_threads(unsigned threads, ParallelFor parallel_for = {}) {
  ReplayOptions options;
  options.threads = threads;
  options.parallel_for = std::move(parallel_for);
  return options;
}

/// The gradient that a random tape of that seed records, its values, and those of its program.
std::vector<double> record_and_replay(std::uint64_t seed) {
  Random random(seed);
  RandomTape<double> graph = random_tape<double>(random, 60);
  const Id f = graph.outputs[0];
  graph.tape.backward(f);
  std::vector<double> all = {graph.tape.value(f)}, point;
  for (Id id : graph.inputs) {
    all.push_back(graph.tape.grad(id));
    point.push_back(graph.tape.value(id));
  }
  Replay<double> replay(compile(graph.tape, f));
  std::vector<double> gradient(point.size());
  replay.gradient(1, rows(point.data(), point.size()), {}, rows(gradient.data(), point.size()));
  all.insert(all.end(), gradient.begin(), gradient.end());
  return all;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same_bits(x, y); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attack)

BOOST_AUTO_TEST_CASE(tapes_in_many_threads, *uses_threads()) {
  constexpr std::uint64_t tapes = 40;
  std::vector<std::vector<double>> alone;
  for (std::uint64_t seed = 0; seed < tapes; ++seed) alone.push_back(record_and_replay(seed));
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 16; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t k = 0; k < tapes; ++k) {
          const std::uint64_t seed = (k + 5 * t) % tapes;
          wrong += !same(record_and_replay(seed), alone[seed]);
        }
      });
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(one_program_in_64_threads, *uses_threads()) {
  const Problem problem;
  Replay<double> first(problem.program);
  const std::vector<double> expected = problem.run(first);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 64; ++t)
      threads.emplace_back([&, t] {
        const Program<double> copy = problem.program;
        Replay<double> replay(t % 2 ? copy : problem.program, with_threads(1 + t % 3 / 2));
        for (int k = 0; k < 3; ++k) wrong += !same(problem.run(replay), expected);
        wrong += problem.program.describe().empty() || problem.program.jacobian_sparsity().nonzeros() != 2;
      });
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(replays_that_end_while_idle, *uses_threads()) {
  const Problem problem;
  for (int k = 0; k < 20; ++k) {
    Replay<double> replay(problem.program, with_threads(4));
    if (k % 2) problem.run(replay);
    if (k % 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // its threads are asleep
    Replay<double> moved = std::move(replay);
  }
}

BOOST_AUTO_TEST_CASE(callables_of_users_that_throw, *uses_threads()) {
  const Problem problem;
  Replay<double> plain(problem.program);
  const std::vector<double> expected = problem.run(plain);
  int mode = 0;
  Replay<double> replay(problem.program, with_threads(3, [&](std::size_t count, const auto& body) {
                          if (mode == 1) throw std::runtime_error("before");
                          body(0, 0, count / 2);
                          if (mode == 2) throw std::logic_error("in between");
                          if (mode == 3) body(3, count / 2, count);
                          if (mode == 4) body(1, count / 2, count + 1);
                          body(2, count / 2, count);
                          if (mode == 5) throw 5;
                        }));
  for (int again = 0; again < 2; ++again) {
    mode = 0;
    BOOST_TEST(same(problem.run(replay), expected));
    mode = 1;
    BOOST_CHECK_EXCEPTION(problem.run(replay), std::runtime_error,
                          [](const auto& e) { return std::string(e.what()) == "before"; });
    mode = 2;
    BOOST_CHECK_THROW(problem.run(replay), std::logic_error);
    for (const int bad : {3, 4}) {
      mode = bad;
      BOOST_CHECK_EXCEPTION(problem.run(replay), Error, [](const Error& e) {
        return e.code() == ErrorCode::bad_argument && std::string(e.what()).find("parallel_for") != std::string::npos;
      });
    }
    mode = 5;
    BOOST_CHECK_THROW(problem.run(replay), int);
  }
}

// Without the label: the thread sanitizer has its own opinion of fork.
BOOST_AUTO_TEST_CASE(processes_that_are_forked_off, *not_under("qemu", "can't begin threads after a fork")) {
  const Problem problem;
  auto replay = std::make_unique<Replay<double>>(problem.program, with_threads(3));
  const std::vector<double> expected = problem.run(*replay);
  FunctionOptions options;
  options.replay.threads = 3;
  const auto code_of_function = [](std::span<const Var<double>> x) { return x[0] < 0 ? exp(x[0]) : x[0] * x[1]; };
  auto function = std::make_unique<Function<double>>(2, code_of_function, options);
  const auto values_of = [&](Function<double>& f) {
    std::vector<double> values(samples);
    f.values(samples, rows(problem.points.data(), 2), rows(values.data(), 1));
    return values;
  };
  const std::vector<double> of_function = values_of(*function);
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // a hang is a failure
    int code = 0;
    if (!same(problem.run(*replay), expected)) code = 1;  // without the threads, which are the parent's
    replay.reset();
    if (!same(values_of(*function), of_function)) code = 3;
    function.reset();
    Replay<double> own(problem.program, with_threads(3));  // with threads of this process
    if (!same(problem.run(own), expected)) code = 2;
    // Pools of the parent's threads are let go on purpose: another program has no leaks that valgrind would find.
    execl("/bin/sh", "sh", "-c", ("exit " + std::to_string(code)).c_str(), nullptr);
    _exit(9);
  }
  int status = -1;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
  BOOST_TEST(same(problem.run(*replay), expected));
  BOOST_TEST(same(values_of(*function), of_function));
}

BOOST_AUTO_TEST_CASE(numbers_out_of_all_bounds) {
  const Problem problem;
  const auto refused = [](ErrorCode code, auto&& call) {
    BOOST_CHECK_EXCEPTION(call(), Error, [&](const Error& error) { return error.code() == code; });
  };
  const auto code = [](std::span<const Var<double>> x) { return x[0]; };
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  refused(ErrorCode::unsupported, [&] { Replay<double>(problem.program, with_threads(4'000'000'000)); });
  refused(ErrorCode::unsupported, [&] {
    FunctionOptions options;
    options.replay.threads = 4'000'000'000;
    Function<double>(1, code, options);
  });
  refused(ErrorCode::out_of_ids, [&] { Function<double>(huge, code); });
  NaiveTape<double> tape;
  tape.input(1);
  for (const std::size_t much : {huge, huge / 8, std::size_t(1) << 60})
    for (int which = 0; which < 3; ++which)
      BOOST_CHECK_EXCEPTION(
          tape.reserve(which == 0 ? much : 0, which == 1 ? much : 0, which == 2 ? much : 0), Error,
          [](const Error& e) { return e.code() == ErrorCode::out_of_ids || e.code() == ErrorCode::out_of_memory; });
  refused(ErrorCode::bad_argument, [&] { tape.guard(0, nullptr); });
  BOOST_TEST(tape.statistics().guards == 0u);
  // As many lanes as there are numbers: a block is no larger than its batch.
  ReplayOptions options;
  options.isa = "scalar";
  options.lanes = huge - 15;
  Replay<double> wide(problem.program, options);
  Replay<double> plain(problem.program);
  BOOST_TEST(same(problem.run(wide), problem.run(plain)));
  double jacobian[4] = {};
  wide.jacobian(2, rows(problem.points.data(), 2), {}, rows(jacobian, 2));
  wide.hessian(1, rows(problem.points.data(), 2), {}, {}, rows(jacobian, 4));
}

BOOST_AUTO_TEST_CASE(strides_of_any_kind) {
  const Problem problem;
  Replay<double> replay(problem.program);
  const std::vector<double> expected = problem.run(replay);
  // From the end to the beginning.
  std::vector<double> values(samples);
  const Samples<const double> backwards{problem.points.data() + 2 * (samples - 1), -2, 1};
  replay.values(samples, backwards, {values.data() + samples - 1, -1, 1});
  BOOST_TEST(same(values, std::vector<double>(expected.begin(), expected.begin() + samples)));
  // One point for all.
  replay.values(samples, {problem.points.data(), 0, 1}, rows(values.data(), 1));
  BOOST_TEST(same(values, std::vector<double>(samples, expected[0])));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
