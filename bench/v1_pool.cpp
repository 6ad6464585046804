// Level v1, pool: nodes in one fixed-size pool, linked by plain pointers; the graph is built once. Each node has its value,
// but nobody trusts it: an op computes each of its operands again, from that operand's own stored operands (one level).
// Backward walks the pool from the newest node down. Compiled without vectorisation (bench/meson.build).
#include <algorithm>
#include <chrono>

#include "bench/graph_ops.hpp"
#include "bench/make_levels.hpp"
#include "bench/results.hpp"
#include "kernels/dispatch.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {

namespace {

constexpr std::size_t pool_nodes = std::size_t{1} << 21;  // a `west` of 1,000,000 ops fits: 1,750,100 variables
constexpr std::size_t pool_links = std::size_t{1} << 22;  // pointers to operands

/// Room for `capacity` things and no more. Memory is touched only as it is used.
template <class T>
class Pool {
 public:
  explicit Pool(std::size_t capacity) : capacity_(capacity), things_(std::make_unique_for_overwrite<T[]>(capacity)) {}

  T* take(std::size_t n, const char* what) {
    if (n > capacity_ - used_)
      throw Error(ErrorCode::out_of_memory, "the graph doesn't fit the pool of level v1: it holds " +
                                                std::to_string(capacity_) + " " + what +
                                                "; choose fewer ops or another level");
    used_ += n;
    return things_.get() + used_ - n;
  }
  T* begin() const { return things_.get(); }
  T* end() const { return things_.get() + used_; }
  std::size_t bytes() const { return used_ * sizeof(T); }

 private:
  std::size_t capacity_, used_ = 0;
  std::unique_ptr<T[]> things_;
};

template <class Real>
struct PoolNode {
  Real value, adjoint;
  PoolNode* first;      // result of the same op; null for inputs and constants
  PoolNode** operands;  // of that op
  std::uint32_t operand_count, result_count;
  Op op;
  bool constant, constant_operand;
};

template <class Real>
class PoolGraph : public GraphOps<PoolGraph<Real>, PoolNode<Real>*> {
 public:
  using Node = PoolNode<Real>*;

  Node input(Real value) {
    Node node = nodes_.take(1, "nodes");
    *node = {.value = value,
             .adjoint = 0,
             .first = nullptr,
             .operands = nullptr,
             .operand_count = 0,
             .result_count = 0,
             .op = Op::add,
             .constant = false,
             .constant_operand = false};
    return node;
  }
  Node constant(double value) {
    Node node = input(static_cast<Real>(value));
    node->constant = true;
    return node;
  }
  Node output(Node first, std::size_t k) { return first + k; }

  Node record(Op op, std::span<const Node> operands) {
    const auto count = static_cast<std::uint32_t>(operands.size());
    Node* links = links_.take(count, "links to operands");
    bool constant_operand = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      links[i] = operands[i];
      constant_operand |= operands[i]->constant;
    }
    const std::uint32_t results = info(op).outputs(count);
    Node first = nodes_.take(results, "nodes");
    for (std::uint32_t k = 0; k < results; ++k)
      first[k] = {.value = 0,
                  .adjoint = 0,
                  .first = first,
                  .operands = links,
                  .operand_count = count,
                  .result_count = results,
                  .op = op,
                  .constant = false,
                  .constant_operand = constant_operand};
    const std::size_t longest = std::max(count, results);
    for (auto* room : {&operands_, &again_operands_, &again_results_, &results_, &seeds_, &contributions_, &scratch_})
      if (room->size() < longest) room->resize(longest);
    return first;
  }

  void forward() {
    for (Node node = nodes_.begin(); node != nodes_.end(); ++node) {
      if (node->first != node) continue;
      for (std::uint32_t i = 0; i < node->operand_count; ++i) operands_[i] = computed_again(node->operands[i]);
      functions_.forward_op(node->op, node->operand_count, operands_.data(), results_.data());
      for (std::uint32_t k = 0; k < node->result_count; ++k) node[k].value = results_[k];
    }
  }

