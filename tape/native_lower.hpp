// A program's instructions as vector operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codegen/graph.hpp"
#include "kernels/dispatch.hpp"
#include "tape/program.hpp"

namespace wengert {

/// What code for an instruction set is made for; null where there is no such code.
const codegen::Target* native_target(Isa isa);

namespace plan {

/// The pointers of machine code: what each group of them points at, first one after the other, and how many there are.
template <class Real>
struct NativePointers {
  NativePointers(const ProgramData<Real>& data, Evaluation what)
      : inputs(0),
        directions(inputs + (what.gradient ? data.gradient : data.values).inputs.size()),
        weights(directions + (what.dual() ? data.differentiated.size() : 0)),
        outputs(weights + (what.gradient ? data.seeds.size() : 0)),
        gradients(outputs + (what.gradient ? data.gradient : data.values).outputs.size()),
        tangents(gradients + (what.gradient ? data.gradients.size() : 0)),
        sums(tangents + (what.dual() ? tangents - (what.gradient ? gradients : outputs) : 0)),
        tangents_of_sums(
            sums + (what.has_sums() ? data.uniform.sums.size() + (what.gradient ? data.uniform.totals.size() : 0) : 0)),
        count(tangents_of_sums + (what.uniform_tangents ? tangents_of_sums - sums : 0)) {}
  /// `tangents`: of the gradients, or, where there are none, of the outputs.
  std::size_t inputs, directions, weights, outputs, gradients, tangents, sums, tangents_of_sums, count;
};

/// The numbers that code reads as uniforms, and for a point its weights, directions, shares of the sums and tangents too: the first of each
/// group.
template <class Real>
struct NativeUniforms {
  NativeUniforms(const ProgramData<Real>& data, Evaluation what)
      : sum_adjoints((what.gradient ? data.gradient : data.values).imports.size()),
        tangents(sum_adjoints + (what.gradient ? data.sum_seeds.size() : 0)),
        weights(tangents + (what.uniform_tangents ? tangents : 0)),
        directions(weights + (what.gradient ? data.seeds.size() : 0)),
        sums(directions + (what.dual() ? data.differentiated.size() : 0)),
        tangents_of_sums(
            sums + (what.has_sums() ? data.uniform.sums.size() + (what.gradient ? data.uniform.totals.size() : 0) : 0)),
        tangents_of_results(tangents_of_sums + (what.uniform_tangents ? tangents_of_sums - sums : 0)),
        count(tangents_of_results + (!what.dual()    ? 0
                                     : what.gradient ? data.gradients.size()
                                                     : data.values.outputs.size())) {}
  /// `tangents`: of those before, in their order. `tangents_of_results`: of the gradients, or, where there are none, of the outputs.
  std::size_t sum_adjoints, tangents, weights, directions, sums, tangents_of_sums, tangents_of_results, count;
};

/// How many numbers the items of a point's tables are apart.
struct PointStrides {
  std::uint32_t inputs = 1, values = 1, gradients = 1;
};

/// What to record.
struct Lowering {
  Evaluation what = true;
  codegen::Shape shape;
  codegen::Chain chain = codegen::Chain::plain;
  PointStrides strides = {};
  std::size_t expected = 0;  ///< about so many nodes,
  bool no_more = false;      ///< or not at all
  /// Ops that take so many operations or more are calls of subroutines.
  std::size_t least_called = codegen::no_value;
};

/// Records the whole program, for one vector, two or a point. Unless `Chain::zero_rule` is at every product, and where the program wants
/// that rule, which the formulas of tangents always do, the graph requires that no derivative is NaN: then no product was one that the rule changes.
/// The graph is incomplete where an op can't be recorded. Of dual numbers without uniform tangents what is the same for all samples has
/// none, and nothing is summed.
template <class Real>
codegen::Graph lower_to_graph(const ProgramData<Real>& data, const Lowering& how);
/// Bytes that recording and assembling it take for a while, at most, where there are no more than `nodes`.
template <class Real>
std::size_t bytes_to_make(const ProgramData<Real>& data, Evaluation what, std::size_t nodes);

}  // namespace plan
}  // namespace wengert
