#include "src/streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "src/exit_code.hpp"

namespace wengert::command {

void reserve_standard_streams() {
  // Read-only, so that writing to a standard output that was closed is still an error. A descriptor past 2 means that
  // all three are taken.
  for (;;) {
    const int descriptor = open("/dev/null", O_RDONLY);
    if (descriptor < 0) return;
    if (descriptor > 2) {
      close(descriptor);
      return;
    }
  }
}

void print(Stream stream, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(int(stream), text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(std::size_t(written));
    } else if (errno != EINTR) {
      if (stream == Stream::error) return;
      if (errno == EPIPE) throw Failure(ExitCode::failed, "");
      throw Failure(ExitCode::failed, fmt::format("can't write to standard output: {}", std::strerror(errno)));
    }
  }
}

void complain(std::string_view text) {
  std::string line = fmt::format("wengert: {}", text);
  std::replace_if(  // what was typed may hold anything, and a terminal obeys some of it
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  print(Stream::error, line + '\n');
}

bool is_terminal(Stream stream) { return isatty(int(stream)) == 1; }

int terminal_width(Stream stream) {
  winsize size{};
  return ioctl(int(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool has_escapes(Stream stream) {
  const char* term = std::getenv("TERM");
  return is_terminal(stream) && term && std::strcmp(term, "dumb") != 0;
}

bool has_colour(Stream stream) {
  const char* no_color = std::getenv("NO_COLOR");
  return has_escapes(stream) && !(no_color && *no_color);
}

}  // namespace wengert::command
