// Points to evaluate a program at, and what it gives there, as CSV.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wengert/program.hpp"

namespace wengert::command {

/// What the columns of a program's tables are called: labels, and x0, p0, y0, u0 and so on where there are none.
struct Names {
  std::vector<std::string> inputs, parameters, differentiated, differentiated_parameters;
  std::vector<std::string> outputs, uniform_outputs;
};
template <class Real>
Names names_of(const Program<Real>& program);

/// A file's text; "-" is standard input. Throws Failure.
std::string read_text(const std::string& path);

/// Sample by sample: as many numbers each as there are names. A first line that isn't all numbers has to have these names, in
/// any order. Throws bad_file, naming line and column.
template <class Real>
std::vector<Real> parse_points(std::string_view text, const std::vector<std::string>& names);

/// "0.5,1,inf", the value of `option`. Throws Failure.
template <class Real>
std::vector<Real> parse_numbers(std::string_view option, std::string_view text);

/// Tables of so many columns each side by side, in the fewest digits that read back as the same numbers.
template <class Real>
std::string table_text(const std::vector<std::string>& columns, std::size_t lines,
                       const std::vector<std::pair<std::span<const Real>, std::size_t>>& tables);

}  // namespace wengert::command
