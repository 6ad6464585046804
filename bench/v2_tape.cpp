// Level v2, tape: NaiveTape. Recorded once; every result stored and reused; ids into contiguous arrays; one evaluation at a
// time in scalar code. (The sweep itself is in kernels/, in a backend of one lane: nothing there to vectorise.)
#include "bench/make_levels.hpp"
#include "bench/recorded.hpp"

namespace wengert::bench {

namespace {

template <class Real>
class TapeLevel final : public Level<Real> {
 public:
  explicit TapeLevel(const Workload& workload) : recorded_(workload), results_(workload) {}

  void evaluate(const Batch<Real>& batch) override {
    NaiveTape<Real>& tape = recorded_.tape;
    results_.begin(batch);
    for (std::size_t i = 0; i < recorded_.parameters; ++i) tape.set_input(recorded_.inputs[i], batch.parameters[i]);
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      for (std::size_t i = recorded_.parameters; i < recorded_.inputs.size(); ++i)
        tape.set_input(recorded_.inputs[i], batch.input(e, i));
      tape.forward();
      tape.backward(recorded_.output);
      results_.take(batch, e, tape.value(recorded_.output),
                    [&](std::size_t k) { return tape.grad(recorded_.differentiated[k]); });
    }
    results_.end(batch);
  }

  bool nodes(std::span<const Real> inputs, std::span<const Real> seeds, std::span<Real> values,
             std::span<Real> adjoints) override {
    NaiveTape<Real>& tape = recorded_.tape;
    for (std::size_t i = 0; i < inputs.size(); ++i) tape.set_input(recorded_.inputs[i], inputs[i]);
    tape.forward();
    tape.backward(all_seeds(seeds));
    for (std::size_t v = 0; v < values.size(); ++v) {
      values[v] = tape.value(static_cast<Id>(v));
      adjoints[v] = tape.grad(static_cast<Id>(v));
    }
    return true;
  }

  double record_seconds() const override { return recorded_.seconds; }
  std::size_t tape_bytes() const override { return recorded_.tape.statistics().bytes_in_use; }

 private:
  Recorded<Real> recorded_;
  Results<Real> results_;
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_tape(const Workload& workload, const LevelOptions&) {
  return std::make_unique<TapeLevel<Real>>(workload);
}
template std::unique_ptr<Level<double>> make_tape(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_tape(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
