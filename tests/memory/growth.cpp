// How much memory there is in use, and when: growth, budgets, replays that allocate once.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "bench/workload.hpp"
#include "tests/memory/allocations.hpp"
#include "tests/memory/doubling_op.hpp"
#include "tests/needs.hpp"
#include "tests/says.hpp"
#include "tests/soak.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

/// A workload on a tape that wasn't told how large it will be.
Id record(NaiveTape<double>& tape, const char* name, std::size_t ops) {
  bench::WorkloadOptions options;
  options.ops = ops;
  const bench::Workload workload = bench::make_workload(name, options);
  std::vector<Id> inputs;
  for (std::size_t i = 0; i < workload.inputs; ++i) inputs.push_back(tape.input());
  return workload.build(tape, std::span<const Id>(inputs));
}

auto out_of_memory(const std::string& part) { return says(ErrorCode::out_of_memory, part); }

/// Bytes, and what there may be beside them: small change, and what malloc rounds large blocks up by.
std::size_t with_change(std::size_t bytes) { return bytes + bytes / 64 + 2048; }

/// A function with a parameter and a sum over the samples.
Program<double> summed() {
  NaiveTape<double> tape;
  const Id p = tape.parameter(2), x = tape.input(1);
  return compile(tape, tape.square(tape.sum_samples(tape.sin(tape.mul(p, x)))));
}
/// Of many sums and parameters, and a long list in what is computed once per batch.
Program<double> many_sums() {
  NaiveTape<double> tape;
  std::vector<Id> sums;
  const Id x = tape.input(1);
  for (int k = 0; k < 300; ++k) sums.push_back(tape.sum_samples(tape.sin(tape.mul(tape.parameter(k), x))));
  return compile(tape, tape.prod(sums));
}
Program<double> plain() {
  NaiveTape<double> tape;
  const Id x = tape.input(1), y = tape.input(2);
  return compile(tape, tape.mul(tape.exp(x), tape.softplus(tape.mul(x, y))));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(growth)

BOOST_AUTO_TEST_CASE(a_growing_tape) {
  for (const char* const name : {"west", "dag"}) {
    std::size_t bytes[2];
    for (const std::size_t ops : {100'000, 1'000'000}) {
      NaiveTape<double> tape;
      watch();
      std::size_t workload = 0;  // what making the workload itself took is not the tape's
      {
        bench::WorkloadOptions options;
        options.ops = ops;
        bench::make_workload(name, options);
        workload = watched().peak;
      }
      watch();
      record(tape, name, ops);
      const std::size_t recording = watched().peak;
      const TapeStatistics s = tape.statistics();
      bytes[ops == 1'000'000] = s.bytes_in_use;
      // `west` keeps a list of its nodes while it builds, of 4 bytes each and twice that while it grows.
      const std::size_t list = 12 * s.variables;
      BOOST_TEST(static_cast<double>(recording) <= 2.5 * static_cast<double>(s.bytes_in_use + workload + list),
                 name << ": peak " << recording << " of " << s.bytes_in_use);
      watch();
      tape.backward(static_cast<Id>(tape.size() - 1));
      const TapeStatistics both = tape.statistics();
      BOOST_TEST(static_cast<double>(both.bytes_reserved) <= 1.5 * static_cast<double>(both.bytes_in_use));
      BOOST_TEST(static_cast<double>(both.bytes_in_use) <= 40.0 * static_cast<double>(both.variables),
                 name << ": " << static_cast<double>(both.bytes_in_use) / static_cast<double>(both.variables));
    }
    BOOST_TEST(bytes[1] < 11 * bytes[0], name);
    BOOST_TEST(bytes[1] > 9 * bytes[0], name);
  }
}

BOOST_AUTO_TEST_CASE(compiling_takes_linear_time_and_memory) {
  for (const char* const name : {"west", "dag"}) {
    double seconds[2] = {1e9, 1e9}, peak[2];
    for (int large = 0; large < 2; ++large) {
      NaiveTape<double> tape;
      const Id f = record(tape, name, large ? 200'000 : 25'000);
      for (int again = 0; again < 3; ++again) {
        watch();
        const std::clock_t start = std::clock();
        compile(tape, f);
        seconds[large] = std::min(seconds[large], static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        peak[large] = static_cast<double>(watched().peak);
      }
    }
    // By where the system puts an arena's chunks some more may be wanted.
    BOOST_TEST(peak[1] < 8 * 1.5 * peak[0], name << ": " << peak[0] << " and " << peak[1] << " bytes");
    // 8 times the ops. Quadratic would be 64 times the time; caches and other processes make 8 up to 20.
    BOOST_TEST(seconds[1] < 32 * seconds[0] + 0.05, name << ": " << seconds[0] << " and " << seconds[1] << " s");
  }
}

BOOST_AUTO_TEST_CASE(replays_allocate_once) {
  for (const Program<double>& program : {plain(), summed()})
    for (const unsigned threads : {1u, 3u})
      for (const std::size_t samples : {1, 7, 3000}) {
        const std::size_t n = program.inputs(), m = program.outputs();
        std::vector<double> x(samples * n, 0.5), y(samples * m), g(samples * n), h(samples * n * n);
        Replay<double> replay(program, {.threads = threads, .engine = threads == 1 ? "native" : "interpreter"});
        const std::vector<double> parameters(program.parameters(), 0.25);
        const auto all = [&] {
          replay.set_parameters(parameters);
          replay.values(samples, rows(x.data(), n), rows(y.data(), m));
          replay.gradient(samples, rows(x.data(), n), rows(y.data(), m), rows(g.data(), n));
          replay.jacobian(samples, rows(x.data(), n), {}, rows(g.data(), n));
          if (program.parameters() != 0) return;
          replay.jvp(samples, rows(x.data(), n), rows(x.data(), n), {}, rows(y.data(), m));
          replay.hvp(samples, rows(x.data(), n), rows(x.data(), n), {}, {}, rows(g.data(), n));
          replay.hessian(samples, rows(x.data(), n), {}, {}, rows(h.data(), n * n));
        };
        all();
        watch();
        all();
        BOOST_TEST(watched().count == 0u, threads << " threads, " << samples << " samples");
      }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(budgets)

BOOST_AUTO_TEST_CASE(of_a_tape) {
  NaiveTape<double> tape;
  Id x = tape.input(1);
  constexpr std::size_t budget = 100'000;
  tape.set_budget(budget);
  BOOST_TEST(tape.budget() == budget);
  watch();
  std::size_t ops = 0;
  try {
    for (;; ++ops) x = tape.exp(x);
  } catch (const Error& error) {
    BOOST_TEST(out_of_memory("the tape's budget is 100000 bytes")(error), error.what());
  }
  BOOST_TEST(watched().largest < budget);
  BOOST_TEST(tape.statistics().bytes_reserved <= budget);
  BOOST_TEST(tape.statistics().bytes_in_use > budget * 2 / 3);  // all of it is of use
  BOOST_TEST(tape.statistics().ops == ops);
  BOOST_CHECK_EXCEPTION(tape.reserve(1'000'000, 0), Error, out_of_memory("8000000 bytes"));
  BOOST_CHECK_EXCEPTION(tape.backward(x), Error, out_of_memory("bytes beside"));
  const std::vector<Id> list(20'000, Id(0));
  BOOST_CHECK_EXCEPTION(tape.sum(list), Error, out_of_memory("bytes beside"));
  BOOST_TEST(tape.statistics().operands == 0u);
  BOOST_TEST(watched().largest < budget);
  tape.set_budget(std::numeric_limits<std::size_t>::max());
  tape.backward(x);
  tape.sum(list);
  BOOST_TEST(tape.statistics().ops == ops + 1);
}

BOOST_AUTO_TEST_CASE(of_a_tape_of_custom_ops) {
  const CustomOp<double> twice = doubling_op();
  NaiveTape<double> tape;
  Id x = tape.input(1);
  const std::size_t before = tape.statistics().bytes_in_use;
  x = twice.record(tape, {&x, 1});
  const std::size_t of_one = tape.statistics().bytes_in_use - before;
  BOOST_TEST(of_one >= sizeof(double) + sizeof(OpRecord) + sizeof(Id) + sizeof(Call<double>));
  constexpr std::size_t budget = 100'000;
  tape.set_budget(budget);
  std::size_t ops = 1;
  try {
    for (;; ++ops) x = twice.record(tape, {&x, 1});
  } catch (const Error& error) {
    BOOST_TEST(out_of_memory("the tape's budget is 100000 bytes")(error), error.what());
  }
  BOOST_TEST(tape.statistics().ops == ops);
  BOOST_TEST(tape.statistics().bytes_reserved <= budget);
  BOOST_TEST(ops * of_one > budget / 3);
}

BOOST_AUTO_TEST_CASE(of_a_replay) {
  const std::vector<double> x(20'000, 0.5);
  std::vector<double> y(10'000), g(20'000);
  const auto run = [&](Replay<double>& replay) {
    replay.gradient(10'000, rows(x.data(), 2), rows(y.data(), 1), rows(g.data(), 2));
  };
  for (const unsigned threads : {1u, 3u}) {
    ReplayOptions options;
    options.threads = threads;
    options.lanes = 64;
    Replay<double> unlimited(plain(), options);
    run(unlimited);
    const std::vector<double> expected = g;

    options.budget = unlimited.bytes();
    Replay<double> enough(plain(), options);
    run(enough);
    BOOST_TEST(enough.bytes() <= options.budget);
    BOOST_TEST((g == expected));

    options.budget = unlimited.bytes() - 1;
    Replay<double> little(plain(), options);
    watch();
    BOOST_CHECK_EXCEPTION(run(little), Error, out_of_memory(std::to_string(unlimited.bytes()) + " bytes"));
    BOOST_TEST(little.bytes() == 0u);
    little.gradient(3, rows(x.data(), 2), {}, rows(g.data(), 2));  // a small block fits
    BOOST_TEST(g[0] == expected[0]);
  }
}

// Threads are called for what they are worth being called for: other workers have no workspace before.
BOOST_AUTO_TEST_CASE(small_work_is_one_thread_s) {
  const std::vector<double> x(200'000, 0.5);
  std::vector<double> g(200'000);
  const auto bytes = [&](unsigned threads, std::size_t samples) {
    Replay<double> replay(plain(), {.threads = threads, .lanes = 64});
    replay.gradient(samples, rows(x.data(), 2), {}, rows(g.data(), 2));
    return replay.bytes();
  };
  BOOST_TEST(bytes(3, 200) == bytes(1, 200));
  BOOST_TEST(bytes(3, 100'000) == 3 * bytes(1, 100'000));
}

// What a replay says that it works in, and refuses, is what it allocates: workspaces, what is computed once per batch, sums on
// their way; nothing twice while something grows.
BOOST_AUTO_TEST_CASE(of_all_that_a_replay_works_in) {
  const std::size_t most = std::clamp<std::size_t>(soak(10'000), 1'000, 10'000);
  const std::vector<double> x(2 * most, 0.5);
  std::vector<double> y(most), g(2 * most), h(4 * most);
  using Act = void (*)(Replay<double>&, std::size_t, const double*, double*, double*, double*);
  const Act gradient = [](Replay<double>& replay, std::size_t samples, const double* in, double* out, double* slopes,
                          double*) {
    const std::size_t n = replay.program().inputs();
    replay.gradient(samples, rows(in, n), rows(out, 1), rows(slopes, n));
  };
  const Act values = [](Replay<double>& replay, std::size_t samples, const double* in, double* out, double*, double*) {
    replay.values(samples, rows(in, replay.program().inputs()), rows(out, 1));
  };
  const Act hessian = [](Replay<double>& replay, std::size_t samples, const double* in, double* out, double*,
                         double* curves) {
    const std::size_t parameters = replay.program().differentiated_parameters();
    if (parameters == 0) return replay.hessian(samples, rows(in, 2), rows(out, 1), {}, rows(curves, 4));
    replay.set_parameter_directions({in, parameters});
    replay.hvp(samples, rows(in, 1), {}, {}, {}, {});
  };
  const Act jacobian = [](Replay<double>& replay, std::size_t samples, const double* in, double*, double* slopes,
                          double*) {
    const std::size_t n = replay.program().inputs();
    const std::size_t numbers = (replay.program().outputs() + replay.program().uniform_outputs()) * n;
    replay.jacobian(samples, rows(in, n), {}, rows(slopes, numbers));
  };
  for (const Program<double>& program : {plain(), summed(), many_sums()})
    for (const unsigned threads : {1u, 3u})
      for (const std::size_t lanes : {8, 40, 64})
        for (const Act act : {gradient, values, hessian, jacobian}) {
          const auto run = [&](Replay<double>& replay, std::size_t samples) {
            act(replay, samples, x.data(), y.data(), g.data(), h.data());
          };
          ReplayOptions options;
          options.isa = "scalar";
          options.threads = threads;
          options.lanes = lanes;
          const std::string what = std::to_string(program.statistics().recorded_ops) + " ops, " +
                                   std::to_string(threads) + " threads, " + std::to_string(lanes) + " lanes";
          Replay<double> unlimited(program, options);
          watch();
          run(unlimited, most);
          const std::size_t bytes = unlimited.bytes();
          BOOST_TEST(watched().peak <= with_change(bytes), what << ": " << watched().peak << " of " << bytes);
          BOOST_TEST(watched().peak >= bytes, what << ": " << watched().peak << " of " << bytes);

          options.budget = bytes;
          Replay<double> enough(program, options);
          run(enough, 3);
          const std::size_t before = enough.bytes();
          watch();
          run(enough, most);
          BOOST_TEST(watched().peak <= with_change(bytes) - before, what << ", from 3 samples to all");
          BOOST_TEST(enough.bytes() <= bytes);

          options.budget = bytes - 1;
          Replay<double> little(program, options);
          watch();
          BOOST_CHECK_EXCEPTION(run(little, most), Error, out_of_memory(std::to_string(bytes) + " bytes"));
          BOOST_TEST(watched().peak <= with_change(0), what);
          BOOST_TEST(little.bytes() == 0u);
        }
}

// What making code takes for a while counts, whatever the program is made of.
BOOST_AUTO_TEST_CASE(of_making_machine_code, *needs(Isa::avx2)) {
  for (const char* const name : {"west", "dag"})
    for (const std::size_t samples : {1, 100}) {
      NaiveTape<double> tape;
      const Program<double> program = compile(tape, record(tape, name, 1000));
      const std::size_t n = program.inputs();
      const std::vector<double> x(samples * n, 0.5);
      std::vector<double> g(samples * n);
      std::size_t natives = 0;
      for (std::size_t budget = 1 << 16; natives < 3; budget += budget / 8) {
        ReplayOptions options;
        options.engine = "native";
        options.budget = budget;
        Replay<double> replay(program, options);
        watch();
        try {
          replay.gradient(samples, rows(x.data(), n), {}, rows(g.data(), n));
        } catch (const Error& error) {
          BOOST_TEST_REQUIRE(out_of_memory("bytes")(error));
        }
        BOOST_TEST(watched().peak <= with_change(budget), name << ": " << watched().peak << " of " << budget);
        natives += replay.engine().starts_with("native");
        BOOST_TEST_REQUIRE(budget < std::size_t(1) << 28);
      }
    }
}

BOOST_AUTO_TEST_CASE(of_a_replay_with_machine_code, *needs(Isa::avx2)) {
  const std::vector<double> x(20'000, 0.5);
  std::vector<double> y(10'000), g(20'000);
  const auto run = [&](Replay<double>& replay, std::size_t samples = 10'000) {
    replay.gradient(samples, rows(x.data(), 2), rows(y.data(), 1), rows(g.data(), 2));
    return g;
  };
  for (const unsigned threads : {1u, 3u}) {
    ReplayOptions options;
    options.threads = threads;
    options.engine = "native";
    options.lanes = 2048;
    Replay<double> unlimited(plain(), options);
    const std::vector<double> expected = run(unlimited);
    BOOST_TEST_REQUIRE(unlimited.engine().starts_with("native"));
    options.engine = "interpreter";
    Replay<double> interpreter(plain(), options);
    run(interpreter);
    BOOST_TEST(unlimited.bytes() > interpreter.bytes());

    options.engine = "native";
    const auto is_native = [&](std::size_t budget) {
      options.budget = budget;
      Replay<double> replay(plain(), options);
      watch();
      replay.gradient(10'000, rows(x.data(), 2), rows(y.data(), 1), rows(g.data(), 2));
      BOOST_TEST(watched().peak <= with_change(budget));
      return replay.engine().starts_with("native");
    };
    // The least budget with machine code has room for making it too.
    std::size_t too_little = interpreter.bytes(), least = unlimited.bytes() + (std::size_t(1) << 20);
    BOOST_TEST_REQUIRE(is_native(least));
    while (least - too_little > 1) {
      const std::size_t middle = too_little + (least - too_little) / 2;
      (is_native(middle) ? least : too_little) = middle;
    }
    BOOST_TEST(least >= unlimited.bytes());
    options.budget = least;
    Replay<double> enough(plain(), options);
    BOOST_TEST((run(enough) == expected));
    BOOST_TEST(enough.bytes() == unlimited.bytes());
    double hessian[4];
    enough.hessian(1, rows(x.data(), 2), {}, {}, rows(hessian, 4));  // its workspace isn't larger
    BOOST_TEST(enough.engine().starts_with("native"));

    // Room for the interpreter alone: that does it, and keeps no code.
    for (const std::size_t budget : {least - 1, unlimited.bytes() - 1, interpreter.bytes()}) {
      options.budget = budget;
      Replay<double> little(plain(), options);
      BOOST_TEST((run(little) == expected));
      BOOST_TEST(little.bytes() <= budget);
      BOOST_TEST(little.engine().find("budget") != std::string::npos, little.engine());
      BOOST_TEST((run(little) == expected));
    }
    options.budget = interpreter.bytes() - 1;
    Replay<double> none(plain(), options);
    BOOST_CHECK_EXCEPTION(run(none), Error, out_of_memory(std::to_string(interpreter.bytes()) + " bytes"));
    BOOST_TEST(none.bytes() == 0u);

    // Code that fits with small batches goes when a large one needs the room.
    Replay<double> small(plain(), {.threads = threads, .lanes = 2048, .engine = "native"});
    run(small, 2);
    options.budget = std::max(small.bytes(), interpreter.bytes());
    Replay<double> growing(plain(), options);
    run(growing, 2);
    BOOST_TEST(growing.engine().starts_with("native"));
    BOOST_TEST((run(growing) == expected));
    BOOST_TEST(!growing.engine().starts_with("native"));
    BOOST_TEST(growing.bytes() <= options.budget);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
