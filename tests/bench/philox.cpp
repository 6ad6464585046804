// The generator against the answers that its authors publish (Random123, kat_vectors: lines "philox4x32 10").
#include "bench/philox.hpp"

#include <boost/test/unit_test.hpp>

using namespace wengert::bench;

BOOST_AUTO_TEST_SUITE(philox)

BOOST_AUTO_TEST_CASE(published_answers) {
  struct Known {
    PhiloxCounter counter;
    PhiloxKey key;
    PhiloxCounter answer;
  };
  const Known known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Known& k : known) {
    const PhiloxCounter got = philox4x32_10(k.counter, k.key);
    BOOST_CHECK_EQUAL_COLLECTIONS(got.begin(), got.end(), k.answer.begin(), k.answer.end());
  }
}

BOOST_AUTO_TEST_CASE(two_numbers_share_a_block) {
  // Seed in the key, row in the low half of the counter, then block and stream.
  const std::uint64_t seed = 0x299f31d0a4093822, row = 0x85a308d3243f6a88;
  BOOST_CHECK_EQUAL(random_bits(seed, 0x03707344, row, 2 * 0x13198a2eu), 0x94fdcceb'd16cfe09u);
  BOOST_CHECK_EQUAL(random_bits(seed, 0x03707344, row, 2 * 0x13198a2eu + 1), 0x24126ea1'5001e420u);
}

BOOST_AUTO_TEST_SUITE_END()
