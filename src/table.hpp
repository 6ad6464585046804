// The ladder as a table of text.
#pragma once

#include <string>

#include "bench/report.hpp"

namespace wengert::command {

/// The run's settings in a line, a header, and a line per level. Where `width` (0: as wide as it is) is too small for it,
/// columns are left out and lines cut; `colour` makes the header bold and the intervals faint.
std::string table(const bench::Run& run, std::size_t width, bool colour);

}  // namespace wengert::command
