#include "tape/worker_pool.hpp"

#include <unistd.h>

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

WorkerPool::WorkerPool(unsigned threads) : threads_(threads), process_(getpid()) {
  if (threads == 0) throw Error(ErrorCode::bad_argument, "a worker pool of 0 threads; it takes at least 1, the caller");
  if (threads > available_cores()) spin_time_ = std::chrono::microseconds(0);
  failures_.resize(threads);
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

void WorkerPool::run_chunk(const Job& job, unsigned worker) {
  const auto edge = [&](std::size_t k) {  // count * k / threads, without overflow
    return job.count / threads_ * k + job.count % threads_ * k / threads_;
  };
  const std::size_t begin = edge(worker), end = edge(worker + 1);
  if (begin < end) (*job.body)(worker, begin, end);
}

void WorkerPool::work(std::stop_token stop, unsigned worker) {
  for (std::uint64_t seen = 0;; ++seen) {
    const auto called = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!spin([&] { return called() || stop.stop_requested(); })) {
      std::unique_lock lock(mutex_);
      started_.wait(lock, stop, called);
    }
    if (!called()) return;  // asked to stop
    try {
      run_chunk(job_, worker);
    } catch (...) {
      failures_[worker] = std::current_exception();
    }
    if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      std::lock_guard lock(mutex_);
      finished_.notify_one();
    }
  }
}

void WorkerPool::run(std::size_t count, const Body& body) {
  const Job job{count, &body};
  std::exception_ptr failure;
  const auto attempt = [&](unsigned worker) {
    try {
      run_chunk(job, worker);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  };

  if (threads_ == 1 || elsewhere() || taken_.exchange(true, std::memory_order_acquire)) {
    for (unsigned worker = 0; worker < threads_; ++worker) attempt(worker);
    if (failure) std::rethrow_exception(failure);
    return;
  }

  job_ = job;
  remaining_.store(threads_ - 1, std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    generation_.fetch_add(1, std::memory_order_release);
  }
  started_.notify_all();
  attempt(0);
  const auto done = [&] { return remaining_.load(std::memory_order_acquire) == 0; };
  if (!spin(done)) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, done);
  }
  for (std::exception_ptr& one : failures_)
    if (std::exception_ptr thrown = std::exchange(one, nullptr); thrown && !failure) failure = thrown;
  taken_.store(false, std::memory_order_release);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace wengert
