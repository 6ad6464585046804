#include "src/numbers.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <stdexcept>
#include <string>

using namespace wengert::command;

namespace {

std::string complaint(const char* text) {
  try {
    parse_count(text, 1, 4294967294);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_AUTO_TEST_CASE(counts_are_digits_within_their_range) {
  BOOST_TEST(parse_count("10000", 1, 100000) == 10000u);
  BOOST_TEST(parse_count("0", 0, 5) == 0u);
  BOOST_TEST(parse_count("18446744073709551615", 0, UINT64_MAX) == UINT64_MAX);
}

BOOST_AUTO_TEST_CASE(what_is_no_count_is_named) {
  for (const char* text : {"-1", "1e6", "99999999999999999999", "0", "", " 5", "5 ", "+5", "0x10", "1.5", "ten",
                           "4294967295", "1,000", "nan"})
    BOOST_TEST(complaint(text) == "'" + std::string(text) + "' is not a whole number between 1 and 4294967294");
}

BOOST_AUTO_TEST_CASE(seconds) {
  BOOST_TEST(parse_seconds("0.2") == 0.2);
  BOOST_TEST(parse_seconds("0") == 0.0);
  BOOST_TEST(parse_seconds("1e-3") == 1e-3);
  for (const char* text : {"-1", "-0", "inf", "nan", "1e999", "", "0,2", "1s", " 1"})
    BOOST_CHECK_THROW(parse_seconds(text), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(percentages) {
  BOOST_TEST(parse_percentage("5%") == 0.05);
  BOOST_TEST(parse_percentage("0%") == 0.0);
  BOOST_TEST(parse_percentage("2.5%") == 0.025);
  for (const char* text : {"5", "", "%", "-5%", "5 %", "5%%", "inf%", "nan%", "0,5%", "five%"})
    BOOST_CHECK_THROW(parse_percentage(text), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(names) {
  BOOST_TEST(parse_names("v2") == std::vector<std::string>{"v2"}, boost::test_tools::per_element());
  BOOST_TEST(parse_names("v0,v1,c") == (std::vector<std::string>{"v0", "v1", "c"}), boost::test_tools::per_element());
  for (const char* text : {"", ",", "v0,", ",v0", "v0,,v1", "v0,v1,v0"})
    BOOST_CHECK_THROW(parse_names(text), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(for_people) {
  BOOST_TEST(grouped(0) == "0");
  BOOST_TEST(grouped(999) == "999");
  BOOST_TEST(grouped(1000) == "1,000");
  BOOST_TEST(grouped(1234567) == "1,234,567");
  BOOST_TEST(significant(0.0123) == "0.0123");
  BOOST_TEST(significant(12.34) == "12.3");
  BOOST_TEST(significant(1234.5) == "1234");
  BOOST_TEST(significant(std::nan("")) == "");
  BOOST_TEST(bytes(999) == "999 B");
  BOOST_TEST(bytes(12'300'000) == "12.3 MB");
}

BOOST_AUTO_TEST_SUITE_END()
