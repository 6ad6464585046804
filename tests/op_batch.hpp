// One op on many points at once, by one build of the kernels: values of its outputs, and what its backward adds to the
// adjoint of each operand.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/backend.hpp"
#include "tests/random.hpp"

namespace wengert::test {

/// Operands of `count` evaluations of an op, each in a column: operand i of evaluation e is `x[i][e]`.
template <class Real>
using Columns = std::vector<std::vector<Real>>;

template <class Real>
struct OpResult {
  Columns<Real> outputs;        ///< [output][evaluation]
  Columns<Real> contributions;  ///< [operand][evaluation], for the seeds given; no +0.0 added
};

/// `seeds[j]`: adjoint of output j. A block holds `width` evaluations, a multiple of the backend's lanes; the last is
/// filled up with repetitions of its last evaluation. `constants`: which operands count as constants of the tape.
template <class Real>
OpResult<Real> run_op(const kernels::Backend<Real>& backend, Op op, const Columns<Real>& x,
                      const std::vector<Real>& seeds, std::size_t width, std::uint8_t constants = 0) {
  const std::size_t n = x.size(), count = n == 0 ? 1 : x[0].size();
  const bool nary = info(op).arity == 0;
  const std::size_t outputs = nary ? info(op).outputs(static_cast<std::uint32_t>(n)) : 1;
  std::vector<Id> ids(n);
  for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<Id>(i);
  const auto id = [&](std::size_t i) { return i < n ? static_cast<Id>(i) : Id(0); };
  OpRecord record{op, constants, 0, static_cast<Id>(n), id(0), id(1), id(2)};
  if (nary) record.a = 0, record.b = static_cast<Id>(n), record.c = 0;

  OpResult<Real> result;
  result.outputs.assign(outputs, std::vector<Real>(count));
  result.contributions.assign(n, std::vector<Real>(count));
  std::vector<Real> values((n + outputs) * width), adjoints(values.size()), scratch(n * width);
  const kernels::Sweep<Real> sweep{&record,        1,     ids.data(), values.data(), adjoints.data(),
                                   scratch.data(), width, false,      nullptr};
  for (std::size_t first = 0; first < count; first += width) {
    const std::size_t filled = count - first < width ? count - first : width;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t w = 0; w < width; ++w) values[i * width + w] = x[i][first + (w < filled ? w : filled - 1)];
    for (std::size_t v = 0; v < n + outputs; ++v)
      for (std::size_t w = 0; w < width; ++w) adjoints[v * width + w] = v < n ? Real(-0.0) : seeds[v - n];
    backend.forward(sweep);
    backend.backward(sweep);
    for (std::size_t w = 0; w < filled; ++w) {
      for (std::size_t j = 0; j < outputs; ++j) result.outputs[j][first + w] = values[(n + j) * width + w];
      for (std::size_t i = 0; i < n; ++i) result.contributions[i][first + w] = adjoints[i * width + w];
    }
  }
  return result;
}

}  // namespace wengert::test
