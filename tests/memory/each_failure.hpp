// Calls whose k-th allocation fails, for every k: whether they say so, and what is left of the object they were made on.
//
//   each_failure("Replay", [&] { return 0; }, [&](int) { Replay<double> replay(program); }, [](int, const std::string&) {});
#pragma once

#include <boost/test/unit_test.hpp>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "tests/memory/allocations.hpp"
#include "tests/same_bits.hpp"
#include "wengert/error.hpp"
#include "wengert/tape.hpp"

namespace wengert::test {

/// All that can be seen of a tape.
struct Seen {
  std::vector<std::size_t> sizes;
  std::vector<std::uint64_t> numbers;
  std::string labels;
  bool operator==(const Seen&) const = default;
};

inline Seen look_at(const NaiveTape<double>& tape) {
  const TapeStatistics n = tape.statistics();
  Seen seen{{n.variables, n.ops, n.operands, n.inputs, n.constants, n.guards, tape.view().parameters.size()}, {}, {}};
  for (Id id = 0; id < tape.size(); ++id) {
    seen.numbers.push_back(bits_of(tape.value(id)));
    seen.numbers.push_back(bits_of(tape.grad(id)));
    seen.labels += tape.label(id) + ";";
  }
  return seen;
}

/// A bit of everything. Each copy of it has no room to spare: whatever is recorded next allocates.
inline const NaiveTape<double>& some_tape() {
  static const NaiveTape<double> tape = [] {
    NaiveTape<double> t;
    const Id x = t.input(1), y = t.input(2), p = t.parameter(0.5), c = t.constant(3);
    const Scope scope(t, "a scope with a name that is not a short string");
    const Id s = t.softmax(std::vector<Id>{x, y, p, c}), f = t.fma(s, y, t.max(s + 1, c));
    t.guard(t.lt(x, y));
    t.label(f, "a name that is longer than a short string is");
    t.backward(f);
    return t;
  }();
  return tape;
}

/// Whether it failed for want of memory; nothing else may go wrong.
inline bool fails(const std::function<void()>& act) {
  try {
    act();
    return false;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
  } catch (const std::bad_alloc&) {  // of a message about it, or of what is returned
  }
  return true;
}

/// `act` on a fresh object with each of its allocations failing in turn; `same` looks at what is left where it failed.
template <class Make, class Act, class Same>
void each_failure(const std::string& what, Make make, Act act, Same same) {
  for (const bool on : {false, true})
    for (std::size_t k = 0;; ++k) {
      auto object = make();
      bool failed = false;
      std::string other;
      const std::function<void()> call = [&] { act(object); };
      fail_at(k, on);
      try {
        failed = fails(call);
      } catch (const std::exception& error) {
        stop_failing();
        other = error.what();
      }
      const bool any = stop_failing();
      BOOST_TEST_REQUIRE(other == "", what << ", allocation " << k << ": " << other);
      if (failed) {
        BOOST_TEST_REQUIRE(any, what << " says it has no memory, and none was refused");
        same(object, what + ", allocation " + std::to_string(k));
        BOOST_TEST_REQUIRE(!fails(call), what << ": not even the second time");
      }
      if (!any) {
        BOOST_TEST_REQUIRE(k < 100000u);
        break;
      }
    }
}

template <class Act>
void each_failure_on_a_tape(const std::string& what, Act act) {
  const Seen before = look_at(some_tape());
  Seen after;
  {
    NaiveTape<double> tape = some_tape();
    act(tape);
    after = look_at(tape);
  }
  each_failure(
      what, [] { return some_tape(); }, act,
      [&](const NaiveTape<double>& tape, const std::string& where) {
        BOOST_TEST_REQUIRE((look_at(tape) == before), where << ": the tape has changed");
      });
  // And once memory is back, the call does what it always does.
  NaiveTape<double> tape = some_tape();
  fail_at(0, false);
  (void)fails([&] { act(tape); });
  stop_failing();
  if (look_at(tape) == before) act(tape);
  BOOST_TEST((look_at(tape) == after), what);
}

/// Numbers that calls write to: nothing of theirs is allocated by the call.
struct Room {
  double points[10] = {1, 2, 0.5, 3, -1, 0.25, 1.5, 2.5, 0, 1};
  double values[10] = {}, more[20] = {}, most[20] = {};
  std::vector<double> all() const {
    std::vector<double> numbers(values, values + 10);
    numbers.insert(numbers.end(), more, more + 20);
    numbers.insert(numbers.end(), most, most + 20);
    return numbers;
  }
};

/// `act(object, room)` with each allocation failing; what it gives afterwards is what it always gives.
template <class Make, class Act>
void each_failure_of_results(const std::string& what, Make make, Act act) {
  Room expected;
  {
    auto object = make();
    act(object, expected);
  }
  static Room room;
  each_failure(
      what, make, [&](auto& object) { act(object, room); },
      [&](auto& object, const std::string& where) {
        room = Room();
        act(object, room);
        const std::vector<double> now = room.all(), then = expected.all();
        for (std::size_t k = 0; k < now.size(); ++k) BOOST_TEST_REQUIRE(same_bits(now[k], then[k]), where);
      });
}

}  // namespace wengert::test
