// The part of a program that runs once per batch: before the samples, and after them. With tangents, if wanted.
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
  /// `vector`: lanes of `dual`, of which one is of interest.
  UniformSide(const plan::ProgramData<Real>& data, const kernels::InstructionTable<Real>& single,
              const kernels::InstructionTable<Real>& dual, std::size_t vector);

  bool any() const { return part_.any; }
  void set_parameters(std::span<const Real> values) { parameters_.assign(values.begin(), values.end()); }
  /// Tangents of the differentiated parameters. All zero: none.
  void set_directions(std::span<const Real> tangents) { directions_.assign(tangents.begin(), tangents.end()); }
  std::span<const Real> directions() const { return directions_; }

  /// Computes what the samples need of this side, and its tangents if `dual`.
  void begin(bool dual);
  /// Counts calls of `begin`.
  std::uint64_t batch() const { return batch_; }
  const Workspace<Real>& workspace() const { return workspace_; }
  std::size_t bytes() const { return workspace_.bytes(); }
  /// Once `begin` has been called.
  std::size_t bytes_in_use(bool dual) const {
    if (!any()) return 0;
    const std::size_t lanes = dual ? vector_ : 1;
    const WorkspaceSize size = Workspace<Real>::size_for(part_.layout, lanes, lanes, dual, data_);
    return size.or_more(workspace_.size()).numbers() * sizeof(Real);
  }

  /// Takes the sums over the samples, after them those of tangents, and computes what follows from them.
  void values_after(std::span<const Real> sums, std::span<const Real> tangents);
  /// Adjoints of the sums, from weights of the uniform outputs (empty: 1 each).
  void adjoints_before(std::span<const Real> weights);
  /// Takes what the samples gave to the adjoints of this side, and computes the parameters' gradients.
  void adjoints_after(std::span<const Real> totals, std::span<const Real> tangents);

  /// How many of the batch's guards come out as recorded before the first that doesn't; all, where none is checked.
  std::size_t passed(std::size_t all) const {
    return part_.layout.guards.sum == plan::no_slot ? all : static_cast<std::size_t>(at(part_.layout.guards.sum));
  }

  std::span<const Real> outputs() const { return outputs_; }
  std::span<const Real> gradients() const { return gradients_; }
  std::span<const Real> tangents() const { return tangents_; }  ///< of the outputs
  std::span<const Real> products() const { return products_; }  ///< tangents of the gradients

 private:
  struct Codes {
    BoundCode<Real> prologue, epilogue, epilogue_backward, prologue_backward;
  };
  Codes bind(const kernels::InstructionTable<Real>& table) const;

  Real at(plan::Slot slot) const { return *workspace_.slot(slot); }
  Real tangent_at(plan::Slot slot) const { return *workspace_.tangents(slot).data; }
  void set(plan::Slot slot, Real value, Real tangent = 0) const;
  void run(BoundCode<Real> Codes::*code) const {
    const bool dual = workspace_.dual();
    ((dual ? dual_ : single_).*code).run(workspace_, dual ? vector_ : 1, ieee_, nullptr);
  }

  const plan::ProgramData<Real>& data_;
  const plan::Uniform<Real>& part_;
  bool ieee_;
  std::size_t vector_;
  Codes single_, dual_;
  Workspace<Real> workspace_;
  std::vector<Real> parameters_, directions_, outputs_, gradients_, tangents_, products_;
  std::uint64_t batch_ = 0;
};

extern template class UniformSide<double>;
extern template class UniformSide<float>;

}  // namespace wengert
