// What guards cost where no sample leaves the recorded path: the same function with 0, 1, 4 and 8 of them, by one thread, in
// interleaved slices; and a Function of 8 guards beside the Replay without any.
//
//   meson compile -C build/release guards_benchmark && build/release/bench/guards/guards_benchmark
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/statistics.hpp"
#include "wengert/wengert.hpp"

namespace {

using namespace wengert::bench;
using wengert::Samples;
using wengert::Var;

constexpr std::size_t samples = 4096;
// Where memory happens to lie decides some per cent: so all is made anew now and then.
constexpr std::size_t placings = 9, rounds = 15;
constexpr double slice = 200e-6;  // seconds, at least
constexpr std::array<std::size_t, 4> counts = {0, 1, 4, 8};

/// What is compared with what.
enum class Against { constants, variables };

/// Compares variables as a program on its way does, so often.
class Comparisons {
 public:
  Comparisons(std::size_t count, Against against) : left_(count), against_(against) {}

  /// @{
  /// That x is above what it always is above, if that is what is compared with.
  template <class Real>
  void above(const Var<Real>& x, double constant) {
    if (against_ == Against::constants) compare(x, Var<Real>(static_cast<Real>(constant)));
  }
  template <class Real>
  void above(const Var<Real>& x, const Var<Real>& variable) {
    if (against_ == Against::variables) compare(x, variable);
  }
  /// @}

 private:
  template <class Real>
  void compare(const Var<Real>& x, const Var<Real>& low) {
    if (left_ == 0) return;
    if (!(--left_ % 2 == 0 ? x > low : low <= x)) throw std::logic_error("a comparison comes out otherwise");
  }

  std::size_t left_;
  Against against_;
};

/// A European call (bench/workloads/black_scholes.hpp): few ops, most of them dear.
template <class Real>
Var<Real> black_scholes(std::span<const Var<Real>> in, Comparisons compare) {
  using V = Var<Real>;
  const V &spot = in[0], &strike = in[1], &rate = in[2], &volatility = in[3], &time = in[4];
  const auto normal_cdf = [](const V& x) { return Real(0.5) * erfc(x * Real(-0.70710678118654752440)); };
  compare.above(spot, 0);
  compare.above(spot, volatility);
  compare.above(strike, 0);
  compare.above(strike, time);
  compare.above(time, 0);
  compare.above(time, rate);
  compare.above(volatility, 0);
  compare.above(volatility, rate);
  const V deviation = volatility * sqrt(time);
  compare.above(deviation, 0);
  compare.above(spot, deviation);
  const V drift = fma(V(Real(0.5)), square(volatility), rate) * time;
  const V d1 = (log(spot / strike) + drift) / deviation, d2 = d1 - deviation;
  compare.above(d1, -100);
  compare.above(d1, d2);
  compare.above(d2, -100);
  compare.above(strike, d2);
  const V discounted = strike * exp(-(rate * time)), gained = spot * normal_cdf(d1);
  compare.above(gained, -1);
  compare.above(strike, d1);
  return gained - discounted * normal_cdf(d2);
}

/// The valley of H. H. Rosenbrock ("An automatic method for finding the greatest or least value of a function", Comput. J. 3,
/// 1960) in five variables: nothing but additions and multiplications.
template <class Real>
Var<Real> rosenbrock(std::span<const Var<Real>> x, Comparisons compare) {
  Var<Real> sum(Real(0));
  for (std::size_t k = 0; k + 1 < x.size(); ++k) {
    const Var<Real> step = x[k + 1] - square(x[k]), rest = Real(1) - x[k],
                    term = fma(Real(100) * step, step, square(rest));
    compare.above(x[k + 1], -10);
    compare.above(x[k + 1], x[k]);
    compare.above(term, -1);
    compare.above(x[k + 1], step);
    sum = k == 0 ? term : sum + term;
  }
  return sum;
}

/// A function, and from where to where each of its inputs is drawn.
template <class Real>
struct Case {
  const char* name;
  Var<Real> (*function)(std::span<const Var<Real>>, Comparisons);
  std::array<std::array<double, 2>, 5> ranges;
};

template <class Real>
std::array<Case<Real>, 2> cases() {
  return {{{"black-scholes", black_scholes<Real>, {{{80, 120}, {80, 120}, {0, 0.05}, {0.2, 0.5}, {0.5, 2}}}},
           {"rosenbrock", rosenbrock<Real>, {{{1, 1.1}, {1.2, 1.3}, {1.4, 1.5}, {1.6, 1.7}, {1.8, 1.9}}}}}};
}

/// One call, whichever of the two it is.
template <class Real>
struct Call {
  std::span<const Real> inputs;
  std::span<Real> values, gradients;
  bool gradient;

