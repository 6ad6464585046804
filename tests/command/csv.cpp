#include "bench/csv.hpp"

#include <boost/test/unit_test.hpp>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

using namespace wengert::bench;

BOOST_AUTO_TEST_SUITE(csv)

BOOST_AUTO_TEST_CASE(fields_are_quoted_only_where_they_must_be) {
  BOOST_TEST(csv_field("plain text") == "plain text");
  BOOST_TEST(csv_field("a,b") == "\"a,b\"");
  BOOST_TEST(csv_field("say \"x\"") == "\"say \"\"x\"\"\"");
  BOOST_TEST(csv_field("two\nlines") == "\"two\nlines\"");
  BOOST_TEST(csv_field("") == "");
}

BOOST_AUTO_TEST_CASE(numbers_read_back_as_themselves) {
  for (double x :
       {0.1, 1.0 / 3, 1e300, 5e-324, 123456789.0, -0.0, std::nextafter(1.0, 2.0), std::numeric_limits<double>::max()}) {
    const double back = std::strtod(csv_number(x).c_str(), nullptr);
    BOOST_TEST(back == x);
    BOOST_TEST(std::signbit(back) == std::signbit(x));
  }
  BOOST_TEST(csv_number(0.1) == "0.1");
  BOOST_TEST(csv_number(std::nan("")) == "");
  BOOST_TEST(csv_number(std::numeric_limits<double>::infinity()) == "inf");
}

BOOST_AUTO_TEST_CASE(rows_end_in_crlf) {
  Csv csv;
  csv << "level"
      << "ns_per_op";
  csv.end();
  csv << "v2" << 12.5 << 7 << std::nan("");
  csv.end();
  BOOST_TEST(csv.text() == "level,ns_per_op\r\nv2,12.5,7,\r\n");
}

BOOST_AUTO_TEST_CASE(the_locale_changes_nothing, *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       const bool there = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
                       std::setlocale(LC_ALL, "C");
                       boost::test_tools::assertion_result result(there);
                       result.message() << "locale de_DE.UTF-8 isn't installed";
                       return result;
                     })) {
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  Csv csv;
  csv << 1234567.5 << 1234567;
  std::setlocale(LC_ALL, "C");
  BOOST_TEST(csv.text() == "1234567.5,1234567");
}

BOOST_AUTO_TEST_SUITE_END()
