#include "bench/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "wengert/error.hpp"

namespace wengert::bench {
namespace {

[[noreturn]] void bad(std::size_t line, const std::string& message) {
  throw Error(ErrorCode::bad_file, fmt::format("line {}: {}", line, message));
}

/// Takes records from a text, one at a time.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }

  CsvTable::Record record() {
    CsvTable::Record record{line_, {}};
    do record.fields.push_back(field());
    while (take(','));
    take('\r');
    if (!at_end() && !take('\n')) bad(line_, "a quoted field goes on after its closing quote");
    ++line_;
    return record;
  }

 private:
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string field() {
    if (!take('"')) {
      const std::size_t begin = at_;
      at_ = std::min(text_.find_first_of(",\r\n", begin), text_.size());
      return std::string(text_.substr(begin, at_ - begin));
    }
    const std::size_t first_line = line_;
    std::string content;
    for (;; ++at_) {
      if (at_end()) bad(first_line, "a quote that never closes");
      if (text_[at_] == '"') {
        ++at_;
        if (at_end() || text_[at_] != '"') return content;
      }
      line_ += text_[at_] == '\n';
      content += text_[at_];
    }
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace

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

std::size_t CsvTable::column(std::string_view name) const {
  const auto at = std::find(columns.begin(), columns.end(), name);
  return at == columns.end() ? npos : std::size_t(at - columns.begin());
}

CsvTable parse_csv(std::string_view text) {
  CsvTable table;
  CsvReader reader(text);
  if (reader.at_end()) throw Error(ErrorCode::bad_file, "it is empty");
  if (text.find('\0') != std::string_view::npos) throw Error(ErrorCode::bad_file, "it is not a text");
  table.columns = reader.record().fields;
  while (!reader.at_end()) {
    table.records.push_back(reader.record());
    const CsvTable::Record& last = table.records.back();
    if (last.fields.size() != table.columns.size())
      bad(last.line, fmt::format("{} fields, where the header has {}", last.fields.size(), table.columns.size()));
  }
  return table;
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