  template <class Evaluator>
  void operator()(Evaluator& f) const {
    const auto in = wengert::columns(inputs.data(), samples);
    if (gradient)
      f.gradient(samples, in, wengert::columns(values.data(), samples), wengert::columns(gradients.data(), samples));
    else f.values(samples, in, wengert::columns(values.data(), samples));
  }
};

template <class Real>
class Contest {
 public:
  Contest(const Case<Real>& which, Against against, const char* engine)
      : case_(which), against_(against), engine_(engine), inputs_(which.ranges.size() * samples) {
    SplitMix random(1);
    for (std::size_t i = 0; i < which.ranges.size(); ++i)
      for (std::size_t e = 0; e < samples; ++e) {
        const double at = static_cast<double>(random.below(1u << 30)) / (1u << 30);
        inputs_[i * samples + e] = static_cast<Real>(std::lerp(which.ranges[i][0], which.ranges[i][1], at));
      }
  }

  /// That all of them compute the same, by the same instructions but for the guards. Throws where they don't.
  void check() {
    place();
    const wengert::ProgramStatistics plain = replays_[0]->program().statistics();
    std::vector<std::vector<Real>> results;
    const auto take = [&](auto& f) {
      std::vector<Real> values(samples), both(6 * samples);
      Call<Real>{inputs_, values, {}, false}(f);
      Call<Real>{inputs_, std::span(both).first(samples), std::span(both).subspan(samples), true}(f);
      values.insert(values.end(), both.begin(), both.end());
      results.push_back(std::move(values));
    };
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const wengert::ProgramStatistics with = replays_[k]->program().statistics();
      if (with.guards != counts[k] || with.forward_instructions != plain.forward_instructions + counts[k] ||
          with.backward_instructions != plain.backward_instructions)
        throw std::logic_error(fmt::format("{} guards make other programs", counts[k]));
      take(*replays_[k]);
    }
    take(*function_);
    if (function_->statistics().recorded != 1) throw std::logic_error("a sample takes another path");
    using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
    for (const std::vector<Real>& some : results)
      if (!std::equal(some.begin(), some.end(), results[0].begin(),
                      [](Real a, Real b) { return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b); }))
        throw std::logic_error("guards change results");
  }

  struct Times {
    double ns;                               // a sample, without guards
    std::array<double, counts.size()> more;  // in per cent: with 1, 4, 8 guards; Function
  };
  Times time(bool gradient) {
    std::vector<double> plain;
    std::array<std::vector<double>, counts.size()> ratios;
    for (std::size_t placing = 0; placing < placings; ++placing) {
      const std::vector<char> in_the_way(1000 * (1 + 7 * placing));  // so that what follows lies elsewhere
      place();
      std::vector<Real> values(samples), gradients(5 * samples);
      const Call<Real> call{inputs_, values, gradients, gradient};
      std::size_t calls = 1;
      while (seconds(call, *replays_[0], calls) < slice) calls *= 2;
      for (std::size_t round = 0; round <= rounds; ++round) {
        const double base = seconds(call, *replays_[0], calls);
        std::array<double, counts.size()> with{};
        for (std::size_t k = 1; k < counts.size(); ++k) with[k - 1] = seconds(call, *replays_[k], calls);
        with.back() = seconds(call, *function_, calls);
        if (round == 0) continue;  // warm-up
        plain.push_back(1e9 * base / static_cast<double>(calls * samples));
        for (std::size_t k = 0; k < with.size(); ++k) ratios[k].push_back(with[k] / base);
      }
    }
    Times times{median(plain), {}};
    for (std::size_t k = 0; k < ratios.size(); ++k) times.more[k] = 100 * (median(ratios[k]) - 1);
    return times;
  }

 private:
  template <class Evaluator>
  static double seconds(const Call<Real>& call, Evaluator& f, std::size_t calls) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k < calls; ++k) call(f);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// Makes all contenders anew.
  void place() {
    const wengert::ReplayOptions how{.threads = 1, .engine = engine_};
    for (std::size_t k = 0; k < counts.size(); ++k)
      replays_[k] = std::make_unique<wengert::Replay<Real>>(program(counts[k]), how);
    const auto code = [this](std::span<const Var<Real>> x) {
      return case_.function(x, Comparisons(counts.back(), against_));
    };
    function_ = std::make_unique<wengert::Function<Real>>(inputs_.size() / samples, code,
                                                          wengert::FunctionOptions{.replay = how});
  }
  wengert::Program<Real> program(std::size_t guards) const {
    wengert::NaiveTape<Real> tape;
    std::vector<Var<Real>> x;
    for (std::size_t i = 0; i < case_.ranges.size(); ++i) x.push_back(input(tape, inputs_[i * samples]));
    const Var<Real> y = case_.function(std::span<const Var<Real>>(x), Comparisons(guards, against_));
    return wengert::compile(tape, y.id());
  }

  const Case<Real>& case_;
  const Against against_;
  const char* const engine_;
  std::vector<Real> inputs_;
  std::array<std::unique_ptr<wengert::Replay<Real>>, counts.size()> replays_;
  std::unique_ptr<wengert::Function<Real>> function_;
};

