// A caller's floating-point mode is left as found.
#include <boost/test/unit_test.hpp>
#include <cfenv>

#include "tape/lane_replay.hpp"
#include "tests/needs.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace wengert;

namespace {

/// Records, replays and differentiates every op, on the tape and in lanes.
void do_everything() {
  NaiveTape<double> tape;
  const Id x = tape.input(0.75), y = tape.input(1e-310);
  std::vector<Seed<double>> seeds;
  for (std::size_t k = 0; k < op_count; ++k)
    for (std::uint32_t n = 1; n < 4; ++n) {
      const Op op = static_cast<Op>(k);
      if (info(op).arity == 0 ? info(op).outputs(n) == 0 : info(op).arity != static_cast<int>(n)) continue;
      std::vector<Id> operands(n, x);
      operands[n - 1] = y;
      seeds.push_back({tape.record(op, operands), 1});
    }
  tape.forward();
  tape.backward(seeds);
  for (const Isa isa : usable_isas()) {
    LaneReplay<double> replay(tape, isa, 16);
    const double columns[] = {0.75, 1e-310};
    replay.load(columns, 1, 1);
    replay.forward();
    replay.backward(seeds);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(modes)

BOOST_AUTO_TEST_CASE(rounding_mode) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::fesetround(mode);
    do_everything();
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    BOOST_TEST(after == mode);
  }
}

#if defined(__x86_64__)
BOOST_AUTO_TEST_CASE(flush_to_zero, *wengert::test::not_under("valgrind", "has neither mode")) {
  constexpr unsigned flush = 0x8000, denormals_are_zero = 0x0040, flags = 0x3f;
  const unsigned before = _mm_getcsr();
  for (const unsigned mode : {0u, flush, denormals_are_zero, flush | denormals_are_zero}) {
    _mm_setcsr(before | mode);
    do_everything();
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    BOOST_TEST((after & ~flags) == ((before | mode) & ~flags));
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
