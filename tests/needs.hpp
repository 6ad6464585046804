// Decorators of Boost.Test cases: which need an instruction set, and which use threads.
//
//   BOOST_AUTO_TEST_CASE(wide, *needs(Isa::avx512)) { ... }   skipped, and counted so, where the CPU lacks it
//   BOOST_AUTO_TEST_CASE(pool, *uses_threads()) { ... }       also run under the thread sanitizer
//   BOOST_AUTO_TEST_CASE(fork, *not_under("qemu", "can't")) { ... }   skipped, and counted so, in that part of scripts/soak
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "kernels/dispatch.hpp"
#include "tests/emulator.hpp"

namespace wengert::test {

inline boost::unit_test::precondition needs(Isa isa) {
  return boost::unit_test::precondition([isa](boost::unit_test::test_unit_id) {
    const std::string reason = why_not(isa);
    boost::test_tools::assertion_result result(reason.empty());
    result.message() << reason;
    return result;
  });
}

/// Not under an emulator that can't do what the case does.
inline boost::unit_test::precondition not_under(const char* emulator, const char* reason) {
  return boost::unit_test::precondition([emulator, reason](boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result result(!runs_under(emulator));
    result.message() << emulator << ' ' << reason;
    return result;
  });
}

inline boost::unit_test::label uses_threads() { return boost::unit_test::label("threads"); }

}  // namespace wengert::test
