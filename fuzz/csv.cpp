// The CSV reader: a table that reads back the same when it is written again, or bad_file.
#include "bench/csv.hpp"

#include "fuzz/bytes.hpp"
#include "src/points.hpp"
#include "wengert/error.hpp"

namespace wengert::fuzz {
namespace {

template <class Real>
void read_points(std::string_view text, std::size_t columns) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < columns; ++k) names.push_back("x" + std::to_string(k));
  try {
    const std::vector<Real> points = command::parse_points<Real>(text, names);
    require(points.size() % columns == 0, "half a sample");
    const std::string again = command::table_text<Real>(names, points.size() / columns, {{points, columns}});
    const std::vector<Real> back = command::parse_points<Real>(again, names);
    require(back.size() == points.size(), "points got lost");
    for (std::size_t k = 0; k < back.size(); ++k)
      require(back[k] == points[k] || (back[k] != back[k] && points[k] != points[k]),
              "a number that isn't what it was");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_file, error.what());
  }
}

}  // namespace
}  // namespace wengert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wengert;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::size_t columns : {1, 2}) {
    fuzz::read_points<double>(text, columns);
    fuzz::read_points<float>(text, columns);
  }
  bench::CsvTable table;
  try {
    table = bench::parse_csv(text);
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::bad_file, error.what());
    return 0;
  }
  bench::Csv csv;
  for (const std::string& field : table.columns) csv << field;
  csv.end();
  for (const bench::CsvTable::Record& record : table.records) {
    fuzz::require(record.fields.size() == table.columns.size(), "a record of another length");
    for (const std::string& field : record.fields) csv << field;
    csv.end();
  }
  const bench::CsvTable back = bench::parse_csv(csv.text());
  fuzz::require(back.columns == table.columns && back.records.size() == table.records.size(), "another table");
  for (std::size_t k = 0; k < back.records.size(); ++k)
    fuzz::require(back.records[k].fields == table.records[k].fields, "another record");
  return 0;
}
