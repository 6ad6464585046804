// Compiled once per instruction set, as backend.cpp: the kernels of programs.
#include "kernels/instructions.hpp"

#include "kernels/widths.hpp"

namespace wengert::kernels {

#define WENGERT_JOIN_(a, b) a##b
#define WENGERT_JOIN(a, b) WENGERT_JOIN_(a, b)

const InstructionTable<double> WENGERT_JOIN(WENGERT_ISA,
                                            _instructions_f64) = instructions::make_table<Widest<double>, false>();
const InstructionTable<float> WENGERT_JOIN(WENGERT_ISA,
                                           _instructions_f32) = instructions::make_table<Widest<float>, false>();

#ifdef WENGERT_SINGLE_INSTRUCTIONS
const InstructionTable<double> WENGERT_JOIN(WENGERT_ISA, _single_instructions_f64) =
    instructions::make_table<Vec<double, 1>, true>();
const InstructionTable<float> WENGERT_JOIN(WENGERT_ISA,
                                           _single_instructions_f32) = instructions::make_table<Vec<float, 1>, true>();
#endif

}  // namespace wengert::kernels
