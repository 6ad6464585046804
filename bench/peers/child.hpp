// A peer that is another process: lines to its standard input, lines back, and a file that both map for the numbers.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wengert::bench {

class Child {
 public:
  /// Throws unsupported if it can't be started. `patience`: seconds that an answer may take.
  Child(const std::vector<std::string>& command, double patience);
  Child(const Child&) = delete;
  ~Child();  ///< ends it, and what it started

  /// Sends a line and returns the one that comes back. Throws unsupported where that begins with "error", the child ended, or
  /// nothing came in time.
  std::string ask(std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;
  void wait_for(int descriptor, short event, Clock::time_point end) const;

  double patience_;
  pid_t process_ = 0;
  int to_ = -1, from_ = -1;
  std::string received_;  ///< beyond the last line
};

/// Memory of so many doubles that another process can map under `path()`; gone with this object.
class SharedNumbers {
 public:
  SharedNumbers() = default;
  explicit SharedNumbers(std::size_t count);  ///< throws out_of_memory
  SharedNumbers(SharedNumbers&& other) noexcept { swap(other); }
  SharedNumbers& operator=(SharedNumbers&& other) noexcept {
    swap(other);
    return *this;
  }
  ~SharedNumbers();

  double* data() const { return data_; }
  const std::string& path() const { return path_; }

 private:
  void swap(SharedNumbers& other) noexcept;

  std::string path_;
  double* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace wengert::bench
