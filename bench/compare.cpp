#include "bench/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "wengert/error.hpp"

namespace wengert::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double significance = 0.05;
constexpr std::size_t first_detail = 2;  // in setting_columns: past workload and level

/// The settings beyond workload and level that take several values within a report.
std::vector<std::size_t> telling_settings(std::span<const StoredReport> reports) {
  std::vector<std::size_t> keys = {0, 1};
  for (std::size_t i = first_detail; i < setting_columns.size(); ++i) {
    bool varies = false;
    for (const StoredReport& report : reports) {
      std::map<std::pair<std::string, std::string>, std::string> seen;
      for (const StoredRow& row : report.rows)
        if (seen.emplace(std::pair(row.workload(), row.level()), row.settings[i]).first->second != row.settings[i])
          varies = true;
    }
    if (varies) keys.push_back(i);
  }
  return keys;
}

std::vector<std::string> values(const StoredRow& row, const std::vector<std::size_t>& keys) {
  std::vector<std::string> all;
  for (std::size_t key : keys) all.push_back(row.settings[key]);
  return all;
}

/// "west v3" or "west v3, ops 1000".
std::string title(const StoredRow& row, const std::vector<std::size_t>& keys) {
  std::string text = row.workload() + ' ' + row.level();
  for (std::size_t key : keys)
    if (key >= first_detail) text += fmt::format(", {} {}", setting_columns[key], row.settings[key]);
  return text;
}

/// Samples so few that no order of them would be significant.
bool too_few(std::size_t n, std::size_t m) {
  double orders = 1;  // n + m over n
  for (std::size_t i = 1; i <= n; ++i) orders *= double(m + i) / double(i);
  return n > 0 && m > 0 && 2 / orders >= significance;
}

/// `paired`: sample r of both comes from the same round.
Change change(const StoredRow& base, const StoredRow& row, bool paired) {
  Change result;
  result.row = &row;
  if (base.samples.empty() || row.samples.empty()) {
    result.ratio = ratio_of_estimates(base.ns_per_op, row.ns_per_op);
    result.p = nan;
  } else {
    result.ratio = paired ? speed_up(row.samples, base.samples) : ratio_of_medians(base.samples, row.samples);
    result.p = mann_whitney(base.samples, row.samples);
  }
  result.verdict = judge(result.ratio, result.p);
  return result;
}

