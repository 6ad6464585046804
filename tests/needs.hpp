// Decorators of Boost.Test cases: which need an instruction set, and which use threads.
//
//   BOOST_AUTO_TEST_CASE(wide, *needs(Isa::avx512)) { ... }   skipped, and counted so, where the CPU lacks it
//   BOOST_AUTO_TEST_CASE(pool, *uses_threads()) { ... }       also run under the thread sanitizer
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "kernels/dispatch.hpp"

namespace wengert::test {

inline boost::unit_test::precondition needs(Isa isa) {
  return boost::unit_test::precondition([isa](boost::unit_test::test_unit_id) {
    const std::string reason = why_not(isa);
    boost::test_tools::assertion_result result(reason.empty());
    result.message() << reason;
    return result;
  });
}

inline boost::unit_test::label uses_threads() { return boost::unit_test::label("threads"); }

}  // namespace wengert::test
