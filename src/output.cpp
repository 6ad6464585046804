#include "src/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "src/exit_code.hpp"

namespace wengert::command {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const char* verb, const fs::path& path, int error) {
  throw Failure(ExitCode::failed,
                error == EPIPE ? "" : fmt::format("can't {} {}: {}", verb, path.string(), std::strerror(error)));
}

/// A file of this process beside the one that it will replace, gone with this object unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : path_(target.parent_path() / fmt::format(".{}.{}", target.filename().string(), getpid())) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) cannot("write", target, errno);
  }
  TemporaryFile(TemporaryFile&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        live_(std::exchange(other.live_, false)) {}
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (live_) unlink(path_.c_str());
  }

  int descriptor() const { return descriptor_; }

  /// On the disk for certain, or an error: many file systems only find out now that there is no room.
  void finish(const fs::path& target) {
    if (fsync(descriptor_) != 0) cannot("write", target, errno);
    if (close(std::exchange(descriptor_, -1)) != 0) cannot("write", target, errno);
  }

  void become(const fs::path& target) {
    if (rename(path_.c_str(), target.c_str()) != 0) cannot("write", target, errno);
    live_ = false;
  }

 private:
  fs::path path_;
  int descriptor_;
  bool live_ = true;
};

void write_all(int descriptor, std::string_view text, const fs::path& target) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0) text.remove_prefix(std::size_t(written));
    else if (errno != EINTR) cannot("write", target, errno);
  }
}

}  // namespace

OutputFile::OutputFile(fs::path path) : path_(std::move(path)) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(path_), error);
  if (error) cannot("write", path_, error.value());
  path_ = resolved;
  const fs::file_status status = fs::status(path_, error);
  if (fs::is_directory(status)) cannot("write", path_, EISDIR);
  special_ = fs::exists(status) && !fs::is_regular_file(status);
  if (fs::exists(status) && access(path_.c_str(), W_OK) != 0) cannot("write", path_, errno);
  if (!special_) TemporaryFile probe(path_);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (fs::exists(folder) && !fs::is_directory(folder)) cannot("write into", folder, ENOTDIR);
  if (error) cannot("make the folder", folder, error.value());
}

void write_files(std::span<const std::pair<OutputFile, std::string>> files) {
  std::vector<std::pair<TemporaryFile, const fs::path*>> written;
  for (const auto& [file, text] : files) {
    if (file.special_) {
      const int descriptor = open(file.path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor < 0) cannot("write", file.path_, errno);
      try {
        write_all(descriptor, text, file.path_);
      } catch (...) {
        close(descriptor);
        throw;
      }
      if (close(descriptor) != 0) cannot("write", file.path_, errno);
    } else {
      TemporaryFile temporary(file.path_);
      write_all(temporary.descriptor(), text, file.path_);
      temporary.finish(file.path_);
      written.emplace_back(std::move(temporary), &file.path_);
    }
  }
  for (auto& [temporary, target] : written) temporary.become(*target);
}

}  // namespace wengert::command
