// Data of the test cases that are run for every op of the table.
#pragma once

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>
#include <vector>

#include "wengert/ops.hpp"

namespace wengert {

inline std::ostream& operator<<(std::ostream& out, Op op) { return out << name(op); }

namespace test {

inline std::vector<Op> ops_where(bool nary) {
  std::vector<Op> ops;
  for (std::size_t k = 0; k < op_count; ++k)
    if (const Op op = static_cast<Op>(k); (info(op).arity == 0) == nary) ops.push_back(op);
  return ops;
}
inline const std::vector<Op> fixed_ops = ops_where(false);
inline const std::vector<Op> nary_ops = ops_where(true);

}  // namespace test
}  // namespace wengert
