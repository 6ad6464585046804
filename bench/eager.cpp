// Level eager: the computation recorded by Vars for each evaluation anew, on one tape that is cleared, and swept back: how
// tapes of operator overloading are used where nothing is replayed. Inputs that aren't differentiated are plain numbers.
#include "bench/make_levels.hpp"
#include "bench/results.hpp"
#include "wengert/ranges.hpp"

namespace wengert::bench {

namespace {

// Calls of the ops by argument-dependent lookup, which a member of the same name would hide.
namespace call {
#define WENGERT_OP1(name, ...)                     \
  template <class V>                               \
  WENGERT_INLINED inline V name##_op(const V& x) { \
    return name(x);                                \
  }
#define WENGERT_OP2(name, ...)                                 \
  template <class V>                                           \
  WENGERT_INLINED inline V name##_op(const V& a, const V& b) { \
    return name(a, b);                                         \
  }
#define WENGERT_OP3(name, ...)                                             \
  template <class V>                                                       \
  WENGERT_INLINED inline V name##_op(const V& a, const V& b, const V& c) { \
    return name(a, b, c);                                                  \
  }
#include "wengert/ops.def"
}  // namespace call

template <class Real>
class VarGraph {
 public:
  using Node = Var<Real>;

  Node constant(double x) { return Node(x); }
#define WENGERT_OP1(name, ...) \
  WENGERT_INLINED Node name(const Node& x) { return call::name##_op(x); }
#define WENGERT_OP2(name, ...) \
  WENGERT_INLINED Node name(const Node& a, const Node& b) { return call::name##_op(a, b); }
#define WENGERT_OP3(name, ...) \
  WENGERT_INLINED Node name(const Node& a, const Node& b, const Node& c) { return call::name##_op(a, b, c); }
#include "wengert/ops.def"
  Node sum(std::span<const Node> x) { return wengert::sum(x); }
  Node sqnorm(std::span<const Node> x) { return wengert::sqnorm(x); }
  Node logsumexp(std::span<const Node> x) { return wengert::logsumexp(x); }
  Node dot(std::span<const Node> x) { return wengert::dot(x.first(x.size() / 2), x.last(x.size() / 2)); }
  Node softmax(std::span<const Node> x) { return wengert::softmax(x)[0]; }
  Node output(const Node& first, std::size_t k) { return Node(*first.tape(), first.id() + static_cast<Id>(k)); }
};

template <class Real>
class EagerLevel final : public Level<Real> {
 public:
  explicit EagerLevel(const Workload& workload) : workload_(workload), results_(workload), inputs_(workload.inputs) {}

  void evaluate(const Batch<Real>& batch) override {
    VarGraph<Real> graph;
    results_.begin(batch);
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      tape_.clear();
      for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = batch.input(e, i);
      for (std::uint32_t i : workload_.differentiated) inputs_[i] = input(tape_, inputs_[i].value());
      const Var<Real> output = workload_.build(graph, std::span<const Var<Real>>(inputs_));
      backward(output);
      results_.take(batch, e, value(output), [&](std::size_t k) { return grad(inputs_[workload_.differentiated[k]]); });
    }
    results_.end(batch);
  }

  std::size_t tape_bytes() const override { return tape_.statistics().bytes_in_use; }

 private:
  const Workload workload_;
  Results<Real> results_;
  NaiveTape<Real> tape_;
  std::vector<Var<Real>> inputs_;
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_eager(const Workload& workload, const LevelOptions&) {
  return std::make_unique<EagerLevel<Real>>(workload);
}
template std::unique_ptr<Level<double>> make_eager(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_eager(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
