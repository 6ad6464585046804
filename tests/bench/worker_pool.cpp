#include "tape/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/needs.hpp"
#include "wengert/error.hpp"

using namespace wengert;
using wengert::test::uses_threads;

BOOST_AUTO_TEST_SUITE(worker_pool, *uses_threads())

BOOST_AUTO_TEST_CASE(each_index_once_in_chunks_that_stay) {
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    WorkerPool pool(threads);
    BOOST_TEST(pool.threads() == threads);
    for (const std::size_t count : {0u, 1u, 2u, 7u, 8u, 9u, 1000u}) {
      std::vector<unsigned> first, owner(count);
      for (int again = 0; again < 3; ++again) {
        std::vector<std::atomic<int>> visits(count);
        std::atomic<bool> empty{false};  // Boost.Test's checks are for one thread
        pool.run(count, [&](unsigned worker, std::size_t begin, std::size_t end) {
          if (begin >= end) empty = true;
          for (std::size_t k = begin; k < end; ++k) {
            ++visits[k];
            owner[k] = worker;
          }
        });
        BOOST_TEST(!empty);
        for (const auto& v : visits) BOOST_REQUIRE_EQUAL(v.load(), 1);
        if (again == 0) first = owner;
        BOOST_TEST(owner == first);
      }
      for (std::size_t k = 1; k < count; ++k) BOOST_REQUIRE_LE(owner[k - 1], owner[k]);
      if (count > 0)
        BOOST_TEST(owner.back() == std::min<std::size_t>(threads, count) - 1);  // the first workers have some each
    }
  }
}

BOOST_AUTO_TEST_CASE(huge_counts_dont_overflow) {
  WorkerPool pool(3);
  const std::size_t count = ~std::size_t{0} - 1;
  std::vector<std::size_t> begins(3), ends(3);
  pool.run(count, [&](unsigned worker, std::size_t begin, std::size_t end) {
    begins[worker] = begin;
    ends[worker] = end;
  });
  BOOST_TEST(begins[0] == 0u);
  BOOST_TEST(ends[0] == begins[1]);
  BOOST_TEST(ends[1] == begins[2]);
  BOOST_TEST(ends[2] == count);
  BOOST_TEST(ends[0] / 2 < count / 4);
}

BOOST_AUTO_TEST_CASE(chunks_run_at_the_same_time) {
  WorkerPool pool(2);
  std::atomic<int> arrived{0}, together{0};
  pool.run(2, [&](unsigned, std::size_t, std::size_t) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    together += arrived == 2;
  });
  BOOST_TEST(together == 2);
}

BOOST_AUTO_TEST_CASE(works_after_sleeping) {
  WorkerPool pool(3);
  for (int k = 0; k < 5; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // long past the spinning
    std::atomic<std::size_t> sum{0};
    pool.run(300, [&](unsigned, std::size_t begin, std::size_t end) { sum += end - begin; });
    BOOST_TEST(sum == 300u);
  }
}

BOOST_AUTO_TEST_CASE(falls_asleep_and_wakes) {
  WorkerPool pool(3);
  const auto sleeps_soon = [&] {
    for (int k = 0; k < 10000 && pool.awake(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return !pool.awake();
  };
  BOOST_TEST(sleeps_soon());
  std::atomic<int> there{0};
  pool.run(3, [&](unsigned, std::size_t, std::size_t) {  // each of three threads has one
    ++there;
    while (there < 3) std::this_thread::yield();
  });
  BOOST_TEST(there == 3);
  BOOST_TEST(sleeps_soon());
}

BOOST_AUTO_TEST_CASE(many_jobs_in_a_row) {
  WorkerPool pool(2);
  std::size_t total[2] = {};
  for (int k = 0; k < 20000; ++k)
    pool.run(2, [&](unsigned worker, std::size_t begin, std::size_t end) { total[worker] += end - begin; });
  BOOST_TEST(total[0] == 20000u);
  BOOST_TEST(total[1] == 20000u);
}

BOOST_AUTO_TEST_CASE(exceptions_reach_the_caller) {
  WorkerPool pool(4);
  for (const unsigned thrower : {0u, 1u, 3u}) {
    std::atomic<int> finished{0};
    try {
      pool.run(4, [&](unsigned worker, std::size_t, std::size_t) {
        if (worker >= thrower) throw std::runtime_error("chunk " + std::to_string(worker));
        ++finished;
      });
      BOOST_ERROR("nothing thrown");
    } catch (const std::runtime_error& error) {
      BOOST_TEST(error.what() == "chunk " + std::to_string(thrower));  // the lowest
    }
    BOOST_TEST(finished == static_cast<int>(thrower));
    std::atomic<int> after{0};
    pool.run(4, [&](unsigned, std::size_t, std::size_t) { ++after; });  // and is forgotten
    BOOST_TEST(after == 4);
  }
}

BOOST_AUTO_TEST_CASE(several_callers) {
  WorkerPool pool(3);
  std::vector<std::size_t> sums(4);
  {
    std::vector<std::jthread> callers;
    for (std::size_t caller = 0; caller < sums.size(); ++caller)
      callers.emplace_back([&, caller] {
        for (int k = 0; k < 500; ++k) {
          std::atomic<std::size_t> sum{0};
          pool.run(100, [&](unsigned, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) sum += i;
          });
          sums[caller] += sum;
        }
      });
  }
  for (const std::size_t sum : sums) BOOST_TEST(sum == 500u * 4950u);
}

BOOST_AUTO_TEST_CASE(a_body_may_use_the_pool) {
  WorkerPool pool(2);
  std::atomic<int> inner{0};
  pool.run(2, [&](unsigned, std::size_t, std::size_t) {
    pool.run(2, [&](unsigned, std::size_t, std::size_t) { ++inner; });
  });
  BOOST_TEST(inner == 4);
}

BOOST_AUTO_TEST_CASE(ends_while_idle_and_unused) {
  std::atomic<int> chunks{0};
  for (int k = 0; k < 50; ++k) {
    WorkerPool pool(3);
    if (k % 2) pool.run(3, [&](unsigned, std::size_t, std::size_t) { ++chunks; });
  }
  BOOST_TEST(chunks == 25 * 3);
}

BOOST_AUTO_TEST_CASE(no_threads_is_refused) {
  try {
    WorkerPool pool(0);
    BOOST_ERROR("accepted");
  } catch (const Error& error) {
    BOOST_TEST((error.code() == ErrorCode::bad_argument));
  }
}

BOOST_AUTO_TEST_SUITE_END()
