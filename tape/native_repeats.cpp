#include "tape/native_repeats.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "codegen/repeats.hpp"
#include "tape/decode.hpp"

namespace wengert::plan {
namespace {

using codegen::LargeVector;
using codegen::Repeat;
using codegen::Sign;

/// By the position that it was recorded at: what an instruction does, and those that the first of its operands come from.
struct Instructions {
  using Position = std::uint32_t;
  using Operands = std::array<Position, 3>;  // elsewhere: what isn't computed by this code, or isn't there
  static constexpr Position elsewhere = 0xffffffffu;

  Instructions(const Code& code, std::size_t slots) {
    signs.resize(code.instructions);
    operands.resize(code.instructions);
    LargeVector<Position> writer(slots, elsewhere);
    each_instruction(code, [&](const Instruction& instruction) {
      const Position at = code.recorded[instruction.item];
      signs[at] = static_cast<Sign>(instruction.number * 0x9e3779b9u >> 24);
      operands[at].fill(elsewhere);
      for (std::size_t k = 0; k < std::min(instruction.reads.size(), operands[at].size()); ++k)
        operands[at][k] = writer[instruction.reads[k]];
      for (const Slot slot : instruction.writes) writer[slot] = at;
    });
  }

  /// Whether it is long enough for a loop, one iteration of which stays in front, and in its middle operands are, from one period to the next and to the one after, as much further on.
  bool regular(const Repeat& repeat) const {
    const Position period = repeat.period;
    if ((repeat.end - repeat.first) / period < codegen::least_iterations + 1) return false;
    Position at = repeat.first + (repeat.end - repeat.first) / 2;
    for (const Position end = at + period; at < end; ++at)
      for (std::size_t k = 0; k < operands[at].size(); ++k) {
        const Position a = operands[at][k], b = operands[at + period][k], c = operands[at + 2 * period][k];
        if (b - a != c - b) return false;
      }
    return true;
  }

  LargeVector<Sign> signs;
  LargeVector<Operands> operands;
};

}  // namespace

double repeated_part(const Code& code, std::size_t slots) {
  if (code.instructions < codegen::least_saved) return 0;
  const Instructions instructions(code, slots);
  double saved = 0;
  for (const Repeat& repeat :
       codegen::find_repeats(instructions.signs, [&](const Repeat& one) { return instructions.regular(one); }))
    saved += static_cast<double>(repeat.saved());
  return saved / static_cast<double>(code.instructions);
}

}  // namespace wengert::plan
