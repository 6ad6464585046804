// Pages of machine code: written, then made executable, never both at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wengert::codegen {

class ExecutableMemory {
 public:
  ExecutableMemory() = default;
  /// Empty where the system refuses.
  explicit ExecutableMemory(std::span<const std::uint8_t> code);
  ExecutableMemory(ExecutableMemory&& other) noexcept;
  ExecutableMemory& operator=(ExecutableMemory&& other) noexcept;
  ~ExecutableMemory();

  /// What code of so many bytes takes: long code is on huge pages, since a CPU knows the places of few others by heart.
  static std::size_t bytes_for(std::size_t code);

  explicit operator bool() const { return data_ != nullptr; }
  const void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace wengert::codegen
