#include "src/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "src/exit_code.hpp"
#include "tape/temporary_file.hpp"

namespace wengert::command {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const char* verb, const fs::path& path, int error) {
  throw Failure(ExitCode::failed,
                error == EPIPE ? "" : fmt::format("can't {} {}: {}", verb, path.string(), std::strerror(error)));
}

/// Runs it; what the system refuses is a Failure.
template <class Do>
decltype(auto) attempt(const fs::path& target, Do&& action) {
  try {
    return action();
  } catch (const std::system_error& error) {
    cannot("write", target, error.code().value());
  }
}

}  // namespace

OutputFile::OutputFile(fs::path path) : path_(std::move(path)) {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (fs::is_directory(status)) cannot("write", path_, EISDIR);
  special_ = is_special(path_);
  if (!special_) {  // a link to a pipe (/dev/stdout, a shell's >(command)) resolves to no name that could be opened
    fs::path resolved = fs::absolute(path_, error);
    if (!error) resolved = fs::weakly_canonical(resolved, error);
    if (error) cannot("write", path_, error.value());
    path_ = resolved;
  }
  if (fs::exists(status) && access(path_.c_str(), W_OK) != 0) cannot("write", path_, errno);
  if (!special_) attempt(path_, [&] { TemporaryFile probe(path_); });
}

void make_folder(const fs::path& folder) {
  std::error_code error, unseen;
  fs::create_directories(folder, error);
  const fs::file_status status = fs::status(folder, unseen);
  if (fs::exists(status) && !fs::is_directory(status)) cannot("write into", folder, ENOTDIR);
  if (error) cannot("make the folder", folder, error.value());
}

void write_files(std::span<const std::pair<OutputFile, std::string>> files) {
  std::vector<std::pair<TemporaryFile, const fs::path*>> written;
  for (const auto& entry : files) {
    const OutputFile& file = entry.first;
    const std::string& text = entry.second;
    if (file.special_) {
      attempt(file.path_, [&] { write_special(file.path_, text); });
    } else {
      attempt(file.path_, [&] {
        TemporaryFile temporary(file.path_);
        temporary.write(text);
        temporary.finish();
        written.emplace_back(std::move(temporary), &file.path_);
      });
    }
  }
  for (auto& entry : written) attempt(*entry.second, [&] { entry.first.become(); });
}

}  // namespace wengert::command
