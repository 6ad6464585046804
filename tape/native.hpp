// A program as machine code for this CPU: values alone, and values with adjoints. Where it can't be had, or a block needs
// what it leaves out, the interpreter of tape/machine.hpp does the work; the bits are the same.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/assemble.hpp"
#include "codegen/executable_memory.hpp"
#include "kernels/dispatch.hpp"
#include "tape/native_lower.hpp"
#include "tape/program.hpp"
#include "tape/transfer.hpp"
#include "tape/workspace.hpp"

namespace wengert {

/// What code for an instruction set is made for; null where there is no such code.
const codegen::Target* native_target(Isa isa);

/// The code of one kind of evaluation.
template <class Real>
class NativeCode {
 public:
  /// `gradient`: values and adjoints. `point`: of one sample at a time. Code and constants of more than `most_bytes` aren't
  /// kept. Check `why_not` before use.
  NativeCode(const plan::ProgramData<Real>& data, Isa isa, bool gradient, bool point, codegen::Chain chain,
             std::size_t most_bytes);

  const std::string& why_not() const { return why_not_; }  ///< empty: it can be used
  std::size_t lanes() const { return lanes_; }             ///< samples that it computes at a time
  std::size_t spill_bytes() const { return spill_bytes_; }
  std::size_t code_bytes() const { return memory_.bytes() + pool_.bytes(); }

  /// Whether all was well. `uniforms`: what the samples read of the uniform side, in the order of its layout's imports, then
  /// of the sums' adjoints.
  bool run(Real* const* pointers, const Real* uniforms, std::byte* spills, std::size_t samples) const;
  /// The same of a point, whose inputs and outputs are at `numbers`, in the order of NativePointers.
  bool run_point(Real* numbers, const Real* uniforms, std::byte* spills) const;

 private:
  codegen::ExecutableMemory memory_;
  AlignedArray<std::uint8_t> pool_;
  std::size_t lanes_ = 0, spill_bytes_ = 0;
  std::string why_not_;
};

/// Where the numbers of a batch are, for one kind of evaluation.
template <class Real>
struct NativeBatch {
  std::size_t samples = 0;
  Samples<const Real> inputs, weights;
  Samples<Real> values, gradients;
};

/// Runs blocks of a batch, each worker with memory of its own, or single samples.
template <class Real>
class NativeRunner {
 public:
  NativeRunner(const plan::ProgramData<Real>& data, Isa isa, bool gradient, bool point,
               std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

  const std::string& why_not() const { return code_.why_not(); }
  const NativeCode<Real>& code() const { return code_; }
  std::size_t bytes() const;
  /// What it will be once `workers` have run blocks of up to `most` lanes.
  std::size_t bytes_with(std::size_t workers, std::size_t most) const;

  /// Before the blocks of a batch. `uniform`: the uniform side, where the program has one.
  void begin(const NativeBatch<Real>& batch, std::size_t workers, const Workspace<Real>* uniform);
  /// One block, at most `most` lanes. False: nothing is done, use the interpreter.
  bool run(const LaneRange& lanes, std::size_t worker, std::size_t most);
  /// A whole batch of one sample, where that is what the code is for, without `begin`. False: as above.
  bool run_point(const NativeBatch<Real>& batch, const Workspace<Real>* uniform);
  /// Of the last block: the lanes of quantity q of the sums over the samples (terms, then adjoints of uniform variables).
  const Real* lanes_of(std::size_t worker, std::size_t q) const;

 private:
  struct Worker {
    AlignedArray<Real> staging;  // [pointer][width]
    AlignedArray<std::uint8_t> spills;
    std::vector<Real*> pointers;
    std::size_t width = 0;
    std::size_t to_skip = 0, penalty = 0;  // blocks that the interpreter gets after one that had to be done again
    std::size_t tried = 0, failed = 0;     // blocks, with the code as it is

    std::byte* spill_memory() { return reinterpret_cast<std::byte*>(spills.data()); }
    bool skips();
    bool ran(bool well);  // returns `well`
  };
  std::size_t numbers_in_staging(std::size_t width) const;
  void prepare(std::size_t workers, const Workspace<Real>* uniform);
  void make_room(Worker& worker, std::size_t width) const;
  LaneSlot<Real> slot(Worker& worker, std::size_t pointer) const;
  std::size_t round_up(std::size_t lanes) const { return (lanes + code_.lanes() - 1) / code_.lanes() * code_.lanes(); }

  const plan::ProgramData<Real>& data_;
  const plan::Layout<Real>& layout_;
  const plan::NativePointers<Real> at_;
  const Isa isa_;
  const bool gradient_, point_;
  const std::size_t most_bytes_;
  codegen::Chain chain_ = codegen::Chain::plain;
  NativeCode<Real> code_;
  std::vector<Worker> workers_;
  NativeBatch<Real> batch_;
  std::vector<Real> uniforms_;
  bool in_place_ = false;  // reads and writes the caller's memory
};

extern template class NativeCode<double>;
extern template class NativeCode<float>;
extern template class NativeRunner<double>;
extern template class NativeRunner<float>;

}  // namespace wengert
