// What machine code for a program would cost and save, as far as its instructions tell: what `auto` chooses by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "codegen/graph.hpp"
#include "kernels/dispatch.hpp"
#include "tape/program.hpp"

namespace wengert::plan {

/// Of one kind of evaluation. Times in ns; those of batches are a sample's share.
struct NativeCost {
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max(), few = 32;
  /// Fewer samples, in batches or each in a call of its own, take less time than it takes to find all this out (some 50 ns an
  /// instruction), and hardly ever pay for code.
  static constexpr std::size_t worth_knowing_from(bool alone) { return alone ? 32 : 128; }

  std::size_t operations = 0;  ///< that compute one vector
  /// Of code: of long code, where ops that take `least_called` operations or more are calls of subroutines.
  struct Length {
    std::size_t operations = 0, least_called = codegen::no_value;
    std::size_t written = 0;    ///< of the operations: of loops one iteration
    std::uint32_t vectors = 1;  ///< of a batch, side by side: two hide latencies, where the code stays in the caches
    bool too_long = false;      ///< it would come from memory each time, or take long to make
    bool has_loops() const { return written < operations; }
    /// The same, where so many turned out to be written.
    Length with(std::size_t written_after_all, Isa isa) const;
  } batches, alone;
  bool no_form = false;  ///< an op has none in vectors
  double interpreter = 0, native = 0, interpreter_alone = 0, native_alone = 0;
  /// From how many samples on, in batches or each in a call of its own, code has paid for being made; or `never`.
  std::size_t worth_from = never, worth_from_alone = never;
  /// Of few samples: up to `most_alone` are done soonest one by one, more by the interpreter, from `fewest` on by code of batches.
  std::size_t most_alone = 1, fewest = 1;
  /// Where several backward sweeps follow a forward one, which code repeats for each: how many at most it is worth.
  std::size_t most_sweeps = never;
};

/// For an instruction set that there is machine code for (native_target).
template <class Real>
NativeCost native_cost(const ProgramData<Real>& data, Evaluation what, Isa isa);

/// That of gradients, of jvp and hvp in batches, or that there is no machine code: a line of text.
template <class Real>
std::string describe_native(const ProgramData<Real>& data, Isa isa);

}  // namespace wengert::plan
