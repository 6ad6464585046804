// Machine code for a point: batches of one sample, with as little around the code as can be. It reads the caller's inputs and
// writes into the caller's results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "tape/native.hpp"

namespace wengert {

template <class Real>
class NativePoint {
 public:
  /// `like`: a batch of one sample, whose tables' strides the code is made for; those of others go by way of a copy.
  NativePoint(const plan::ProgramData<Real>& data, Isa isa, plan::Evaluation what, const NativeBatch<Real>& like = {},
              std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

  const std::string& why_not() const { return code_.why_not(); }
  const NativeCode<Real>& code() const { return code_; }
  std::size_t bytes() const { return code_.code_bytes() + numbers_.bytes() + spills_.bytes(); }
  std::size_t outputs() const { return values_.items; }

  /// Where the program has a uniform side: before each run.
  void take_uniforms_of(const Workspace<Real>& uniform) { take_uniforms(data_, what_, uniform, numbers_.data()); }
  /// Of one sample, with weights 1. False: results are of no use, use the interpreter. (By references: a table that was just written
  /// into memory number by number is slow to be copied as a whole.)
  bool run(const Samples<const Real>& inputs, const Samples<Real>& values, const Samples<Real>& gradients) {
    if (misses_.skips()) return false;
    Real* const to_values = values.data ? values.data : values_.copy;
    Real* const to_gradients = gradients.data ? gradients.data : gradients_.copy;
    // One branch for all that hardly ever is otherwise.
    const std::ptrdiff_t strides = inputs_.misfit(inputs) | values_.misfit(values) | gradients_.misfit(gradients);
    const int near = inputs_to_values_.near(inputs.data, to_values) |
                     inputs_to_gradients_.near(inputs.data, to_gradients) |
                     values_to_gradients_.near(to_values, to_gradients);
    if ((strides | near) != 0) return run_by_copies({1, inputs, {}, values, gradients});
    return ran(call(inputs.data, to_values, to_gradients));
  }
  /// With weights, of which there may be none.
  bool run(const Samples<const Real>& inputs, const Samples<const Real>& weights, const Samples<Real>& values,
           const Samples<Real>& gradients) {
    if (!weights.data) return run(inputs, values, gradients);
    return !misses_.skips() && run_by_copies({1, inputs, weights, values, gradients});
  }
  /// Of one sample, of every kind, whose tables have been looked at (own_places).
  bool run_checked(const NativeBatch<Real>& batch) {
    if (!batch.weights.data && !what_.dual()) return run(batch.inputs, batch.values, batch.gradients);
    if (misses_.skips() || !run_copies(batch)) return false;
    give_copies(batch);
    return true;
  }
  /// The same for a seed of a matrix: seed(k) tells whether the weight of output k, or the direction of differentiated input k, is 1
  /// instead of 0. give(k, x) gets what is derived by that: gradients, or tangents of these or of values.
  template <class Seed, class Give>
  bool run_seed(const NativeBatch<Real>& batch, const Seed& seed, const Give& give) {
    if (misses_.skips()) return false;
    const std::span<Real> seeds = what_.dual() ? directions() : weights();
    for (std::size_t k = 0; k < seeds.size(); ++k) seeds[k] = Real(seed(k) ? 1 : 0);
    if (!run_copies(batch)) return false;
    give_copies(batch);  // but tangents, for which there is no table
    const std::span<const Real> derivatives = tangents();
    for (std::size_t k = 0; k < derivatives.size(); ++k) give(k, derivatives[k]);
    for (std::size_t k = 0; !what_.dual() && k < gradients_.items; ++k) give(k, gradients_.item(k));
    return true;
  }
  /// Of the last run: quantity q of the sums over the samples (terms, then adjoints of uniform variables; then tangents of these, if they
  /// are summed).
  const Real* share_of(std::size_t q) const { return numbers_.data() + uniforms_.sums + q; }

 private:
  /// A table of the caller's: how many items, how far the code takes them to be apart, and room for them.
  struct Table {
    std::size_t items;
    std::ptrdiff_t stride;
    std::size_t reach;  // from the first number to past the last
    Real* copy;

    Real& item(std::size_t k) const { return copy[static_cast<std::ptrdiff_t>(k) * stride]; }
    /// 0: what the caller has is as the code takes it to be.
    template <class T>
    std::ptrdiff_t misfit(const Samples<T>& table) const {
      return table.data && items > 1 ? table.item ^ stride : 0;
    }
  };
  /// Of two tables whether they have numbers in common, by their first ones. One comparison tells whether either begins within the other
  /// (and takes two without numbers for one that does).
  class Between {
   public:
    Between(const Table& a, const Table& b)
        : reach_(a.reach * sizeof(Real) - 1), reach_of_both_((a.reach + b.reach) * sizeof(Real) - 1) {}
    int near(const Real* a, const Real* b) const {
      return reinterpret_cast<std::uintptr_t>(a) + reach_ - reinterpret_cast<std::uintptr_t>(b) < reach_of_both_;
    }

   private:
    std::uintptr_t reach_, reach_of_both_;
  };
  bool call(const Real* inputs, Real* values, Real* gradients) const {
    return code_.run_point(inputs, numbers_.data(), reinterpret_cast<std::byte*>(spills_.data()), values, gradients);
  }
  bool ran(bool well) {
    if (!misses_.ran(well)) [[unlikely]]
      take_care();
    return well;
  }
  // What the code reads and writes besides tables.
  std::span<Real> numbers(std::size_t first, std::size_t next) { return {numbers_.data() + first, next - first}; }
  std::span<Real> weights() { return numbers(uniforms_.weights, uniforms_.directions); }
  std::span<Real> directions() { return numbers(uniforms_.directions, uniforms_.sums); }
  std::span<Real> tangents() { return numbers(uniforms_.tangents_of_results, uniforms_.count); }
  bool run_by_copies(const NativeBatch<Real>& batch);
  /// All that is read from a copy, all results into copies.
  bool run_copies(const NativeBatch<Real>& batch);
  void give_copies(const NativeBatch<Real>& batch);
  void take_care();
  static Table table(std::size_t items, const void* data, std::ptrdiff_t stride);
  NativeCode<Real> make(codegen::Chain chain, std::size_t most_bytes) const;
  static AlignedArray<std::uint8_t> spills_for(const NativeCode<Real>& code);
  void lay_out();

  const plan::ProgramData<Real>& data_;
  const plan::NativeUniforms<Real> uniforms_;
  const Isa isa_;
  const plan::Evaluation what_;
  const std::size_t most_bytes_;
  codegen::Chain chain_ = codegen::Chain::plain;
  Table inputs_, values_, gradients_;
  const Between inputs_to_values_, inputs_to_gradients_, values_to_gradients_;
  NativeCode<Real> code_;
  AlignedArray<Real> numbers_;  // NativeUniforms, then the copies
  AlignedArray<std::uint8_t> spills_;
  Misses misses_;  // runs, with the code as it is
};

extern template class NativePoint<double>;
extern template class NativePoint<float>;

}  // namespace wengert
