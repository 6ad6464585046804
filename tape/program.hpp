// What a Program holds: instructions in the order they run, and where everything lies in a block's slots.
#pragma once

#include <cstdint>
#include <vector>

#include "wengert/program.hpp"

namespace wengert::plan {

using Slot = std::uint32_t;
inline constexpr Slot no_slot = 0xffffffffu;

/// A stretch of instructions of one kind (kernels/catalogue.hpp).
struct Run {
  std::uint16_t kind;
  std::uint32_t count;
};

/// Instructions, as kernels read them: words of all runs, one after another.
struct Code {
  std::vector<Run> runs;
  std::vector<std::size_t> first_word;  ///< of each run
  std::vector<std::uint32_t> words;
  std::size_t instructions = 0;
};

template <class Real>
struct Constant {
  Slot slot;
  Real value;
};

/// Everything that one kind of evaluation needs. Slots: first constants and values that a backward sweep reads, then
/// `working` ones that are written again and again.
template <class Real>
struct Layout {
  std::size_t slots = 0, kept = 0;
  std::vector<Constant<Real>> constants;
  std::vector<Slot> inputs;   ///< per input; no_slot where nothing depends on it
  std::vector<Slot> outputs;  ///< per output
};

template <class Real>
struct ProgramData {
  ProgramStatistics statistics;
  ZeroRule zero_rule = ZeroRule::exact;
  std::size_t longest_list = 0;  ///< operands of an instruction that loops over them

  std::vector<std::uint32_t> differentiated;  ///< places among the inputs

  Layout<Real> values;  ///< of evaluations that want values alone
  Code values_code;

  Layout<Real> gradient;  ///< of evaluations that want adjoints too
  Code forward, backward;
  std::vector<Slot> seeds;      ///< per output: where its weight goes; no_slot where it has no derivative
  std::vector<Slot> gradients;  ///< per differentiated input; no_slot: zero
};

}  // namespace wengert::plan
