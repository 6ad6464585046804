// What every op of the table should give, by formulas of their own over MPFR numbers (big.hpp): values and partials in
// closed form, with the conventions of docs/numerics.md at special points. An op without a row here fails its tests:
// whoever adds an op says what it is twice, once for speed and once for truth.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tests/big.hpp"
#include "wengert/ops.hpp"

namespace wengert::test {

/// Reference of a fixed-arity op; operands in order.
struct Oracle {
  const char* name;
  Big (*value)(const Big* operands);
  std::array<Big (*)(const Big* operands), 3> partials;
  /// The size in whose last places errors of the value (of partial k) count, where that isn't the size of the result: a
  /// sum of terms of either sign can't be better than its terms. Null: the result's own.
  Big (*value_scale)(const Big* operands) = nullptr;
  std::array<Big (*)(const Big* operands), 3> partial_scales = {};
  /// Where nothing is promised of the value.
  bool (*unspecified)(const Big* operands) = nullptr;
};

/// Reference of an op on any number of operands.
struct NaryOracle {
  const char* name;
  std::vector<Big> (*value)(std::span<const Big> x);
  /// d output j / d operand i.
  Big (*partial)(std::span<const Big> x, std::size_t j, std::size_t i);
  std::vector<Big> (*value_scale)(std::span<const Big> x) = nullptr;
  Big (*partial_scale)(std::span<const Big> x, std::size_t j, std::size_t i) = nullptr;
  /// The bound in the table is of each of n steps. Elsewhere it holds up to 4 operands; each more may cost 1/2.
  bool per_term = false;
  /// The largest number on the way to the results: where that overflows, nothing is promised.
  Big (*largest_step)(std::span<const Big> x) = nullptr;
};

/// Null where there is none.
const Oracle* oracle(Op op);
const NaryOracle* nary_oracle(Op op);

}  // namespace wengert::test