std::string text(const Json& value) {
  if (value.is_null()) return "unknown";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Json at(const Json& meta, std::string_view pointer) {
  const Json::json_pointer where{std::string(pointer)};
  return meta.contains(where) ? meta[where] : Json();
}

/// Flags by file.
std::map<std::string, std::string> flags(const Json& meta) {
  std::map<std::string, std::string> all;
  const Json groups = at(meta, "/build/flags");
  for (const Json& group : groups) {
    if (!group.is_object()) continue;
    const std::string files = text(group.value("files", Json())), flags = text(group.value("flags", Json()));
    for (std::size_t begin = 0; begin < files.size();) {
      const std::size_t end = std::min(files.find(' ', begin), files.size());
      all[files.substr(begin, end - begin)] = flags;
      begin = end + 1;
    }
  }
  return all;
}

/// Words of `flags` that `other` lacks.
std::string only(const std::string& flags, const std::string& other) {
  const auto words = [](const std::string& line) {
    std::multiset<std::string> all;
    for (std::size_t begin = 0; begin < line.size();) {
      const std::size_t end = std::min(line.find(' ', begin), line.size());
      if (end > begin) all.insert(line.substr(begin, end - begin));
      begin = end + 1;
    }
    return all;
  };
  std::multiset<std::string> left = words(flags);
  for (const std::string& word : words(other))
    if (const auto found = left.find(word); found != left.end()) left.erase(found);
  return left.empty() ? "no more" : fmt::format("{}", fmt::join(left, " "));
}

void compare_flags(const Json& base, const Json& here, std::size_t report, std::vector<Difference>& differences) {
  const std::map<std::string, std::string> base_flags = flags(base), here_flags = flags(here);
  std::size_t files = 0;
  Difference first;
  for (const auto& [file, own] : here_flags) {
    const auto other = base_flags.find(file);
    if (other == base_flags.end() || other->second == own) continue;
    if (files++ > 0) continue;
    first = {report, "flags of " + file, only(other->second, own), only(own, other->second), false};
    if (first.base == first.here) first.base = other->second, first.here = own;  // another order
  }
  if (files > 1) first.what += fmt::format(" and {} more", files - 1);
  if (files > 0) differences.push_back(first);
}

void compare_meta(const Json& base, const Json& here, std::size_t report, std::vector<Difference>& differences) {
  if (base.is_null() || here.is_null()) {
    const auto known = [](const Json& meta) { return meta.is_null() ? "unknown, for want of meta.json" : "known"; };
    differences.push_back({report, "machine, compiler and flags", known(base), known(here), false});
    return;
  }
  struct Field {
    const char *what, *pointer;
    bool comparable;
  };
  static constexpr Field fields[] = {{"CPU", "/machine/cpu", false},
                                     {"architecture", "/machine/architecture", false},
                                     {"instruction set", "/machine/default_instruction_set", false},
                                     {"caches", "/machine/caches", false},
                                     {"cores", "/machine/cores/available", false},
                                     {"SMT", "/machine/smt_active", false},
                                     {"governor", "/machine/governor", false},
                                     {"boost", "/machine/boost", false},
                                     {"system", "/machine/system", false},
                                     {"compiler", "/build/compiler", false},
                                     {"version", "/build/version", true},
                                     {"commit", "/build/git_commit", true}};
  for (const Field& field : fields) {
    const std::string ours = text(at(base, field.pointer)), theirs = text(at(here, field.pointer));
    if (ours != theirs) differences.push_back({report, field.what, ours, theirs, field.comparable});
  }
  compare_flags(base, here, report, differences);
}

/// Settings that don't tell rows apart but aren't the same in both.
void compare_settings(const StoredRow& base, const StoredRow& row, const std::vector<std::size_t>& keys,
                      std::size_t report, std::vector<Difference>& differences) {
  for (std::size_t i = first_detail; i < setting_columns.size(); ++i) {
    if (std::find(keys.begin(), keys.end(), i) != keys.end()) continue;
    const std::string &ours = base.settings[i], &theirs = row.settings[i];
    if (ours.empty() || theirs.empty() || ours == theirs) continue;  // a schema that has no such column
    const bool known = std::any_of(differences.begin(), differences.end(), [&](const Difference& d) {
      return d.report == report && d.what == setting_columns[i] && d.base == ours && d.here == theirs;
    });
    if (!known) differences.push_back({report, std::string(setting_columns[i]), ours, theirs, false});
  }
}

/// "B has no west v0, west v1".
void note_missing(const StoredReport& report, const std::vector<std::string>& titles, Comparison& comparison) {
  if (!titles.empty()) comparison.notes.push_back(fmt::format("{} has no {}", report.path, fmt::join(titles, "; ")));
}

void note_samples(std::span<const StoredReport> reports, Comparison& comparison) {
  for (const StoredReport& report : reports)
    if (!report.has_samples)
      comparison.notes.push_back(fmt::format(
          "{} has no samples: intervals are made of those of its medians, without Mann-Whitney's test; give "
          "the folder of the report for both",
          report.path));
  for (const ComparedRow& row : comparison.rows)
    for (const Change& c : row.changes)
      if (c.row && too_few(row.base->samples.size(), c.row->samples.size())) {
        comparison.notes.push_back("too few repetitions to call any difference significant; 5 or more tell something");
        return;
      }
}

}  // namespace

std::string_view name(Verdict verdict) {
  return verdict == Verdict::faster ? "faster" : verdict == Verdict::slower ? "slower" : "same";
}

Verdict judge(const Estimate& ratio, double p) {
  if (p >= significance) return Verdict::same;
  return ratio.high < 1 ? Verdict::faster : ratio.low > 1 ? Verdict::slower : Verdict::same;
}

