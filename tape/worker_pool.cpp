#include "tape/worker_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "tape/cores.hpp"
#include "wengert/error.hpp"

namespace wengert {

namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

WorkerPool::WorkerPool(unsigned threads)
    : threads_(threads), process_(getpid()), claimed_(threads), failures_(threads) {
  if (threads == 0) throw Error(ErrorCode::bad_argument, "a worker pool of 0 threads; it takes at least 1, the caller");
  if (threads > available_cores()) spin_time_ = std::chrono::microseconds(0);
  try {
    for (unsigned worker = 1; worker < threads; ++worker)
      workers_.emplace_back([this, worker](std::stop_token stop) { work(stop, worker); });
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::unsupported, "the system starts only " + std::to_string(workers_.size() + 1) + " of " +
                                            std::to_string(threads) + " threads: " + error.what());
  }
}

bool WorkerPool::elsewhere() const { return threads_ > 1 && process_ != getpid(); }

template <class Done>
bool WorkerPool::spin(Done done) const {
  const auto end = std::chrono::steady_clock::now() + spin_time_;
  do {
    for (int k = 0; k < 32; ++k) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

bool WorkerPool::claim(unsigned chunk, std::uint64_t generation) {
  std::uint64_t before = generation - 1;  // for those who come late it is a later one
  return claimed_[chunk].compare_exchange_strong(before, generation, std::memory_order_acq_rel);
}

std::exception_ptr WorkerPool::run_chunk(const Job& job, unsigned chunk) const {
  const std::size_t chunks = std::min<std::size_t>(threads_, job.count);
  if (chunk >= chunks) return nullptr;
  const auto edge = [&](std::size_t k) {  // count * k / chunks, without overflow
    return job.count / chunks * k + job.count % chunks * k / chunks;
  };
  const std::size_t begin = edge(chunk), end = edge(chunk + 1);
  try {
    (*job.body)(chunk, begin, end);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void WorkerPool::work(std::stop_token stop, unsigned worker) {
  for (std::uint64_t seen = 0;;) {
    const auto called = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!spin([&] { return called() || stop.stop_requested(); })) {
      asleep_.fetch_add(1, std::memory_order_relaxed);
      {
        std::unique_lock lock(mutex_);
        started_.wait(lock, stop, called);
      }
      asleep_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (!called()) return;  // asked to stop
    seen = generation_.load(std::memory_order_acquire);
    if (!claim(worker, seen)) continue;
    failures_[worker] = run_chunk(job_, worker);
    if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      std::lock_guard lock(mutex_);
      finished_.notify_one();
    }
  }
}

void WorkerPool::run(std::size_t count, const Body& body) {
  const Job job{count, &body};
  std::exception_ptr failure;
  const auto note = [&](std::exception_ptr thrown) {
    if (thrown && !failure) failure = std::move(thrown);
  };
  if (threads_ == 1 || elsewhere() || taken_.exchange(true, std::memory_order_acquire)) {
    for (unsigned chunk = 0; chunk < threads_; ++chunk) note(run_chunk(job, chunk));
    if (failure) std::rethrow_exception(failure);
    return;
  }

  job_ = job;
  remaining_.store(threads_ - 1, std::memory_order_relaxed);
  const std::uint64_t generation = generation_.load(std::memory_order_relaxed) + 1;
  {
    std::lock_guard lock(mutex_);
    generation_.store(generation, std::memory_order_release);
  }
  started_.notify_all();
  failures_[0] = run_chunk(job, 0);
  for (unsigned chunk = threads_ - 1; chunk > 0; --chunk) {
    if (!claim(chunk, generation)) continue;
    failures_[chunk] = run_chunk(job, chunk);
    remaining_.fetch_sub(1, std::memory_order_acq_rel);
  }
  const auto done = [&] { return remaining_.load(std::memory_order_acquire) == 0; };
  if (!spin(done)) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, done);
  }
  for (std::exception_ptr& thrown : failures_) note(std::exchange(thrown, nullptr));
  taken_.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace wengert