  void clear_adjoints() {
    for (Node node = nodes_.begin(); node != nodes_.end(); ++node) node->adjoint = -Real(0);
  }

  void backward() {
    for (Node node = nodes_.end(); node != nodes_.begin();) {
      --node;
      if (node->first != node) continue;
      for (std::uint32_t i = 0; i < node->operand_count; ++i) operands_[i] = node->operands[i]->value;
      for (std::uint32_t k = 0; k < node->result_count; ++k) {
        results_[k] = node[k].value;
        seeds_[k] = node[k].adjoint;
      }
      functions_.backward_op(node->op, node->operand_count, operands_.data(), results_.data(), seeds_.data(),
                             node->constant_operand, false, contributions_.data(), scratch_.data());
      for (std::uint32_t i = 0; i < node->operand_count; ++i) node->operands[i]->adjoint += contributions_[i];
    }
  }

  const Pool<PoolNode<Real>>& nodes() const { return nodes_; }
  std::size_t bytes() const { return nodes_.bytes() + links_.bytes(); }

 private:
  Real computed_again(const PoolNode<Real>* node) {
    const PoolNode<Real>* first = node->first;
    if (!first) return node->value;
    for (std::uint32_t i = 0; i < first->operand_count; ++i) again_operands_[i] = first->operands[i]->value;
    functions_.forward_op(first->op, first->operand_count, again_operands_.data(), again_results_.data());
    return again_results_[static_cast<std::size_t>(node - first)];
  }

  const kernels::Backend<Real>& functions_ = kernels::backend<Real>(Isa::scalar);
  Pool<PoolNode<Real>> nodes_{pool_nodes};
  Pool<Node> links_{pool_links};
  std::vector<Real> operands_, results_, seeds_, contributions_, scratch_, again_operands_, again_results_;
};

template <class Real>
class PoolLevel final : public Level<Real> {
 public:
  explicit PoolLevel(const Workload& workload)
      : differentiated_(workload.differentiated), parameters_(workload.parameters), results_(workload) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < workload.inputs; ++i) inputs_.push_back(graph_.input(0));
    output_ = workload.build(graph_, std::span<const Node>(inputs_));
    record_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void evaluate(const Batch<Real>& batch) override {
    results_.begin(batch);
    for (std::size_t i = 0; i < parameters_; ++i) inputs_[i]->value = batch.parameters[i];
    for (std::size_t e = 0; e < batch.evaluations; ++e) {
      for (std::size_t i = parameters_; i < inputs_.size(); ++i) inputs_[i]->value = batch.input(e, i);
      graph_.forward();
      graph_.clear_adjoints();
      output_->adjoint += Real(1);
      graph_.backward();
      results_.take(batch, e, output_->value, [&](std::size_t k) { return inputs_[differentiated_[k]]->adjoint; });
    }
    results_.end(batch);
  }

  bool nodes(std::span<const Real> inputs, std::span<const Real> seeds, std::span<Real> values,
             std::span<Real> adjoints) override {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs_[i]->value = inputs[i];
    graph_.forward();
    graph_.clear_adjoints();
    PoolNode<Real>* all = graph_.nodes().begin();
    for (std::size_t v = 0; v < seeds.size(); ++v) all[v].adjoint += seeds[v];
    graph_.backward();
    for (std::size_t v = 0; v < values.size(); ++v) {
      values[v] = all[v].value;
      adjoints[v] = all[v].adjoint + Real(0);
    }
    return true;
  }

  double record_seconds() const override { return record_seconds_; }
  std::size_t tape_bytes() const override { return graph_.bytes(); }

 private:
  using Node = typename PoolGraph<Real>::Node;
  PoolGraph<Real> graph_;
  std::vector<Node> inputs_;
  Node output_;
  const std::vector<std::uint32_t> differentiated_;
  const std::size_t parameters_;
  Results<Real> results_;
  double record_seconds_ = 0;
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_pool(const Workload& workload, const LevelOptions&) {
  return std::make_unique<PoolLevel<Real>>(workload);
}
template std::unique_ptr<Level<double>> make_pool(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_pool(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
