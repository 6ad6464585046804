// Settings of the ladder that others have published times for.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/report.hpp"
#include "src/run_arguments.hpp"
#include "src/selection.hpp"

namespace wengert::command {

struct Preset {
  std::string name, description;
  std::string levels, workload, output;
  std::uint64_t ops, iterations, repetitions;
  std::string when;                                       ///< the figures were published
  std::vector<std::pair<std::string, double>> published;  ///< seconds for all evaluations, on another machine
};

const std::vector<Preset>& presets();

/// Adds --preset to a command that has the options of add_selection and add_run_arguments. What a preset decides can't be given
/// with it, but levels and repetitions.
void add_preset(CLI::App& app, std::string& name);

/// Settings of the preset, into what the user hasn't given; null if the name is empty. Throws Failure with the names that there are.
const Preset* apply_preset(const std::string& name, const CLI::App& app, Selection& selection, RunArguments& run);

/// Seconds in total of each level, among those published, the slowest first; as text and for meta.json.
std::string totals(const Preset& preset, const bench::Run& run);
nlohmann::ordered_json preset_json(const Preset& preset);

}  // namespace wengert::command
