#include "src/points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "bench/csv.hpp"
#include "src/exit_code.hpp"
#include "tape/program.hpp"
#include "wengert/error.hpp"

namespace wengert::command {
namespace {

template <class Real>
std::optional<Real> parse_number(std::string_view text) {
  Real number{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || stop != text.data() + text.size() || error != std::errc()) return {};
  return number;
}

template <class Real>
bool all_numbers(const std::vector<std::string>& fields) {
  return std::all_of(fields.begin(), fields.end(),
                     [](const std::string& f) { return parse_number<Real>(f).has_value(); });
}

/// Where the column of each name is.
std::vector<std::size_t> places_of(const std::vector<std::string>& names, const std::vector<std::string>& columns) {
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto at = std::find(columns.begin(), columns.end(), name);
    if (at == columns.end() || std::find(at + 1, columns.end(), name) != columns.end() ||
        columns.size() != names.size())
      throw Error(ErrorCode::bad_file,
                  fmt::format("its first line has {} columns, {}; the inputs are {}: {}", columns.size(),
                              fmt::join(columns, ", "), names.size(), fmt::join(names, ", ")));
    places.push_back(std::size_t(at - columns.begin()));
  }
  return places;
}

}  // namespace

template <class Real>
Names names_of(const Program<Real>& program) {
  const plan::Source<Real>& source = program.data().source;
  Names names;
  std::vector<std::string> all;
  for (std::size_t i = 0; i < source.inputs.size(); ++i) {
    const bool parameter = std::binary_search(source.parameters.begin(), source.parameters.end(), i);
    std::vector<std::string>& list = parameter ? names.parameters : names.inputs;
    std::string label = source.labels.of(Id(i));
    if (label.empty()) label = fmt::format("{}{}", parameter ? 'p' : 'x', list.size());
    list.push_back(label);
    all.push_back(std::move(label));
  }
  for (Id id : source.differentiated)
    (std::binary_search(source.parameters.begin(), source.parameters.end(), id) ? names.differentiated_parameters
                                                                                : names.differentiated)
        .push_back(all[id]);
  for (std::size_t k = 0; k < program.outputs(); ++k) names.outputs.push_back(fmt::format("y{}", k));
  for (std::size_t k = 0; k < program.uniform_outputs(); ++k) names.uniform_outputs.push_back(fmt::format("u{}", k));
  return names;
}

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  in.peek();  // a folder opens, but can't be read
  if (!in.is_open() || in.bad())
    throw Failure(ExitCode::failed, fmt::format("can't read {}: {}", path, std::strerror(errno ? errno : EIO)));
  in.clear();
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class Real>
std::vector<Real> parse_points(std::string_view text, const std::vector<std::string>& names) {
  const bench::CsvTable table = bench::parse_csv(text);
  std::vector<std::size_t> places(names.size());
  std::iota(places.begin(), places.end(), std::size_t(0));
  std::vector<Real> points;
  points.reserve(names.size() * (table.records.size() + 1));
  const auto add = [&](const std::vector<std::string>& fields, std::size_t line) {
    for (const std::size_t column : places) {
      const std::optional<Real> number = parse_number<Real>(fields[column]);
      if (!number)
        throw Error(ErrorCode::bad_file, fmt::format("line {}, column {}: '{}' is not a number that {} holds", line,
                                                     column + 1, fields[column], sizeof(Real) == 8 ? "f64" : "f32"));
      points.push_back(*number);
    }
  };
  if (all_numbers<Real>(table.columns)) {
    if (table.columns.size() != names.size())
      throw Error(ErrorCode::bad_file,
                  fmt::format("line 1 has {} numbers for {} inputs", table.columns.size(), names.size()));
    add(table.columns, 1);
  } else {
    places = places_of(names, table.columns);
  }
  for (const bench::CsvTable::Record& record : table.records) add(record.fields, record.line);
  return points;
}

template <class Real>
std::vector<Real> parse_numbers(std::string_view option, std::string_view text) {
  std::vector<Real> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view field = text.substr(begin, end - begin);
    const std::optional<Real> number = parse_number<Real>(field);
    if (!number) throw Failure(ExitCode::usage, fmt::format("{}: '{}' is not a number", option, field));
    numbers.push_back(*number);
    begin = end + 1;
  }
  return numbers;
}

template <class Real>
std::string table_text(const std::vector<std::string>& columns, std::size_t lines,
                       const std::vector<std::pair<std::span<const Real>, std::size_t>>& tables) {
  std::string text;
  for (std::size_t k = 0; k < columns.size(); ++k) text += (k ? "," : "") + bench::csv_field(columns[k]);
  text += "\r\n";
  char buffer[32];
  for (std::size_t line = 0; line < lines; ++line) {
    bool first = true;
    for (const auto& [numbers, width] : tables)
      for (std::size_t k = 0; k < width; ++k) {
        const Real x = numbers[line * width + k];
        if (!std::exchange(first, false)) text += ',';
        // The sign of a NaN is the compiler's.
        if (std::isnan(x)) text += "nan";
        else text.append(buffer, std::to_chars(std::begin(buffer), std::end(buffer), x).ptr);
      }
    text += "\r\n";
  }
  return text;
}

template Names names_of(const Program<double>&);
template Names names_of(const Program<float>&);
template std::vector<double> parse_points(std::string_view, const std::vector<std::string>&);
template std::vector<float> parse_points(std::string_view, const std::vector<std::string>&);
template std::vector<double> parse_numbers(std::string_view, std::string_view);
template std::vector<float> parse_numbers(std::string_view, std::string_view);
template std::string table_text(const std::vector<std::string>&, std::size_t,
                                const std::vector<std::pair<std::span<const double>, std::size_t>>&);
template std::string table_text(const std::vector<std::string>&, std::size_t,
                                const std::vector<std::pair<std::span<const float>, std::size_t>>&);

}  // namespace wengert::command
