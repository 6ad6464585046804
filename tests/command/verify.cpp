// Levels that are wrong on purpose: each kind of fault is found, named, and never given a time.
#include "bench/verify.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <new>
#include <string>

#include "bench/ladder.hpp"
#include "bench/make_level.hpp"
#include "src/exit_code.hpp"
#include "src/subcommands.hpp"
#include "tests/needs.hpp"
#include "wengert/error.hpp"

using namespace wengert::bench;
namespace command = wengert::command;

namespace {

const LevelInfo& level(const std::string& name) {
  for (const LevelInfo& info : levels())
    if (info.name == name) return info;
  throw std::runtime_error("no level " + name);
}

/// False where it was compiled for another CPU, as what is written by hand may be.
bool runs_here(const LevelInfo& info, const Workload& workload) {
  try {
    if (info.make_f64) info.make_f64(workload, {});
    return true;
  } catch (const wengert::Error& error) {
    BOOST_TEST((!info.ladder && error.code() == wengert::ErrorCode::unsupported), error.what());
    return false;
  }
}

/// What a faulty level does to the results of v2.
struct Fault {
  std::function<void(const Batch<double>&)> batch = [](const Batch<double>&) {};
  std::function<void(std::span<double>, std::span<double>)> nodes = [](std::span<double>, std::span<double>) {};
};

class Faulty : public Level<double> {
 public:
  Faulty(std::unique_ptr<Level<double>> right, Fault fault) : right_(std::move(right)), fault_(std::move(fault)) {}
  void evaluate(const Batch<double>& batch) override {
    right_->evaluate(batch);
    fault_.batch(batch);
  }
  bool nodes(std::span<const double> inputs, std::span<const double> seeds, std::span<double> values,
             std::span<double> adjoints) override {
    right_->nodes(inputs, seeds, values, adjoints);
    fault_.nodes(values, adjoints);
    return true;
  }

 private:
  std::unique_ptr<Level<double>> right_;
  Fault fault_;
};

LevelInfo faulty(const Fault& fault, bool ladder = true) {
  LevelInfo info = level("v2");
  info.name = "faulty";
  info.ladder = ladder;
  info.make_f64 = [fault](const Workload& workload, const LevelOptions& options) {
    return std::make_unique<Faulty>(level("v2").make_f64(workload, options), fault);
  };
  return info;
}

LadderOptions options(const std::string& workload = "west") {
  LadderOptions o;
  o.workload = workload;
  o.workload_options.ops = 200;
  o.workload_options.output = Output::sum;
  o.iterations = 400;
  o.repetitions = 2;
  o.min_time = 0;
  return o;
}

Verification check(const LevelInfo& info) { return Verifier<double>(options(), 20).check(info, {}); }

double one_ulp_more(double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); }

bool says(const Verification& found, const std::string& words) {
  return !found.mismatches.empty() && found.mismatches.front().find(words) != std::string::npos;
}

