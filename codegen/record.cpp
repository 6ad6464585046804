// Ops over numbers.
#include "codegen/record_rows.hpp"

namespace wengert::codegen {

thread_local const Recording* Recording::current_ = nullptr;

template void record_value<double>(Graph&, Op, const Operands<Value>&, Value*);
template void record_value<float>(Graph&, Op, const Operands<Value>&, Value*);
template void record_adjoint<double>(Graph&, Op, const Operands<Value>&, unsigned, Value*);
template void record_adjoint<float>(Graph&, Op, const Operands<Value>&, unsigned, Value*);

}  // namespace wengert::codegen
