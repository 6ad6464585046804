// Decorators of Boost.Test cases: which need an instruction set, and which use threads.
//
//   BOOST_AUTO_TEST_CASE(wide, *needs(Isa::avx512)) { ... }   skipped, and counted so, where the CPU lacks it
//   BOOST_AUTO_TEST_CASE(pool, *uses_threads()) { ... }       also run under the thread sanitizer
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
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

/// Not under an emulator (scripts/soak says so) that can't do what the case does.
inline boost::unit_test::precondition needs_no_emulator() {
  return boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result result(std::getenv("WENGERT_EMULATED") == nullptr);
    result.message() << "qemu-user can't begin threads after a fork";
    return result;
  });
}

inline boost::unit_test::label uses_threads() { return boost::unit_test::label("threads"); }

}  // namespace wengert::test
