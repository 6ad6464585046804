#include "bench/workloads/logistic.hpp"

#include <cmath>

namespace wengert::bench {
namespace {

constexpr Logistic::Row raw_rows[] = {
#include "bench/wdbc_rows.inc"
};

std::vector<Logistic::Row> standardised() {
  std::vector<Logistic::Row> rows(std::begin(raw_rows), std::end(raw_rows));
  const double n = static_cast<double>(rows.size());
  for (std::size_t j = 0; j < Logistic::features; ++j) {
    double sum = 0, squares = 0;
    for (const Logistic::Row& row : rows) sum += row[j];
    for (Logistic::Row& row : rows) {
      row[j] -= sum / n;
      squares += row[j] * row[j];
    }
    for (Logistic::Row& row : rows) row[j] /= std::sqrt(squares / n);
  }
  return rows;
}

}  // namespace

std::span<const Logistic::Row> logistic_rows() {
  static const std::vector<Logistic::Row> rows = standardised();
  return rows;
}

}  // namespace wengert::bench
