// Tapes in other languages: those that are here are right, those that aren't say so, and what a library may be.
#include "bench/languages/languages.hpp"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "bench/verify.hpp"
#include "wengert/error.hpp"

using namespace wengert;
using namespace wengert::bench;

namespace {

/// What verification says of a level on a workload, in one line; "ok" if all is well.
std::string verified(const LevelInfo& level, const std::string& workload, std::size_t ops, Output output) {
  LadderOptions options;
  options.workload = workload;
  options.workload_options.ops = ops;
  options.workload_options.output = output;
  const Verification found = Verifier<double>(options, 19).check(level, {});
  return found.wrong == 0 && found.compared > 0 ? "ok" : found.mismatches.at(0);
}

/// A level of a library, as the registry has them.
LevelInfo library_level(const std::string& path, int version) {
  LevelInfo info;
  info.name = "library";
  info.ladder = false;
  info.make_f64 = [=](const Workload& workload, const LevelOptions&) {
    return make_library_tape(path, version, workload);
  };
  return info;
}

std::string complaint(const std::string& path, int version, const Workload& workload, ErrorCode code) {
  try {
    make_library_tape(path, version, workload);
  } catch (const Error& error) {
    return error.code() == code ? error.what() : std::string("another code: ") + error.what();
  }
  return "no complaint";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string pool_library = C_POOL_LIBRARY;

}  // namespace

BOOST_AUTO_TEST_SUITE(tapes_in_other_languages)

BOOST_AUTO_TEST_CASE(those_that_are_here_are_right) {
  std::size_t here = 0;
  for (const LevelInfo& language : languages()) {
    if (!language.missing.empty()) continue;
    ++here;
    BOOST_TEST(verified(language, "expr", 3, Output::last) == "ok", language.name);
    for (const std::size_t ops : {1, 4, 103})
      BOOST_TEST(verified(language, "west", ops, Output::sum) == "ok", language.name << " " << ops);
    BOOST_TEST(verified(language, "west", 40, Output::last) == "ok", language.name);
  }
  BOOST_TEST(here >= 2u);  // both in C
}

BOOST_AUTO_TEST_CASE(each_has_both_tapes) {
  for (const LevelInfo& language : languages()) {
    BOOST_TEST(!language.ladder);
    if (language.name.ends_with("-v1")) continue;
    bool found = false;
    for (const LevelInfo& other : languages()) found |= other.name == language.name + "-v1";
    BOOST_TEST(found, language.name);
  }
}

BOOST_AUTO_TEST_CASE(those_that_are_not_say_what_to_do) {
  for (const LevelInfo& language : languages()) {
    if (language.missing.empty()) continue;
    BOOST_TEST(contains(language.missing, "scripts/languages"), language.missing);
    BOOST_CHECK_EXCEPTION(language.make_f64(make_workload("expr"), {}), Error, [&](const Error& error) {
      return error.code() == ErrorCode::unsupported && error.what() == language.missing;
    });
  }
}

BOOST_AUTO_TEST_CASE(from_a_library) {
  const LevelInfo level = library_level(pool_library, 1);
  BOOST_TEST(verified(level, "expr", 3, Output::last) == "ok");
  BOOST_TEST(verified(level, "west", 103, Output::sum) == "ok");
}

BOOST_AUTO_TEST_CASE(what_a_library_has_not) {
  const Workload west = make_workload("west", {.ops = 8});
  BOOST_TEST(complaint(pool_library, 2, west, ErrorCode::out_of_memory) == "it has no tape v2 of 8 ops; choose fewer");
  const Workload large = make_workload("west", {.ops = 1'300'000});  // 2,275,100 nodes
  BOOST_TEST(contains(complaint(pool_library, 1, large, ErrorCode::out_of_memory), "no tape v1 of 1300000 ops"));
  BOOST_TEST(
      contains(complaint(pool_library, 1, make_workload("heston"), ErrorCode::unsupported), "no workload heston"));
  BOOST_TEST(
      contains(complaint("libm.so.6", 1, west, ErrorCode::unsupported), "libm.so.6 has no function language_tape_new"));
  BOOST_TEST(contains(complaint("/none/rust.so", 1, west, ErrorCode::unsupported), "/none/rust.so"));
}

BOOST_AUTO_TEST_SUITE_END()
