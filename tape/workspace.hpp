// The memory of one block, and code bound to the functions of an instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "kernels/instruction_table.hpp"
#include "tape/program.hpp"

namespace wengert {

/// Numbers on cache lines of their own. Throws out_of_memory, saying how many bytes were asked for.
template <class Real>
class AlignedArray {
 public:
  void reserve(std::size_t count);
  Real* data() const { return data_.get(); }
  std::size_t bytes() const { return size_ * sizeof(Real); }

 private:
  struct Free {
    void operator()(Real* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<Real, Free> data_;
  std::size_t size_ = 0;
};

/// Code whose kinds are functions.
template <class Real>
class BoundCode {
 public:
  BoundCode() = default;
  BoundCode(const plan::Code& code, const kernels::InstructionTable<Real>& table);

  void run(const kernels::Frame<Real>& frame) const {
    for (const Stretch& s : stretches_) s.run(frame, s.words, s.count);
  }

 private:
  struct Stretch {
    kernels::Instruction<Real> run;
    const std::uint32_t* words;
    std::size_t count;
  };
  std::vector<Stretch> stretches_;
};

/// The slots of one block. Each thread has its own.
template <class Real>
class Workspace {
 public:
  /// Makes room for `layout` at `lanes` lanes, with its constants in place. Does nothing if that is how it is already.
  void prepare(const plan::Layout<Real>& layout, std::size_t lanes, std::size_t vector, bool dual,
               std::size_t longest_list);
  /// Puts uniform values in place, once per `batch`.
  void import_from(const Workspace& uniform, std::uint64_t batch);

  Real* slot(plan::Slot slot) const { return slots_.data() + std::size_t(slot) * width_; }
  kernels::Frame<Real> frame(bool ieee) const { return {slots_.data(), width_, scratch_.data(), ieee}; }
  std::size_t bytes() const { return slots_.bytes() + scratch_.bytes(); }

 private:
  AlignedArray<Real> slots_, scratch_;
  void fill(plan::Slot slot, Real value);

  const plan::Layout<Real>* layout_ = nullptr;
  std::size_t width_ = 0;  // numbers of a slot
  std::size_t vector_ = 0;
  bool dual_ = false;
  std::uint64_t batch_ = 0;  // of the uniform values that are in place
};

}  // namespace wengert
