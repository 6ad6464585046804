// Names of variables and scopes.
#include "wengert/labels.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>

#include "tests/random.hpp"
#include "tests/soak.hpp"
#include "wengert/tape.hpp"
#include "wengert/var.hpp"

using namespace wengert;
using wengert::test::Random;
using wengert::test::soak;

BOOST_AUTO_TEST_SUITE(labels)

BOOST_AUTO_TEST_CASE(names_and_scopes) {
  NaiveTape<double> tape;
  const Id x = tape.input(1);
  BOOST_TEST(tape.label(x) == "");
  tape.label(x, "y");
  tape.label(x, "x");
  BOOST_TEST(tape.label(x) == "x");
  Id inner = no_id, outer = no_id;
  {
    const Scope a(tape, "layer");
    {
      const Scope b(tape, "gate");
      inner = tape.exp(x);
      tape.label(inner, "e");
    }
    const Scope empty(tape, "nothing in it");
    outer = tape.log(x);
  }
  const Id after = tape.sqrt(x);
  BOOST_TEST(tape.label(inner) == "layer/gate/e");
  BOOST_TEST(tape.label(outer) == "layer/nothing in it");
  BOOST_TEST(tape.label(after) == "");
  BOOST_TEST(tape.label(x) == "x");
  BOOST_CHECK_THROW(tape.label(after + 1), Error);
  BOOST_CHECK_THROW(tape.label(after + 1, "z"), Error);
  const NaiveTape<double> copy = tape;
  BOOST_TEST(copy.label(inner) == "layer/gate/e");
}

BOOST_AUTO_TEST_CASE(of_vars) {
  NaiveTape<double> tape;
  const Var<double> x = label(input(tape, 1.0), "x"), f = label(exp(x) * x, "f");
  BOOST_TEST(tape.label(x.id()) == "x");
  BOOST_TEST(tape.label(f.id()) == "f");
  BOOST_TEST(value(label(Var<double>(2), "a constant has no name")) == 2);
  tape.clear();
  BOOST_CHECK_THROW(label(f, "gone"), Error);
}

BOOST_AUTO_TEST_CASE(random_recordings_and_rewinds) {
  // Against a model that keeps every variable's name as text.
  for (std::uint64_t seed = 1; seed <= soak(300); ++seed) {
    Random random(seed);
    NaiveTape<double> tape;
    std::vector<std::string> expected_scope, expected_name;
    std::vector<std::string> open;
    std::vector<std::optional<Scope<double>>> scopes(20);
    std::vector<Mark> marks = {tape.mark()};
    const auto path = [&] {
      std::string all;
      for (const std::string& part : open) all += (all.empty() ? "" : "/") + part;
      return all;
    };
    for (int step = 0; step < 200; ++step) {
      const std::size_t what = random.below(12);
      if (what < 5) {
        tape.input(1);
        expected_scope.push_back(path());
        expected_name.push_back("");
      } else if (what == 5 && open.size() < scopes.size()) {
        open.push_back("s" + std::to_string(step));
        scopes[open.size() - 1].emplace(tape, open.back());
      } else if (what == 6 && !open.empty()) {
        scopes[open.size() - 1].reset();
        open.pop_back();
      } else if (what < 9 && tape.size() > 0) {
        const std::size_t id = random.below(tape.size());
        expected_name[id] = "n" + std::to_string(step);
        tape.label(static_cast<Id>(id), expected_name[id]);
      } else if (what == 9) {
        marks.push_back(tape.mark());
      } else if (what == 10 && random.chance(0.3)) {
        const Mark mark = random.of(marks);
        if (mark.variables > tape.size()) continue;
        tape.rewind(mark);
        expected_scope.resize(tape.size());
        expected_name.resize(tape.size());
      }
      for (std::size_t id = 0; id < tape.size(); ++id) {
        std::string expected = expected_scope[id];
        if (!expected_name[id].empty()) expected += (expected.empty() ? "" : "/") + expected_name[id];
        BOOST_REQUIRE_EQUAL(tape.label(static_cast<Id>(id)), expected);
      }
    }
    while (!open.empty()) scopes[open.size() - 1].reset(), open.pop_back();
  }
}

BOOST_AUTO_TEST_SUITE_END()
