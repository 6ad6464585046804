// Derivatives of every kind by machine code beside the interpreter's: times of one thread, in interleaved slices.
//
//   meson compile -C build/release derivatives_benchmark && build/release/bench/derivatives/derivatives_benchmark
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/recorded.hpp"
#include "bench/statistics.hpp"
#include "wengert/wengert.hpp"

namespace {

using namespace wengert::bench;
using wengert::columns;
using wengert::Id;

constexpr std::size_t rounds = 25;
constexpr double slice = 2e-3;  // seconds, at least

enum class Kind { gradient, jvp, hvp, jacobian, hessian };
constexpr const char* names[] = {"gradient", "jvp", "hvp", "jacobian", "hessian"};

/// A workload, or several of its variables as outputs, and numbers for it: columns. Where there are parameters the derivatives are in
/// these, of a sum over the samples.
template <class Real>
class Contest {
 public:
  /// `outputs`: how many variables, the last of the tape.
  Contest(const Workload& workload, std::size_t outputs, Kind kind, std::size_t samples)
      : kind_(kind), samples_(samples), program_(compile(workload, outputs)) {
    for (std::size_t i = 0; i < workload.parameters; ++i)
      parameters_.push_back(static_cast<Real>(workload.input(0, i)));
    for (std::size_t i = workload.parameters; i < workload.inputs; ++i)
      for (std::size_t e = 0; e < samples; ++e) inputs_.push_back(static_cast<Real>(workload.input(e, i)));
    const std::size_t d = program_.differentiated(), m = program_.outputs();
    const auto some_directions = [](std::size_t count) {
      std::vector<Real> directions;
      for (std::size_t k = 0; k < count; ++k) directions.push_back(static_cast<Real>(k % 7) - Real(2.5));
      return directions;
    };
    directions_ = some_directions(d * samples);
    parameter_directions_ = some_directions(program_.differentiated_parameters());
    values_.resize(m * samples);
    gradients_.resize(d * samples);
    derivatives_.resize(samples * (kind == Kind::hessian ? d * d : kind == Kind::jacobian ? d * m : std::max(d, m)));
  }

  std::size_t operations() const { return program_.statistics().forward_instructions; }

  /// That both compute the same. Throws where they don't.
  void check(const std::string& engine) {
    wengert::Replay<Real> interpreter = replay("interpreter"), other = replay(engine);
    const std::vector<Real> wanted = results(interpreter), ours = results(other);
    using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
    if (!std::equal(ours.begin(), ours.end(), wanted.begin(), [](Real a, Real b) {
          return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (a != a && b != b);
        }))
      throw std::logic_error(fmt::format("{}: machine code has other results", names[static_cast<int>(kind_)]));
  }

  struct Times {
    double ns;     // of the interpreter, a sample
    double ratio;  // of the engine to the interpreter
    std::string engine;
  };
  Times time(const std::string& engine) {
    wengert::Replay<Real> interpreter = replay("interpreter"), other = replay(engine);
    std::size_t calls = 1;
    while (seconds(interpreter, calls) < slice) calls *= 2;
    if (engine == "auto")
      for (int k = 0; k < 400; ++k) seconds(other, calls);  // so that it has what is worth it
    std::vector<double> base, ratios;
    for (std::size_t round = 0; round <= rounds; ++round) {
      const double by_interpreter = seconds(interpreter, calls), by_other = seconds(other, calls);
      if (round == 0) continue;  // warm-up
      base.push_back(1e9 * by_interpreter / static_cast<double>(calls * samples_));
      ratios.push_back(by_other / by_interpreter);
    }
    return {median(base), median(ratios), other.engine()};
  }

 private:
  static wengert::Program<Real> compile(const Workload& workload, std::size_t outputs) {
    const Recorded<Real> recorded(workload, true);
    if (outputs == 1) return wengert::compile(recorded.tape, recorded.output, {recorded.differentiated});
    std::vector<Id> last;
    const auto& ops = recorded.tape.view().ops;
    for (std::size_t k = 0; k < outputs; ++k) last.push_back(ops[ops.size() - 1 - k % ops.size()].out);
    return wengert::compile(recorded.tape, std::span<const Id>(last), {recorded.differentiated});
  }

