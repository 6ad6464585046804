// A program as machine code for this CPU: values alone, values with adjoints, and tangents of either. Where it can't be had, or a block
// needs what it leaves out, the interpreter of tape/machine.hpp does the work; the bits are the same.
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

/// The code of one kind of evaluation.
template <class Real>
class NativeCode {
 public:
  /// `point`: of one sample at a time, whose tables have these strides. Code and constants of more than `most_bytes` aren't kept.
  /// Check `why_not` before use.
  NativeCode(const plan::ProgramData<Real>& data, Isa isa, plan::Evaluation what, bool point, codegen::Chain chain,
             std::size_t most_bytes, plan::PointStrides strides = {});

  const std::string& why_not() const { return why_not_; }  ///< empty: it can be used
  std::size_t lanes() const { return lanes_; }             ///< samples that it computes at a time
  std::size_t spill_bytes() const { return spill_bytes_; }
  /// Whether it reads many of the inputs several times.
  bool reads_again() const { return reads_again_; }
  std::size_t code_bytes() const { return memory_.bytes() + pool_.bytes(); }
  /// What others than this CPU can run: the bytes, more than the code has, and the pool that it is called with.
  std::span<const std::uint8_t> code() const {
    return {static_cast<const std::uint8_t*>(memory_.data()), memory_.bytes()};
  }
  const std::uint8_t* pool() const { return pool_.data() + codegen::bias_of_numbers(sizeof(Real)); }

  /// Whether all was well. `uniforms`: what the samples read of the uniform side, as NativeUniforms has it.
  bool run(Real* const* pointers, const Real* uniforms, std::byte* spills, std::size_t samples) const;
  /// The same of a point. `uniforms`: as NativeUniforms has them, weights and shares of the sums among them.
  bool run_point(const Real* inputs, Real* uniforms, std::byte* spills, Real* values, Real* gradients) const {
    const auto function = reinterpret_cast<codegen::PointFunction>(reinterpret_cast<std::uintptr_t>(memory_.data()));
    return function(inputs, uniforms, spills + codegen::spill_bias, pool(), values, gradients) != 0;
  }

 private:
  codegen::ExecutableMemory memory_;
  AlignedArray<std::uint8_t> pool_;
  std::size_t lanes_ = 0, spill_bytes_ = 0;
  bool reads_again_ = false;
  std::string why_not_;
};

/// Where the numbers of a batch are, for one kind of evaluation.
template <class Real>
struct NativeBatch {
  std::size_t samples = 0;
  Samples<const Real> inputs, weights;
  Samples<Real> values, gradients;
  // Of dual numbers: along what (nothing: tangents of 0), and tangents of the gradients, or, where there are none, of the values.
  Samples<const Real> directions = {};
  Samples<Real> tangents = {};

  /// On to the next sample.
  void advance() {
    const auto advance = [](auto& table) {
      if (table.data) table.data += table.sample;
    };
    advance(inputs), advance(weights), advance(values), advance(gradients), advance(directions), advance(tangents);
  }
};

/// How often code left what it was given to the interpreter, which has to do a block again as a whole. So after one that it left
/// blocks are narrow until a while has gone well, and narrow ones after one that it left are the interpreter's at once: more of them
/// the longer that goes on.
class Misses {
 public:
  static constexpr std::size_t narrow = 64;  ///< lanes; a leaf of the sums over samples

  /// Whether this one is the interpreter's.
  bool skips() {
    if (to_skip_ == 0) return false;
    --to_skip_;
    return true;
  }
  /// How many lanes the next block may have.
  std::size_t widest() const { return widest_; }
  /// Whether it went well, which it returns.
  bool ran(bool well, std::size_t lanes = 1) {
    ++tried_;
    if (well) went_well();
    else missed(lanes);
    return well;
  }
  std::size_t tried() const { return tried_; }
  std::size_t failed() const { return failed_; }

 private:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max(), a_while = 32;  // blocks

  void went_well() {
    penalty_ = 0;
    if (widest_ == unlimited || ++well_ < a_while) return;
    well_ = 0;
    widest_ = widest_ < 64 * narrow ? 2 * widest_ : unlimited;
  }
  void missed(std::size_t lanes);

  std::size_t to_skip_ = 0, penalty_ = 0, tried_ = 0, failed_ = 0, well_ = 0, widest_ = unlimited;
};

