// Vectors of which some are long and used once: on huge pages where the system has them, and with no zeros written first.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace wengert::codegen {

inline constexpr std::size_t huge_page = std::size_t(2) << 20;  // bytes
constexpr bool worth_huge_pages(std::size_t bytes) { return bytes >= huge_page / 2; }
/// What so many bytes take: where they are worth huge pages, whole ones. (One that isn't all ours would stay small ones.)
constexpr std::size_t bytes_in_pages(std::size_t bytes) {
  return worth_huge_pages(bytes) ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
}

/// Memory that comes in pages of 4 KiB costs more time than what a compiler writes into it.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}
  friend bool operator==(LargePages, LargePages) { return true; }

  T* allocate(std::size_t count) {
    const std::size_t bytes = bytes_in_pages(count * sizeof(T));
    if (!worth_huge_pages(bytes)) return static_cast<T*>(::operator new(bytes));
    void* const memory = ::operator new(bytes, std::align_val_t(huge_page));
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (!worth_huge_pages(count * sizeof(T))) ::operator delete(memory);
    else ::operator delete(memory, std::align_val_t(huge_page));
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
