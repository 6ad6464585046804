// Level v2, tape: NaiveTape. Recorded once; every result stored and reused; ids into contiguous arrays; one evaluation at a
// time in scalar code. (The sweep itself is in kernels/, in a backend of one lane: nothing there to vectorise.)
#include "bench/make_levels.hpp"
#include "bench/recorded.hpp"

namespace wengert::bench {

namespace {

template <class Real>
class TapeLevel final : public Level<Real> {
 public:
  explicit TapeLevel(const Workload& workload) : recorded_(workload) {}

  void evaluate(const Batch<Real>& batch) override {
    NaiveTape<Real>& tape = recorded_.tape;
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      for (std::size_t i = 0; i < recorded_.inputs.size(); ++i)
        tape.set_input(recorded_.inputs[i], batch.inputs[i * batch.stride + e]);
      tape.forward();
      tape.backward(recorded_.output);
      batch.values[e] = tape.value(recorded_.output);
      for (std::size_t k = 0; k < recorded_.differentiated.size(); ++k)
        batch.gradients[k * batch.stride + e] = tape.grad(recorded_.differentiated[k]);
    }
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
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_tape(const Workload& workload, const LevelOptions&) {
  return std::make_unique<TapeLevel<Real>>(workload);
}
template std::unique_ptr<Level<double>> make_tape(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_tape(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
