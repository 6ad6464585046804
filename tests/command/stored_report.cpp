#include "bench/stored_report.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "tests/command/stored_report.hpp"
#include "wengert/error.hpp"

using namespace wengert::bench;
using namespace wengert::test;

namespace {

/// What reading it complains of, without the folder's name; "nothing" if it doesn't.
std::string complaint(const ReportFolder& folder, const std::string& name) {
  try {
    read_report(folder.path() / name);
  } catch (const wengert::Error& error) {
    const std::string text = error.what(), prefix = folder.path().string() + "/";
    if (error.code() != wengert::ErrorCode::bad_file || text.rfind(prefix, 0) != 0) return "odd: " + text;
    return text.substr(prefix.size());
  }
  return "nothing";
}

const auto tolerance = boost::test_tools::tolerance(1e-12);

}  // namespace

BOOST_AUTO_TEST_SUITE(stored_report)

BOOST_AUTO_TEST_CASE(a_folder_reads_back) {
  const ReportFolder folder;
  const StoredReport report = read_report(write_report(
      folder, "a", run_of({{"v2", {4, 5, 3}}, {"v3", {2, 1, 3}}, {"v4", {}}}), R"({"machine": {"cpu": "X"}})"));
  BOOST_TEST(report.schema == report_schema);
  BOOST_TEST(report.has_samples);
  BOOST_TEST(report.meta["machine"]["cpu"] == "X");
  BOOST_TEST_REQUIRE(report.rows.size() == 3u);
  const StoredRow& row = report.rows[1];
  BOOST_TEST(row.workload() == "west");
  BOOST_TEST(row.level() == "v3");
  BOOST_TEST(row.status == "complete");
  BOOST_TEST(row.ns_per_op.value == 2.0, tolerance);
  BOOST_TEST_REQUIRE(row.samples.size() == 3u);
  BOOST_TEST(row.samples[0] == 2.0, tolerance);
  BOOST_TEST(row.samples[1] == 1.0, tolerance);
  for (std::size_t i = 0; i < setting_columns.size(); ++i) BOOST_TEST(!row.settings[i].empty(), setting_columns[i]);
  BOOST_TEST(!report.rows[2].timed());
  BOOST_TEST(report.rows[2].status == "wrong");
}

BOOST_AUTO_TEST_CASE(a_file_alone) {
  const ReportFolder folder;
  const auto path = write_report(folder, "a", run_of({{"v2", {4, 5, 3}}, {"v3", {2, 1, 3}}}));
  const StoredReport summary = read_report(path / "summary.csv"), samples = read_report(path / "samples.csv");
  BOOST_TEST(!summary.has_samples);
  BOOST_TEST(samples.has_samples);
  BOOST_TEST_REQUIRE(summary.rows.size() == 2u);
  BOOST_TEST_REQUIRE(samples.rows.size() == 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    BOOST_TEST(summary.rows[i].samples.empty());
    BOOST_TEST(samples.rows[i].samples.size() == 3u);
    BOOST_TEST(samples.rows[i].ns_per_op.value == summary.rows[i].ns_per_op.value, tolerance);
    BOOST_TEST(samples.rows[i].ns_per_op.low == summary.rows[i].ns_per_op.low, tolerance);
    BOOST_TEST(samples.rows[i].ns_per_op.high == summary.rows[i].ns_per_op.high, tolerance);
  }
}

// The first schema, as it was written by then.
BOOST_AUTO_TEST_CASE(schema_1_stays_readable) {
  const ReportFolder folder;
  folder.write("old/summary.csv",
               "schema,run_id,level,name,workload,precision,isa,lanes,threads,ops,variables,iterations,repetitions,"
               "seconds_median,ns_per_op,ns_per_op_low,ns_per_op_high,evaluations_per_second,speedup_first,"
               "speedup_previous,record_seconds,tape_bytes,peak_rss_bytes,max_relative_error,checksum,"
               "speedup_first_low,speedup_first_high,speedup_previous_low,speedup_previous_high,compile_seconds,output,"
               "seed,bits,status\r\n"
               "1,west,v1,pool,west,f64,scalar,1,1,10000,17600,1000,2,0.65,65,64,66,1559.0,8.1,8.1,0.0007,1064800,"
               "8347648,4.6e-16,125.8,7.8,8.2,7.8,8.2,0,last,42,2cc3a8ae538c2ba5,complete\r\n");
  folder.write("old/samples.csv",
               "schema,run_id,level,workload,precision,round,place,started_seconds,batches,iterations,seconds,"
               "seconds_per_batch,ns_per_op,cpu_seconds,involuntary_switches,checksum\r\n"
               "1,west,v1,west,f64,0,5,1.53,1,1000,0.64,0.64,64,0.64,11,125.8\r\n"
               "1,west,v1,west,f64,1,1,8.53,1,1000,0.66,0.66,66,0.66,11,125.8\r\n");
  const StoredReport report = read_report(folder.path() / "old");
  BOOST_TEST(report.schema == 1);
  BOOST_TEST(report.meta.is_null());
  BOOST_TEST_REQUIRE(report.rows.size() == 1u);
  BOOST_TEST(report.rows[0].ns_per_op.value == 65.0);
  BOOST_TEST(report.rows[0].samples == (std::vector<double>{64, 66}), boost::test_tools::per_element());
  BOOST_TEST(report.rows[0].settings[4] == "10000");  // ops
  BOOST_TEST(read_report(folder.path() / "old/samples.csv").rows[0].settings[4] == "");
}

