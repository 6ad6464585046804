// Ops over dual numbers.
#include "codegen/record_rows.hpp"

namespace wengert::codegen {

template void record_value<double>(Graph&, Op, const Operands<DualValue>&, DualValue*);
template void record_value<float>(Graph&, Op, const Operands<DualValue>&, DualValue*);
template void record_adjoint<double>(Graph&, Op, const Operands<DualValue>&, unsigned, DualValue*);
template void record_adjoint<float>(Graph&, Op, const Operands<DualValue>&, unsigned, DualValue*);

}  // namespace wengert::codegen
