// The part of a program that runs once per batch: before the samples, and after them. With tangents, if wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tape/program.hpp"
#include "tape/workspace.hpp"

namespace wengert {

template <class Real>
class UniformSide {
 public:
  /// `vector`: lanes of `dual`, which is of `isa`; one of them is of interest.
  UniformSide(const plan::ProgramData<Real>& data, const kernels::InstructionTable<Real>& single,
              const kernels::InstructionTable<Real>& dual, Isa isa, std::size_t vector);

  bool any() const { return part_.any; }
  void set_parameters(std::span<const Real> values) { parameters_.assign(values.begin(), values.end()); }
  /// Tangents of the differentiated parameters. All zero: none.
  void set_directions(std::span<const Real> tangents) { directions_.assign(tangents.begin(), tangents.end()); }
  std::span<const Real> directions() const { return directions_; }

  /// Computes what the samples need of this side, and its tangents if `dual`.
  void begin(bool dual);
  /// Whether there are tangents of it since `begin`.
  bool has_tangents() const { return any() && workspace_.dual(); }
  /// Counts calls of `begin`.
  std::uint64_t batch() const { return batch_; }
  const Workspace<Real>& workspace() const { return workspace_; }
  std::size_t bytes() const { return workspace_.bytes() + for_seeds_.bytes(); }
  /// Once `begin` has been called, and `adjoints_for` so many seeds.
  std::size_t bytes_in_use(bool dual, std::size_t seeds) const {
    if (!any()) return 0;
    const std::size_t lanes = dual ? vector_ : 1;
    const WorkspaceSize size = Workspace<Real>::size_for(part_.layout, lanes, lanes, dual, data_);
    const std::size_t adjoints = std::max(for_seeds_.size(), seeds * part_.sum_adjoints.size());
    return (size.or_more(workspace_.size()).numbers() + adjoints) * sizeof(Real);
  }

  /// Takes the sums over the samples, after them those of tangents, and computes what follows from them.
  void values_after(std::span<const Real> sums, std::span<const Real> tangents);
  /// Adjoints of the sums, from weights of the uniform outputs (empty: 1 each).
  void adjoints_before(std::span<const Real> weights);
  /// The same for several seeds: adjoints of the sum of those uniform outputs k for which seeded(seed, k).
  template <class Seeded>
  void adjoints_for(std::size_t seeds, const Seeded& seeded);
  /// Of those, that of sum_adjoints[k].
  Real adjoint_for(std::size_t seed, std::size_t k) const {
    return for_seeds_.data()[seed * part_.sum_adjoints.size() + k];
  }
  /// Takes what the samples gave to the adjoints of this side, and computes the parameters' gradients.
  void adjoints_after(std::span<const Real> totals, std::span<const Real> tangents);

  /// The first guard of the batch that came out otherwise than recorded, if one did.
  std::optional<std::size_t> departed_from() const {
    if (!departs_) return std::nullopt;
    return static_cast<std::size_t>(at(part_.layout.failed));
  }

  std::span<const Real> outputs() const { return outputs_; }
  std::span<const Real> gradients() const { return gradients_; }
  std::span<const Real> tangents() const { return tangents_; }  ///< of the outputs
  std::span<const Real> products() const { return products_; }  ///< tangents of the gradients

 private:
  struct Codes {
    BoundCode<Real> prologue, epilogue, epilogue_backward, prologue_backward;
  };
  Codes bind(const kernels::InstructionTable<Real>& table, const kernels::SpecialKernels<Real>& special) const;

  Real at(plan::Slot slot) const { return *workspace_.slot(slot); }
  Real tangent_at(plan::Slot slot) const { return *workspace_.tangents(slot).data; }
  void set(plan::Slot slot, Real value, Real tangent = 0) const;
  /// From what follows the samples to the sums, with weights of the uniform outputs.
  template <class Weight>
  void sweep_back(const Weight& weight) {
    for (std::size_t k = 0; k < part_.seeds.size(); ++k)
      if (part_.seeds[k] != plan::no_slot) set(part_.seeds[k], weight(k));
    run(&Codes::epilogue_backward);
  }
  void run(BoundCode<Real> Codes::*code) {
    const bool dual = workspace_.dual();
    departs_ |= ((dual ? dual_ : single_).*code).run(workspace_, dual ? vector_ : 1, ieee_, nullptr);
  }

  const plan::ProgramData<Real>& data_;
  const plan::Uniform<Real>& part_;
  bool ieee_;
  std::size_t vector_;
  Codes single_, dual_;
  Workspace<Real> workspace_;
  std::vector<Real> parameters_, directions_, outputs_, gradients_, tangents_, products_;
  AlignedArray<Real> for_seeds_;  // adjoints of sums, [seed][sum]
  std::uint64_t batch_ = 0;
  bool departs_ = false;
};

template <class Real>
template <class Seeded>
void UniformSide<Real>::adjoints_for(std::size_t seeds, const Seeded& seeded) {
  const std::size_t sums = part_.sum_adjoints.size();
  for_seeds_.reserve(seeds * sums);
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    sweep_back([&](std::size_t k) { return seeded(seed, k) ? Real(1) : Real(0); });
    for (std::size_t k = 0; k < sums; ++k) for_seeds_.data()[seed * sums + k] = at(part_.sum_adjoints[k]);
  }
}

extern template class UniformSide<double>;
extern template class UniformSide<float>;

}  // namespace wengert
