// A file that appears under its name as a whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace wengert {

/// Writes to a descriptor to the end. Throws std::system_error.
void write_all(int descriptor, std::string_view bytes);

/// Whether a name is taken by something that is no file: a pipe, a device, a folder. That isn't to be replaced.
bool is_special(const std::filesystem::path& path);
/// Writes to such a thing. Throws std::system_error.
void write_special(const std::filesystem::path& path, std::string_view bytes);

/// A file of this process beside the one that it will replace, gone with this object unless it was renamed.
/// Throws std::system_error.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  void write(std::string_view bytes) { write_all(descriptor_, bytes); }
  /// On the disk for certain, or an error: many file systems only find out now that there is no room.
  void finish();
  /// Takes the target's name.
  void become();

 private:
  std::filesystem::path target_, path_;
  int descriptor_ = -1;
  bool live_ = false;
};

}  // namespace wengert
