// CSV as RFC 4180 has it: commas, CRLF, quotes only where needed; numbers with a point whatever the locale, in the fewest
// digits that read back as the same number.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// A document read back.
struct CsvTable {
  struct Record {
    std::size_t line;  ///< of the text, where it begins, from 1
    std::vector<std::string> fields;
  };
  std::vector<std::string> columns;
  std::vector<Record> records;  ///< as many fields each as there are columns

  /// Where the column of that name is, or npos.
  std::size_t column(std::string_view name) const;
  static constexpr std::size_t npos = std::size_t(-1);
};

/// RFC 4180, and line ends of a bare LF. Throws bad_file that says in which line it isn't.
CsvTable parse_csv(std::string_view text);

}  // namespace wengert::bench
