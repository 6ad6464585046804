#include "bench/compare.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include "tests/command/stored_report.hpp"
#include "wengert/error.hpp"

using namespace wengert::bench;
using namespace wengert::test;

namespace {

const auto tolerance = boost::test_tools::tolerance(1e-12);

bool says(const std::vector<std::string>& notes, std::string_view text) {
  for (const std::string& note : notes)
    if (note.find(text) != std::string::npos) return true;
  return false;
}

constexpr const char* machine =
    R"({"machine": {"cpu": "X", "governor": null}, "build": {"compiler": "g++ 12", "git_commit": "abc",
        "flags": [{"flags": "-O2 -march=x", "files": "a.cpp b.cpp"}, {"flags": "-O3", "files": "c.cpp"}]}})";

}  // namespace

BOOST_AUTO_TEST_SUITE(compare)

BOOST_AUTO_TEST_CASE(verdicts_need_the_whole_interval_and_the_test) {
  BOOST_CHECK(judge({0.5, 0.4, 0.6}, 0.01) == Verdict::faster);
  BOOST_CHECK(judge({2, 1.5, 2.5}, 0.01) == Verdict::slower);
  BOOST_CHECK(judge({0.5, 0.4, 1.1}, 0.01) == Verdict::same);
  BOOST_CHECK(judge({0.5, 0.4, 0.6}, 0.06) == Verdict::same);
  BOOST_CHECK(judge({0.5, 0.4, 0.6}, std::nan("")) == Verdict::faster);  // no samples to test
  BOOST_CHECK(judge({0.5, std::nan(""), std::nan("")}, std::nan("")) == Verdict::same);
}

BOOST_AUTO_TEST_CASE(faster_slower_and_same_between_reports) {
  const ReportFolder folder;
  const StoredReport reports[] = {read_report(write_report(folder, "a",
                                                           run_of({{"v2", {10, 10.1, 9.9, 10.2, 9.8}},
                                                                   {"v3", {4, 4.1, 3.9, 4.2, 3.8}},
                                                                   {"v4", {2, 2.1, 1.9, 2.2, 1.8}}}))),
                                  read_report(write_report(folder, "b",
                                                           run_of({{"v2", {10.05, 10.15, 9.85, 10.25, 9.75}},
                                                                   {"v3", {2, 2.05, 1.95, 2.1, 1.9}},
                                                                   {"v4", {3, 3.15, 2.85, 3.3, 2.7}}})))};
  const Comparison comparison = compare_reports(reports);
  BOOST_TEST_REQUIRE(comparison.rows.size() == 3u);
  BOOST_CHECK(comparison.rows[0].changes[0].verdict == Verdict::same);
  BOOST_CHECK(comparison.rows[1].changes[0].verdict == Verdict::faster);
  BOOST_CHECK(comparison.rows[2].changes[0].verdict == Verdict::slower);
  BOOST_TEST(comparison.rows[1].changes[0].ratio.value == 0.5, tolerance);
  BOOST_TEST(comparison.rows[2].changes[0].ratio.value == 1.5, tolerance);
  BOOST_TEST(comparison.rows[1].changes[0].p == 2 / 252.0, tolerance);
  BOOST_TEST(comparison.keys.size() == 2u);  // workload and level are enough
}

BOOST_AUTO_TEST_CASE(three_reports_and_what_some_lack) {
  const ReportFolder folder;
  const StoredReport reports[] = {
      read_report(write_report(folder, "a", run_of({{"v0", {9, 9}}, {"v2", {1, 1}}, {"v3", {1, 1}}}))),
      read_report(write_report(folder, "b", run_of({{"v2", {2, 2}}, {"c", {5, 5}}}))),
      read_report(write_report(folder, "c", run_of({{"v2", {3, 3}}, {"v3", {}}})))};
  const Comparison comparison = compare_reports(reports);
  BOOST_TEST_REQUIRE(comparison.rows.size() == 1u);
  BOOST_TEST(comparison.rows[0].base->level() == "v2");
  BOOST_TEST(comparison.rows[0].changes[0].ratio.value == 2.0, tolerance);
  BOOST_TEST(comparison.rows[0].changes[1].ratio.value == 3.0, tolerance);
  BOOST_TEST(says(comparison.notes, "b has no west v0; west v3"));
  BOOST_TEST(says(comparison.notes, "a has no west c"));
  BOOST_TEST(says(comparison.notes, "west v3 of " + reports[2].path + " has no times: wrong"));
  BOOST_TEST(says(comparison.notes, "too few repetitions"));
}

