// Guards: comparisons of Vars, as recorded and as the tape itself replays them.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

using V = Var<double>;
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

static_assert(std::is_same_v<decltype(std::declval<V>() < 1), bool>);
static_assert(std::equality_comparable<V> && std::totally_ordered<V>);
static_assert(!std::is_convertible_v<V, int> && !std::is_constructible_v<std::size_t, V>);

template <class F>
std::string other_path_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    BOOST_TEST((error.code() == ErrorCode::other_path));
    return error.what();
  }
  BOOST_ERROR("nothing was thrown");
  return "";
}

/// The guards of `tape` are one per entry: its op and outcome.
void check_guards(const NaiveTape<double>& tape, const std::vector<std::pair<Op, bool>>& wanted) {
  const TapeView<double> view = tape.view();
  BOOST_TEST_REQUIRE(view.guards.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto op = std::find_if(view.ops.begin(), view.ops.end(),
                                 [&](const OpRecord& record) { return record.out == view.guards[k].condition; });
    BOOST_TEST_REQUIRE((op != view.ops.end()));
    BOOST_TEST(name(op->op) == name(wanted[k].first));
    BOOST_TEST(view.guards[k].outcome == wanted[k].second);
    BOOST_TEST((tape.value(view.guards[k].condition) == (wanted[k].second ? 1 : 0)));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guards)

BOOST_AUTO_TEST_CASE(every_comparison_is_one) {
  NaiveTape<double> tape;
  const V x = input(tape, 1), y = input(tape, 2);
  BOOST_TEST(x < y);
  BOOST_TEST(x <= 1.0f);
  BOOST_TEST(!(3 > y + 2));
  BOOST_TEST(!(x >= 2L));
  BOOST_TEST(!(1.5 == x));
  BOOST_TEST((x != y));
  BOOST_TEST((std::ref(x) < std::cref(y)));
  check_guards(tape, {{Op::lt, true},
                      {Op::le, true},
                      {Op::gt, false},
                      {Op::ge, false},
                      {Op::eq, false},
                      {Op::ne, true},
                      {Op::lt, true}});
  BOOST_TEST(tape.statistics().guards == 7u);
}

BOOST_AUTO_TEST_CASE(nan_compares_as_always) {
  NaiveTape<double> tape;
  const V x = input(tape, nan);
  BOOST_TEST(!(x < 1));
  BOOST_TEST(!(x >= 1));
  BOOST_TEST((x != x));
  BOOST_TEST(!(x == x));
  check_guards(tape, {{Op::lt, false}, {Op::ge, false}, {Op::ne, true}, {Op::eq, false}});
  BOOST_CHECK_NO_THROW(tape.forward());
}

BOOST_AUTO_TEST_CASE(constants_alone_record_nothing) {
  NaiveTape<double> tape;
  const V c = 3;
  BOOST_TEST(c < 4);
  BOOST_TEST(isfinite(c));
  BOOST_TEST(to_integer(c) == 3);
  BOOST_TEST(!decide(gt(c, 5)));
  BOOST_TEST(tape.size() == 0u);
  const V x = input(tape, 1);
  BOOST_TEST(tape.statistics().guards == 0u);
  BOOST_TEST(x < c);
  BOOST_TEST(tape.statistics().guards == 1u);
}

BOOST_AUTO_TEST_CASE(they_know_where_they_are) {
  NaiveTape<double> tape;
  const V x = input(tape, 1);
  const unsigned line = __LINE__ + 1;
  const bool b = x < 2 || x > 7;
  const bool c = decide(isnan(x)) || to_integer(x) == 2;
  BOOST_TEST((b && !c));
  const TapeView<double> view = tape.view();
  BOOST_TEST_REQUIRE(view.guards.size() == 3u);
  for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(std::string(view.guards[k].file) == __FILE__);
  BOOST_TEST(view.guards[0].line == line);
  BOOST_TEST(view.guards[1].line == line + 1);
  BOOST_TEST(view.guards[2].line == line + 1);
}

BOOST_AUTO_TEST_CASE(forward_tells_of_another_path) {
  NaiveTape<double> tape;
  V x = input(tape, 1);
  V y = x * 3;
  const unsigned line = __LINE__ + 1;
  if (y < 4) y = y * 2;
  BOOST_TEST(!tape.departure().has_value());
  tape.set_input(x.id(), 1.25);
  tape.forward();
  BOOST_TEST(tape.value(y.id()) == 7.5);
  tape.set_input(x.id(), 2);
  const std::string said = other_path_of([&] { tape.forward(); });
  BOOST_TEST(said.find("lt at " __FILE__ ":" + std::to_string(line) + " was true and is false") != std::string::npos,
             said);
  BOOST_TEST(tape.value(y.id()) == 12);  // computed all the same
  BOOST_TEST((tape.departure() == std::optional<std::size_t>(0)));
  tape.set_input(x.id(), 0);
  BOOST_CHECK_NO_THROW(tape.forward());
  tape.set_input(x.id(), nan);
  other_path_of([&] { tape.forward(); });
}

BOOST_AUTO_TEST_CASE(the_first_of_several_is_named) {
  NaiveTape<double> tape;
  const V x = input(tape, 1);
  for (const double bound : {9.0, 5.0, 3.0, 2.0}) BOOST_TEST(x < bound);
  tape.set_input(x.id(), 4);
  other_path_of([&] { tape.forward(); });
  BOOST_TEST((tape.departure() == std::optional<std::size_t>(2)));
}

BOOST_AUTO_TEST_CASE(algorithms_of_the_library) {
  NaiveTape<double> tape;
  std::vector<V> x;
  for (double v : {3.0, 1.0, 2.0}) x.push_back(input(tape, v));
  std::vector<V> sorted = x;
  std::sort(sorted.begin(), sorted.end());
  const V top = std::max(x[0], x[1]);
  std::map<V, int> order;
  for (const V& v : x) order[v] = 1;
  BOOST_TEST(value(sorted[1]) == 2);
  BOOST_TEST(value(top) == 3);
  BOOST_TEST(order.size() == 3u);
  for (std::size_t k = 0; k < 3; ++k) tape.set_input(x[k].id(), std::vector<double>{30, -1, 0.5}[k]);
  BOOST_CHECK_NO_THROW(tape.forward());  // the same order
  BOOST_TEST(tape.value(sorted[1].id()) == 0.5);
  tape.set_input(x[1].id(), 1);
  other_path_of([&] { tape.forward(); });
}

BOOST_AUTO_TEST_CASE(questions_beside_comparisons) {
  NaiveTape<double> tape;
  const V x = input(tape, -2.75);
  BOOST_TEST(isfinite(x));
  BOOST_TEST(!isinf(x));
  BOOST_TEST(signbit(x));
  BOOST_TEST(to_integer(x) == -2);
  BOOST_TEST(!decide(isnan(x) | gt(x, 0)));
  BOOST_TEST(tape.statistics().guards == 5u);
  const auto first_at = [&](double v) {
    tape.set_input(x.id(), v);
    try {
      tape.forward();
    } catch (const Error&) {
    }
    return tape.departure().value_or(99);
  };
  BOOST_TEST(first_at(-2) == 99u);
  BOOST_TEST(first_at(-2.999) == 99u);
  BOOST_TEST(first_at(inf) == 0u);
  BOOST_TEST(first_at(-inf) == 0u);
  BOOST_TEST(first_at(nan) == 0u);
  BOOST_TEST(first_at(2) == 2u);
  BOOST_TEST(first_at(0) == 2u);
  BOOST_TEST(first_at(-0.0) == 3u);
  BOOST_TEST(first_at(-3) == 3u);
}

BOOST_AUTO_TEST_CASE(no_integer) {
  NaiveTape<double> tape;
  for (double v : {nan, inf, 1e19, -1e300}) {
    const V x = input(tape, v);
    try {
      to_integer(x);
      BOOST_ERROR("nothing was thrown");
    } catch (const Error& error) {
      BOOST_TEST((error.code() == ErrorCode::bad_argument));
    }
  }
  BOOST_TEST(tape.statistics().guards == 0u);
  BOOST_TEST(to_integer(input(tape, -0x1p63)) == std::numeric_limits<std::int64_t>::min());
}

BOOST_AUTO_TEST_CASE(they_go_with_what_is_rewound) {
  NaiveTape<double> tape;
  const V x = input(tape, 1);
  const V c = x * 1;
  BOOST_TEST(x < 2);
  const Mark mark = tape.mark();
  tape.guard(c.id());  // on what was there before
  BOOST_TEST(tape.statistics().guards == 2u);
  tape.rewind(mark);
  BOOST_TEST(tape.statistics().guards == 1u);
  BOOST_TEST(x < 3);
  NaiveTape<double> copy = tape;
  tape.rewind(mark);
  BOOST_TEST(tape.statistics().guards == 1u);
  BOOST_TEST(copy.statistics().guards == 2u);
  tape.clear();
  BOOST_TEST(tape.statistics().guards == 0u);
  copy.set_input(0, 2.5);
  other_path_of([&] { copy.forward(); });
}

BOOST_AUTO_TEST_CASE(stale_and_mixed_operands_are_told) {
  NaiveTape<double> tape, other;
  const V a = input(tape, 1), b = input(other, 2);
  const auto code_of = [](auto f) {
    try {
      f();
    } catch (const Error& error) {
      return error.code();
    }
    BOOST_ERROR("nothing was thrown");
    return ErrorCode::bad_argument;
  };
  BOOST_TEST((code_of([&] { return a < b; }) == ErrorCode::mixed_tapes));
  const Mark mark = tape.mark();
  const V c = a * 2;
  const Cond<double> cond = lt(a, 2);
  tape.rewind(mark);
  BOOST_TEST((code_of([&] { return c == 2; }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { return decide(cond); }) == ErrorCode::stale_id));
  BOOST_TEST((code_of([&] { tape.guard(17); }) == ErrorCode::stale_id));
  BOOST_TEST(tape.statistics().guards == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
