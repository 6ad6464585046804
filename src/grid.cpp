#include "src/grid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wengert::command {
namespace {

using Cells = std::vector<std::string>;

std::vector<std::size_t> widths(const Grid& grid) {
  std::vector<std::size_t> all(grid.header.size());
  const auto widen = [&](const Cells& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) all[c] = std::max(all[c], cells[c].size());
  };
  widen(grid.header);
  for (const Cells& row : grid.rows) widen(row);
  return all;
}

std::string padded(const std::string& cell, std::size_t width, bool left) {
  return left ? fmt::format("{:<{}}", cell, width) : fmt::format("{:>{}}", cell, width);
}

}  // namespace

std::string aligned(const Grid& grid) {
  const std::vector<std::size_t> width = widths(grid);
  std::string text;
  const auto put = [&](const Cells& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      text += (c == 0 ? "" : "  ") + padded(cells[c], width[c], grid.left[c]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  put(grid.header);
  for (const Cells& row : grid.rows) put(row);
  return text;
}

std::string markdown(const Grid& grid) {
  std::string text;
  const auto put = [&](const Cells& cells) {
    for (std::string cell : cells) {
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, 1, '\\');
      text += "| " + cell + ' ';
    }
    text += "|\n";
  };
  put(grid.header);
  for (bool left : grid.left) text += left ? "|---" : "|---:";
  text += "|\n";
  for (const Cells& row : grid.rows) put(row);
  return text;
}

}  // namespace wengert::command
