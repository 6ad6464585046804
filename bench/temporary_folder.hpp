// A folder for files that nobody needs afterwards.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "wengert/error.hpp"

namespace wengert::bench {

/// It goes with this object, and what is in it. Throws unsupported where none can be made.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "wengert-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Error(ErrorCode::unsupported,
                  "can't make a folder " + name + ": " + std::generic_category().message(errno));
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace wengert::bench
