#include "src/noise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "bench/statistics.hpp"

namespace wengert::command {
namespace {

// Past these a run says less than it seems to. Those of a quiet machine are well below.
constexpr double much_spread = 0.1;     // interquartile range of a level's repetitions over their median
constexpr double much_stolen = 0.01;    // of all processor time
constexpr double much_others = 0.1;     // cores that others kept busy
constexpr double much_frequency = 0.1;  // slowest clock below the fastest
constexpr double shortest = 0.5;        // seconds: /proc/stat counts hundredths

/// The levels whose repetitions are all over the place: "v3 (24%)".
std::vector<std::string> spread_levels(std::span<const bench::Run> runs) {
  std::vector<std::string> found;
  for (const bench::Run& run : runs)
    for (const bench::Row& row : run.rows) {
      std::vector<double> seconds;
      for (const bench::Sample& sample : row.samples) seconds.push_back(sample.seconds_per_batch());
      if (seconds.size() < 4) continue;
      const double spread = (bench::quantile(seconds, 0.75) - bench::quantile(seconds, 0.25)) / bench::median(seconds);
      if (spread > much_spread) found.push_back(fmt::format("{} ({:.0f}%)", row.level, 100 * spread));
    }
  return found;
}

}  // namespace

NoiseWatch::NoiseWatch(ReadFile read) : read_(std::move(read)), before_(ticks()) { look(); }

std::optional<NoiseWatch::Ticks> NoiseWatch::ticks() const {
  const std::optional<std::string> text = read_("/proc/stat");
  if (!text) return {};
  std::istringstream line(*text);
  std::string name;
  // proc(5): user nice system idle iowait irq softirq steal; guest time is counted in user already
  double t[8];
  if (!(line >> name) || name != "cpu") return {};
  for (double& field : t)
    if (!(line >> field)) return {};
  const double busy = t[0] + t[1] + t[2] + t[5] + t[6];
  return Ticks{busy + t[3] + t[4] + t[7], busy, t[7]};
}

double NoiseWatch::cores() const {
  const std::string text = read_("/proc/stat").value_or("");
  double count = 0;
  for (std::size_t at = text.find("\ncpu"); at != std::string::npos; at = text.find("\ncpu", at + 1)) ++count;
  return std::max(1.0, count);
}

void NoiseWatch::look() {
  const std::string text = read_("/proc/cpuinfo").value_or("");
  double now = 0;
  for (std::size_t at = text.find("cpu MHz"); at != std::string::npos; at = text.find("cpu MHz", at + 1)) {
    const std::size_t colon = text.find(':', at);
    if (colon != std::string::npos) now = std::max(now, std::strtod(text.c_str() + colon + 1, nullptr));
  }
  if (now <= 0) return;
  slowest_ = slowest_ == 0 ? now : std::min(slowest_, now);
  fastest_ = std::max(fastest_, now);
}

std::vector<std::string> NoiseWatch::findings(std::span<const bench::Run> runs, double own_seconds) {
  look();
  std::vector<std::string> found;
  std::vector<std::string> levels = spread_levels(runs);
  if (!levels.empty()) {
    const std::size_t all = levels.size();
    levels.resize(std::min<std::size_t>(all, 6));
    found.push_back(
        fmt::format("the middle half of the repetitions is spread over more than {:.0f}% of the median: {}{}",
                    100 * much_spread, fmt::join(levels, ", "), all > levels.size() ? ", ..." : ""));
  }
  if (const std::optional<Ticks> after = ticks(); before_ && after && after->all > before_->all) {
    const double all = after->all - before_->all;
    const double per_second = double(sysconf(_SC_CLK_TCK));
    const double elapsed = all / per_second / cores();  // seconds
    const double stolen = (after->stolen - before_->stolen) / all;
    const double others = ((after->busy - before_->busy) / per_second - own_seconds) / elapsed;
    if (elapsed >= shortest && stolen > much_stolen)
      found.push_back(
          fmt::format("{:.1f}% of the processor time was stolen: the host gave it to other machines", 100 * stolen));
    if (elapsed >= shortest && others > much_others)
      found.push_back(fmt::format("other processes kept {:.1f} of {:.0f} cores busy", others, cores()));
  }
  if (fastest_ > 0 && slowest_ < (1 - much_frequency) * fastest_)
    found.push_back(fmt::format("the clock went from {:.0f} to {:.0f} MHz", slowest_, fastest_));
  return found;
}

double processor_seconds() {
  double total = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime})
      total += double(time.tv_sec) + 1e-6 * double(time.tv_usec);
  }
  return total;
}

}  // namespace wengert::command
