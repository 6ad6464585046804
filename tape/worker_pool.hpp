// A small pool of threads for work cut into static chunks.
//
//   WorkerPool pool(available_cores());
//   pool.run(blocks, [&](unsigned worker, std::size_t begin, std::size_t end) { ... });
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace wengert {

class WorkerPool {
 public:
  using Body = std::function<void(unsigned worker, std::size_t begin, std::size_t end)>;

  /// `threads` counts the caller of `run`, which takes part: 1 starts no thread. Throws bad_argument for 0, unsupported
  /// where the system won't start that many.
  explicit WorkerPool(unsigned threads);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  unsigned threads() const { return threads_; }
  /// Whether all threads look out for work. To wake one that sleeps costs the caller some 10 us.
  bool awake() const { return asleep_.load(std::memory_order_relaxed) == 0; }

  /// Ends a pool. In a process that was forked off, where only the thread that forked goes on, it is let go instead: there is
  /// nobody to wait for, and what the others held is held for ever.
  struct End {
    void operator()(WorkerPool* pool) const {
      if (!pool->elsewhere()) delete pool;
    }
  };

  /// Cuts 0..count into one chunk per thread, or fewer where there is less, always the same ones, and runs `body` on each; worker
  /// is the number of the chunk, below threads() and count. A chunk that its thread hasn't begun when the caller is done with its own is the
  /// caller's: nobody waits for threads that sleep or have no core. Returns when all are done. What a body throws is thrown here,
  /// that of the lowest chunk if several do; the other chunks still finish.
  /// May be called from several threads, and from within a body: while the pool is taken, a caller does all its chunks itself;
  /// so does one in a process forked off from that of the threads.
  void run(std::size_t count, const Body& body);

 private:
  struct Job {
    std::size_t count = 0;
    const Body* body = nullptr;
  };
  /// Whether the threads belong to another process.
  bool elsewhere() const;
  void work(std::stop_token stop, unsigned worker);
  /// Whether a chunk of that job is for who asks to run: once.
  bool claim(unsigned chunk, std::uint64_t generation);
  /// What its body threw.
  std::exception_ptr run_chunk(const Job& job, unsigned chunk) const;
  template <class Done>
  bool spin(Done done) const;

  // Ready threads take up a job in under a microsecond, sleeping ones in 5 to 50: so they look out for the next one for
  // as long as a sleep could cost before they go to sleep. Not when there are fewer cores than threads.
  std::chrono::microseconds spin_time_{50};
  unsigned threads_;
  long process_;
  Job job_;
  std::atomic<std::uint64_t> generation_{0};  // of jobs; a change is the start signal
  std::atomic<unsigned> remaining_{0};        // chunks of the job that aren't finished, but for the caller's own
  std::atomic<bool> taken_{false};
  std::atomic<unsigned> asleep_{0};                  // threads
  std::vector<std::atomic<std::uint64_t>> claimed_;  // per chunk: the last job of which somebody has it
  std::vector<std::exception_ptr> failures_;         // per chunk
  std::mutex mutex_;                                 // guards the two conditions, not the job
  std::condition_variable_any started_;
  std::condition_variable finished_;
  std::vector<std::jthread> workers_;  // last: ends before what it uses
};

}  // namespace wengert
