// The part of a program that runs once per batch: before the samples, and after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tape/program.hpp"
#include "tape/workspace.hpp"

namespace wengert {

template <class Real>
class UniformSide {
 public:
  UniformSide(const plan::ProgramData<Real>& data, const kernels::InstructionTable<Real>& single);

  bool any() const { return part_.any; }
  void set_parameters(std::span<const Real> values) { parameters_.assign(values.begin(), values.end()); }

  /// Computes what the samples need of this side.
  void begin();
  /// Counts calls of `begin`.
  std::uint64_t batch() const { return batch_; }
  const Workspace<Real>& workspace() const { return workspace_; }

  /// Takes the sums over the samples and computes what follows from them.
  void values_after(std::span<const Real> sums);
  /// Adjoints of the sums, from weights of the uniform outputs (empty: 1 each).
  void adjoints_before(std::span<const Real> weights);
  /// Takes what the samples gave to the adjoints of this side, and computes the parameters' gradients.
  void adjoints_after(std::span<const Real> totals);

  /// How many of the batch's guards come out as recorded before the first that doesn't; all, where none is checked.
  std::size_t passed(std::size_t all) const {
    return part_.layout.guards.sum == plan::no_slot ? all : static_cast<std::size_t>(at(part_.layout.guards.sum));
  }

  std::span<const Real> outputs() const { return outputs_; }
  std::span<const Real> gradients() const { return gradients_; }

 private:
  Real& at(plan::Slot slot) const { return *workspace_.slot(slot); }
  void run(const BoundCode<Real>& code) const { code.run(workspace_, 1, ieee_); }

  const plan::ProgramData<Real>& data_;
  const plan::Uniform<Real>& part_;
  bool ieee_;
  BoundCode<Real> prologue_, epilogue_, epilogue_backward_, prologue_backward_;
  Workspace<Real> workspace_;
  std::vector<Real> parameters_, outputs_, gradients_;
  std::uint64_t batch_ = 0;
};

extern template class UniformSide<double>;
extern template class UniformSide<float>;

}  // namespace wengert
