// Reports of made-up runs, on disk.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/report.hpp"
#include "bench/temporary_folder.hpp"

namespace wengert::test {

/// A folder to write texts to.
class ReportFolder : public bench::TemporaryFolder {
 public:
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories((path() / name).parent_path());
    std::ofstream(path() / name, std::ios::binary) << text;
    return path() / name;
  }
};

/// A run of 10 ops and 1 evaluation, so that a sample of 10 ns is 1 ns per op; samples in ns per op.
inline bench::Run run_of(const std::vector<std::pair<std::string, std::vector<double>>>& levels) {
  bench::Run run;
  run.run_id = "r1";
  run.workload = "west";
  run.precision = "f64";
  run.output = "last";
  run.ops = 10;
  run.iterations = 1;
  run.seed = 42;
  for (const auto& [level, samples] : levels) {
    bench::Row& row = run.rows.emplace_back();
    row.level = level;
    row.title = "title, with comma";
    row.isa = "scalar";
    row.status = samples.empty() ? bench::Status::wrong : bench::Status::complete;
    for (double ns : samples) {
      bench::Sample& sample = row.samples.emplace_back();
      sample.round = row.samples.size() - 1;
      sample.batches = 1;
      sample.seconds = ns * 10 * 1e-9;
    }
  }
  return run;
}

inline std::filesystem::path write_report(const ReportFolder& folder, const std::string& name, const bench::Run& run,
                                          std::string_view meta = "") {
  folder.write(name + "/summary.csv", bench::summary_csv({&run, 1}));
  folder.write(name + "/samples.csv", bench::samples_csv({&run, 1}));
  if (!meta.empty()) folder.write(name + "/meta.json", meta);
  return folder.path() / name;
}

}  // namespace wengert::test
