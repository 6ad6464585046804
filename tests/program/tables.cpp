// Tables of results are nobody else's memory.
#include "tape/tables.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

#include "tests/random.hpp"
#include "tests/says.hpp"
#include "tests/soak.hpp"
#include "wengert/function.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {
namespace {

auto shared(const std::string& part) { return says(ErrorCode::bad_argument, part); }

}  // namespace

BOOST_AUTO_TEST_SUITE(tables)

/// Against looking at every number: tables of rows or columns, in any order and direction, and with any strides at all, as windows
/// along a series have.
BOOST_AUTO_TEST_CASE(every_number_is_found) {
  std::array<double, 1> memory{};
  std::size_t met = 0, apart = 0, windows = 0, count = soak(20'000);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed);
    const std::size_t samples = 1 + random.below(6);
    const auto table = [&](const char* name) {
      const std::size_t items = 1 + random.below(5);
      std::ptrdiff_t inner = 1 + static_cast<std::ptrdiff_t>(random.below(3)), outer, sample, item;
      const bool rows = random.chance(0.5);
      const std::size_t within = rows ? items : samples;
      outer = inner * static_cast<std::ptrdiff_t>(within - 1) + 1 + static_cast<std::ptrdiff_t>(random.below(9));
      sample = (rows ? outer : inner) * (random.chance(0.3) ? -1 : 1);
      item = (rows ? inner : outer) * (random.chance(0.3) ? -1 : 1);
      if (random.chance(0.4)) {
        sample = static_cast<std::ptrdiff_t>(random.below(13)) - 6;
        item = static_cast<std::ptrdiff_t>(random.below(13)) - 6;
      }
      return NamedTable<double>(
          name, items, Samples<double>(memory.data() + static_cast<std::ptrdiff_t>(random.below(60)), sample, item));
    };
    const NamedTable<double> a = table("a"), b = table("b");
    const auto places = [&](const NamedTable<double>& of) {
      std::set<std::ptrdiff_t> all;
      for (std::size_t e = 0; e < samples; ++e)
        for (std::size_t i = 0; i < of.items; ++i)
          all.insert((of.data - memory.data()) + static_cast<std::ptrdiff_t>(e) * of.sample +
                     static_cast<std::ptrdiff_t>(i) * of.item);
      return all;
    };
    const std::set<std::ptrdiff_t> in_a = places(a), in_b = places(b);
    if (in_a.size() != samples * a.items) {
      BOOST_CHECK_EXCEPTION(own_places<double>(samples, {a}, {b}), Error, shared("at which numbers share a place"));
      continue;
    }
    windows += in_b.size() != samples * b.items;
    bool meet = false, refused = false;
    for (const std::ptrdiff_t place : in_a) meet |= in_b.contains(place);
    try {
      own_places<double>(samples, {a}, {b});
    } catch (const Error& error) {
      refused = true;
      BOOST_TEST(shared("the tables of b and of a have memory in common")(error), error.what());
    }
    BOOST_TEST_REQUIRE(refused == meet, "seed " << seed);
    ++(meet ? met : apart);
  }
  BOOST_TEST(met > count / 10);
  BOOST_TEST(apart > count / 10);
  BOOST_TEST(windows > count / 20);
}

