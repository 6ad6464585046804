#include "src/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace wengert::command {

std::uint64_t parse_count(std::string_view text, std::uint64_t low, std::uint64_t high) {
  const char* end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || stop != end || error != std::errc() || value < low || value > high)
    throw std::invalid_argument(fmt::format("'{}' is not a whole number between {} and {}", text, low, high));
  return value;
}

double parse_seconds(std::string_view text) {
  const char* end = text.data() + text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end || error != std::errc() || !std::isfinite(value) || std::signbit(value))
    throw std::invalid_argument(fmt::format("'{}' is not a number of seconds such as 0.2", text));
  return value;
}

double parse_percentage(std::string_view text) {
  const bool marked = text.ends_with('%');
  const char* end = text.data() + text.size() - (marked ? 1 : 0);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (!marked || text.size() == 1 || stop != end || error != std::errc() || !std::isfinite(value) ||
      std::signbit(value))
    throw std::invalid_argument(fmt::format("'{}' is not a percentage such as 5%", text));
  return value / 100;
}

std::vector<std::string> parse_names(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string name(text.substr(begin, end - begin));
    if (name.empty()) throw std::invalid_argument(fmt::format("'{}' has an empty name; write a,b,c", text));
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw std::invalid_argument(fmt::format("'{}' has {} twice", text, name));
    names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, 1, ',');
  return digits;
}

std::string significant(double x) {
  if (std::isnan(x)) return "";
  const int digits = x == 0 ? 2 : std::clamp(2 - int(std::floor(std::log10(std::abs(x)))), 0, 6);
  return fmt::format("{:.{}f}", x, digits);
}

std::string bytes(double count) {
  static constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; count >= 1000 && unit + 1 < std::size(units); ++unit) count /= 1000;
  return fmt::format("{:.{}f} {}", count, unit == 0 ? 0 : 1, units[unit]);
}

}  // namespace wengert::command
