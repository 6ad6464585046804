// Compiled once per instruction set, as backend.cpp: the kernels of programs over dual numbers.
#include "kernels/instructions.hpp"
#include "kernels/widths.hpp"

namespace wengert::kernels {

#define WENGERT_JOIN_(a, b) a##b
#define WENGERT_JOIN(a, b) WENGERT_JOIN_(a, b)

const InstructionTable<double> WENGERT_JOIN(WENGERT_ISA, _dual_instructions_f64) =
    instructions::make_table<Dual<Widest<double>>, false>();
const InstructionTable<float> WENGERT_JOIN(WENGERT_ISA, _dual_instructions_f32) =
    instructions::make_table<Dual<Widest<float>>, false>();

}  // namespace wengert::kernels
