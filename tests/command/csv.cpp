#include "bench/csv.hpp"

#include <boost/test/unit_test.hpp>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "wengert/error.hpp"

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

BOOST_AUTO_TEST_CASE(what_is_written_reads_back) {
  Csv csv;
  csv << "a"
      << "b,b"
      << "";
  csv.end();
  csv << "say \"x\"" << 1.5 << "two\r\nlines";
  csv.end();
  csv << ""
      << ""
      << "";
  csv.end();
  const CsvTable table = parse_csv(csv.text());
  BOOST_TEST(table.columns == (std::vector<std::string>{"a", "b,b", ""}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(table.records.size() == 2u);
  BOOST_TEST(table.records[0].fields == (std::vector<std::string>{"say \"x\"", "1.5", "two\r\nlines"}),
             boost::test_tools::per_element());
  BOOST_TEST(table.records[0].line == 2u);
  BOOST_TEST(table.records[1].line == 4u);  // the one before has a line break of its own
  BOOST_TEST(table.column("b,b") == 1u);
  BOOST_TEST(table.column("c") == CsvTable::npos);
}

BOOST_AUTO_TEST_CASE(bare_line_feeds_and_no_last_line_end) {
  const CsvTable table = parse_csv("a,b\n1,2\n3,4");
  BOOST_TEST_REQUIRE(table.records.size() == 2u);
  BOOST_TEST(table.records[1].fields[1] == "4");
}

BOOST_AUTO_TEST_CASE(broken_documents_name_the_line) {
  const auto says = [](std::string_view text) -> std::string {
    try {
      parse_csv(text);
    } catch (const wengert::Error& error) {
      return error.code() == wengert::ErrorCode::bad_file ? error.what() : "another error";
    }
    return "nothing";
  };
  BOOST_TEST(says("") == "it is empty");
  BOOST_TEST(says(std::string_view("a\0b\n", 4)) == "it is not a text");
  BOOST_TEST(says("a,b\n1,2\n3\n") == "line 3: 1 fields, where the header has 2");
  BOOST_TEST(says("a,b\n\"1,2\n3,4\n") == "line 2: a quote that never closes");
  BOOST_TEST(says("a,b\n\"1\"x,2\n") == "line 2: a quoted field goes on after its closing quote");
}

BOOST_AUTO_TEST_SUITE_END()
