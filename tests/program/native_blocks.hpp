// Machine code alone, block by block, against the interpreter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tape/native_point.hpp"
#include "tests/needs.hpp"
#include "tests/same_bits.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {

/// Instruction sets here that there is machine code for.
inline std::vector<Isa> native_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : usable_isas())
    if (native_target(isa)) isas.push_back(isa);
  return isas;
}
/// Blocks of a batch of columns, or each sample by itself, by machine code alone, against the interpreter. Returns how many
/// it did.
template <class Real>
std::size_t run_blocks(const Program<Real>& program, Isa isa, bool point, std::size_t samples,
                       const std::vector<Real>& x, const std::vector<Real>& weights, const std::string& what) {
  const std::size_t outputs = program.outputs(), differentiated = program.differentiated();
  std::vector<Real> y(samples * outputs), g(samples * differentiated), values(y), wanted_y(y), wanted_g(g);
  Replay<Real> interpreter(program, {.engine = "interpreter"});
  interpreter.vjp(samples, columns(x.data(), samples), columns(weights.data(), samples),
                  columns(wanted_y.data(), samples), columns(wanted_g.data(), samples));

  NativeRunner<Real> both(program.data(), isa, true), alone(program.data(), isa, false);
  BOOST_TEST_REQUIRE(both.why_not() == "", what);
  BOOST_TEST_REQUIRE(alone.why_not() == "", what);
  const NativeBatch<Real> like{1, columns(x.data(), samples), {}, columns(y.data(), samples), {}};
  NativePoint<Real> point_of_both(program.data(), isa, true, like), point_alone(program.data(), isa, false);
  const std::size_t block = point ? 1 : both.code().lanes();
  std::size_t done = 0;
  for (std::size_t first = 0; first < samples; first += block) {
    const std::size_t count = std::min(block, samples - first);
    const auto from = [&](auto& numbers, std::size_t sample) { return columns(numbers.data() + sample, samples); };
    // A point is a batch of its own.
    const std::size_t begin = point ? first : 0, of = point ? 1 : samples;
    const auto run = [&](NativePoint<Real>& code, NativeRunner<Real>& runner, const NativeBatch<Real>& batch) {
      if (point) return code.run_checked(batch);
      runner.begin(batch, 1, nullptr);
      return runner.run({first, count}, 0, block);
    };
    const bool values_done = run(point_alone, alone, {of, from(x, begin), {}, from(values, begin), {}}),
               all_done =
                   run(point_of_both, both, {of, from(x, begin), from(weights, begin), from(y, begin), from(g, begin)});
    for (std::size_t e = first; e < first + count; ++e) {
      const auto check = [&](const char* thing, std::size_t k, Real ours, Real theirs) {
        BOOST_TEST_REQUIRE(same_bits(ours, theirs), what + ", " + std::string(name(isa)) + (point ? ", alone" : "") +
                                                        ", sample " + std::to_string(e) + ", " + thing + " " +
                                                        std::to_string(k) + ": " + show(ours) + ", interpreter " +
                                                        show(theirs));
      };
      for (std::size_t k = 0; k < outputs; ++k) {
        if (values_done) check("value", k, values[k * samples + e], wanted_y[k * samples + e]);
        if (all_done) check("output", k, y[k * samples + e], wanted_y[k * samples + e]);
      }
      for (std::size_t k = 0; k < differentiated && all_done; ++k)
        check("gradient", k, g[k * samples + e], wanted_g[k * samples + e]);
    }
    done += all_done;
  }
  return done;
}
}  // namespace wengert::test
