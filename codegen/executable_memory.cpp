#include "codegen/executable_memory.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

#include "codegen/large_vector.hpp"

#if defined(__unix__)
#include <sys/mman.h>
#endif

namespace wengert::codegen {
namespace {

#if defined(__unix__)
/// Null where there is none.
std::byte* map(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

/// On huge pages, if the system has them. `bytes`: of whole ones.
std::byte* map_huge(std::size_t bytes) {
  std::byte* const room = map(bytes + huge_page);
  if (!room) return nullptr;
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(room) % huge_page) % huge_page;
  if (before != 0) munmap(room, before);
  munmap(room + before + bytes, huge_page - before);
#if defined(__linux__)
  madvise(room + before, bytes, MADV_HUGEPAGE);  // a wish
#endif
  return room + before;
}
#endif

}  // namespace

std::size_t ExecutableMemory::bytes_for(std::size_t code) { return bytes_in_pages(code); }

ExecutableMemory::ExecutableMemory([[maybe_unused]] std::span<const std::uint8_t> code) {
#if defined(__unix__)
  if (code.empty()) return;
  const std::size_t bytes = bytes_for(code.size());
  std::byte* const pages = worth_huge_pages(bytes) ? map_huge(bytes) : map(bytes);
  if (!pages) return;
  std::memcpy(pages, code.data(), code.size());
  if (mprotect(pages, bytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, bytes);
    return;
  }
  data_ = pages;
  bytes_ = bytes;
#endif
}

ExecutableMemory::ExecutableMemory(ExecutableMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ExecutableMemory& ExecutableMemory::operator=(ExecutableMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ExecutableMemory::~ExecutableMemory() {
#if defined(__unix__)
  if (data_) munmap(data_, bytes_);
#endif
}

}  // namespace wengert::codegen
