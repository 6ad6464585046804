// How many evaluations a block has: by the slots of a program, the vectors of an instruction set, and the second cache.
#include "tape/block_lanes.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "wengert/wengert.hpp"

using namespace wengert;

namespace {

constexpr std::size_t kb = 1024;
constexpr std::size_t avx512 = 64, avx2 = 32;  // bytes of a vector

}  // namespace

BOOST_AUTO_TEST_SUITE(block_lanes)

BOOST_AUTO_TEST_CASE(larger_programs_have_narrower_blocks) {
  BOOST_TEST(program_lanes({50, 8, avx512, 1024 * kb}) == 256u);
  BOOST_TEST(program_lanes({1000, 8, avx512, 1024 * kb}) == 64u);
  BOOST_TEST(program_lanes({10'000, 8, avx512, 1024 * kb}) == 64u);
  BOOST_TEST(program_lanes({100'000, 8, avx512, 1024 * kb}) == 16u);
  BOOST_TEST(program_lanes({100'000, 4, avx512, 1024 * kb}) == 32u);
  BOOST_TEST(tape_lanes({2 * 17'600, 8, avx512, 1024 * kb}) == 32u);
  BOOST_TEST(tape_lanes({2 * 1'760, 8, avx512, 1024 * kb}) == 64u);
}

BOOST_AUTO_TEST_CASE(smaller_caches_and_vectors_too) {
  BOOST_TEST(program_lanes({1000, 8, avx2, 512 * kb}) == 64u);
  BOOST_TEST(program_lanes({10'000, 8, avx2, 512 * kb}) == 32u);
  BOOST_TEST(program_lanes({100'000, 8, avx2, 512 * kb}) == 8u);
  BOOST_TEST(program_lanes({100'000, 4, avx2, 512 * kb}) == 16u);
  BOOST_TEST(tape_lanes({2 * 17'600, 8, avx2, 512 * kb}) == 16u);
  BOOST_TEST(tape_lanes({2 * 1'760, 8, avx2, 512 * kb}) == 32u);
}

BOOST_AUTO_TEST_CASE(sums_over_samples_have_whole_leaves) {
  BOOST_TEST(
      program_lanes({.slots = 100'000, .real_bytes = 8, .vector_bytes = avx2, .second_cache = 512 * kb, .leaf = 64}) ==
      64u);
  BOOST_TEST(program_lanes(
                 {.slots = 100'000, .real_bytes = 4, .vector_bytes = avx512, .second_cache = 1024 * kb, .leaf = 64}) ==
             64u);
}

BOOST_AUTO_TEST_CASE(a_replay_takes_them) {
  NaiveTape<double> tape;
  const Id parameter = tape.parameter(0.5), x = tape.input(0.5);
  Id y = tape.mul(parameter, x);
  for (int k = 0; k < 20'000; ++k) y = tape.tanh(y);
  BOOST_TEST(Replay<double>(compile(tape, tape.sum_samples(y))).lanes() == 64u);
  BOOST_TEST(Replay<double>(compile(tape, y, {.differentiated = std::vector<Id>{x}})).lanes() < 64u);
}

BOOST_AUTO_TEST_CASE(blocks_hold_whole_vectors) {
  for (const std::size_t real : {4, 8})
    for (const std::size_t vector : {real, avx2, avx512})
      for (const std::size_t cache : {64 * kb, 512 * kb, 4096 * kb}) {
        std::size_t before[3] = {4096, 4096, 4096};
        for (std::size_t slots = 1; slots < 10'000'000; slots *= 3) {
          const BlockNeeds needs{slots, real, vector, cache};
          const std::size_t lanes[3] = {program_lanes(needs), tape_lanes(needs), native_lanes(needs)};
          for (int k = 0; k < 3; ++k) {
            BOOST_TEST(lanes[k] > 0u);
            BOOST_TEST(lanes[k] <= before[k],
                       lanes[k] << " lanes for " << slots << " slots, " << before[k] << " for fewer");
            before[k] = lanes[k];
          }
          for (int k = 0; k < 2; ++k) BOOST_TEST(lanes[k] * real % vector == 0u, slots << " slots");
        }
      }
}

BOOST_AUTO_TEST_CASE(the_second_cache_is_one) {
  BOOST_TEST(second_cache_bytes() >= 64 * kb);
  BOOST_TEST(second_cache_bytes() <= 1024 * 1024 * kb);
}

BOOST_AUTO_TEST_SUITE_END()