BOOST_AUTO_TEST_CASE(what_is_broken_or_foreign_is_said_in_a_line) {
  const ReportFolder folder;
  BOOST_TEST(complaint(folder, "none") == "none: there is no such file or folder");
  folder.write("empty/other.txt", "x");
  BOOST_TEST(complaint(folder, "empty") == "empty: no report is in this folder: it has no summary.csv");
  folder.write("a.csv", "");
  BOOST_TEST(complaint(folder, "a.csv") == "a.csv: it is empty");
  std::filesystem::create_symlink("/dev/null", folder.path() / "device");
  BOOST_TEST(complaint(folder, "device") == "device: it is empty");
  std::filesystem::create_symlink("/proc/self/mem", folder.path() / "b.csv");  // opens, but has no first page
  BOOST_TEST(complaint(folder, "b.csv") == "b.csv: can't be read: Input/output error");
  folder.write("a.csv", "name,time\r\nx,1\r\n");
  BOOST_TEST(complaint(folder, "a.csv") == "a.csv: not a report of wengert: it has no column 'schema'");
  folder.write("a.csv", std::string_view("\x89PNG\r\n\x1a\n\0\0", 10));
  BOOST_TEST(complaint(folder, "a.csv") == "a.csv: not a report of wengert: it is not a text");
  const std::string header = "schema,run_id,level,workload,precision,ns_per_op\r\n";
  folder.write("a.csv", header);
  BOOST_TEST(complaint(folder, "a.csv") == "a.csv: it has no rows");
  folder.write("a.csv", header + "1,r,v2,west,f64,12\r\n1,r,v3,west,f64\r\n");
  BOOST_TEST(complaint(folder, "a.csv") == "a.csv: line 3: 5 fields, where the header has 6");
  folder.write("a.csv", header + "1,r,v2,west,f64,fast\r\n");
  BOOST_TEST(complaint(folder, "a.csv") == "a.csv: line 2: ns_per_op is 'fast', which is not a number");
  for (const char* time : {"-1", "0", "inf"}) {
    folder.write("a.csv", header + "1,r,v2,west,f64," + time + "\r\n");
    BOOST_TEST(complaint(folder, "a.csv") ==
               std::string("a.csv: line 2: ns_per_op is '") + time + "', which is not a time");
  }
  for (const char* schema : {"", "0", "1.5", "-1"}) {
    folder.write("a.csv", header + schema + ",r,v2,west,f64,1\r\n");
    BOOST_TEST(complaint(folder, "a.csv") == std::string("a.csv: line 2: '") + schema + "' is no schema");
  }
  folder.write("a.csv", header + "99,r,v2,west,f64,1\r\n");
  BOOST_TEST(complaint(folder, "a.csv").find("a.csv: schema 99 is newer than this command knows") == 0u);

  const Run run = run_of({{"v2", {1, 2}}});
  write_report(folder, "b", run, "{\"machine\": ");
  BOOST_TEST(complaint(folder, "b") == "b/meta.json: not the meta.json of a report: it is broken JSON");
  write_report(folder, "b", run, "[1, 2]");
  BOOST_TEST(complaint(folder, "b") == "b/meta.json: not the meta.json of a report: it is no object");
  write_report(folder, "c", run);
  const Run other = run_of({{"v9", {1, 2}}});
  folder.write("c/samples.csv", samples_csv({&other, 1}));
  BOOST_TEST(complaint(folder, "c") ==
             "c/samples.csv: line 2: a sample of west v9 of run 'r1', which the summary beside it doesn't have");
}

BOOST_AUTO_TEST_SUITE_END()
