#include "bench/peers/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tape/show.hpp"
#include "wengert/error.hpp"

extern char** environ;

namespace wengert::bench {
namespace {

[[noreturn]] void cannot(const std::string& what) {
  throw Error(ErrorCode::unsupported, what + ": " + std::strerror(errno));
}

}  // namespace

Child::Child(const std::vector<std::string>& command, double patience) : patience_(patience) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) cannot("no pipe for a peer");
  if (pipe2(out, O_CLOEXEC) != 0) cannot("no pipe for a peer");
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);  // tools chat there
  posix_spawnattr_t attributes;  // a process group of its own, to be ended as a whole
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = posix_spawn(&process_, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  fcntl(to_, F_SETFL, O_NONBLOCK);
  if (error == 0) return;
  close(to_);
  close(from_);
  errno = error;
  cannot("can't start " + command[0]);
}

Child::~Child() {
  close(to_);
  close(from_);
  kill(-process_, SIGKILL);  // and what it started: a compiler
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Child::wait_for(int descriptor, short event, Clock::time_point end) const {
  pollfd wanted{descriptor, event, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int ready = left <= 0 ? 0 : poll(&wanted, 1, static_cast<int>(std::min<long long>(left, 1'000'000)));
    if (ready > 0) return;
    if (ready == 0 && Clock::now() >= end)
      throw Error(ErrorCode::unsupported,
                  "no answer of the peer within " + shortest(patience_) +
                      " s (what it compiles may take longer; --peer-limit says how long it may)");
  }
}

std::string Child::ask(std::string_view line) {
  const auto end_of_patience =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(patience_));
  const std::string text = std::string(line) + '\n';
  for (std::string_view left = text; !left.empty();) {
    wait_for(to_, POLLOUT, end_of_patience);
    const ssize_t written = write(to_, left.data(), left.size());
    if (written >= 0) left.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR && errno != EAGAIN) throw Error(ErrorCode::unsupported, "the peer's process has ended");
  }
  std::size_t end;
  while ((end = received_.find('\n')) == std::string::npos) {
    wait_for(from_, POLLIN, end_of_patience);
    char buffer[4096];
    const ssize_t count = read(from_, buffer, sizeof buffer);
    if (count > 0) received_.append(buffer, static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR) throw Error(ErrorCode::unsupported, "the peer's process has ended");
  }
  std::string answer = received_.substr(0, end);
  received_.erase(0, end + 1);
  if (answer.starts_with("error ")) throw Error(ErrorCode::unsupported, "the peer says: " + answer.substr(6));
  return answer;
}

SharedNumbers::SharedNumbers(std::size_t count) : bytes_(count * sizeof(double)) {
  const char* folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  path_ = std::string(folder) + "/wengert-peer-XXXXXX";
  const int descriptor = mkostemp(path_.data(), O_CLOEXEC);
  if (descriptor < 0) cannot("no file for a peer's numbers in " + std::string(folder));
  void* place = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes_)) != 0
                    ? MAP_FAILED
                    : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (place == MAP_FAILED) {
    unlink(path_.c_str());
    throw Error(ErrorCode::out_of_memory, "no " + std::to_string(bytes_) + " bytes for a peer's numbers in " + folder);
  }
  data_ = static_cast<double*>(place);
}

SharedNumbers::~SharedNumbers() {
  if (!data_) return;
  munmap(data_, bytes_);
  unlink(path_.c_str());
}

void SharedNumbers::swap(SharedNumbers& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
}

}  // namespace wengert::bench
