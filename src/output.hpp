// Files that a run writes at its end: checked before it, and replaced as a whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wengert::command {

/// A file to be written later. What exists under that name stays as it is until the new one is complete.
class OutputFile {
 public:
  /// Finds out now whether it can be written. Throws Failure.
  explicit OutputFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

 private:
  friend void write_files(std::span<const std::pair<OutputFile, std::string>> files);

  std::filesystem::path path_;  ///< of the file itself, links resolved unless it is special
  bool special_ = false;        ///< a device or a pipe: written to, not replaced
};

/// Makes the folder where there is none. Throws Failure if it can't, or if it is something else.
void make_folder(const std::filesystem::path& folder);

/// Writes them all beside their targets, then renames all: a full disk leaves every earlier file in place.
/// Throws Failure; a closed pipe is one without a message.
void write_files(std::span<const std::pair<OutputFile, std::string>> files);

}  // namespace wengert::command
