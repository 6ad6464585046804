#include "tape/native_graph.hpp"

#include <algorithm>

#include "codegen/delay.hpp"
#include "codegen/loops.hpp"
#include "codegen/rematerialize.hpp"
#include "codegen/schedule.hpp"

namespace wengert {

template <class Real>
NativeGraph<Real>::NativeGraph(const plan::ProgramData<Real>& data, Isa isa, plan::Evaluation what, bool point,
                               codegen::Chain chain, std::size_t most_bytes, plan::PointStrides strides)
    : data_(data), isa_(isa), most_bytes_(most_bytes), how_{what, {native_target(isa), point}, chain, strides} {
  if (over_budget(0)) return;  // of which even the estimate takes some
  const plan::NativeCost cost = plan::native_cost(data, what, isa);
  length_ = point ? cost.alone : cost.batches;
  if (too_long()) return;
  if (!point) how_.shape.vectors = length_.vectors;
  how_.expected = how_.shape.vectors * (2 * length_.operations + plan::NativePointers<Real>(data, what).count);
  how_.no_more = limited();
  how_.least_called = length_.least_called;
  if (over_budget(how_.expected)) return;
  find_loops_ = !point || length_.has_loops();
  arena_.emplace(plan::bytes_to_make(data, what, how_.expected));
  record();
  if (graph_->complete() && (length_.has_loops() || !graph_->loops().empty())) record_with_others();
  if (!why_not_.empty()) return;
  if (!graph_->complete()) {
    why_not_ = limited() && graph_->nodes().size() >= how_.expected
                   ? "making machine code takes more bytes than the budget leaves"
                   : "an op of the program has no vector form";
    return;
  }
  if (graph_->loops().empty()) codegen::rematerialize(*graph_);
  if (!codegen::delay(*graph_)) codegen::schedule(*graph_);
}

template <class Real>
bool NativeGraph<Real>::over_budget(std::size_t nodes) {
  if (!limited()) return false;
  const std::size_t bytes = plan::bytes_to_make(data_, how_.what, nodes);
  if (bytes > most_bytes_)
    why_not_ = "making machine code may take " + std::to_string(bytes) + " bytes, more than the budget leaves";
  return bytes > most_bytes_;
}

template <class Real>
bool NativeGraph<Real>::too_long() {
  if (length_.too_long)
    why_not_ = "about " + std::to_string(length_.operations) + " vector operations are too many for a straight line";
  return length_.too_long;
}

template <class Real>
void NativeGraph<Real>::record() {
  graph_.reset();
  graph_ = plan::lower_to_graph(data_, how_);
  if (graph_->complete() && find_loops_) codegen::find_loops(*graph_);
}

/// Operations that code is written for: what is at hand takes none.
static std::size_t written_of(const codegen::Graph& graph) {
  const auto& nodes = graph.nodes();
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const codegen::Node& node) { return !codegen::at_hand(node.what); }));
}

/// How many vectors are side by side was chosen by the loops that were expected: once more where those that there are want others.
template <class Real>
void NativeGraph<Real>::record_with_others() {
  std::uint32_t& vectors = how_.shape.vectors;
  length_ = length_.with(written_of(*graph_) / vectors, isa_);
  if (too_long() || how_.shape.point || length_.vectors == vectors || (length_.vectors > vectors && limited())) return;
  how_.expected = how_.expected / vectors * length_.vectors;
  vectors = length_.vectors;
  record();
}

template class NativeGraph<double>;
template class NativeGraph<float>;

}  // namespace wengert
