#include "src/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "src/numbers.hpp"

namespace wengert::command {
namespace {

using bench::Estimate;

std::string duration(double seconds) {
  if (std::isnan(seconds)) return "";
  for (const auto& [scale, unit] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}})
    if (seconds >= scale) return significant(seconds / scale) + ' ' + unit;
  return significant(seconds * 1e9) + " ns";
}

std::string interval(const Estimate& e) {
  return std::isnan(e.low) ? "" : fmt::format("[{}, {}]", significant(e.low), significant(e.high));
}

constexpr std::size_t columns = 12;
using Columns = std::array<std::size_t, columns>;  // widths

/// A line of the table, its cells as text; a note takes the place of all cells after the first.
struct Line {
  std::array<std::string, columns> cells;
  std::string note;
};

constexpr std::array<bool, columns> left{true, true};                           // the others are numbers, to the right
constexpr std::array<bool, columns> faint{0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0};  // intervals

Line header(const bench::Run& run) {
  return {{"level", "isa", "lanes", "threads", "batch", "ns/op", "95%", "x " + run.rows.front().level, "95%", "x above",
           "95%", "memory"},
          ""};
}

Line line(const bench::Run& run, std::size_t i) {
  const bench::Row& row = run.rows[i];
  Line line;
  line.cells[0] = row.level + ' ' + row.title;
  if (row.status == bench::Status::wrong || row.status == bench::Status::failed) {
    line.note = fmt::format("{}: {}", bench::name(row.status), row.problem);
    return line;
  }
  const bench::Figures f = bench::figures(run, i);
  if (!row.isa.empty()) {
    line.cells[1] = row.isa;
    line.cells[2] = std::to_string(row.lanes);
    line.cells[3] = std::to_string(row.threads);
  }
  line.cells[4] = duration(f.seconds.value);
  line.cells[5] = significant(f.ns_per_op.value);
  line.cells[6] = interval(f.ns_per_op);
  line.cells[7] = significant(f.speedup_first.value);
  line.cells[8] = i == 0 ? "" : interval(f.speedup_first);
  line.cells[9] = significant(f.speedup_previous.value);
  line.cells[10] = interval(f.speedup_previous);
  line.cells[11] = row.peak_rss_bytes ? bytes(double(*row.peak_rss_bytes)) : "";
  return line;
}

/// Leaves columns out, those that say least first, until the table fits.
void narrow(Columns& widths, std::size_t room) {
  for (std::size_t column : {11, 10, 8, 2, 3, 1, 6, 4}) {
    std::size_t total = 0;
    for (std::size_t width : widths) total += width == 0 ? 0 : width + 2;
    if (total <= room + 2) return;
    widths[column] = 0;
  }
}

std::string settings(const bench::Run& run) {
  return fmt::format("{}, {}: {} ops, {} variables, {} evaluations a batch, output {}, seed {}", run.workload,
                     run.precision, grouped(run.ops), grouped(run.variables), grouped(run.iterations), run.output,
                     run.seed);
}

}  // namespace

std::string table(const bench::Run& run, std::size_t width, bool colour) {
  std::vector<Line> lines{header(run)};
  for (std::size_t i = 0; i < run.rows.size(); ++i) lines.push_back(line(run, i));
  Columns widths{};
  for (const Line& l : lines)
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], l.cells[c].size());
  if (width != 0) narrow(widths, width);

  std::string text = settings(run).substr(0, width == 0 ? std::string::npos : width) + '\n';
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::size_t room = width == 0 ? std::string::npos : width;
    const auto put = [&](const std::string& whole, std::string_view style) {  // within the width
      const std::string piece = whole.substr(0, room);
      room -= piece.size();
      text += colour && !style.empty() ? fmt::format("{}{}\x1b[0m", style, piece) : piece;
    };
    for (std::size_t c = 0; c < columns; ++c) {
      if (widths[c] == 0) continue;
      const std::string gap = c == 0 ? "" : "  ";
      const std::string padded = left[c] ? fmt::format("{}{:<{}}", gap, lines[i].cells[c], widths[c])
                                         : fmt::format("{}{:>{}}", gap, lines[i].cells[c], widths[c]);
      put(padded, i == 0 ? "\x1b[1m" : faint[c] ? "\x1b[2m" : "");
      if (c == 0 && !lines[i].note.empty()) {
        put("  " + lines[i].note, "\x1b[31m");
        break;
      }
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text;
}

}  // namespace wengert::command
