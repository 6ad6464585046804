// Which derivatives can be other than zero: the program run on sets of 64 inputs or outputs, a bit each, in place of
// numbers (Griewank and Walther, "Evaluating Derivatives" (2008), sections 7.1 and 7.3).
#include <algorithm>

#include "tape/decode.hpp"
#include "tape/records.hpp"
#include "wengert/program.hpp"

namespace wengert {
namespace {

using plan::Code;
using plan::Instruction;
using plan::Slot;
using Bits = std::uint64_t;
constexpr std::size_t block = 64;

/// What the outputs of instructions depend on, given that of their operands.
void spread(const Code& code, std::vector<Bits>& bits) {
  plan::each_instruction(code, [&](const Instruction& instruction) {
    Bits all = 0;
    for (std::size_t k = 0; k < instruction.reads.size(); ++k)
      if (has_slope(instruction.kind.op, k)) all |= bits[instruction.reads[k]];
    for (const Slot slot : instruction.writes) bits[slot] = all;
  });
}

/// The same for a reverse sweep. `curvature(instruction, i)`: what the partials for its i-th write add.
template <class Curvature>
void spread_back(const Code& code, std::vector<Bits>& bits, Curvature curvature) {
  std::vector<Bits> sums;
  plan::each_instruction(code, [&](const Instruction& instruction) {
    if (instruction.writes.empty()) return;
    Bits arriving = 0;
    if (!instruction.kind.adjoint) {  // sums and negatives of adjoints
      for (const Slot slot : instruction.reads) arriving |= bits[slot];
      bits[instruction.writes[0]] = arriving;
      return;
    }
    for (const Slot slot : instruction.adjoints()) arriving |= bits[slot];
    sums.assign(instruction.writes.size(), arriving);
    std::size_t source = 0;
    unsigned operand = 0;
    const bool fixed = arity_of(instruction.kind.op) != 0;
    for (std::size_t i = 0; i < sums.size(); ++i, ++operand) {
      sums[i] |= curvature(instruction, i);
      if (fixed)
        while (!(instruction.kind.active >> operand & 1)) ++operand;
      if (!instruction.sources().empty() && (!fixed || !(instruction.kind.assign >> operand & 1)))
        sums[i] |= bits[instruction.sources()[source++]];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) bits[instruction.writes[i]] = sums[i];
  });
}

/// What the partial for the i-th write of an adjoint reads, as dependencies of those values.
Bits partial_bits(const Instruction& instruction, std::size_t i, const std::vector<Bits>& values) {
  const std::span<const Slot> read = instruction.values();
  Bits all = 0;
  if (arity_of(instruction.kind.op) != 0) {
    const OpInfo& row = info(instruction.kind.op);
    const unsigned used = kernels::used(instruction.kind.op, instruction.kind.active) & 15;
    unsigned operand = 0;
    for (std::size_t seen = 0;; ++operand)
      if (instruction.kind.active >> operand & 1 && seen++ == i) break;
    for (std::size_t bit = 0, k = 0; bit < 4; ++bit) {
      if (!(used >> bit & 1)) continue;
      if (row.uses[operand] >> bit & 1) all |= values[read[k]];
      ++k;
    }
    return all;
  }
  const std::size_t n = instruction.operands();
  if (instruction.kind.op == Op::sqnorm) return values[read[i]];
  if (instruction.kind.op == Op::dot) return values[read[i < n / 2 ? i + n / 2 : i - n / 2]];
  for (const Slot slot : read) all |= values[slot];
  return all;
}

/// A pattern from the bits of each block of columns.
class PatternBuilder {
 public:
  PatternBuilder(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), words_((columns + block - 1) / block) {
    bits_.assign(rows * words_, 0);
  }
  void set(std::size_t row, std::size_t block_of_columns, Bits bits) { bits_[row * words_ + block_of_columns] = bits; }
  void set(std::size_t row, std::size_t column) { bits_[row * words_ + column / block] |= Bits(1) << column % block; }

  SparsityPattern take() const {
    SparsityPattern pattern;
    pattern.rows = rows_;
    pattern.columns = columns_;
    pattern.row_start.push_back(0);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t word = 0; word < words_; ++word)
        for (Bits bits = bits_[row * words_ + word]; bits != 0; bits &= bits - 1)
          pattern.column.push_back(
              static_cast<std::uint32_t>(word * block + static_cast<std::size_t>(std::countr_zero(bits))));
      pattern.row_start.push_back(pattern.column.size());
    }
    return pattern;
  }

