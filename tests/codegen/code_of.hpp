// Machine code of a program, run by the simulated CPU (simulated_cpu.hpp) or by this one, against the interpreter.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tape/native.hpp"
#include "tests/codegen/simulated_cpu.hpp"
#include "tests/same_bits.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {

/// Columns of a batch, one after the other; and what code reads of the uniform side, at most.
template <class Real>
struct Numbers {
  std::size_t samples;
  std::vector<Real> inputs, directions, weights, uniforms;

  Numbers(const Program<Real>& program, std::size_t samples_)
      : samples(samples_),
        inputs(samples * program.inputs()),
        directions(samples * program.differentiated()),
        weights(samples * program.outputs(), Real(1)),
        uniforms(plan::NativeUniforms<Real>(program.data(), {true, plan::Numbers::dual, true}).weights) {}
};

/// What came of some samples: rows.
template <class Real>
struct Results {
  bool well;                                              ///< otherwise they are of no use
  std::vector<Real> values, gradients, shares, tangents;  ///< `shares` of the sums over samples
};

/// The code of one kind of evaluation. The program has to live as long.
template <class Real>
class CodeOf {
 public:
  enum Cpu { simulated, here };

  CodeOf(const Program<Real>& program, Isa isa, plan::Evaluation what, bool point,
         codegen::Chain chain = codegen::Chain::plain)
      : data_(program.data()),
        gradient_(what.gradient),
        point_(point),
        at_(data_, what),
        uniforms_(data_, what),
        code_(data_, isa, what, point, chain, std::numeric_limits<std::size_t>::max()) {}

  const std::string& why_not() const { return code_.why_not(); }
  const NativeCode<Real>& code() const { return code_; }
  std::size_t lanes() const { return code_.lanes(); }

  /// In one call: rounds of `lanes`, of which the last may have other lanes too. Of a point one sample.
  Results<Real> run(const Numbers<Real>& numbers, std::size_t first, std::size_t count, Cpu cpu = simulated) const {
    return point_ ? run_point(numbers, first, cpu) : run_batch(numbers, first, count, cpu);
  }

 private:
  std::size_t inputs() const { return (gradient_ ? data_.gradient : data_.values).inputs.size(); }
  std::size_t outputs() const { return (gradient_ ? data_.gradient : data_.values).outputs.size(); }
  std::size_t gradients() const { return gradient_ ? data_.gradients.size() : 0; }
  std::size_t weights() const { return gradient_ ? data_.seeds.size() : 0; }
  std::ptrdiff_t from_side() const { return static_cast<std::ptrdiff_t>(uniforms_.weights); }
  bool is_zero(std::size_t k) const { return data_.gradients[k] == plan::no_slot; }

  Results<Real> run_batch(const Numbers<Real>& numbers, std::size_t first, std::size_t count, Cpu cpu) const {
    const std::size_t rounds = (count + lanes() - 1) / lanes(), width = rounds * lanes();
    std::vector<std::vector<Real>> memory(at_.count, std::vector<Real>(width));
    std::vector<Real*> pointers;
    for (std::vector<Real>& column : memory) pointers.push_back(column.data());
    for (std::size_t e = 0; e < width; ++e) {
      const std::size_t sample = first + std::min(e, count - 1);
      for (std::size_t i = 0; i < inputs(); ++i)
        memory[at_.inputs + i][e] = numbers.inputs[i * numbers.samples + sample];
      for (std::size_t k = 0; k < at_.weights - at_.directions; ++k)
        memory[at_.directions + k][e] = numbers.directions[k * numbers.samples + sample];
      for (std::size_t k = 0; k < weights(); ++k)
        memory[at_.weights + k][e] = numbers.weights[k * numbers.samples + sample];
    }
    std::vector<std::byte> spills(code_.spill_bytes() + 1);
    Results<Real> results{};
    if (cpu == here) results.well = code_.run(pointers.data(), numbers.uniforms.data(), spills.data(), width);
    else
      results.well = SimulatedCpu(code_.code())
                         .call(pointers.data(), numbers.uniforms.data(), spills.data() + codegen::spill_bias,
                               code_.pool(), rounds) != 0;
    for (std::size_t e = 0; e < count; ++e) {
      for (std::size_t k = 0; k < outputs(); ++k) results.values.push_back(memory[at_.outputs + k][e]);
      for (std::size_t k = 0; k < gradients(); ++k)
        results.gradients.push_back(is_zero(k) ? Real(0) : memory[at_.gradients + k][e]);
      for (std::size_t k = 0; k < at_.sums - at_.tangents; ++k)
        results.tangents.push_back(gradient_ && is_zero(k) ? Real(0) : memory[at_.tangents + k][e]);
      for (std::size_t q = at_.sums; q < at_.count; ++q) results.shares.push_back(memory[q][e]);
    }
    return results;
  }

