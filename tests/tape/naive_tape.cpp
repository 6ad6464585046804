// NaiveTape: misuse is a clear error that leaves the tape as it was; memory is what is promised.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/random.hpp"
#include "wengert/tape.hpp"

using namespace wengert;

namespace {

auto with(ErrorCode code) {
  return [code](const Error& error) { return error.code() == code && std::string(error.what()).size() > 20; };
}

/// Records `ops` ops, a quarter of them softmax and sum of four, as the ladder's west workload does.
void record_some(NaiveTape<double>& tape, std::size_t ops) {
  std::vector<Id> n;
  for (int i = 0; i < 100; ++i) n.push_back(tape.input(0.01 * i));
  const auto last = [&](std::size_t k) { return n[n.size() - k]; };
  for (std::size_t k = 0; k < ops; ++k) {
    if (k % 4 == 0) n.push_back(tape.softplus(last(10)));
    if (k % 4 == 1) n.push_back(tape.sum(std::vector<Id>{last(30), last(25), last(20), last(15)}));
    if (k % 4 == 2) n.push_back(tape.mul(last(20), last(10)));
    if (k % 4 == 3) {
      const Id first = tape.softmax(std::vector<Id>{last(4), last(3), last(2), last(1)});
      for (Id j = 0; j < 4; ++j) n.push_back(first + j);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(naive_tape)

BOOST_AUTO_TEST_CASE(ids_of_nowhere) {
  NaiveTape<double> tape;
  const Id x = tape.input(2);
  for (const Id id : {Id(1), Id(1000), no_id}) {
    BOOST_CHECK_EXCEPTION(tape.exp(id), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.add(x, id), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.fma(x, x, id), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.sum(std::vector<Id>{x, id}), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.value(id), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.grad(id), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.set_input(id, 1), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.backward(id), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.output(id, 0), Error, with(ErrorCode::stale_id));
  }
  BOOST_TEST(tape.size() == 1);
  BOOST_TEST(tape.statistics().ops == 0);
  BOOST_TEST(tape.value(tape.exp(x)) == std::exp(2), boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(only_inputs_can_be_set) {
  NaiveTape<double> tape;
  const Id x = tape.input(2), c = tape.constant(3), y = tape.mul(x, c);
  BOOST_CHECK_EXCEPTION(tape.set_input(c, 1), Error, with(ErrorCode::not_an_input));
  BOOST_CHECK_EXCEPTION(tape.set_input(y, 1), Error, with(ErrorCode::not_an_input));
  BOOST_TEST(tape.value(y) == 6);
}

BOOST_AUTO_TEST_CASE(outputs_that_are_none) {
  NaiveTape<double> tape;
  const Id x = tape.input(2), y = tape.exp(x), s = tape.softmax(std::vector<Id>{x, y});
  BOOST_TEST(tape.output(s, 1) == s + 1);
  BOOST_TEST(tape.output(y, 0) == y);
  BOOST_CHECK_EXCEPTION(tape.output(s, 2), Error, with(ErrorCode::bad_argument));
  BOOST_CHECK_EXCEPTION(tape.output(y, 1), Error, with(ErrorCode::bad_argument));
  BOOST_CHECK_EXCEPTION(tape.output(s + 1, 0), Error, with(ErrorCode::bad_argument));
  BOOST_CHECK_EXCEPTION(tape.output(x, 0), Error, with(ErrorCode::bad_argument));
}

BOOST_AUTO_TEST_CASE(wrong_numbers_of_operands) {
  NaiveTape<double> tape;
  const Id x = tape.input(2);
  for (std::size_t k = 0; k < op_count; ++k) {
    const Op op = static_cast<Op>(k);
    for (std::uint32_t n = 0; n < 6; ++n) {
      const std::vector<Id> operands(n, x);
      const bool fits = info(op).arity == 0 ? info(op).outputs(n) > 0 : info(op).arity == static_cast<int>(n);
      const std::size_t before = tape.size();
      if (fits) {
        tape.record(op, operands);
      } else {
        BOOST_CHECK_EXCEPTION(tape.record(op, operands), Error, with(ErrorCode::bad_size));
        BOOST_TEST(tape.size() == before);
      }
    }
  }
  BOOST_CHECK_EXCEPTION(tape.record(static_cast<Op>(op_count), {}), Error, with(ErrorCode::bad_argument));
}

BOOST_AUTO_TEST_CASE(rewind_forgets_and_repeats) {
  NaiveTape<double> tape;
  const Id x = tape.input(2), y = tape.square(x);
  const Mark mark = tape.mark();
  for (int round = 0; round < 3; ++round) {
    const Id c = tape.constant(round), z = tape.sum(std::vector<Id>{y, c, x}), extra = tape.input(1);
    tape.backward(z);
    BOOST_TEST(tape.value(z) == 6 + round);
    BOOST_TEST(tape.grad(x) == 5);
    const Mark late = tape.mark();
    tape.rewind(mark);
    BOOST_TEST(tape.size() == 2);
    BOOST_TEST(tape.statistics().operands == 0);
    BOOST_CHECK_EXCEPTION(tape.value(z), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.set_input(extra, 1), Error, with(ErrorCode::stale_id));
    BOOST_CHECK_EXCEPTION(tape.rewind(late), Error, with(ErrorCode::bad_argument));
  }
  tape.backward(y);
  BOOST_TEST(tape.grad(x) == 4);
}

// A mark of what has been rewound and recorded over, or of another tape: refused, or by chance one of this tape; never half of an
// op, an operand list or a guard.
BOOST_AUTO_TEST_CASE(marks_of_another_time) {
  std::size_t refused = 0, rewound = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    test::Random random(seed);
    NaiveTape<double> tapes[2];
    std::vector<Mark> marks;
    for (int k = 0; k < 60; ++k) {
      NaiveTape<double>& tape = tapes[random.below(2)];
      const auto any = [&] { return static_cast<Id>(random.below(tape.size())); };
      if (tape.size() == 0 || random.chance(0.1)) tape.input(1);
      switch (random.below(7)) {
        case 0: tape.constant(2); break;
        case 1: tape.parameter(3); break;
        case 2: tape.softmax(std::vector<Id>(random.below(4) + 1, any())); break;
        case 3: tape.sum(std::vector<Id>(random.below(4) + 1, any())); break;
        case 4: tape.guard(any()); break;
        case 5: tape.guard(tape.lt(any(), any())); break;
        default: tape.mul(any(), any());
      }
      if (random.chance(0.3)) marks.push_back(tape.mark());
      if (marks.empty() || !random.chance(0.3)) continue;
      try {
        tape.rewind(random.of(marks));
        ++rewound;
      } catch (const Error& error) {
        BOOST_REQUIRE(with(ErrorCode::bad_argument)(error));
        ++refused;
      }
      const TapeView<double> view = tape.view();
      Id from = 0;
      for (const OpRecord& op : view.ops) {
        const bool list = info(op.op).arity == 0;
        const std::uint32_t n = list ? op.b : 1;
        BOOST_TEST_REQUIRE(op.out >= from);
        from = op.out + (list ? info(op.op).outputs(n) : 1);
        if (list) BOOST_TEST_REQUIRE(op.a + op.b <= view.operands.size());
      }
      BOOST_TEST_REQUIRE(from <= view.values.size());
      for (const auto& ids : {view.inputs, view.constants, view.parameters})
        for (const Id id : ids) BOOST_TEST_REQUIRE(id < view.values.size());
      for (const Guard& guard : view.guards) BOOST_TEST_REQUIRE(guard.condition < view.values.size());
    }
  }
  BOOST_TEST(refused > 100u);
  BOOST_TEST(rewound > 100u);
}

BOOST_AUTO_TEST_CASE(clear_keeps_the_memory) {
  NaiveTape<double> tape;
  record_some(tape, 1000);
  const std::size_t reserved = tape.statistics().bytes_reserved;
  tape.clear();
  BOOST_TEST(tape.size() == 0);
  BOOST_TEST(tape.statistics().bytes_reserved == reserved);
  tape.forward();
  record_some(tape, 1000);
  BOOST_TEST(tape.statistics().bytes_reserved == reserved);
}

BOOST_AUTO_TEST_CASE(growing_loses_nothing) {
  NaiveTape<double> grown, roomy;
  roomy.reserve(20000, 10000, 50000);
  record_some(grown, 10000);
  record_some(roomy, 10000);
  BOOST_REQUIRE(grown.size() == roomy.size());
  for (Id id = 0; id < grown.size(); ++id) BOOST_REQUIRE(grown.value(id) == roomy.value(id));
  grown.backward(static_cast<Id>(grown.size() - 1));
  roomy.backward(static_cast<Id>(roomy.size() - 1));
  for (Id id = 0; id < grown.size(); ++id) BOOST_REQUIRE(grown.grad(id) == roomy.grad(id));
}

BOOST_AUTO_TEST_CASE(an_impossible_reserve_changes_nothing) {
  NaiveTape<double> tape;
  const Id x = tape.input(2);
  BOOST_CHECK_EXCEPTION(tape.reserve(std::size_t(1) << 40, 0), Error, with(ErrorCode::out_of_ids));
  BOOST_TEST(tape.value(x) == 2);
  BOOST_TEST(tape.value(tape.square(x)) == 4);
}

BOOST_AUTO_TEST_CASE(gradients_before_and_between_sweeps) {
  NaiveTape<double> tape;
  const Id x = tape.input(2), y = tape.square(x);
  BOOST_TEST(tape.grad(x) == 0);
  tape.backward(y);
  const Id later = tape.exp(y);
  BOOST_TEST(tape.grad(later) == 0);
  BOOST_TEST(tape.grad(x) == 4);
  tape.backward(x);  // of this sweep only
  BOOST_TEST(tape.grad(x) == 1);
  BOOST_TEST(tape.grad(y) == 0);
}

BOOST_AUTO_TEST_CASE(statistics) {
  NaiveTape<double> tape;
  const Id x = tape.input(2), c = tape.constant(3);
  tape.softmax(std::vector<Id>{x, c, x});
  const TapeStatistics s = tape.statistics();
  BOOST_TEST(s.variables == 5);
  BOOST_TEST(s.ops == 1);
  BOOST_TEST(s.operands == 3);
  BOOST_TEST(s.inputs == 1);
  BOOST_TEST(s.constants == 1);
  BOOST_TEST(s.bytes_reserved >= s.bytes_in_use);
}

BOOST_AUTO_TEST_CASE(memory_of_a_million_ops) {
  NaiveTape<double> tape;
  record_some(tape, 1'000'000);
  tape.backward(static_cast<Id>(tape.size() - 1));
  const TapeStatistics s = tape.statistics();
  BOOST_TEST(s.ops == 1'000'000);
  BOOST_TEST(static_cast<double>(s.bytes_in_use) <= 40.0 * static_cast<double>(s.variables));
  BOOST_TEST(static_cast<double>(s.bytes_reserved) <= 1.5 * static_cast<double>(s.bytes_in_use));
}

BOOST_AUTO_TEST_SUITE_END()
