// The files of a run.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "src/output.hpp"
#include "src/run_arguments.hpp"

namespace wengert::command {

class Reports {
 public:
  /// Finds them writable before the run begins. Throws Failure.
  /// `extra`: names of further files in the folder.
  explicit Reports(const RunArguments& arguments, const std::vector<std::string>& extra = {});

  /// Writes the files, all or none. `more`: further members of meta.json; `extra_texts`: of the extra files.
  void write(std::span<const bench::Run> runs, const nlohmann::ordered_json& more = nlohmann::ordered_json::object(),
             const std::vector<std::string>& extra_texts = {}) const;
  /// Writes the summary to standard output where `--csv -` asks for it.
  void print_summary(std::span<const bench::Run> runs) const;

 private:
  std::vector<std::string> command_line_;
  nlohmann::ordered_json machine_;  // before the run: its load is not the machine's
  std::optional<OutputFile> summary_, samples_, meta_, csv_;
  std::vector<OutputFile> extra_;
  bool csv_to_stdout_ = false;
};

}  // namespace wengert::command