/// How code is to multiply adjoints from now on, after `failed` of `tried` were left, mostly as derivatives came out NaN: by the zero rule
/// at special ops, if the program has any, then everywhere, as soon as that is cheaper than doing them again.
template <class Real>
codegen::Chain chain_after(codegen::Chain chain, std::size_t tried, std::size_t failed,
                           const plan::ProgramData<Real>& data, plan::Evaluation what);

/// The uniform values that code reads, and their tangents, into the first of NativeUniforms.
template <class Real>
void take_uniforms(const plan::ProgramData<Real>& data, plan::Evaluation what, const Workspace<Real>& from, Real* to);

/// Runs blocks of a batch, each worker with memory of its own.
template <class Real>
class NativeRunner {
 public:
  NativeRunner(const plan::ProgramData<Real>& data, Isa isa, plan::Evaluation what,
               std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

  const std::string& why_not() const { return code_.why_not(); }
  const NativeCode<Real>& code() const { return code_; }
  const plan::NativePointers<Real>& pointers() const { return at_; }
  std::size_t bytes() const;
  /// What it will be once `workers` have run blocks of up to `most` lanes.
  std::size_t bytes_with(std::size_t workers, std::size_t most) const;

  /// Before the blocks of a batch, whose tables have been looked at (own_places). `uniform`: the uniform side, where the program has one.
  void begin(const NativeBatch<Real>& batch, std::size_t workers, const Workspace<Real>* uniform);
  /// One block, at most `most` lanes. False: nothing is done, use the interpreter.
  bool run(const LaneRange& lanes, std::size_t worker, std::size_t most);
  /// The same where a lane is more than a sample: load(memory) puts what is read into memory(pointer), the lanes of a pointer of the
  /// code's, where what was loaded stays until the next block; store(memory) takes the results from there.
  template <class Load, class Store>
  bool run(const LaneRange& lanes, std::size_t worker_number, std::size_t most, const Load& load, const Store& store) {
    Worker& worker = workers_[worker_number];
    if (worker.misses.skips()) return false;
    make_room(worker, round_up(most));
    const auto memory = [&](std::size_t pointer) { return staged(worker, pointer, lanes.count); };
    for (std::size_t k = 0; k < at_.count; ++k) worker.pointers[k] = memory(k).data;
    load(memory);
    if (!worker.misses.ran(run_rounds(worker, round_up(lanes.count)), lanes.count)) return false;
    store(memory);
    return true;
  }
  /// How many lanes the worker's next block may have.
  std::size_t widest(std::size_t worker) const { return workers_[worker].misses.widest(); }
  /// Of the last block: the lanes of quantity q of the sums over the samples (terms, then adjoints of uniform variables; then tangents of
  /// these, if they are summed).
  const Real* lanes_of(std::size_t worker, std::size_t q) const;

 private:
  struct Worker {
    AlignedArray<Real> staging;  // [pointer][width and a line more]
    AlignedArray<std::uint8_t> spills;
    std::vector<Real*> pointers;
    std::size_t width = 0;
    Misses misses;  // blocks, with the code as it is

    std::byte* spill_memory() { return reinterpret_cast<std::byte*>(spills.data()); }
  };
  void prepare(std::size_t workers, const Workspace<Real>* uniform);
  void make_room(Worker& worker, std::size_t width) const;
  std::size_t round_up(std::size_t lanes) const { return (lanes + code_.lanes() - 1) / code_.lanes() * code_.lanes(); }
  LaneSlot<Real> staged(const Worker& worker, std::size_t pointer, std::size_t lanes) const;
  bool run_rounds(Worker& worker, std::size_t samples) const {
    return code_.run(worker.pointers.data(), uniforms_.data(), worker.spill_memory(), samples);
  }

  const plan::ProgramData<Real>& data_;
  const plan::Layout<Real>& layout_;
  const plan::NativePointers<Real> at_;
  const Isa isa_;
  const plan::Evaluation what_;
  const std::size_t most_bytes_;
  codegen::Chain chain_ = codegen::Chain::plain;
  NativeCode<Real> code_;
  std::vector<Worker> workers_;
  NativeBatch<Real> batch_;
  std::vector<Real> uniforms_;
  bool in_place_ = false;  // reads and writes the caller's memory, but for inputs where not
  bool inputs_in_place_ = false;
};

extern template class NativeCode<double>;
extern template class NativeCode<float>;
extern template class NativeRunner<double>;
extern template class NativeRunner<float>;

}  // namespace wengert
