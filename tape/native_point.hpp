// Machine code for a point: batches of one sample, with as little around the code as can be. It reads the caller's inputs and
// writes into the caller's results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "tape/native.hpp"

namespace wengert {

template <class Real>
class NativePoint {
 public:
  /// `like`: a batch of one sample, whose tables' strides the code is made for; those of others go by way of a copy.
  NativePoint(const plan::ProgramData<Real>& data, Isa isa, bool gradient, const NativeBatch<Real>& like = {},
              std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

  const std::string& why_not() const { return code_.why_not(); }
  const NativeCode<Real>& code() const { return code_; }
  std::size_t bytes() const { return code_.code_bytes() + numbers_.bytes() + spills_.bytes(); }
  std::size_t outputs() const { return values_.items; }

  /// Where the program has a uniform side: before each run.
  void take_uniforms_of(const Workspace<Real>& uniform) { take_uniforms(data_, gradient_, uniform, numbers_.data()); }
  /// Of one sample. False: results are of no use, use the interpreter. (By references: a table that was just written into memory
  /// number by number is slow to be copied as a whole.)
  bool run(const Samples<const Real>& inputs, const Samples<const Real>& weights, const Samples<Real>& values,
           const Samples<Real>& gradients) {
    if (misses_.skips()) return false;
    if (!inputs_.fits(inputs) || weights.data || !weights_are_one_ || !takes(values_, values, inputs.data) ||
        !takes(gradients_, gradients, inputs.data) ||
        (values.data && gradients.data && !apart(values.data, values_.reach, gradients.data, gradients_.reach)))
      return run_by_copies(inputs, weights, values, gradients);
    return ran(
        call(inputs.data, values.data ? values.data : values_.copy, gradients.data ? gradients.data : gradients_.copy));
  }
  /// Of the last run: quantity q of the sums over the samples (terms, then adjoints of uniform variables).
  const Real* share_of(std::size_t q) const { return numbers_.data() + uniforms_.sums + q; }

 private:
  /// A table of the caller's: how many items, how far the code takes them to be apart, and room for them.
  struct Table {
    std::size_t items;
    std::ptrdiff_t stride;
    std::size_t reach;  // from the first number to past the last
    Real* copy;

    template <class T>
    bool fits(const Samples<T>& table) const {
      return table.item == stride || items <= 1;
    }
  };
  /// Whether two stretches of numbers have none in common. One comparison tells whether either begins within the other.
  static bool apart(const Real* a, std::size_t reach_a, const Real* b, std::size_t reach_b) {
    return reinterpret_cast<std::uintptr_t>(a) + reach_a * sizeof(Real) - reinterpret_cast<std::uintptr_t>(b) - 1 >=
           (reach_a + reach_b) * sizeof(Real) - 1;
  }
  /// Whether the code can write to a table of the caller's: not where it goes on to read.
  bool takes(const Table& table, const Samples<Real>& to, const Real* inputs) const {
    return !to.data || (table.fits(to) && apart(to.data, table.reach, inputs, inputs_.reach));
  }
  bool call(const Real* inputs, Real* values, Real* gradients) const {
    return code_.run_point(inputs, numbers_.data(), reinterpret_cast<std::byte*>(spills_.data()), values, gradients);
  }
  bool ran(bool well) {
    if (!misses_.ran(well)) [[unlikely]]
      take_care();
    return well;
  }
  bool run_by_copies(const Samples<const Real>& inputs, const Samples<const Real>& weights, const Samples<Real>& values,
                     const Samples<Real>& gradients);
  void take_care();
  static Table table(std::size_t items, const void* data, std::ptrdiff_t stride);
  NativeCode<Real> make(std::size_t most_bytes) const;
  void lay_out();

  const plan::ProgramData<Real>& data_;
  const plan::NativeUniforms<Real> uniforms_;
  const Isa isa_;
  const bool gradient_;
  const std::size_t most_bytes_;
  codegen::Chain chain_ = codegen::Chain::plain;
  Table inputs_, values_, gradients_;
  bool weights_are_one_ = true;
  NativeCode<Real> code_;
  AlignedArray<Real> numbers_;  // NativeUniforms, then the copies
  AlignedArray<std::uint8_t> spills_;
  Misses misses_;  // runs, with the code as it is
};

extern template class NativePoint<double>;
extern template class NativePoint<float>;

}  // namespace wengert
