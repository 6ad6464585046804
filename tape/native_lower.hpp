// A program's instructions as vector operations.
#pragma once

#include "codegen/graph.hpp"
#include "tape/program.hpp"

namespace wengert::plan {

/// The pointers of machine code: what each group of them points at, first one after the other, and how many there are.
template <class Real>
struct NativePointers {
  NativePointers(const ProgramData<Real>& data, bool gradient)
      : inputs(0),
        weights(inputs + (gradient ? data.gradient : data.values).inputs.size()),
        outputs(weights + (gradient ? data.seeds.size() : 0)),
        gradients(outputs + (gradient ? data.gradient : data.values).outputs.size()),
        sums(gradients + (gradient ? data.gradients.size() : 0)),
        count(sums + data.uniform.sums.size() + (gradient ? data.uniform.totals.size() : 0)) {}
  std::size_t inputs, weights, outputs, gradients, sums, count;
};

/// Records the whole program, for one vector or two; about `expected` nodes, or, with `no_more` than that, not at all. With `Chain::plain` and where the program wants
/// the zero rule the graph requires that no derivative is NaN: then no product was one that the rule changes. The graph is
/// incomplete where an op can't be recorded.
template <class Real>
codegen::Graph lower_to_graph(const ProgramData<Real>& data, bool gradient, const codegen::Shape& shape,
                              codegen::Chain chain, std::size_t expected = 0, bool no_more = false);
/// Bytes that recording and assembling it take for a while, at most, where there are no more than `nodes`.
template <class Real>
std::size_t bytes_to_make(const ProgramData<Real>& data, bool gradient, std::size_t nodes);

}  // namespace wengert::plan
