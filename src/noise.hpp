// Was the machine quiet enough for what a run says?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "tape/cores.hpp"

namespace wengert::command {

/// Looks at the machine while a run goes on.
class NoiseWatch {
 public:
  explicit NoiseWatch(ReadFile read = read_system_file);

  /// Between steps of the run: the clock of the fastest core.
  void look();

  /// What there is to say, a line each; nothing of a quiet machine. `own_seconds`: processor time of this process and its
  /// children since this object was made.
  std::vector<std::string> findings(std::span<const bench::Run> runs, double own_seconds);

 private:
  /// The first line of /proc/stat: clock ticks of all cores since the system started.
  struct Ticks {
    double all = 0, busy = 0, stolen = 0;
  };
  std::optional<Ticks> ticks() const;
  double cores() const;

  ReadFile read_;
  std::optional<Ticks> before_;
  double slowest_ = 0, fastest_ = 0;  // MHz; 0: not told
};

/// Processor seconds that this process and its children have taken.
double processor_seconds();

}  // namespace wengert::command