 private:
  std::size_t rows_, columns_, words_;
  std::vector<Bits> bits_;
};

/// Bit k % 64 for the k-th of `slots` in a block.
void plant(std::vector<Bits>& bits, std::size_t first, const std::vector<Slot>& slots) {
  for (std::size_t k = first; k < std::min(first + block, slots.size()); ++k)
    if (slots[k] != plan::no_slot) bits[slots[k]] |= Bits(1) << (k - first);
}

template <class Real>
std::vector<Slot> differentiated_slots(const plan::ProgramData<Real>& data, const plan::Layout<Real>& layout) {
  std::vector<Slot> slots;
  for (const std::uint32_t input : data.differentiated) slots.push_back(layout.inputs[input]);
  return slots;
}

Bits bits_of(const std::vector<Bits>& bits, Slot slot) { return slot == plan::no_slot ? 0 : bits[slot]; }

}  // namespace

template <class Real>
SparsityPattern Program<Real>::jacobian_sparsity() const {
  const plan::ProgramData<Real>& data = *data_;
  const plan::Uniform<Real>& uniform = data.uniform;
  const std::size_t rows = outputs() + uniform_outputs();
  PatternBuilder pattern(rows, differentiated());
  std::vector<Bits> bits;
  if (differentiated() <= rows && uniform_outputs() == 0) {
    const std::vector<Slot> inputs = differentiated_slots(data, data.values);
    for (std::size_t first = 0; first < inputs.size(); first += block) {
      bits.assign(data.values.slots, 0);
      plant(bits, first, inputs);
      spread(data.values_code, bits);
      for (std::size_t row = 0; row < rows; ++row) pattern.set(row, first / block, bits[data.values.outputs[row]]);
    }
    return pattern.take();
  }
  const auto none = [](const Instruction&, std::size_t) { return Bits(0); };
  std::vector<Slot> seeds = data.seeds, uniform_seeds(data.seeds.size(), plan::no_slot);
  seeds.resize(rows, plan::no_slot);
  uniform_seeds.insert(uniform_seeds.end(), uniform.seeds.begin(), uniform.seeds.end());
  std::vector<Bits> after;
  for (std::size_t first = 0; first < rows; first += block) {
    after.assign(uniform.layout.slots, 0);
    plant(after, first, uniform_seeds);
    spread_back(uniform.epilogue_backward, after, none);
    bits.assign(data.gradient.slots, 0);
    plant(bits, first, seeds);
    for (std::size_t k = 0; k < data.sum_seeds.size(); ++k) bits[data.sum_seeds[k]] = after[uniform.sum_adjoints[k]];
    spread_back(data.backward, bits, none);
    for (std::size_t column = 0; column < differentiated(); ++column)
      for (Bits of = bits_of(bits, data.gradients[column]); of != 0; of &= of - 1)
        pattern.set(first + static_cast<std::size_t>(std::countr_zero(of)), column);
  }
  return pattern.take();
}

template <class Real>
SparsityPattern Program<Real>::hessian_sparsity() const {
  const plan::ProgramData<Real>& data = *data_;
  const std::vector<Slot> inputs = differentiated_slots(data, data.gradient);
  PatternBuilder pattern(inputs.size(), inputs.size());
  std::vector<Bits> values, adjoints;
  for (std::size_t first = 0; first < inputs.size(); first += block) {
    values.assign(data.gradient.slots, 0);
    plant(values, first, inputs);
    spread(data.forward, values);
    adjoints.assign(data.gradient.slots, 0);
    spread_back(data.backward, adjoints,
                [&](const Instruction& instruction, std::size_t i) { return partial_bits(instruction, i, values); });
    for (std::size_t row = 0; row < inputs.size(); ++row)
      for (Bits columns = bits_of(adjoints, data.gradients[row]); columns != 0; columns &= columns - 1) {
        const std::size_t column = first + static_cast<std::size_t>(std::countr_zero(columns));
        pattern.set(row, column);
        pattern.set(column, row);  // where one is only possible as far as a formula goes
      }
  }
  return pattern.take();
}

template SparsityPattern Program<double>::jacobian_sparsity() const;
template SparsityPattern Program<float>::jacobian_sparsity() const;
template SparsityPattern Program<double>::hessian_sparsity() const;
template SparsityPattern Program<float>::hessian_sparsity() const;

}  // namespace wengert
