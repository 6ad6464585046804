#include "tape/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace wengert {
namespace {

[[noreturn]] void fail() { throw std::system_error(errno, std::generic_category()); }

/// A name that nobody else has: process and count.
std::filesystem::path name_beside(const std::filesystem::path& target) {
  static std::atomic<unsigned> count{0};
  return target.parent_path() /
         ("." + target.filename().string() + "." + std::to_string(getpid()) + "." + std::to_string(count++));
}

}  // namespace

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR) fail();
  }
}

bool is_special(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

void write_special(const std::filesystem::path& path, std::string_view bytes) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail();
  try {
    write_all(descriptor, bytes);
  } catch (...) {
    close(descriptor);
    throw;
  }
  if (close(descriptor) != 0) fail();
}

TemporaryFile::TemporaryFile(const std::filesystem::path& target) : target_(target), path_(name_beside(target)) {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
  live_ = true;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      live_(std::exchange(other.live_, false)) {}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (live_) unlink(path_.c_str());
}

void TemporaryFile::finish() {
  if (fsync(descriptor_) != 0) fail();
  if (close(std::exchange(descriptor_, -1)) != 0) fail();
}

void TemporaryFile::become() {
  if (rename(path_.c_str(), target_.c_str()) != 0) fail();
  live_ = false;
}

}  // namespace wengert
