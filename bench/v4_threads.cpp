// Level v4, threads: v3 over blocks of evaluations, each thread with a workspace of its own.
#include "bench/make_levels.hpp"
#include "bench/recorded.hpp"
#include "tape/worker_pool.hpp"

namespace wengert::bench {

namespace {

template <class Real>
class ThreadsLevel final : public Level<Real> {
 public:
  ThreadsLevel(const Workload& workload, const LevelOptions& options)
      : recorded_(workload), results_(workload), pool_(static_cast<unsigned>(std::max(options.threads, 0))) {
    const Isa isa = parse_isa(options.isa);
    replays_.reserve(pool_.threads());
    for (unsigned worker = 0; worker < pool_.threads(); ++worker)
      replays_.emplace_back(recorded_.tape, isa, static_cast<std::size_t>(options.lanes));
  }

  void evaluate(const Batch<Real>& batch) override {
    results_.begin(batch, replays_.size());
    const std::size_t pieces = pieces_of(replays_[0], results_, batch);
    pool_.run(pieces, [&](unsigned worker, std::size_t begin, std::size_t end) {
      evaluate_pieces(replays_[worker], recorded_, batch, results_, worker, begin, end);
    });
    results_.end(batch);
  }
  bool nodes(std::span<const Real> inputs, std::span<const Real> seeds, std::span<Real> values,
             std::span<Real> adjoints) override {
    look_at_nodes(replays_.back(), inputs, seeds, values, adjoints);
    return true;
  }

  double record_seconds() const override { return recorded_.seconds; }
  std::size_t tape_bytes() const override {
    return recorded_.tape.statistics().bytes_in_use + replays_.size() * replays_[0].bytes();
  }
  int lanes() const override { return static_cast<int>(replays_[0].lanes()); }
  int threads() const override { return static_cast<int>(pool_.threads()); }
  std::string isa() const override { return std::string(name(replays_[0].isa())); }

 private:
  Recorded<Real> recorded_;
  Results<Real> results_;
  std::vector<LaneReplay<Real>> replays_;
  WorkerPool pool_;
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_threads(const Workload& workload, const LevelOptions& options) {
  return std::make_unique<ThreadsLevel<Real>>(workload, options);
}
template std::unique_ptr<Level<double>> make_threads(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_threads(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
