// The memory that compiling and making machine code work in.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "codegen/large_vector.hpp"
#include "tests/memory/allocations.hpp"
#include "tests/soak.hpp"

namespace wengert::test {

using codegen::Arena;
using codegen::huge_page;
using codegen::LargeVector;

BOOST_AUTO_TEST_SUITE(arena)

BOOST_AUTO_TEST_CASE(blocks_are_apart_and_come_back) {
  struct Block {
    void* memory;
    std::size_t bytes;
    unsigned char filled;
    bool intact() const {
      const auto* first = static_cast<const unsigned char*>(memory);
      return std::all_of(first, first + bytes, [&](unsigned char x) { return x == filled; });
    }
  };
  std::mt19937 random(1);
  Arena arena(huge_page);
  std::vector<Block> blocks;
  const auto give_back = [&](std::size_t k) {
    BOOST_TEST_REQUIRE(blocks[k].intact());
    arena.deallocate(blocks[k].memory, blocks[k].bytes);
    blocks[k] = blocks.back();
    blocks.pop_back();
  };
  watch();
  std::size_t in_use = 0, most = 0;
  for (std::size_t k = 0; k < soak(2000); ++k) {
    if (!blocks.empty() && random() % 2 == 0) {
      const std::size_t which = random() % blocks.size();
      in_use -= blocks[which].bytes;
      give_back(which);
    }
    const std::size_t bytes = random() % (random() % 50 == 0 ? 3 * huge_page : 10000);
    Block block{arena.allocate(bytes), bytes, static_cast<unsigned char>(random())};
    std::memset(block.memory, block.filled, bytes);
    blocks.push_back(block);
    most = std::max(most, in_use += bytes);
  }
  const Allocations before = watched();
  BOOST_TEST(before.count < 100u);
  // Given back in any order it is whole again.
  while (!blocks.empty()) give_back(random() % blocks.size());
  const std::size_t largest = before.largest - 64;
  arena.deallocate(arena.allocate(largest), largest);
  BOOST_TEST(watched().count == before.count);
}

BOOST_AUTO_TEST_CASE(vectors_made_meanwhile_are_in_it) {
  const LargeVector<int> before(1000, 1);
  const Arena arena(huge_page);
  watch();
  {
    LargeVector<int> grows;
    for (int k = 0; k < 100000; ++k) grows.push_back(k);
    BOOST_TEST(watched().count == 1u);  // huge pages, once
    BOOST_TEST(grows.back() == 99999);
  }
  LargeVector<double> next(100000, 2.0), copy = next;
  next = std::move(copy);
  std::swap(next, copy);
  const Arena none(100);  // so little work needs none of its own
  const LargeVector<double> more(100000, 3.0);
  BOOST_TEST(watched().count == 1u);
  // One from elsewhere stays there, whatever is done to it.
  LargeVector<int> other = before;
  other = LargeVector<int>(10, 5);
  BOOST_TEST((other.back() == 5 && before.back() == 1 && copy.back() == 2.0 && more.back() == 3.0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
