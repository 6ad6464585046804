// Level v0, heap: no optimisation, just correct. Nodes live on the heap, linked by shared pointers; each op is a closure;
// the graph is built anew for every evaluation; backward finds what the output depends on, sorts it by creation number and
// runs the closures from the newest down: the order of the tape, so the bits are the tape's.
// Compiled without vectorisation (bench/meson.build), as v1, v2 and c are.
#include <algorithm>
#include <unordered_set>

#include "bench/graph_ops.hpp"
#include "bench/make_levels.hpp"
#include "bench/results.hpp"
#include "kernels/dispatch.hpp"

namespace wengert::bench {

namespace {

template <class Real>
struct HeapOp;

template <class Real>
struct HeapNode {
  HeapNode(Real value_, bool constant_, std::shared_ptr<HeapOp<Real>> from_)
      : value(value_), constant(constant_), from(std::move(from_)) {}

  Real value;
  Real adjoint = -Real(0);  // the zero of addition: the first contribution arrives unchanged
  bool constant;
  std::shared_ptr<HeapOp<Real>> from;  // nothing for inputs and constants
};

/// Nodes whose last user is gone. They end one by one from here: a destructor that calls the next would overflow the stack
/// on a long graph.
template <class Real>
struct Orphans {
  std::vector<std::shared_ptr<HeapNode<Real>>> nodes;
  bool draining = false;

  void drain() {
    if (draining) return;
    draining = true;
    while (!nodes.empty()) {
      const auto node = std::move(nodes.back());
      nodes.pop_back();
    }  // where a node ends, its op ends, which adds its operands
    draining = false;
  }
};

template <class Real>
struct HeapOp {
  std::size_t number = 0;  // of creation
  std::vector<std::shared_ptr<HeapNode<Real>>> operands;
  std::vector<std::weak_ptr<HeapNode<Real>>> results;  // weak: they own their op; unused ones are gone
  std::function<void(HeapOp&)> backward;
  Orphans<Real>* orphans = nullptr;

  ~HeapOp() {
    for (auto& operand : operands) orphans->nodes.push_back(std::move(operand));
    orphans->drain();
  }
};

template <class Real>
class HeapGraph : public GraphOps<HeapGraph<Real>, std::shared_ptr<HeapNode<Real>>> {
 public:
  using Node = std::shared_ptr<HeapNode<Real>>;

  Node input(Real value) { return make_node(value, false, nullptr); }
  Node constant(double value) { return make_node(static_cast<Real>(value), true, nullptr); }
  Node output(const Node& first, std::size_t k) { return first->from->results[k].lock(); }

  Node record(Op op, std::span<const Node> operands) {
    const auto made = std::make_shared<HeapOp<Real>>();
    made->number = ops_++;
    made->operands.assign(operands.begin(), operands.end());
    made->orphans = &orphans_;

    std::vector<Real> x;
    bool constant = false;
    for (const Node& operand : operands) {
      x.push_back(operand->value);
      constant |= operand->constant;
    }
    std::vector<Real> y(info(op).outputs(static_cast<std::uint32_t>(operands.size())));
    functions_.forward_op(op, x.size(), x.data(), y.data());

    held_.clear();
    for (Real value : y) {
      held_.push_back(make_node(value, false, made));
      made->results.push_back(held_.back());
    }
    made->backward = [this, op, constant, x = std::move(x), y = std::move(y)](HeapOp<Real>& self) {
      std::vector<Real> g, contributions(x.size()), scratch(x.size());
      for (const auto& result : self.results) {
        const Node node = result.lock();
        g.push_back(node ? node->adjoint : -Real(0));
      }
      functions_.backward_op(op, x.size(), x.data(), y.data(), g.data(), constant, false, contributions.data(),
                             scratch.data());
      for (std::size_t i = 0; i < x.size(); ++i) self.operands[i]->adjoint += contributions[i];
    };
    return held_.front();
  }

  /// Adjoints of all that the roots depend on; the roots' own adjoints are the seeds.
  void backward(std::span<const Node> roots) {
    std::vector<HeapOp<Real>*> order;
    std::unordered_set<HeapOp<Real>*> found;
    const auto visit = [&](const Node& node) {
      if (HeapOp<Real>* op = node->from.get(); op && found.insert(op).second) order.push_back(op);
    };
    for (const Node& root : roots) visit(root);
    for (std::size_t next = 0; next < order.size(); ++next)
      for (const Node& operand : order[next]->operands) visit(operand);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->number > b->number; });
    for (HeapOp<Real>* op : order) op->backward(*op);
  }

  /// From here on, all nodes are kept, in the order they are made: for looking at them.
  void keep_all() { keep_all_ = true; }
  const std::vector<Node>& all() const { return all_; }

 private:
  Node make_node(Real value, bool constant, std::shared_ptr<HeapOp<Real>> from) {
    auto node = std::make_shared<HeapNode<Real>>(value, constant, std::move(from));
    if (keep_all_) all_.push_back(node);
    return node;
  }

  const kernels::Backend<Real>& functions_ = kernels::backend<Real>(Isa::scalar);
  Orphans<Real> orphans_;   // outlives the nodes below
  std::vector<Node> held_;  // the results of the last op: `output` may ask for any of them
  std::vector<Node> all_;
  std::size_t ops_ = 0;
  bool keep_all_ = false;
};

template <class Real>
class HeapLevel final : public Level<Real> {
 public:
  explicit HeapLevel(const Workload& workload) : workload_(workload), results_(workload) {}

  void evaluate(const Batch<Real>& batch) override {
    using Node = typename HeapGraph<Real>::Node;
    results_.begin(batch);
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      HeapGraph<Real> graph;
      std::vector<Node> inputs;
      for (std::size_t i = 0; i < workload_.inputs; ++i) inputs.push_back(graph.input(batch.input(e, i)));
      const Node output = workload_.build(graph, std::span<const Node>(inputs));
      output->adjoint += Real(1);
      graph.backward({&output, 1});
      results_.take(batch, e, output->value,
                    [&](std::size_t k) { return inputs[workload_.differentiated[k]]->adjoint; });
    }
    results_.end(batch);
  }

  bool nodes(std::span<const Real> inputs, std::span<const Real> seeds, std::span<Real> values,
             std::span<Real> adjoints) override {
    using Node = typename HeapGraph<Real>::Node;
    HeapGraph<Real> graph;
    graph.keep_all();
    std::vector<Node> in;
    for (Real x : inputs) in.push_back(graph.input(x));
    workload_.build(graph, std::span<const Node>(in));
    const std::vector<Node>& all = graph.all();
    for (std::size_t v = 0; v < all.size(); ++v) all[v]->adjoint += seeds[v];
    graph.backward(all);
    for (std::size_t v = 0; v < all.size(); ++v) {
      values[v] = all[v]->value;
      adjoints[v] = all[v]->adjoint + Real(0);
    }
    return true;
  }

 private:
  const Workload workload_;
  Results<Real> results_;
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_heap(const Workload& workload, const LevelOptions&) {
  return std::make_unique<HeapLevel<Real>>(workload);
}
template std::unique_ptr<Level<double>> make_heap(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_heap(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
