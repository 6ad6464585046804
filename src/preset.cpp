#include "src/preset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "src/exit_code.hpp"
#include "src/numbers.hpp"

namespace wengert::command {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"post",
       "west of 100 inputs and 10,000 ops, 10,000 iterations, the last output",
       "v0,v1,v2,v3,v4,v5,v6,v7,v8,c",
       "west",
       "last",
       10000,
       10000,
       3,
       "December 2023",
       {{"PyTorch", 1130}, {"JAX", 470}, {"Rust", 1.4}, {"C", 0.99}}},
  };
  return all;
}

void add_preset(CLI::App& app, std::string& name) {
  std::string text = "a set-up that others have published times for:";
  for (const Preset& preset : presets()) text += fmt::format(" {}: {}", preset.name, preset.description);
  CLI::Option* option = app.add_option("--preset", name, text)->type_name("NAME");
  for (const char* fixed : {"--workload", "--output", "--ops", "--iterations", "--size"})
    option->excludes(app.get_option(fixed));
}

const Preset* apply_preset(const std::string& name, const CLI::App& app, Selection& selection, RunArguments& run) {
  if (name.empty()) return nullptr;
  std::vector<std::string> known;
  for (const Preset& preset : presets()) {
    known.push_back(preset.name);
    if (preset.name != name) continue;
    if (app.count("--levels") == 0) selection.levels = preset.levels;
    if (app.count("--repetitions") == 0) run.repetitions = preset.repetitions;
    selection.workload = preset.workload;
    selection.output = preset.output;
    selection.ops = preset.ops;
    selection.iterations = preset.iterations;
    return &preset;
  }
  throw Failure(ExitCode::usage, fmt::format("--preset: there is no '{}'; there is {}", name, fmt::join(known, ", ")));
}

std::string totals(const Preset& preset, const bench::Run& run) {
  std::vector<std::pair<std::string, double>> lines;
  for (const auto& [who, seconds] : preset.published) lines.emplace_back(who + " *", seconds);
  for (std::size_t i = 0; i < run.rows.size(); ++i)
    if (const double seconds = bench::figures(run, i).seconds.value; !std::isnan(seconds))
      lines.emplace_back(run.rows[i].level + ' ' + run.rows[i].title, seconds);
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::size_t width = 0;
  for (const auto& [who, seconds] : lines) width = std::max(width, who.size());
  std::string text =
      fmt::format("\nSeconds in total, {} evaluations of {} ops. * published in {}, of another machine:\n",
                  grouped(run.iterations), grouped(run.ops), preset.when);
  for (const auto& [who, seconds] : lines) text += fmt::format("  {:<{}}  {:>6}\n", who, width, significant(seconds));
  return text;
}

nlohmann::ordered_json preset_json(const Preset& preset) {
  nlohmann::ordered_json seconds = nlohmann::ordered_json::object();
  for (const auto& [who, value] : preset.published) seconds[who] = value;
  return {{"name", preset.name},
          {"published", {{"when", preset.when}, {"machine", "another"}, {"seconds", std::move(seconds)}}}};
}

}  // namespace wengert::command
