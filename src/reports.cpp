#include "src/reports.hpp"

#include <filesystem>

#include "src/machine.hpp"
#include "src/streams.hpp"

namespace wengert::command {

Reports::Reports(const RunArguments& arguments, const std::vector<std::string>& extra)
    : command_line_(arguments.command_line), machine_(machine_json()) {
  if (!arguments.out.empty()) {
    make_folder(arguments.out);
    const std::filesystem::path folder = arguments.out;
    summary_.emplace(folder / "summary.csv");
    samples_.emplace(folder / "samples.csv");
    meta_.emplace(folder / "meta.json");
    for (const std::string& name : extra) extra_.emplace_back(folder / name);
  }
  if (arguments.csv == "-") csv_to_stdout_ = true;
  else if (!arguments.csv.empty()) csv_.emplace(arguments.csv);
}

void Reports::write(std::span<const bench::Run> runs, const nlohmann::ordered_json& more,
                    const std::vector<std::string>& extra_texts) const {
  std::vector<std::pair<OutputFile, std::string>> files;
  const std::string summary = bench::summary_csv(runs);
  if (summary_) files.emplace_back(*summary_, summary);
  if (samples_) files.emplace_back(*samples_, bench::samples_csv(runs));
  if (meta_) {
    nlohmann::ordered_json meta = bench::meta_json(runs);
    meta["command"] = command_line_;
    meta["command"].insert(meta["command"].begin(), "wengert");
    meta["machine"] = machine_;
    meta["build"] = build_json();
    meta.update(more);
    // Words of the command line may be in another encoding than JSON's.
    files.emplace_back(*meta_, meta.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  }
  for (std::size_t i = 0; i < extra_.size(); ++i) files.emplace_back(extra_[i], extra_texts[i]);
  if (csv_) files.emplace_back(*csv_, summary);
  write_files(files);
}

void Reports::print_summary(std::span<const bench::Run> runs) const {
  if (csv_to_stdout_) print(Stream::out, bench::summary_csv(runs));
}

}  // namespace wengert::command
