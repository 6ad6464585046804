// Ops at which adjoints meet zeros and infinities as a matter of course.
#pragma once

#include "wengert/ops.hpp"

namespace wengert::plan {

/// Whether a partial of the op may be infinite, or NaN, at ordinary numbers (sqrt at 0, a division by 0), or 0 though none of its
/// operands is (max of the other, select, clamp): where infinities come from, and where they go to nothing. There adjoints need the
/// zero rule (kernels/chain.hpp) if inputs have such numbers in them. Found out by trying the op on some.
bool has_special_partials(Op op);

}  // namespace wengert::plan
