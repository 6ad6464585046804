// Cells in rows and columns, as text.
#pragma once

#include <string>
#include <vector>

namespace wengert::command {

struct Grid {
  std::vector<std::string> header;
  std::vector<bool> left;  ///< per column; numbers stand to the right
  std::vector<std::vector<std::string>> rows;
};

/// Columns two spaces apart.
std::string aligned(const Grid& grid);

/// A table as GitHub has it.
std::string markdown(const Grid& grid);

}  // namespace wengert::command
