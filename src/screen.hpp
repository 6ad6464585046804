// Where a run is seen, and what it asks of the command: on a terminal its table is drawn again after every step,
// elsewhere once at the end.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ladder.hpp"
#include "src/noise.hpp"
#include "src/run_arguments.hpp"
#include "src/selection.hpp"
#include "src/streams.hpp"

namespace wengert::command {

class Screen : public bench::Observer {
 public:
  explicit Screen(const RunArguments& arguments);

  /// What runs next: other processes measure its memory. Its table comes below what was shown before.
  void begin(const Selection& selection, std::string heading = "");
  void show(const bench::Run& run, std::string_view next) override;
  /// The last word on it.
  void finish(const bench::Run& run);
  /// Further text, below the table.
  void add(const std::string& text);
  /// Whether the machine was quiet enough for these: a line for each thing that it wasn't.
  std::vector<std::string> noise(std::span<const bench::Run> runs);
  /// Says so below the table.
  void tell(const std::vector<std::string>& noise);

  bool stop() override;
  bench::PeakMemory peak_memory(const bench::LevelInfo& level) override;

 private:
  std::size_t width() const;
  void draw(const std::string& text);

  Stream stream_;
  bool quiet_, live_;
  Selection selection_;
  std::string heading_;
  std::size_t lines_ = 0;  // of the last frame
  double processor_seconds_ = processor_seconds();
  NoiseWatch watch_;
};

}  // namespace wengert::command
