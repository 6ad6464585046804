#include "src/table.hpp"

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>
#include <vector>

using namespace wengert;

namespace {

bench::Run example() {
  bench::Run run;
  run.workload = "west";
  run.precision = "f64";
  run.output = "last";
  run.ops = 10000;
  run.iterations = 1000;
  for (double seconds : {1.52, 0.0123}) {
    bench::Row& row = run.rows.emplace_back();
    row.level = seconds > 1 ? "v0" : "v3";
    row.title = "title";
    row.isa = "scalar";
    row.status = bench::Status::complete;
    for (std::size_t round = 0; round < 3; ++round) {
      bench::Sample& sample = row.samples.emplace_back();
      sample.batches = 1;
      sample.seconds = seconds;
    }
  }
  return run;
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(table)

BOOST_AUTO_TEST_CASE(shows_times_and_speed_ups) {
  const std::string text = command::table(example(), 0, false);
  BOOST_TEST(text.find("west, f64: 10,000 ops") == 0u);
  BOOST_TEST(text.find("1.52 s") != std::string::npos);
  BOOST_TEST(text.find("12.3 ms") != std::string::npos);
  BOOST_TEST(text.find("1.23") != std::string::npos);  // ns per op
  BOOST_TEST(text.find("124") != std::string::npos);   // times as fast as v0
  BOOST_TEST(text.find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(columns_line_up) {
  const std::vector<std::string> text = lines(command::table(example(), 0, false));
  BOOST_TEST(text.size() == 4u);
  const std::size_t header_end = text[1].find("ns/op") + 5;
  BOOST_TEST(text[2].substr(header_end - 4, 4) == " 152");
  BOOST_TEST(text[3].substr(header_end - 4, 4) == "1.23");
}

BOOST_AUTO_TEST_CASE(a_level_without_times_says_why) {
  bench::Run run = example();
  run.rows[1].status = bench::Status::wrong;
  run.rows[1].problem = "evaluation 3: 1 instead of 2";
  const std::string text = command::table(run, 0, false);
  BOOST_TEST(text.find("wrong: evaluation 3: 1 instead of 2") != std::string::npos);
  BOOST_TEST(text.find("12.3 ms") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_narrow_table_leaves_columns_out_and_keeps_what_matters) {
  for (std::size_t width : {100, 79, 60, 45}) {
    const std::vector<std::string> text = lines(command::table(example(), width, false));
    for (const std::string& line : text) BOOST_TEST(line.size() <= width);
    BOOST_TEST(text[1].find("ns/op") != std::string::npos);
    BOOST_TEST(text[1].find("x above") != std::string::npos);
  }
  for (const std::string& line : lines(command::table(example(), 10, false))) BOOST_TEST(line.size() <= 10u);
}

BOOST_AUTO_TEST_SUITE_END()
