// The compile passes, on tapes with custom ops among those of the table: rules, solutions of equations, checkpoints.
#include "fuzz/compare_tape.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wengert::fuzz;
  return in_some_precision(data, size, [](auto real, Bytes& bytes) { compare<decltype(real)>(bytes, 0.25); });
}
