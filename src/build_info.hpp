// How this command was built. The build writes the other half, build_info.cpp (src/build_info.py).
#pragma once

#include <span>
#include <string_view>

namespace wengert::command {

/// Files that were compiled with the same flags.
struct CompileFlags {
  std::string_view flags;
  std::string_view files;  ///< separated by spaces; "kernels/backend.cpp@avx2" where a file is compiled more than once
};

struct BuildInfo {
  std::string_view version;
  std::string_view commit;  ///< of git, empty where it isn't known
  bool dirty;               ///< tracked files differed from that commit
  std::string_view compiler;
  std::span<const CompileFlags> flags;
};

extern const BuildInfo build_info;

}  // namespace wengert::command
