// For BOOST_CHECK_EXCEPTION: the code of an error, and something that its message says.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "wengert/error.hpp"

namespace wengert::test {

inline auto says(ErrorCode code, const std::string& part) {
  return [=](const Error& error) {
    BOOST_TEST_MESSAGE(error.what());
    return error.code() == code && std::string(error.what()).find(part) != std::string::npos;
  };
}

}  // namespace wengert::test
