#include "bench/csv.hpp"

#include <charconv>
#include <cmath>

namespace wengert::bench {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_number(double number) {
  if (std::isnan(number)) return {};
  char buffer[32];
  const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), number);
  return {buffer, end};
}

Csv& Csv::raw(const std::string& field) {
  if (!row_begins_) text_ += ',';
  row_begins_ = false;
  text_ += field;
  return *this;
}

void Csv::end() {
  text_ += "\r\n";
  row_begins_ = true;
}

}  // namespace wengert::bench
