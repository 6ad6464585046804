// Vectors of which some are long and used once: on huge pages where the system has them, and with no zeros written first.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace wengert::codegen {

/// Memory that comes in pages of 4 KiB costs more time than what a compiler writes into it.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t(2) << 20, least = 2 * page;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}
  friend bool operator==(LargePages, LargePages) { return true; }

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < least) return static_cast<T*>(::operator new(bytes));
    void* const memory = ::operator new(bytes, std::align_val_t(page));
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < least) ::operator delete(memory);
    else ::operator delete(memory, std::align_val_t(page));
  }

  /// What `resize` adds isn't set to zero.
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class First, class... More>
  void construct(U* at, First&& first, More&&... more) {
    ::new (static_cast<void*>(at)) U{static_cast<First&&>(first), static_cast<More&&>(more)...};
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace wengert::codegen
