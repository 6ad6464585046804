// A comparison as text: table, Markdown, CSV, JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/compare.hpp"

namespace wengert::command {

/// What was compared, and how it is called in the texts.
struct ComparisonTexts {
  std::span<const bench::StoredReport> reports;
  const bench::Comparison& comparison;
  std::string base;  ///< the level that is the base of the others; empty where reports are compared

  std::string table() const;
  std::string markdown() const;
  std::string csv() const;
  std::string json() const;

  /// What isn't the same in two reports and what else there is to say, a line each.
  std::vector<std::string> remarks() const;
  /// "west v3 of B": a row of the comparison, and the report of its change `c`.
  std::string title(const bench::ComparedRow& row, std::size_t c) const;

  /// A, B, ..., Z, R27, ...: how the table calls report r.
  static std::string letter(std::size_t r);
};

}  // namespace wengert::command