BOOST_AUTO_TEST_CASE(what_varies_within_a_report_tells_rows_apart) {
  const ReportFolder folder;
  Run small = run_of({{"v2", {1, 1.1}}}), large = run_of({{"v2", {3, 3.1}}});
  const auto write = [&](const std::string& name, double factor) {
    small.run_id = "s" + name;
    large.run_id = "l" + name;
    large.ops = 1000;
    for (Run* run : {&small, &large})
      for (Sample& sample : run->rows[0].samples) sample.seconds *= factor;
    const std::string rows = summary_csv({&large, 1});
    folder.write(name + ".csv", summary_csv({&small, 1}) + rows.substr(rows.find('\n') + 1));
    return read_report(folder.path() / (name + ".csv"));
  };
  const StoredReport first = write("a", 1), second = write("b", 2);
  const StoredReport reports[] = {first, second};
  const Comparison comparison = compare_reports(reports);
  BOOST_TEST_REQUIRE(comparison.rows.size() == 2u);
  BOOST_TEST(comparison.keys.size() == 3u);
  for (const ComparedRow& row : comparison.rows) BOOST_TEST(row.changes[0].ratio.value == 2.0, tolerance);
  BOOST_TEST(says(comparison.notes, "has no samples"));
}

BOOST_AUTO_TEST_CASE(other_machines_compilers_and_flags_are_said) {
  const ReportFolder folder;
  const Run run = run_of({{"v2", {1, 2, 3}}});
  const StoredReport base = read_report(write_report(folder, "a", run, machine));
  const StoredReport other =
      read_report(write_report(folder, "b", run,
                               R"({"machine": {"cpu": "Y"}, "build": {"compiler": "clang 14", "git_commit": "def",
          "flags": [{"flags": "-O2 -march=y", "files": "a.cpp b.cpp d.cpp"}, {"flags": "-O3", "files": "c.cpp"}]}})"));
  const StoredReport pair[] = {base, other}, twins[] = {base, base};
  BOOST_TEST(compare_reports(twins).differences.empty());
  const Comparison comparison = compare_reports(pair);
  std::string all;
  for (const Difference& d : comparison.differences)
    all += d.what + ": " + d.base + " | " + d.here + (d.comparable ? " (comparable)" : "") + "\n";
  BOOST_TEST(all ==
             "CPU: X | Y\ncompiler: g++ 12 | clang 14\ncommit: abc | def (comparable)\n"
             "flags of a.cpp and 1 more: -march=x | -march=y\n");
  const StoredReport without[] = {base, read_report(write_report(folder, "c", run))};
  BOOST_TEST_REQUIRE(compare_reports(without).differences.size() == 1u);
  BOOST_TEST(!compare_reports(without).differences[0].comparable);
}

BOOST_AUTO_TEST_CASE(other_settings_are_said) {
  const ReportFolder folder;
  Run run = run_of({{"v2", {1, 2, 3}}});
  const StoredReport base = read_report(write_report(folder, "a", run, machine));
  run.ops = 20;
  run.seed = 43;
  const StoredReport pair[] = {base, read_report(write_report(folder, "b", run, machine))};
  const Comparison comparison = compare_reports(pair);
  BOOST_TEST_REQUIRE(comparison.differences.size() == 2u);
  BOOST_TEST(comparison.differences[0].what == "ops");
  BOOST_TEST(comparison.differences[0].here == "20");
  BOOST_TEST(comparison.differences[1].what == "seed");
  BOOST_TEST(!comparison.differences[1].comparable);
}

BOOST_AUTO_TEST_CASE(levels_of_one_report) {
  const ReportFolder folder;
  // wild rounds that both share: paired, the interval has no width
  const StoredReport report = read_report(
      write_report(folder, "a", run_of({{"v0", {30, 60, 90, 33, 36}}, {"v2", {10, 20, 30, 11, 12}}, {"v3", {}}})));
  const Comparison comparison = compare_levels(report, "v2");
  BOOST_TEST_REQUIRE(comparison.rows.size() == 2u);
  const Change& v0 = comparison.rows[0].changes[0];
  BOOST_TEST(v0.ratio.value == 3.0, tolerance);
  BOOST_TEST(v0.ratio.low == 3.0, tolerance);
  BOOST_TEST(v0.ratio.high == 3.0, tolerance);
  BOOST_TEST(says(comparison.notes, "west v3 has no times: wrong"));
  BOOST_CHECK_EXCEPTION(compare_levels(report, "v7"), wengert::Error, [](const wengert::Error& error) {
    return error.code() == wengert::ErrorCode::bad_argument &&
           std::string(error.what()).find("has no level 'v7'; it has v0, v2, v3") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