  Results<Real> run_point(const Numbers<Real>& numbers, std::size_t sample, Cpu cpu) const {
    std::vector<Real> x(inputs()), uniforms(numbers.uniforms.begin(), numbers.uniforms.begin() + from_side());
    uniforms.resize(uniforms_.count);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = numbers.inputs[i * numbers.samples + sample];
    for (std::size_t k = 0; k < weights(); ++k)
      uniforms[uniforms_.weights + k] = numbers.weights[k * numbers.samples + sample];
    Results<Real> results{false, std::vector<Real>(outputs()), std::vector<Real>(gradients()), {}, {}};
    std::vector<std::byte> spills(code_.spill_bytes() + 1);
    if (cpu == here)
      results.well =
          code_.run_point(x.data(), uniforms.data(), spills.data(), results.values.data(), results.gradients.data());
    else
      results.well = SimulatedCpu(code_.code())
                         .call(x.data(), uniforms.data(), spills.data() + codegen::spill_bias, code_.pool(),
                               results.values.data(), results.gradients.data()) != 0;
    results.shares.assign(uniforms.begin() + static_cast<std::ptrdiff_t>(uniforms_.sums), uniforms.end());
    return results;
  }

  const plan::ProgramData<Real>& data_;
  const bool gradient_, point_;
  const plan::NativePointers<Real> at_;
  const plan::NativeUniforms<Real> uniforms_;
  const NativeCode<Real> code_;
};

/// Rows, of all samples.
template <class Real>
Results<Real> interpreted(const Program<Real>& program, const Numbers<Real>& numbers, plan::Evaluation what = true) {
  const std::size_t n = numbers.samples, m = program.outputs(), d = program.differentiated();
  Results<Real> all{true, std::vector<Real>(n * m), std::vector<Real>(n * d), {}, {}};
  Replay<Real> replay(program, {.report_departures = true, .engine = "interpreter"});
  const auto inputs = columns(numbers.inputs.data(), n), weights = columns(numbers.weights.data(), n),
             directions = columns(numbers.directions.data(), n);
  const auto values = rows(all.values.data(), m), gradients = rows(all.gradients.data(), d);
  if (what.dual()) all.tangents.resize(n * (what.gradient ? d : m));
  const auto tangents = rows(all.tangents.data(), what.gradient ? d : m);
  if (!what.dual()) replay.vjp(n, inputs, weights, values, gradients);
  else if (what.gradient) replay.hvp(n, inputs, directions, values, gradients, tangents, weights);
  else replay.jvp(n, inputs, directions, values, tangents);
  return all;
}

/// Those that went well, from sample `first` of the wanted ones on, have their bits.
template <class Real>
void check_bits(const Results<Real>& ours, const Results<Real>& wanted, std::size_t first, std::size_t samples,
                const std::string& what) {
  const auto check = [&](const std::vector<Real>& a, const std::vector<Real>& b, const char* thing) {
    const std::size_t all = b.size() / samples;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const Real theirs = b[first * all + k];
      if (!same_bits(a[k], theirs))
        BOOST_FAIL(what << ", sample " << first + k / all << ", " << thing << ' ' << k % all << ": " << show(a[k])
                        << ", wanted " << show(theirs));
    }
  };
  if (!ours.well) return;
  check(ours.values, wanted.values, "value");
  check(ours.gradients, wanted.gradients, "gradient");
  check(ours.tangents, wanted.tangents, "tangent");
  check(ours.shares, wanted.shares, "share of sum");
}

/// The code of a program without parameters and sums, run by the simulated CPU: round by round, those that don't go well with each of their samples in all lanes,
/// and all rounds in one call. What goes well has the bits of the interpreter. Returns how many rounds went well.
template <class Real>
std::size_t simulate(const Program<Real>& program, Isa isa, bool point, const Numbers<Real>& numbers,
                     const std::string& what, codegen::Chain chain = codegen::Chain::plain,
                     plan::Numbers of = plan::Numbers::plain) {
  std::size_t done = 0;
  for (const bool gradient : {true, false}) {
    const plan::Evaluation evaluation(gradient, of);
    const Results<Real> wanted = interpreted(program, numbers, evaluation.dual() ? evaluation : true);
    const CodeOf<Real> code(program, isa, evaluation, point, chain);
    BOOST_TEST_REQUIRE(code.why_not() == "", what);
    const std::string where = what + ", " + std::string(name(isa)) + (point ? ", alone" : "") +
                              (gradient ? "" : ", values") + (evaluation.dual() ? ", dual" : "");
    const std::size_t round = code.lanes();
    bool all_well = true;
    const auto goes_well = [&](std::size_t first, std::size_t count) {
      const Results<Real> ours = code.run(numbers, first, count);
      check_bits(ours, wanted, first, numbers.samples, where);
      return ours.well;
    };
    for (std::size_t first = 0; first < numbers.samples; first += round) {
      const std::size_t count = std::min(round, numbers.samples - first);
      const bool well = goes_well(first, count);
      all_well &= well;
      done += gradient && well;
      for (std::size_t e = 0; e < count && !well && !point; ++e) goes_well(first + e, 1);
    }
    if (point) continue;
    const Results<Real> at_once = code.run(numbers, 0, numbers.samples);
    BOOST_TEST(at_once.well == all_well, where);
    check_bits(at_once, wanted, 0, numbers.samples, where + ", at once");
  }
  return done;
}

}  // namespace wengert::test
