// Tapes through their lives: recorded on, cleared, rewound, copied, moved from, assigned and swapped at random. Whatever a tape
// went through, what it computes again is what was recorded, and its gradients are those of a tape that is new.
#include <boost/test/unit_test.hpp>

#include <bit>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/soak.hpp"
#include "wengert/wengert.hpp"

using wengert::Id;
using wengert::Mark;
using wengert::NaiveTape;
using wengert::Var;

namespace {

using V = Var<double>;

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// A tape, and what is known of it: the recorded code as numbers, to be recorded anew elsewhere.
struct Life {
  struct Step {
    int op;
    std::size_t a, b;
    double number;
  };

  NaiveTape<double> tape;
  std::vector<Step> steps;  // one for each Var
  std::vector<V> vars;
  std::vector<std::pair<Mark, std::size_t>> marks;

  static V record(NaiveTape<double>& tape, const Step& step, const std::vector<V>& vars) {
    switch (step.op) {
      case 0: return input(tape, step.number);
      case 1: return vars[step.a] * step.number + vars[step.b];
      case 2: return vars[step.a] - step.number;
      case 3: return fma(vars[step.a], V(step.number), vars[step.b]);
      case 4: return max(vars[step.a], V(step.number));
      case 5: return prod(std::vector<V>{vars[step.a], V(step.number), vars[step.b]});
      default: return sum(std::vector<V>{vars[step.a], V(step.number), vars[step.b], vars[step.a]});
    }
  }
  void record(const Step& step) {
    vars.push_back(record(tape, step, vars));
    steps.push_back(step);
  }
  void forget() { steps.clear(), vars.clear(), marks.clear(); }
  /// The same ids on this tape, which was copied or moved here.
  void adopt(const std::vector<V>& of) {
    vars.clear();
    for (const V& x : of) vars.push_back(V(tape, x.id()));
  }

  void check() {
    if (vars.empty()) return;
    tape.forward();
    NaiveTape<double> fresh;
    std::vector<V> again;
    for (const Step& step : steps) again.push_back(record(fresh, step, again));
    backward(vars.back());
    backward(again.back());
    for (std::size_t k = 0; k < vars.size(); ++k) {
      BOOST_REQUIRE(same(tape.value(vars[k].id()), value(again[k])));
      BOOST_REQUIRE(same(grad(vars[k]), grad(again[k])));
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(tapes_hold_what_was_recorded_whatever_they_went_through) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const double numbers[] = {0.5, 1.5, -2, 0, 3, 0.25};
  Life lives[3];
  const std::size_t rounds = wengert::test::soak(3000);
  for (std::size_t round = 0; round < rounds; ++round) {
    Life &life = lives[below(3)], &other = lives[below(3)];
    switch (below(12)) {
      case 0:
        life.tape.clear();
        life.forget();
        break;
      case 1: life.marks.push_back({life.tape.mark(), life.vars.size()}); break;
      case 2:
        if (!life.marks.empty()) {
          const auto [mark, size] = life.marks.back();
          life.tape.rewind(mark);
          life.marks.pop_back();
          life.vars.resize(size);
          life.steps.resize(size);
        }
        break;
      case 3:
        if (&life == &other) break;
        life.tape = other.tape;
        life.forget();
        life.steps = other.steps;
        life.adopt(other.vars);
        break;
      case 4:
        if (&life == &other) break;
        life.tape = std::move(other.tape);
        life.forget();
        life.steps = other.steps;
        life.adopt(other.vars);
        other.forget();
        break;
      case 5: {
        NaiveTape<double> taken = std::move(life.tape);
        const NaiveTape<double> copy = taken;
        const std::vector<V> vars = life.vars;
        life.tape.input(7);  // one that was moved from is as good as new
        life.tape = below(2) ? copy : std::move(taken);
        life.marks.clear();
        life.adopt(vars);
        break;
      }
      case 6: {
        if (&life == &other) break;
        std::swap(life.tape, other.tape);
        std::swap(life.steps, other.steps);
        const std::vector<V> vars = life.vars;
        life.adopt(other.vars);
        other.adopt(vars);
        life.marks.clear(), other.marks.clear();
        break;
      }
      case 7: life.check(); break;
      default:
        for (std::size_t n = below(5); n-- > 0;) {
          const std::size_t size = life.vars.size();
          if (size < 2 || below(4) == 0) life.record({0, 0, 0, double(below(7))});
          else life.record({1 + int(below(6)), below(size), below(size), numbers[below(6)]});
        }
    }
  }
  for (Life& life : lives) life.check();
}
