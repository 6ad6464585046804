#include "wengert/ranges.hpp"

#include <string>

#include "kernels/dispatch.hpp"
#include "tape/show.hpp"

namespace wengert::detail {
namespace {

template <class Real>
const kernels::Backend<Real>& scalar() {
  static const kernels::Backend<Real>& backend = kernels::backend<Real>(Isa::scalar);
  return backend;
}

template <class Real>
std::vector<Real> outputs_of(Op op, std::span<const Real> operands) {
  const std::uint32_t count = info(op).outputs(static_cast<std::uint32_t>(operands.size()));
  if (count == 0)
    throw Error(ErrorCode::bad_size,
                std::string(name(op)) + " doesn't take " + std::to_string(operands.size()) + " operands");
  std::vector<Real> outputs(count);
  scalar<Real>().forward_op(op, operands.size(), operands.data(), outputs.data());
  return outputs;
}

}  // namespace

double value(Op op, double a, double b, double c) { return scalar<double>().value(op, a, b, c); }
float value(Op op, float a, float b, float c) { return scalar<float>().value(op, a, b, c); }
std::vector<double> values(Op op, std::span<const double> operands) { return outputs_of(op, operands); }
std::vector<float> values(Op op, std::span<const float> operands) { return outputs_of(op, operands); }

std::int64_t integer(double x) {
  if (!(x >= -0x1p63 && x < 0x1p63))
    throw Error(ErrorCode::bad_argument, "to_integer of " + shortest(x) + ", which is no 64-bit integer");
  return static_cast<std::int64_t>(x);
}

void mixed_tapes() {
  throw Error(ErrorCode::mixed_tapes,
              "operands live on different tapes; record the whole computation on one, or pass value(x) for a constant");
}

void unequal_lists(Op op) { throw Error(ErrorCode::bad_size, std::string(name(op)) + " takes lists of one length"); }

}  // namespace wengert::detail
