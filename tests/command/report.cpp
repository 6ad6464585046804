#include "bench/report.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

using namespace wengert::bench;

namespace {

Sample sample(std::size_t round, double seconds, std::uint64_t batches) {
  Sample s;
  s.round = round;
  s.seconds = seconds;
  s.batches = batches;
  s.checksum = 0.1;
  return s;
}

/// Two levels, the second ten times as fast; then one that was wrong.
Run example() {
  Run run;
  run.run_id = "r1";
  run.workload = "west";
  run.precision = "f64";
  run.output = "last";
  run.ops = 100;
  run.variables = 276;
  run.iterations = 1000;
  run.repetitions = 3;
  for (const char* level : {"v0", "v1", "v2"}) {
    Row& row = run.rows.emplace_back();
    row.level = level;
    row.title = "name, with comma";
    row.isa = "scalar";
    row.status = Status::complete;
  }
  run.rows[0].samples = {sample(0, 2.0, 2), sample(1, 1.1, 1), sample(2, 0.9, 1)};
  run.rows[1].samples = {sample(0, 1.0, 10), sample(1, 1.1, 10), sample(2, 0.9, 10)};
  run.rows[2].samples = run.rows[1].samples;
  run.rows[2].status = Status::wrong;
  return run;
}

std::string summary_of(const Run& run) { return summary_csv({&run, 1}); }
std::string samples_of(const Run& run) { return samples_csv({&run, 1}); }

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t begin = 0, end; (end = text.find("\r\n", begin)) != std::string::npos; begin = end + 2)
    found.push_back(text.substr(begin, end - begin));
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(seconds_are_per_batch_and_ns_per_op_and_evaluation) {
  const Figures f = figures(example(), 1);
  BOOST_TEST(f.seconds.value == 0.1, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(f.ns_per_op.value == 0.1e9 / 1000 / 100, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(f.evaluations_per_second == 10000, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(f.speedup_first.value == 10, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(f.speedup_previous.value == 10, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_wrong_level_has_no_times) {
  const Run run = example();
  BOOST_TEST(std::isnan(figures(run, 2).seconds.value));
  BOOST_TEST(std::isnan(figures(run, 2).speedup_first.value));
  BOOST_TEST(samples_csv({&run, 1}).find(",v2,") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(summary_has_the_columns_of_its_schema) {
  const std::vector<std::string> text = lines(summary_of(example()));
  BOOST_TEST(text.size() == 4u);
  const std::string first_25 =
      "schema,run_id,level,name,workload,precision,isa,lanes,threads,ops,variables,iterations,repetitions,seconds_"
      "median,"
      "ns_per_op,ns_per_op_low,ns_per_op_high,evaluations_per_second,speedup_first,speedup_previous,record_seconds,"
      "tape_bytes,peak_rss_bytes,max_relative_error,checksum,";
  BOOST_TEST(text[0].substr(0, first_25.size()) == first_25);
  BOOST_TEST(text[1].find("2,r1,v0,\"name, with comma\",west,f64,scalar,1,1,100,276,1000,3,1,10000,") == 0u);
}

BOOST_AUTO_TEST_CASE(samples_are_all_there) {
  const std::vector<std::string> text = lines(samples_of(example()));
  BOOST_TEST(text.size() == 7u);  // a header and three rounds of two levels
  BOOST_TEST(text[1].find("2,r1,v0,west,f64,0,0,0,2,1000,2,1,10000,") == 0u);
}

BOOST_AUTO_TEST_CASE(partial_runs_say_so) {
  Run run = example();
  BOOST_TEST(meta_json({&run, 1})["partial"] == false);
  run.rows[1].status = Status::partial;
  run.rows[1].samples.pop_back();
  BOOST_TEST(meta_json({&run, 1})["partial"] == true);
  const std::vector<std::string> text = lines(summary_csv({&run, 1}));
  BOOST_TEST(text[2].find(",partial,") != std::string::npos);
  BOOST_TEST(text[1].find(",complete,") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(points_of_a_grid_are_one_report) {
  std::vector<Run> runs = {example(), example()};
  runs[1].point = 1;
  runs[1].ops = 200;
  runs[1].flops_per_op = 2.5;
  const std::vector<std::string> summary = lines(summary_csv(runs)), samples = lines(samples_csv(runs));
  BOOST_TEST(summary.size() == 7u);
  BOOST_TEST(summary[1].substr(summary[1].size() - 4) == ",0,,");
  BOOST_TEST(summary[4].substr(summary[4].size() - 7) == ",1,2.5,");
  BOOST_TEST(samples.size() == 13u);
  BOOST_TEST(samples[7].find(",1,200,last,scalar,1,1,0") != std::string::npos);
  const auto meta = meta_json(runs);
  BOOST_TEST(meta["points"].size() == 2u);
  BOOST_TEST(meta["points"][1]["workload"]["ops"] == 200);
  BOOST_TEST(!meta_json({runs.data(), 1}).contains("points"));
}

BOOST_AUTO_TEST_SUITE_END()
