// Level v3, simd: the tape of v2 replayed a block of evaluations at a time, in the lanes of AVX-512 or AVX2.
#include "bench/make_levels.hpp"
#include "bench/recorded.hpp"

namespace wengert::bench {

namespace {

template <class Real>
class SimdLevel final : public Level<Real> {
 public:
  SimdLevel(const Workload& workload, const LevelOptions& options)
      : recorded_(workload),
        results_(workload),
        replay_(recorded_.tape, parse_isa(options.isa), static_cast<std::size_t>(options.lanes)) {}

  void evaluate(const Batch<Real>& batch) override {
    results_.begin(batch);
    evaluate_pieces(replay_, recorded_, batch, results_, 0, 0, pieces_of(replay_, results_, batch));
    results_.end(batch);
  }
  bool nodes(std::span<const Real> inputs, std::span<const Real> seeds, std::span<Real> values,
             std::span<Real> adjoints) override {
    look_at_nodes(replay_, inputs, seeds, values, adjoints);
    return true;
  }

  double record_seconds() const override { return recorded_.seconds; }
  std::size_t tape_bytes() const override { return recorded_.tape.statistics().bytes_in_use + replay_.bytes(); }
  int lanes() const override { return static_cast<int>(replay_.lanes()); }
  std::string isa() const override { return std::string(name(replay_.isa())); }

 private:
  Recorded<Real> recorded_;
  Results<Real> results_;
  LaneReplay<Real> replay_;
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_simd(const Workload& workload, const LevelOptions& options) {
  return std::make_unique<SimdLevel<Real>>(workload, options);
}
template std::unique_ptr<Level<double>> make_simd(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_simd(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