/// What `act` writes to a standard stream.
template <class Act>
std::string written(int descriptor, Act act) {
  std::FILE* file = std::tmpfile();
  const int before = dup(descriptor);
  dup2(fileno(file), descriptor);
  act();
  dup2(before, descriptor);
  close(before);
  std::rewind(file);
  std::string text(100000, ' ');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(verify)

// Small derivatives are compared with differences of long doubles.
BOOST_AUTO_TEST_CASE(every_level_is_right_on_every_workload,
                     *wengert::test::not_under("valgrind", "computes long double as double")) {
  for (const WorkloadInfo& workload : workloads()) {
    const Verifier<double> f64(options(workload.name), 70);
    const Verifier<float> f32(options(workload.name), 70);
    const Workload made = make_workload(workload.name, options().workload_options);
    for (const LevelInfo& info : levels()) {
      if (info.available && !info.available(made)) continue;
      if (!runs_here(info, made)) continue;
      BOOST_TEST_CONTEXT(workload.name << ' ' << info.name) {
        LevelOptions two_threads;
        two_threads.threads = 2;
        if (info.make_f64) {
          const Verification found = f64.check(info, two_threads);
          BOOST_TEST(found.compared >= (made.summed() ? 1 + made.parameters : 140));
          BOOST_TEST(found.mismatches.empty());
          if (found.wrong) BOOST_TEST_MESSAGE(found.mismatches.front());
        }
        if (info.make_f32) BOOST_TEST(f32.check(info, two_threads).mismatches.empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_unharmed_level_passes) {
  const Verification found = check(faulty({}));
  BOOST_TEST(found.wrong == 0u);
  BOOST_TEST(found.has_nodes);
  BOOST_TEST(found.max_relative_error > 0);
  BOOST_TEST(found.max_relative_error < 64 * std::numeric_limits<double>::epsilon());
}

BOOST_AUTO_TEST_CASE(one_bit_of_a_sum) {
  const Verifier<double> verifier(options("logistic"), 20);
  BOOST_TEST(verifier.check(faulty({}), {}).wrong == 0u);
  const Fault value{.batch = [](const Batch<double>& batch) { *batch.values = one_ulp_more(*batch.values); }};
  BOOST_TEST(says(verifier.check(faulty(value), {}), "the batch, value of the output"));
  const Fault gradient{
      .batch = [](const Batch<double>& batch) { batch.gradients[3] = one_ulp_more(batch.gradients[3]); }};
  BOOST_TEST(says(verifier.check(faulty(gradient), {}), "the batch, gradient of input 3"));
  BOOST_TEST(says(verifier.check(faulty(gradient), {}), "with v2"));
  LevelInfo planned = faulty({});  // v2's sums of products aren't v5's products of sums
  planned.planned = true;
  const Verification as_v5 = Verifier<double>(options("gmm"), 20).check(planned, {});
  BOOST_TEST(as_v5.wrong > 0u);
  BOOST_TEST(says(as_v5, "with v5"));
}

BOOST_AUTO_TEST_CASE(one_bit_of_one_gradient) {
  Fault fault;
  fault.batch = [](const Batch<double>& b) {
    b.gradients[7 * b.stride + 13] = one_ulp_more(b.gradients[7 * b.stride + 13]);
  };
  const Verification rung = check(faulty(fault));
  BOOST_TEST(rung.wrong == 1u);
  BOOST_TEST(says(rung, "evaluation 13, gradient of input 7: "));
  BOOST_TEST(says(rung, "with v2"));
  BOOST_TEST(check(faulty(fault, false)).wrong == 0u);  // no rung: a bit is within its bound
}

BOOST_AUTO_TEST_CASE(a_value_past_its_bound) {
  Fault fault;
  fault.batch = [](const Batch<double>& b) { b.values[5] *= 1 + 1e-6; };
  const Verification found = check(faulty(fault, false));
  BOOST_TEST(found.wrong == 1u);
  BOOST_TEST(says(found, "evaluation 5, value of the output: "));
  BOOST_TEST(says(found, " instead of "));
}

BOOST_AUTO_TEST_CASE(an_adjoint_of_a_node_in_the_middle) {
  Fault fault;
  fault.nodes = [](std::span<double>, std::span<double> adjoints) { adjoints[100] += 1; };
  const Verification found = check(faulty(fault, false));
  BOOST_TEST(found.wrong == 3u);  // of the three evaluations looked at
  BOOST_TEST(says(found, "evaluation 0, all nodes seeded, adjoint of node 100 (softplus): "));
}

BOOST_AUTO_TEST_CASE(not_a_number_and_infinity) {
  for (double x : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Fault fault;
    fault.batch = [x](const Batch<double>& b) { b.values[0] = x; };
    BOOST_TEST(check(faulty(fault, false)).wrong == 1u);
  }
}

BOOST_AUTO_TEST_CASE(the_command_names_level_node_and_both_numbers_and_exits_with_1) {
  Fault fault;
  fault.nodes = [](std::span<double> values, std::span<double>) { values[100] = 1234.5; };
  const LevelInfo wrong = faulty(fault);
  LadderOptions o = options();
  o.iterations = 10;
  o.levels = {&level("v3"), &wrong};
  int code = -1;
  const std::string text = written(1, [&] { code = command::verify_levels(o); });
  BOOST_TEST(code == command::ExitCode::failed);
  BOOST_TEST(text.find("v3         ok ") == 0u);
  BOOST_TEST(text.find("faulty     WRONG   evaluation 0, value of node 100 (softplus): 1234.5 instead of 0.") !=
             std::string::npos);
  o.levels = {&level("v3")};
  written(1, [&] { code = command::verify_levels(o); });
  BOOST_TEST(code == command::ExitCode::ok);
}

BOOST_AUTO_TEST_CASE(results_not_written) {
  LevelInfo lazy = level("v2");
  struct Lazy : Level<double> {
    void evaluate(const Batch<double>&) override {}
  };
  lazy.make_f64 = [](const Workload&, const LevelOptions&) { return std::make_unique<Lazy>(); };
  BOOST_TEST(check(lazy).wrong > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ladder)

BOOST_AUTO_TEST_CASE(levels_are_timed_and_equal) {
  LadderOptions o = options();
  o.levels = {&level("v0"), &level("v2"), &level("v3"), &level("v4")};
  Observer nobody;
  const Run run = run_ladder(o, nobody);
  BOOST_TEST(run.complete());
  for (const Row& row : run.rows) {
    BOOST_TEST(row.samples.size() == 2u);
    BOOST_TEST(row.bits == run.rows[0].bits);
    BOOST_TEST(row.samples[0].seconds > 0);
    BOOST_TEST(row.samples[0].checksum == row.samples[1].checksum);
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_level_is_not_timed_and_the_others_are) {
  Fault fault;
  fault.batch = [](const Batch<double>& b) { b.values[0] += 1; };
  const LevelInfo wrong = faulty(fault);
  LadderOptions o = options();
  o.levels = {&wrong, &level("v2")};
  Observer nobody;
  const Run run = run_ladder(o, nobody);
  BOOST_TEST((run.rows[0].status == Status::wrong));
  BOOST_TEST(run.rows[0].samples.empty());
  BOOST_TEST(run.rows[0].problem.find("value of the output") != std::string::npos);
  BOOST_TEST((run.rows[1].status == Status::complete));
  BOOST_TEST(std::isnan(figures(run, 1).speedup_first.value));
  int code = -1;
  const std::string text = written(2, [&] { code = command::verdict(run); });
  BOOST_TEST(code == command::ExitCode::failed);
  BOOST_TEST(text.find("wengert: faulty wrong: evaluation 0, value of the output: ") == 0u);
}

// Past the evaluations that verification looks at: found by the hash of the whole batch.
BOOST_AUTO_TEST_CASE(a_bit_of_the_timed_batch) {
  Fault fault;
  fault.batch = [](const Batch<double>& b) {
    if (b.evaluations > verification_evaluations) b.gradients[300] = one_ulp_more(b.gradients[300]);
  };
  const LevelInfo wrong = faulty(fault);
  LadderOptions o = options();
  o.levels = {&wrong, &level("v2")};
  Observer nobody;
  const Run run = run_ladder(o, nobody);
  BOOST_TEST((run.rows[0].status == Status::wrong));
  BOOST_TEST(std::isnan(figures(run, 0).seconds.value));
  BOOST_TEST((run.rows[1].status == Status::complete));
}

BOOST_AUTO_TEST_CASE(a_level_without_memory_says_how_much) {
  LevelInfo large = level("v2");
  large.make_f64 = [](const Workload&, const LevelOptions&) -> std::unique_ptr<Level<double>> {
    throw std::bad_alloc();
  };
  LadderOptions o = options();
  o.levels = {&large, &level("v2")};
  Observer nobody;
  const Run run = run_ladder(o, nobody);
  BOOST_TEST((run.rows[0].status == Status::failed));
  BOOST_TEST(run.rows[0].problem.find("out of memory with ") == 0u);
  BOOST_TEST((run.rows[1].status == Status::complete));
}

BOOST_AUTO_TEST_CASE(stopped_after_a_repetition) {
  struct Impatient : Observer {
    int questions = 0;
    bool stop() override { return ++questions > 10; }
  };
  LadderOptions o = options();
  o.levels = {&level("v1"), &level("v2")};
  o.repetitions = 50;
  Impatient observer;
  const Run run = run_ladder(o, observer);
  BOOST_TEST(!run.complete());
  const std::size_t samples = run.rows[0].samples.size() + run.rows[1].samples.size();
  BOOST_TEST(samples > 0u);
  BOOST_TEST(samples < 10u);
}

BOOST_AUTO_TEST_CASE(order_changes_from_round_to_round) {
  LadderOptions o = options();
  o.levels = {&level("v1"), &level("v2"), &level("v3")};
  o.repetitions = 12;
  Observer nobody;
  const Run run = run_ladder(o, nobody);
  std::size_t first = 0;
  for (const Sample& sample : run.rows[0].samples) first += sample.place == 0;
  BOOST_TEST(first > 0u);
  BOOST_TEST(first < 12u);
}

BOOST_AUTO_TEST_SUITE_END()
