// The operations of a program's machine code, with its loops, for as many vectors side by side as is best.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "codegen/arena.hpp"
#include "codegen/graph.hpp"
#include "kernels/dispatch.hpp"
#include "tape/native_cost.hpp"
#include "tape/native_lower.hpp"

namespace wengert {

template <class Real>
class NativeGraph {
 public:
  /// `point`: of one sample at a time, whose tables have these strides. Recording and assembling it takes `most_bytes` at most.
  NativeGraph(const plan::ProgramData<Real>& data, Isa isa, plan::Evaluation what, bool point, codegen::Chain chain,
              std::size_t most_bytes, plan::PointStrides strides);

  const std::string& why_not() const { return why_not_; }  ///< empty: there is one
  const codegen::Graph& operator*() const { return *graph_; }

 private:
  bool limited() const { return most_bytes_ != std::numeric_limits<std::size_t>::max(); }
  bool over_budget(std::size_t nodes);
  bool too_long();
  void record();
  void record_with_others();

  const plan::ProgramData<Real>& data_;
  const Isa isa_;
  const std::size_t most_bytes_;
  plan::Lowering how_;
  plan::NativeCost::Length length_;
  bool find_loops_ = false;
  std::string why_not_;
  std::optional<codegen::Arena> arena_;  // the graph's memory, and that of what is made of it
  std::optional<codegen::Graph> graph_;
};

extern template class NativeGraph<double>;
extern template class NativeGraph<float>;

}  // namespace wengert
