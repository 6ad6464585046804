// Which instruction sets this build has and this CPU can run, and the table of functions of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/checks.hpp"
#include "kernels/uniform_products.hpp"

namespace wengert {

enum class Isa { scalar, avx2, avx512 };

std::string_view name(Isa isa);

/// Usable here, lowest first: built in, in CPUID, and enabled by the operating system (XCR0).
std::vector<Isa> usable_isas();
/// Why `isa` can't be used here; empty where it can.
std::string why_not(Isa isa);
/// The best usable one, or what WENGERT_ISA=scalar|avx2|avx512 in the environment asks for.
/// Throws unsupported where that one can't run here, bad_argument where it is no such name.
Isa default_isa();
/// "auto" (default_isa), "scalar", "avx2", "avx512". Throws bad_argument, unsupported.
Isa parse_isa(std::string_view text);

namespace kernels {
/// The functions of an instruction set. Throws unsupported.
template <class Real>
const Backend<Real>& backend(Isa isa);
/// Kernels past those of the catalogue. Null: there is none, but those of the catalogue will do.
template <class Real>
struct SpecialKernels {
  const CheckTable<Real>* checks;  ///< of guards, by question
  UniformDots<Real> uniform_dots;
  UniformProducts<Real> uniform_products;
};
/// Those of an instruction set; `dual`: for slots of dual numbers. Throws unsupported.
template <class Real>
SpecialKernels<Real> special_kernels(Isa isa, bool dual);
}  // namespace kernels

}  // namespace wengert
