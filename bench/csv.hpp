// CSV as RFC 4180 has it: commas, CRLF, quotes only where needed; numbers with a point whatever the locale, in the fewest
// digits that read back as the same number.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace wengert::bench {

/// A field, quoted where it has a comma, a quote or a line break.
std::string csv_field(std::string_view text);

/// Shortest decimal that reads back as `number`. NaN, which stands for "not measured", is an empty field.
std::string csv_number(double number);

/// Builds a document row by row.
class Csv {
 public:
  Csv& operator<<(std::string_view text) { return raw(csv_field(text)); }
  Csv& operator<<(const char* text) { return raw(csv_field(text)); }
  Csv& operator<<(double number) { return raw(csv_number(number)); }
  Csv& operator<<(std::integral auto number) { return raw(std::to_string(number)); }
  /// Ends the row.
  void end();

  const std::string& text() const { return text_; }

 private:
  Csv& raw(const std::string& field);

  std::string text_;
  bool row_begins_ = true;
};

}  // namespace wengert::bench
