// What an op takes, as vector operations: in the middle of a straight line, or in a subroutine that many of its kind call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/record.hpp"
#include "tape/decode.hpp"

namespace wengert::plan {

/// Records an op's results, or what its adjoint gives to each operand that wants something. `reads`: as the instruction has
/// them, without the operands' adjoints so far. `results`: as many as it writes.
template <class Real, class Number>
void record_instruction(codegen::Graph& graph, const Instruction& instruction, const Number* reads, Number* results);

/// The subroutines of one graph, made when they are first wanted.
template <class Real, class Number>
class Subroutines {
 public:
  /// `least`: operations of an op that is worth a call.
  Subroutines(codegen::Graph& graph, std::size_t least) : graph_(graph), least_(least) {}

  /// Records it as a call, if it is worth one.
  bool call(const Instruction& instruction, const Number* reads, Number* results);

 private:
  std::optional<std::uint32_t> make(const Instruction& instruction);

  codegen::Graph& graph_;
  const std::size_t least_;
  // By what tells them apart. Those asked for lately are in a table, where finding them takes a few operations.
  struct Known {
    std::uint64_t key = ~std::uint64_t(0);
    std::optional<std::uint32_t> subroutine;
  };
  std::array<Known, 64> recent_;
  std::unordered_map<std::uint64_t, std::optional<std::uint32_t>> known_;
};

}  // namespace wengert::plan
