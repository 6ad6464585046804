#include "codegen/arena.hpp"

#include <functional>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace wengert::codegen {
namespace {

constexpr std::size_t unit = 64;  // a cache line; a block's beginning has room in it
constexpr std::size_t whole_units(std::size_t bytes) { return bytes < unit ? unit : (bytes + unit - 1) / unit * unit; }

template <class To>
To* at(void* memory, std::size_t bytes = 0) {
  return reinterpret_cast<To*>(static_cast<std::byte*>(memory) + bytes);
}

}  // namespace

void* new_huge_pages(std::size_t bytes) {
  void* const memory = ::operator new(bytes, std::align_val_t(huge_page));
#if defined(__linux__)
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
#endif
  return memory;
}
void delete_huge_pages(void* memory) noexcept { ::operator delete(memory, std::align_val_t(huge_page)); }

constinit thread_local Arena* Arena::current_ = nullptr;
Arena* Arena::current() { return current_; }

Arena::Arena(std::size_t expected) : before_(current_) {
  if (worth_huge_pages(expected)) current_ = this;
}

Arena::~Arena() {
  current_ = before_;
  while (chunks_) {
    Block* const next = chunks_->next;
    delete_huge_pages(chunks_);
    chunks_ = next;
  }
}

void* Arena::allocate(std::size_t bytes) {
  bytes = whole_units(bytes);
  for (Block** link = &free_; *link; link = &(*link)->next) {
    Block* const block = *link;
    if (block->bytes < bytes) continue;
    if (block->bytes == bytes) *link = block->next;
    else *link = ::new (at<void>(block, bytes)) Block{block->next, block->bytes - bytes};
    return block;
  }
  const std::size_t chunk = (bytes + unit + huge_page - 1) / huge_page * huge_page;
  if (chunk < bytes) throw std::bad_alloc();
  chunks_ = ::new (new_huge_pages(chunk)) Block{chunks_, chunk};
  deallocate(at<void>(chunks_, unit), chunk - unit);
  return allocate(bytes);
}

void Arena::deallocate(void* memory, std::size_t bytes) noexcept {
  bytes = whole_units(bytes);
  Block *before = nullptr, *after = free_;
  while (after && std::less<void*>()(after, memory)) {
    before = after;
    after = after->next;
  }
  Block* block = ::new (memory) Block{after, bytes};
  (before ? before->next : free_) = block;
  // With its neighbours it is one.
  const auto join = [](Block* first) {
    Block* const second = first->next;
    if (!second || at<Block>(first, first->bytes) != second) return;
    first->bytes += second->bytes;
    first->next = second->next;
  };
  join(block);
  if (before) join(before);
}

}  // namespace wengert::codegen
