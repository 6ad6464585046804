// Memory for a piece of work of some steps: what one step gives back the next takes. Fresh memory costs more than what most steps do
// with it, and on pages of 4 KiB the most.
#pragma once

#include <cstddef>

namespace wengert::codegen {

inline constexpr std::size_t huge_page = std::size_t(2) << 20;  // bytes
constexpr bool worth_huge_pages(std::size_t bytes) { return bytes >= huge_page / 2; }
/// What so many bytes take: where they are worth huge pages, whole ones. (One that isn't all ours would stay small ones.)
constexpr std::size_t bytes_in_pages(std::size_t bytes) {
  return worth_huge_pages(bytes) ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
}
/// Memory on huge pages, if the system has them. Throws std::bad_alloc. `bytes`: of whole ones.
void* new_huge_pages(std::size_t bytes);
void delete_huge_pages(void* memory) noexcept;

/// LargeVectors (large_vector.hpp) that its thread makes while it lives take their memory from it, and end before it does.
class Arena {
 public:
  /// `expected`: bytes in use at a time, about. Where they aren't worth huge pages it does nothing.
  explicit Arena(std::size_t expected);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  /// Null: there is none.
  static Arena* current();

  void* allocate(std::size_t bytes);
  void deallocate(void* memory, std::size_t bytes) noexcept;

 private:
  struct Block {  // at the beginning of free memory; of a chunk, of all of it
    Block* next;
    std::size_t bytes;
  };
  static thread_local Arena* current_;
  Arena* const before_;
  Block* free_ = nullptr;  // by address: the first that is large enough is taken, which most likely was in use before
  Block* chunks_ = nullptr;
};

}  // namespace wengert::codegen
