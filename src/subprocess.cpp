#include "src/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "src/exit_code.hpp"
#include "src/signals.hpp"

extern char** environ;

namespace wengert::command {
namespace {

[[noreturn]] void cannot_start(const std::string& program, int error) {
  throw Failure(ExitCode::failed, fmt::format("can't start {}: {}", program, std::strerror(error)));
}

}  // namespace

ProcessResult run_self(const std::vector<std::string>& arguments) { return run_program("/proc/self/exe", arguments); }

ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) cannot_start(program, errno);
  const std::string name = program == "/proc/self/exe" ? "wengert" : program;
  std::vector<char*> argv{const_cast<char*>(name.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    cannot_start(program, error);
  }

  ProcessResult result;
  for (bool open = true; open;) {
    pollfd ready{ends[0], POLLIN, 0};
    poll(&ready, 1, 200);  // ms; a signal may come just before the call
    if (stop_signal() != 0) kill(child, SIGKILL);
    if (ready.revents == 0) continue;
    char buffer[4096];
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count > 0) result.output.append(buffer, std::size_t(count));
    open = count > 0 || (count < 0 && errno == EINTR);
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

}  // namespace wengert::command
