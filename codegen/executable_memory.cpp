#include "codegen/executable_memory.hpp"

#include <cstring>
#include <utility>

#if defined(__unix__)
#include <sys/mman.h>
#endif

namespace wengert::codegen {

ExecutableMemory::ExecutableMemory([[maybe_unused]] std::span<const std::uint8_t> code) {
#if defined(__unix__)
  if (code.empty()) return;
  void* const pages = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return;
  std::memcpy(pages, code.data(), code.size());
  if (mprotect(pages, code.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, code.size());
    return;
  }
  data_ = pages;
  bytes_ = code.size();
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
