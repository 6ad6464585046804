#include "kernels/dispatch.hpp"

#include <cstdlib>

#include "wengert/error.hpp"

namespace wengert {
namespace {

// __builtin_cpu_supports looks at CPUID and, for AVX and AVX-512, at XCR0: an operating system that doesn't save the
// registers counts as a CPU that lacks them.
bool cpu_has_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool cpu_has_avx512() {
#if defined(__x86_64__)
  return cpu_has_fma() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#else
  return false;
#endif
}

#ifdef WENGERT_HAS_AVX2
constexpr bool built_avx2 = true;
#else
constexpr bool built_avx2 = false;
#endif
#ifdef WENGERT_HAS_AVX512
constexpr bool built_avx512 = true;
#else
constexpr bool built_avx512 = false;
#endif

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
    default: return "scalar";
  }
}

std::string why_not(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      if (!built_avx2) return "not in this build";
      if (!cpu_has_fma()) return "this CPU or its operating system lacks AVX2 or FMA";
      return {};
    case Isa::avx512:
      if (!built_avx512) return "not in this build";
      if (!cpu_has_avx512()) return "this CPU or its operating system lacks AVX-512 F, DQ, VL or BW";
      return {};
    default: return {};
  }
}

std::vector<Isa> usable_isas() {
  std::vector<Isa> usable;
  for (Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512})
    if (why_not(isa).empty()) usable.push_back(isa);
  return usable;
}

Isa parse_isa(std::string_view text) {
  if (text == "auto") return default_isa();
  for (Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    if (text != name(isa)) continue;
    if (const std::string reason = why_not(isa); !reason.empty())
      throw Error(ErrorCode::unsupported, "instruction set " + std::string(text) + ": " + reason + "; use auto or " +
                                              std::string(name(usable_isas().back())));
    return isa;
  }
  throw Error(ErrorCode::bad_argument,
              "instruction set '" + std::string(text) + "' is none of auto, scalar, avx2, avx512");
}

Isa default_isa() {
  const char* const wish = std::getenv("WENGERT_ISA");
  if (wish && *wish && std::string_view(wish) != "auto") return parse_isa(wish);
  return usable_isas().back();
}

namespace kernels {

namespace {

/// What translation units of one instruction set define.
template <class Real>
struct Unit {
  const Backend<Real>* backend;
  const CheckTable<Real>*checks, *dual_checks;
  const UniformDots<Real>* uniform_dots;
  const UniformProducts<Real>* uniform_products;
};

template <class Real>
Unit<Real> unit(Isa isa) {
  const auto pick = [](Unit<double> d, Unit<float> f) {
    if constexpr (sizeof(Real) == 8) return (void)f, d;
    else return (void)d, f;
  };
  if (const std::string reason = why_not(isa); !reason.empty())
    throw Error(ErrorCode::unsupported, "instruction set " + std::string(name(isa)) + ": " + reason);
#define WENGERT_UNIT(isa)                                                                                             \
  pick({&isa##_f64, &isa##_checks_f64, &isa##_dual_checks_f64, &isa##_uniform_dots_f64, &isa##_uniform_products_f64}, \
       {&isa##_f32, &isa##_checks_f32, &isa##_dual_checks_f32, &isa##_uniform_dots_f32, &isa##_uniform_products_f32})
#ifdef WENGERT_HAS_AVX512
  if (isa == Isa::avx512) return WENGERT_UNIT(avx512);
#endif
#ifdef WENGERT_HAS_AVX2
  if (isa == Isa::avx2) return WENGERT_UNIT(avx2);
#endif
#ifdef WENGERT_HAS_SCALAR_FMA
  static const bool fma = cpu_has_fma();
  if (fma) return WENGERT_UNIT(scalar_fma);
#endif
  return WENGERT_UNIT(scalar);
#undef WENGERT_UNIT
}

}  // namespace

template <class Real>
const Backend<Real>& backend(Isa isa) {
  return *unit<Real>(isa).backend;
}
template <class Real>
SpecialKernels<Real> special_kernels(Isa isa, bool dual) {
  const Unit<Real> of = unit<Real>(isa);
  if (dual) return {of.dual_checks, nullptr, nullptr};
#ifdef WENGERT_HAS_AVX2
  // Comparisons into vectors, two 256-bit ones at a time, are faster than those of AVX-512 into masks: 1.3 times on Zen 4.
  if (isa == Isa::avx512 && why_not(Isa::avx2).empty())
    return {unit<Real>(Isa::avx2).checks, *of.uniform_dots, *of.uniform_products};
#endif
  return {of.checks, *of.uniform_dots, *of.uniform_products};
}

template const Backend<double>& backend<double>(Isa);
template const Backend<float>& backend<float>(Isa);
template SpecialKernels<double> special_kernels<double>(Isa, bool);
template SpecialKernels<float> special_kernels<float>(Isa, bool);

}  // namespace kernels
}  // namespace wengert
