// How much of a program repeats itself, as its instructions tell: about what loops leave out of its machine code.
#pragma once

#include <cstddef>

#include "tape/program.hpp"

namespace wengert::plan {

/// Of the instructions, in the order of the tape, the part that does what others did some distance before; from 0 to 1. `slots`: of
/// the layout. Takes time linear in the code.
double repeated_part(const Code& code, std::size_t slots);

}  // namespace wengert::plan
