#include "tests/memory/allocations.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace wengert::test {
namespace {

std::atomic<std::size_t> count{0}, largest{0};
std::atomic<std::int64_t> in_use{0}, at_watch{0}, peak{0};
std::atomic<std::int64_t> until_failure{-1};  // allocations; negative: none fails
std::atomic<bool> on{false}, failed{false};

template <class T, class U>
void raise(std::atomic<T>& most, U now) {
  T before = most.load();
  while (before < static_cast<T>(now) && !most.compare_exchange_weak(before, static_cast<T>(now))) {
  }
}

bool refused() {
  if (until_failure.load() < 0) return false;
  const std::int64_t left = until_failure.fetch_sub(1);
  if (left > 0) return false;
  if (left < 0 && !on) return false;
  if (on) until_failure = 0;
  failed = true;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  ++count;
  raise(largest, bytes);
  if (refused()) return nullptr;
  bytes = std::max<std::size_t>(bytes, 1);
  void* const memory = alignment == 0 ? std::malloc(bytes)
                                      : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory) raise(peak, in_use += static_cast<std::int64_t>(malloc_usable_size(memory)));
  return memory;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (!memory) return;
  in_use -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void watch() {
  count = 0;
  largest = 0;
  at_watch = in_use.load();
  peak = in_use.load();
}
Allocations watched() { return {count, largest, static_cast<std::size_t>(peak - at_watch)}; }

void fail_at(std::size_t k, bool on_) {
  failed = false;
  on = on_;
  until_failure = static_cast<std::int64_t>(k);
}
bool stop_failing() {
  until_failure = -1;
  return failed;
}

}  // namespace wengert::test

using wengert::test::allocate;
using wengert::test::allocate_or_throw;
using wengert::test::release;

void* operator new(std::size_t n) { return allocate_or_throw(n, 0); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 0); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 0); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 0); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, std::size_t(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, std::size_t(a)); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, std::size_t(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, std::size_t(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