  wengert::Replay<Real> replay(const std::string& engine) const {
    wengert::Replay<Real> replay(program_, {.engine = engine});
    replay.set_parameters(parameters_);
    replay.set_parameter_directions(parameter_directions_);
    return replay;
  }
  void call(wengert::Replay<Real>& replay) {
    const std::size_t n = samples_;
    const auto in = columns(std::as_const(inputs_).data(), n), along = columns(std::as_const(directions_).data(), n);
    const auto values = columns(values_.data(), n), gradients = columns(gradients_.data(), n),
               derivatives = columns(derivatives_.data(), n);
    switch (kind_) {
      case Kind::gradient: return replay.gradient(n, in, values, gradients);
      case Kind::jvp: return replay.jvp(n, in, along, values, derivatives);
      case Kind::hvp: return replay.hvp(n, in, along, values, gradients, derivatives);
      case Kind::jacobian: return replay.jacobian(n, in, values, derivatives);
      case Kind::hessian: return replay.hessian(n, in, values, gradients, derivatives);
    }
  }
  double seconds(wengert::Replay<Real>& replay, std::size_t calls) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k < calls; ++k) call(replay);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::vector<Real> results(wengert::Replay<Real>& replay) {
    call(replay);
    std::vector<Real> all = values_;
    const auto add = [&](std::span<const Real> more) { all.insert(all.end(), more.begin(), more.end()); };
    add(gradients_);
    add(derivatives_);
    add(replay.uniform_outputs());
    add(replay.uniform_tangents());
    add(replay.parameter_gradients());
    add(replay.parameter_products());
    return all;
  }

  const Kind kind_;
  const std::size_t samples_;
  wengert::Program<Real> program_;
  std::vector<Real> parameters_, parameter_directions_, inputs_, directions_, values_, gradients_, derivatives_;
};

struct Task {
  bool check_only = false;  ///< nothing is timed
  std::size_t samples = 0;  ///< of a batch; 0: many
  std::string engine = "native";
};

template <class Real>
void one(const Workload& workload, std::size_t outputs, Kind kind, const Task& task) {
  const std::size_t many = task.check_only ? 67 : kind == Kind::hessian || kind == Kind::jacobian ? 256 : 1024;
  if (kind == Kind::hessian && workload.differentiated.size() > 64) return;
  Contest<Real> contest(workload, outputs, kind, task.samples ? task.samples : many);
  contest.check("native");
  if (task.check_only) return;
  const auto [ns, ratio, by] = contest.time(task.engine);
  fmt::print("{:<14} {:<4} {:>7} {:<9} {:>12.1f} {:>8.2f}  {}\n", workload.name, sizeof(Real) == 8 ? "f64" : "f32",
             outputs, names[static_cast<int>(kind)], ns, ratio, by);
  std::fflush(stdout);
}

template <class Real>
void each(const Task& task) {
  for (const char* const name : {"expr", "black-scholes", "rosenbrock", "heston", "dag", "west"}) {
    const Workload workload = make_workload(name, {.ops = 1000});
    for (const Kind kind : {Kind::gradient, Kind::jvp, Kind::hvp, Kind::hessian}) one<Real>(workload, 1, kind, task);
    // By rows, then by columns.
    one<Real>(workload, 2, Kind::jacobian, task);
    if (workload.differentiated.size() <= 16)
      one<Real>(workload, 2 * workload.differentiated.size(), Kind::jacobian, task);
  }
  for (const char* const name : {"logistic", "gmm", "lstm-cell"}) {
    const Workload workload = make_workload(name);
    for (const Kind kind : {Kind::gradient, Kind::jvp, Kind::hvp}) one<Real>(workload, 1, kind, task);
  }
}

/// False: it isn't a number from 1 to 100,000.
bool read_samples(std::string_view text, std::size_t& samples) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), samples);
  return error == std::errc() && end == text.data() + text.size() && samples >= 1 && samples <= 100'000;
}

int usage(std::FILE* to, int code) {
  std::fputs(
      "usage: derivatives_benchmark [--check | --auto] [--samples N]\n\nTimes derivatives of every kind by machine "
      "code, "
      "as a part of the interpreter's time; one thread, medians of interleaved\nrounds. --check: times nothing, but "
      "checks that both compute the same. --auto: what `auto` chooses. --samples: of a batch, 1 to 100000.\n",
      to);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  Task task;
  for (int k = 1; k < argc; ++k) {
    const std::string_view option = argv[k];
    if (option == "--help") return usage(stdout, 0);
    if (option == "--check") task.check_only = true;
    else if (option == "--auto") task.engine = "auto";
    else if (option == "--samples" && k + 1 < argc && read_samples(argv[++k], task.samples)) continue;
    else return usage(stderr, 2);
  }
  if (task.check_only && task.engine == "auto") return usage(stderr, 2);
  try {
    if (!task.check_only)
      fmt::print("{:<14} {:<4} {:>7} {:<9} {:>12} {:>8}  {}\n", "workload", "", "outputs", "", "ns a sample", "ratio",
                 "by");
    each<double>(task);
    each<float>(task);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "derivatives_benchmark: %s\n", error.what());
    return 1;
  }
}
