// Level casadi-c: the C code that CasADi generates of a workload's graph, as a library in this process: a call for each evaluation,
// which is how its users make one point quick. child.py has it generated and compiled.
#include <dlfcn.h>

#include <chrono>
#include <vector>

#include "bench/peers/child.hpp"
#include "bench/peers/peers.hpp"
#include "bench/results.hpp"
#include "bench/temporary_folder.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {
namespace {

/// A function of generated code: arrays of pointers to arguments and results, room for integers and for numbers, which memory.
using Function = int (*)(const double** arguments, double** results, long long* integers, double* numbers, int memory);
using Sizes = int (*)(long long* arguments, long long* results, long long* integers, long long* numbers);

class CasadiC final : public Level<double> {
 public:
  CasadiC(const Workload& workload, double patience)
      : results_(workload), inputs_(workload.inputs), slopes_(workload.differentiated.size()) {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::time_point since) {
      return std::chrono::duration<double>(Clock::now() - since).count();
    };
    const Clock::time_point start = Clock::now();
    const TemporaryFolder folder;
    Child child({python_of_peers(), script_of_peers(), "casadi-c"}, patience);
    child.ask(graph_of(workload));
    record_seconds_ = seconds(start);
    const Clock::time_point told = Clock::now();
    const std::string path = child.ask("compile " + folder.path().string());
    // Never unloaded, as no library of this command is: it is there once for a run.
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw Error(ErrorCode::unsupported, std::string("can't load it: ") + dlerror());
    compile_seconds_ = seconds(told);
    function_ = reinterpret_cast<Function>(dlsym(library, "both"));
    const auto sizes = reinterpret_cast<Sizes>(dlsym(library, "both_work"));
    long long arguments = 0, results = 0, integers = 0, numbers = 0;
    if (!function_ || !sizes || sizes(&arguments, &results, &integers, &numbers) != 0)
      throw Error(ErrorCode::unsupported, "CasADi's code has no function `both`, or no sizes of it");
    arguments_.resize(static_cast<std::size_t>(arguments));
    outputs_.resize(static_cast<std::size_t>(results));
    integers_.resize(static_cast<std::size_t>(integers));
    numbers_.resize(static_cast<std::size_t>(numbers));
    arguments_.at(0) = inputs_.data();
    outputs_.at(0) = &value_;
    outputs_.at(1) = slopes_.data();
  }

  void evaluate(const Batch<double>& batch) override {
    results_.begin(batch);
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = batch.input(e, i);
      function_(arguments_.data(), outputs_.data(), integers_.data(), numbers_.data(), 0);
      results_.take(batch, e, value_, [&](std::size_t k) { return slopes_[k]; });
    }
    results_.end(batch);
  }

  double record_seconds() const override { return record_seconds_; }
  double compile_seconds() const override { return compile_seconds_; }
  std::string isa() const override { return "its own"; }

 private:
  Results<double> results_;
  std::vector<double> inputs_, slopes_, numbers_;
  double value_ = 0;
  Function function_ = nullptr;
  std::vector<const double*> arguments_;
  std::vector<double*> outputs_;
  std::vector<long long> integers_;
  double record_seconds_ = 0, compile_seconds_ = 0;
};

}  // namespace

std::unique_ptr<Level<double>> make_casadi_c(const Workload& workload, const LevelOptions& options) {
  return std::make_unique<CasadiC>(workload, options.peer_limit);
}

}  // namespace wengert::bench