template <class Real>
void each(bool check_only) {
  const std::array<Case<Real>, 2> all = cases<Real>();
  for (const Case<Real>& which : all)
    for (const char* const engine : {"interpreter", "native"})
      for (const bool gradient : {true, false})
        for (const Against against : {Against::constants, Against::variables}) {
          Contest<Real> contest(which, against, engine);
          contest.check();
          if (check_only) continue;
          const auto [ns, more] = contest.time(gradient);
          fmt::print("{:<14} {:<4} {:<12} {:<9} {:<10} {:>8.2f} {:>+8.1f} {:>+8.1f} {:>+8.1f} {:>+9.1f}\n", which.name,
                     sizeof(Real) == 8 ? "f64" : "f32", engine, gradient ? "gradient" : "values",
                     against == Against::constants ? "constants" : "variables", ns, more[0], more[1], more[2], more[3]);
          std::fflush(stdout);
        }
}

int usage(std::FILE* to, int code) {
  std::fputs(
      "usage: guards_benchmark [--check]\n\nTimes functions with 1, 4 and 8 comparisons of their variables, with "
      "constants or "
      "with each other, and a\nFunction with 8, as per cent more than without any; one thread, medians of interleaved "
      "rounds. "
      "--check: times\nnothing, but checks that all compute the same.\n",
      to);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  bool check_only = false;
  if (argc > 1) {
    const std::string_view option = argv[1];
    if (option == "--help") return usage(stdout, 0);
    if (argc > 2 || option != "--check") return usage(stderr, 2);
    check_only = true;
  }
  try {
    if (!check_only)
      fmt::print("{:<14} {:<4} {:<12} {:<9} {:<10} {:>8} {:>8} {:>8} {:>8} {:>9}\n", "function", "", "engine", "",
                 "against", "none, ns", "1, %", "4, %", "8, %", "Function");
    each<double>(check_only);
    each<float>(check_only);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "guards_benchmark: %s\n", error.what());
    return 1;
  }
}
