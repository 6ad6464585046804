// Reports side by side: which level got faster, which slower, and where nothing can be told.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/stored_report.hpp"

namespace wengert::bench {

enum class Verdict { faster, slower, same };
std::string_view name(Verdict verdict);

/// A row against its base.
struct Change {
  const StoredRow* row = nullptr;  ///< null: this report has no such row, or no times in it
  Estimate ratio;                  ///< median time over the base's: below 1 is faster
  double p = 0;                    ///< of the Mann-Whitney test; NaN without samples
  Verdict verdict = Verdict::same;
};

/// A row of the comparison: a base, and what became of it, one entry per report compared with it.
struct ComparedRow {
  const StoredRow* base = nullptr;
  std::vector<Change> changes;
};

/// Something that two reports don't have in common.
struct Difference {
  std::size_t report = 0;  ///< that differs from the first
  std::string what, base, here;
  bool comparable = true;  ///< still the same measurement of other code: a commit; not one on another machine
};

struct Comparison {
  std::vector<std::size_t> keys;  ///< the settings (places in setting_columns) that tell rows apart
  std::vector<ComparedRow> rows;
  std::vector<Difference> differences;
  std::vector<std::string> notes;  ///< rows that only some have, wrong levels, intervals that are second best
};

/// Several reports, row by row: the first is the base of the others. Rows are the same where workload and level are, and
/// every other setting that takes several values within a report. The intervals resample each report by itself.
Comparison compare_reports(std::span<const StoredReport> reports);

/// The levels of one report against its level `base`, each at the same point. Its intervals resample rounds, which the
/// levels of a run share. Throws bad_argument where no row has that level.
Comparison compare_levels(const StoredReport& report, std::string_view base);

/// Faster or slower where the whole interval is on that side of 1 and Mann-Whitney's p is below 5%, where there is one.
Verdict judge(const Estimate& ratio, double p);

}  // namespace wengert::bench
