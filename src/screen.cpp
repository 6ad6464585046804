#include "src/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "src/exit_code.hpp"
#include "src/numbers.hpp"
#include "src/signals.hpp"
#include "src/subprocess.hpp"
#include "src/table.hpp"

namespace wengert::command {

Screen::Screen(const RunArguments& arguments)
    : stream_(arguments.csv == "-" ? Stream::error : Stream::out),
      quiet_(arguments.quiet),
      live_(!quiet_ && has_escapes(stream_)) {}

void Screen::begin(const Selection& selection, std::string heading) {
  selection_ = selection;
  heading_ = std::move(heading);
  lines_ = 0;
}

void Screen::show(const bench::Run& run, std::string_view next) {
  watch_.look();
  if (live_ && !next.empty())
    draw(heading_ + table(run, width(), has_colour(stream_)) + std::string(next.substr(0, width())) + '\n');
}

void Screen::finish(const bench::Run& run) {
  if (live_) draw("");
  if (!quiet_) print(stream_, heading_ + table(run, width(), has_colour(stream_)));
}

void Screen::add(const std::string& text) {
  if (!quiet_) print(stream_, text);
}

std::vector<std::string> Screen::noise(std::span<const bench::Run> runs) {
  return watch_.findings(runs, processor_seconds() - processor_seconds_);
}

void Screen::tell(const std::vector<std::string>& noise) {
  if (quiet_ || noise.empty()) return;
  std::string text = "\nThis machine was not quiet:\n";
  for (const std::string& line : noise) text += "  " + line + '\n';
  print(stream_,
        text + "Trust differences that are larger than this; docs/measuring.md tells how to have less of it.\n");
}

bool Screen::stop() { return stop_signal() != 0; }

bench::PeakMemory Screen::peak_memory(const bench::LevelInfo& level) {
  std::vector<std::string> arguments = {"ladder"};
  const std::vector<std::string> selected = command_line(selection_);
  arguments.insert(arguments.end(), selected.begin(), selected.end());
  arguments.insert(arguments.end(), {"--peak-memory-of", level.name});
  const ProcessResult result = run_self(arguments);
  if (result.exit_code == ExitCode::ok) return {parse_count(result.output, 0, UINT64_MAX), ""};
  if (result.signal != 0)
    return {{},
            fmt::format("a process that ran one batch was ended by signal {} ({}){}", result.signal,
                        strsignal(result.signal), result.signal == SIGKILL ? ": the system was out of memory" : "")};
  std::string said = result.output;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  const std::string prefix = "wengert: ";
  return {{}, said.rfind(prefix, 0) == 0 ? said.substr(prefix.size()) : said};
}

/// One column less than there are: a full line would wrap on some terminals and be counted wrong by `draw`.
std::size_t Screen::width() const {
  return is_terminal(stream_) ? std::size_t(std::max(terminal_width(stream_) - 1, 20)) : 0;
}

/// In place of what was drawn before.
void Screen::draw(const std::string& text) {
  std::string frame = lines_ > 0 ? fmt::format("\x1b[{}A\x1b[J", lines_) : "";
  frame += text;
  lines_ = std::size_t(std::count(text.begin(), text.end(), '\n'));
  try {
    print(stream_, frame);
  } catch (const Failure&) {  // the terminal went away; the run goes on for its reports
    live_ = false;
  }
}

}  // namespace wengert::command
