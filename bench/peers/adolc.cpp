// Level adolc: ADOL-C (A. Walther, A. Griewank, "Getting started with ADOL-C", 2012; Debian's libadolc-dev). As its manual
// advises for many points of one function: the tape is traced once, with buffers large enough to stay in memory, and
// evaluated by zos_forward and fos_reverse, which give the value as well (the driver `gradient` calls the same two).
#include <adolc/adolc.h>

#include <atomic>
#include <chrono>

#include "bench/peers/peers.hpp"
#include "bench/peers/scalar_graph.hpp"
#include "bench/recorded.hpp"
#include "bench/results.hpp"

namespace wengert::bench {
namespace {

// Its functions are friends, found by their arguments.
struct AdolcFunctions {
  static adouble root_of(const adouble& x) { return sqrt(x); }
  static adouble exp_of(const adouble& x) { return exp(x); }
  static adouble log_of(const adouble& x) { return log(x); }
  static adouble tanh_of(const adouble& x) { return tanh(x); }
  static adouble erfc_of(const adouble& x) { return 1.0 - erf(x); }  // it has no erfc
  static adouble max_of(const adouble& a, const adouble& b) { return fmax(a, b); }
};

class AdolcLevel final : public Level<double> {
 public:
  explicit AdolcLevel(const Workload& workload)
      : workload_(workload), results_(workload), point_(workload.inputs), gradient_(workload.inputs) {
    static std::atomic<short> tags{0};
    tag_ = ++tags;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < workload.inputs; ++i) point_[i] = workload.input(0, i);
    // Entries of the buffers of operations, locations, values and Taylor coefficients: enough for a few of each per operand,
    // so that nothing goes to files.
    const TapeStatistics size = Recorded<double>(workload).tape.statistics();
    const auto buffer = static_cast<unsigned>(65536 + 16 * (size.variables + size.operands));
    trace_on(tag_, 0, buffer, buffer, buffer, buffer, 0);
    {
      ScalarGraph<adouble, AdolcFunctions> graph;
      std::vector<std::uint32_t> in;
      for (double x : point_) {
        in.push_back(graph.push(adouble()));
        graph.nodes.back() <<= x;
      }
      double value = 0;
      graph.nodes[workload.build(graph, std::span<const std::uint32_t>(in))] >>= value;
    }
    trace_off();
    record_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  AdolcLevel(const AdolcLevel&) = delete;
  ~AdolcLevel() override { removeTape(tag_, ADOLC_REMOVE_COMPLETELY); }

  void evaluate(const Batch<double>& batch) override {
    const int inputs = static_cast<int>(workload_.inputs);
    double one = 1, value = 0;
    results_.begin(batch);
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      for (std::size_t i = 0; i < workload_.inputs; ++i) point_[i] = batch.input(e, i);
      // Negative where a comparison came out otherwise than traced: another branch of fmax, which both follow rightly.
      zos_forward(tag_, 1, inputs, 1, point_.data(), &value);
      fos_reverse(tag_, 1, inputs, &one, gradient_.data());
      results_.take(batch, e, value, [&](std::size_t k) { return gradient_[workload_.differentiated[k]]; });
    }
    results_.end(batch);
  }

  double record_seconds() const override { return record_seconds_; }
  std::size_t tape_bytes() const override {
    std::size_t counts[STAT_SIZE] = {};
    tapestats(tag_, counts);
    return counts[NUM_OPERATIONS] + 4 * counts[NUM_LOCATIONS] + 8 * counts[NUM_VALUES] + 8 * counts[TAY_STACK_SIZE];
  }

 private:
  const Workload workload_;
  Results<double> results_;
  std::vector<double> point_, gradient_;
  short tag_ = 0;
  double record_seconds_ = 0;
};

}  // namespace

std::unique_ptr<Level<double>> make_adolc(const Workload& workload, const LevelOptions&) {
  return std::make_unique<AdolcLevel>(workload);
}

}  // namespace wengert::bench
