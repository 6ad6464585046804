// A workload compiled to a program: what levels v5 to v8 and central differences replay.
#pragma once

#include "bench/recorded.hpp"
#include "wengert/replay.hpp"

namespace wengert::bench {

/// The program, what it took, and a Replay of it.
template <class Real>
class CompiledLevel : public Level<Real> {
 public:
  double record_seconds() const override { return recorded_.seconds; }
  double compile_seconds() const override { return compile_seconds_; }
  std::size_t tape_bytes() const override { return program_.statistics().bytes + replay_.bytes(); }
  int lanes() const override { return static_cast<int>(replay_.lanes()); }
  int threads() const override { return static_cast<int>(replay_.threads()); }
  std::string isa() const override { return replay_.isa(); }

 protected:
  /// `derivatives`: of the workload's differentiated inputs; otherwise of none.
  CompiledLevel(const Workload& workload, bool derivatives, const LevelOptions& options, unsigned threads,
                const std::string& engine = "interpreter")
      : recorded_(workload, true),
        program_(timed_compile(derivatives ? recorded_.differentiated : std::vector<Id>{})),
        replay_(program_, {.isa = options.isa,
                           .threads = threads,
                           .lanes = static_cast<std::size_t>(options.lanes),
                           .engine = engine}) {}

 private:
  Program<Real> timed_compile(const std::vector<Id>& differentiated) {
    const auto start = std::chrono::steady_clock::now();
    Program<Real> program = compile(recorded_.tape, recorded_.output, {differentiated});
    compile_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return program;
  }

 protected:
  Recorded<Real> recorded_;
  double compile_seconds_ = 0;
  Program<Real> program_;
  Replay<Real> replay_;
};

template <class Real>
class PlannedLevel final : public CompiledLevel<Real> {
 public:
  PlannedLevel(const Workload& workload, const LevelOptions& options, unsigned threads,
               const std::string& engine = "interpreter")
      : CompiledLevel<Real>(workload, true, options, threads, engine) {
    if (engine == "native") compile_seconds_ += seconds_to_generate();
  }

  void evaluate(const Batch<Real>& batch) override {
    if (recorded_.parameters == 0) return evaluate_each(batch);
    replay_.set_parameters(batch.parameters);
    replay_.gradient(batch.evaluations, columns(batch.inputs, batch.stride), {}, {});
    batch.values[0] = replay_.uniform_outputs()[0];
    std::ranges::copy(replay_.parameter_gradients(), batch.gradients);
  }

 private:
  using CompiledLevel<Real>::recorded_, CompiledLevel<Real>::compile_seconds_, CompiledLevel<Real>::program_,
      CompiledLevel<Real>::replay_;

  void evaluate_each(const Batch<Real>& batch) {
    replay_.gradient(batch.evaluations, columns(batch.inputs, batch.stride), columns(batch.values, batch.stride),
                     columns(batch.gradients, batch.stride));
  }

  /// A batch of two, which makes the machine code.
  double seconds_to_generate() {
    const std::vector<Real> inputs(2 * program_.inputs(), Real(1));
    std::vector<Real> values(2), gradients(2 * program_.differentiated());
    const auto start = std::chrono::steady_clock::now();
    replay_.gradient(2, columns(inputs.data(), 2), columns(values.data(), 2), columns(gradients.data(), 2));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

}  // namespace wengert::bench