Comparison compare_reports(std::span<const StoredReport> reports) {
  Comparison comparison;
  comparison.keys = telling_settings(reports);
  const std::vector<std::size_t>& keys = comparison.keys;
  std::vector<std::map<std::vector<std::string>, const StoredRow*>> by_key(reports.size());
  for (std::size_t r = 0; r < reports.size(); ++r)
    for (const StoredRow& row : reports[r].rows)
      if (!by_key[r].emplace(values(row, keys), &row).second)
        comparison.notes.push_back(
            fmt::format("{} has {} more than once; the first counts", reports[r].path, title(row, keys)));

  for (std::size_t r = 1; r < reports.size(); ++r)
    compare_meta(reports[0].meta, reports[r].meta, r, comparison.differences);
  std::vector<std::vector<std::string>> missing(reports.size());
  for (const StoredRow& base : reports[0].rows) {
    if (by_key[0][values(base, keys)] != &base) continue;
    ComparedRow row{&base, {}};
    bool any = false;
    for (std::size_t r = 1; r < reports.size(); ++r) {
      const auto found = by_key[r].find(values(base, keys));
      if (found == by_key[r].end()) {
        missing[r].push_back(title(base, keys));
        row.changes.push_back({});
      } else if (!base.timed() || !found->second->timed()) {
        const bool here = !found->second->timed();
        comparison.notes.push_back(fmt::format("{} of {} has no times: {}", title(base, keys),
                                               reports[here ? r : 0].path, (here ? *found->second : base).status));
        row.changes.push_back({});
      } else {
        compare_settings(base, *found->second, keys, r, comparison.differences);
        row.changes.push_back(change(base, *found->second, false));
        any = true;
      }
    }
    if (any) comparison.rows.push_back(std::move(row));
  }
  for (std::size_t r = 1; r < reports.size(); ++r) {
    note_missing(reports[r], missing[r], comparison);
    std::vector<std::string> extra;
    for (const StoredRow& row : reports[r].rows)
      if (!by_key[0].contains(values(row, keys))) extra.push_back(title(row, keys));
    note_missing(reports[0], extra, comparison);
  }
  note_samples(reports, comparison);
  return comparison;
}

Comparison compare_levels(const StoredReport& report, std::string_view base) {
  Comparison comparison;
  comparison.keys = telling_settings({&report, 1});
  // The base at the same point if it is there; else elsewhere, with the same problem: levels that don't use threads or
  // lanes are in a grid over these only once.
  const auto same_problem = [](const StoredRow& a, const StoredRow& b) {
    for (std::size_t i : {0, 2, 3, 4, 5})
      if (a.settings[i] != b.settings[i]) return false;
    return true;
  };
  const auto base_of = [&](const StoredRow& row) -> const StoredRow* {
    const StoredRow* elsewhere = nullptr;
    for (const StoredRow& other : report.rows) {
      if (other.level() != base || !other.timed() || !same_problem(other, row)) continue;
      if (other.run_id == row.run_id && other.point == row.point) return &other;
      if (!elsewhere) elsewhere = &other;
    }
    return elsewhere;
  };
  const bool known =
      std::any_of(report.rows.begin(), report.rows.end(), [&](const StoredRow& row) { return row.level() == base; });
  if (!known) {
    std::vector<std::string> levels;
    for (const StoredRow& row : report.rows)
      if (std::find(levels.begin(), levels.end(), row.level()) == levels.end()) levels.push_back(row.level());
    throw Error(ErrorCode::bad_argument,
                fmt::format("--base: {} has no level '{}'; it has {}", report.path, base, fmt::join(levels, ", ")));
  }
  for (const StoredRow& row : report.rows) {
    const StoredRow* own_base = base_of(row);
    if (!row.timed() || !own_base) {
      comparison.notes.push_back(fmt::format(
          "{} {}", title(row, comparison.keys),
          row.timed() ? fmt::format("has no {} beside it", base) : fmt::format("has no times: {}", row.status)));
      continue;
    }
    const bool paired = own_base->run_id == row.run_id && own_base->point == row.point;
    comparison.rows.push_back({own_base, {change(*own_base, row, paired)}});
  }
  note_samples({&report, 1}, comparison);
  return comparison;
}

}  // namespace wengert::bench