BOOST_AUTO_TEST_CASE(windows_along_a_series) {
  NaiveTape<double> tape;
  const Id x = tape.input(1), y = tape.input(2), z = tape.input(3);
  const Id operands[] = {x, y, z};
  Replay<double> replay(compile(tape, tape.sum(operands)));
  std::vector<double> memory(40);
  double* const m = memory.data();
  const auto series = [&](std::ptrdiff_t apart) {
    for (std::ptrdiff_t k = 0; k < 12; ++k) m[k * apart] = static_cast<double>(k);
  };
  const auto windows = [&](std::ptrdiff_t sample, std::ptrdiff_t item) {
    return Samples<const double>(m, sample, item);
  };

  series(1);  // 10 windows of 3, the last of which ends with number 11
  replay.values(10, windows(1, 1), rows(m + 12, 1));
  BOOST_TEST(m[12] == 3);
  BOOST_TEST(m[21] == 30);
  for (const std::ptrdiff_t at : {0, 3, 11})
    BOOST_CHECK_EXCEPTION(replay.values(10, windows(1, 1), rows(m + at, 1)), Error, shared("inputs and of values"));
  replay.values(4, windows(2, 1), rows(m + 9, 1));  // they end with number 8
  BOOST_CHECK_EXCEPTION(replay.values(4, windows(2, 1), rows(m + 8, 1)), Error, shared("inputs and of values"));
  BOOST_CHECK_EXCEPTION(replay.values(3, windows(2, 3), rows(m + 8, 1, 2)), Error, shared("inputs and of values"));
  replay.values(2, windows(2, 3), rows(m + 1, 1, 3));  // 0, 3, 6 and 2, 5, 8: others are in between
  BOOST_CHECK_EXCEPTION(replay.values(2, windows(2, 3), rows(m + 1, 1, 4)), Error, shared("inputs and of values"));

  series(2);  // with a result beside each number
  replay.values(10, windows(2, 2), rows(m + 1, 1, 2));
  BOOST_TEST(m[1] == 3);
  BOOST_TEST(m[19] == 30);
}

BOOST_AUTO_TEST_CASE(results_in_the_memory_of_what_is_read) {
  NaiveTape<double> tape;
  const Id x = tape.input(1), y = tape.input(2);
  const Program<double> program = compile(tape, tape.mul(x, y));
  using Code = std::span<const Var<double>>;
  Function<double> function(2, [](Code v) { return v[0] * v[1]; });
  std::vector<double> memory(60, 0.5), other(60);
  double* const m = memory.data();
  for (const char* const engine : {"interpreter", "native"})
    for (const std::size_t samples : {1, 3}) {
      Replay<double> replay(program, {.engine = engine});
      const auto in = rows(std::as_const(memory).data(), 2);
      const auto values_of = rows(other.data(), 1), slopes = rows(other.data() + 20, 2);
      for (int again = 0; again < 2; ++again) {  // a point is the caller's memory's once there is code
        const auto refuses = [&](const auto& call, const char* part) {
          BOOST_CHECK_EXCEPTION(call(replay), Error, shared(part));
          BOOST_CHECK_EXCEPTION(call(function), Error, shared(part));
          BOOST_TEST(memory == std::vector<double>(60, 0.5), boost::test_tools::per_element());
        };
        refuses([&](auto& f) { f.gradient(samples, in, {}, rows(m, 2)); }, "inputs and of gradients");
        refuses([&](auto& f) { f.gradient(samples, in, rows(m + 1, 1), slopes); }, "inputs and of values");
        refuses([&](auto& f) { f.values(samples, in, rows(m, 2)); }, "inputs and of values");
        refuses(
            [&](auto& f) {
              f.vjp(samples, rows(std::as_const(other).data(), 2), rows(std::as_const(memory).data(), 1), {},
                    rows(m, 2));
            },
            "weights and of gradients");
        refuses([&](auto& f) { f.jvp(samples, rows(std::as_const(other).data(), 2), in, {}, rows(m, 1)); },
                "directions and of tangents");
        refuses([&](auto& f) { f.jacobian(samples, in, {}, rows(m, 2)); }, "inputs and of jacobians");
        refuses([&](auto& f) { f.hvp(samples, in, rows(std::as_const(other).data(), 2), {}, {}, rows(m, 2)); },
                "inputs and of products");
        refuses([&](auto& f) { f.hessian(samples, in, {}, {}, rows(m, 4)); }, "inputs and of hessians");
        refuses([&](auto& f) { f.hessian(samples, in, rows(other.data() + 3, 1), {}, rows(other.data(), 4)); },
                "values and of hessians");
        // In the gaps of the inputs' rows there is room.
        const auto spaced = rows(std::as_const(memory).data(), 2, 5);
        replay.gradient(samples, spaced, rows(m + 2, 1, 5), rows(m + 3, 2, 5));
        BOOST_TEST(memory[2] == 0.25);
        BOOST_TEST(memory[3] == 0.5);
        memory.assign(60, 0.5);
      }
      replay.gradient(samples, in, values_of, slopes);
      BOOST_TEST(other[0] == 0.25);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
