// Level sacado: Sacado's reverse mode, Rad::ADvar (D. M. Gay, "Semiautomatic differentiation for efficient gradient
// computations", 2006; Trilinos' documentation of Sacado; Debian's libtrilinos-sacado-dev, headers alone). Nothing is replayed:
// every evaluation computes with active numbers and sweeps back by Gradcomp, which also readies its memory for the next one.
#include <Sacado_trad.hpp>

#include "bench/peers/peers.hpp"
#include "bench/peers/scalar_graph.hpp"
#include "bench/results.hpp"

namespace wengert::bench {
namespace {

using Active = Sacado::Rad::ADvar<double>;

struct SacadoFunctions {
  static Active root_of(const Active& x) { return sqrt(x); }
  static Active exp_of(const Active& x) { return exp(x); }
  static Active log_of(const Active& x) { return log(x); }
  static Active tanh_of(const Active& x) { return tanh(x); }
  static Active max_of(const Active& a, const Active& b) { return max(a, b); }
  /// It has neither erf nor erfc: an operation of the user's own, by its value and slope.
  static Active erfc_of(const Active& x) {
    constexpr double two_over_root_pi = 1.1283791670955126;
    return Sacado::Rad::ADf1(std::erfc(x.val()), -two_over_root_pi * std::exp(-x.val() * x.val()), x);
  }
};

class SacadoLevel final : public Level<double> {
 public:
  explicit SacadoLevel(const Workload& workload) : workload_(workload), results_(workload) {}

  void evaluate(const Batch<double>& batch) override {
    results_.begin(batch);
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      // Its numbers of the last evaluation are gone by now: the next Gradcomp is of these alone.
      ScalarGraph<Active, SacadoFunctions> graph;
      std::vector<std::uint32_t> in;
      for (std::size_t i = 0; i < workload_.inputs; ++i) in.push_back(graph.push(Active(batch.input(e, i))));
      const Active output = graph.nodes[workload_.build(graph, std::span<const std::uint32_t>(in))] * 1.0;
      Active::Gradcomp();  // of the last operation
      results_.take(batch, e, output.val(),
                    [&](std::size_t k) { return graph.nodes[workload_.differentiated[k]].adj(); });
    }
    results_.end(batch);
  }

 private:
  const Workload workload_;
  Results<double> results_;
};

}  // namespace

std::unique_ptr<Level<double>> make_sacado(const Workload& workload, const LevelOptions&) {
  return std::make_unique<SacadoLevel>(workload);
}

}  // namespace wengert::bench
