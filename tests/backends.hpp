// Every build of the kernels that this CPU can run, by name: the instruction sets that the library chooses from and the
// scalar build without fused multiply-add instructions, which it would choose on an older CPU.
#pragma once

#include <string>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tests/emulator.hpp"

namespace wengert::test {

template <class Real>
struct NamedBackend {
  std::string name;
  const kernels::Backend<Real>* backend;
};

/// The plain scalar build first. Without it under valgrind, whose fused operations give zeros of the other sign: the vector
/// sets' agree there with one another, not with libm's.
template <class Real>
std::vector<NamedBackend<Real>> backends() {
  std::vector<NamedBackend<Real>> all;
  if (runs_under("valgrind")) all.push_back({"scalar", &kernels::backend<Real>(Isa::scalar)});
  else if constexpr (sizeof(Real) == 8) all.push_back({"plain scalar", &kernels::scalar_f64});
  else all.push_back({"plain scalar", &kernels::scalar_f32});
  for (const Isa isa : usable_isas())
    if (const auto* backend = &kernels::backend<Real>(isa); backend != all.front().backend)
      all.push_back({std::string(wengert::name(isa)), backend});
  return all;
}

template <class Real>
constexpr const char* precision_name() {
  return sizeof(Real) == 8 ? "f64" : "f32";
}

}  // namespace wengert::test
