// Vectors of which some are long and used once: on huge pages where the system has them, and with no zeros written first.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

#include "codegen/arena.hpp"

namespace wengert::codegen {

/// Memory that comes in pages of 4 KiB costs more time than what a compiler writes into it.
template <class T>
struct LargePages {
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>& other) : arena(other.arena) {}
  friend bool operator==(LargePages a, LargePages b) { return a.arena == b.arena; }

  T* allocate(std::size_t count) {
    const std::size_t bytes = bytes_in_pages(count * sizeof(T));
    return static_cast<T*>(arena                     ? arena->allocate(count * sizeof(T))
                           : worth_huge_pages(bytes) ? new_huge_pages(bytes)
                                                     : ::operator new(bytes));
  }
  void deallocate(T* memory, std::size_t count) {
    if (arena) arena->deallocate(memory, count * sizeof(T));
    else if (worth_huge_pages(count * sizeof(T))) delete_huge_pages(memory);
    else ::operator delete(memory);
  }

  Arena* arena = Arena::current();  ///< or null

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
