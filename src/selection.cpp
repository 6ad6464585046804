#include "src/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "bench/languages/languages.hpp"
#include "bench/make_level.hpp"
#include "bench/peers/peers.hpp"
#include "kernels/dispatch.hpp"
#include "src/exit_code.hpp"
#include "src/numbers.hpp"
#include "src/streams.hpp"
#include "tape/cores.hpp"

namespace wengert::command {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Failure(ExitCode::usage, message); }

std::vector<const bench::LevelInfo*> find_levels(const std::string& text) {
  std::vector<const bench::LevelInfo*> found;
  if (text == "all") {
    for (const bench::LevelInfo& info : bench::levels())
      if (info.ladder) found.push_back(&info);
    return found;
  }
  std::vector<std::string> names;
  try {
    names = parse_names(text);
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("--levels: {}", error.what()));
  }
  for (const std::string& name : names) {
    const bench::LevelInfo* at = nullptr;
    std::vector<std::string> known;
    for (const std::vector<bench::LevelInfo>* all : {&bench::levels(), &bench::peers(), &bench::languages()})
      for (const bench::LevelInfo& info : *all) {
        known.push_back(info.name);
        if (info.name == name) at = &info;
      }
    if (!at)
      refuse(fmt::format("--levels: there is no level '{}'; there are {}, and all", name, fmt::join(known, ", ")));
    found.push_back(at);
  }
  return found;
}

/// Adds those of a registry that can be had for this workload and precision, but for those that are there already.
void add_those_here(bench::LadderOptions& options, const std::vector<bench::LevelInfo>& registry, const char* kind) {
  const bench::Workload workload = bench::make_workload(options.workload, options.workload_options);
  for (const bench::LevelInfo& info : registry) {
    if (std::find(options.levels.begin(), options.levels.end(), &info) != options.levels.end()) continue;
    const bool written = options.f32 ? bool(info.make_f32) : bool(info.make_f64);
    const bool available = !info.available || info.available(workload);
    const std::string why = !written                ? "it has no such precision"
                            : !available            ? "it is not written for workload " + workload.name
                            : !info.missing.empty() ? info.missing
                                                    : "";
    if (why.empty()) options.levels.push_back(&info);
    else complain(fmt::format("{} {} is left out: {}", kind, info.name, why));
  }
}

void find_workload(const std::string& name) {
  std::vector<std::string> known;
  for (const bench::WorkloadInfo& info : bench::workloads()) {
    if (info.name == name) return;
    known.push_back(info.name);
  }
  refuse(fmt::format("--workload: there is no workload '{}'; there are {}", name, fmt::join(known, ", ")));
}

void find_choice(std::string_view option, const std::string& value, std::initializer_list<std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), value) == choices.end())
    refuse(fmt::format("{}: '{}' is none of {}", option, value, fmt::join(choices, ", ")));
}

int find_lanes(const std::string& lanes, bool f32) {
  find_choice("--lanes", lanes, {"auto", "8", "16", "32", "64", "128"});
  if (lanes == "auto") return 0;
  const int count = int(parse_count(lanes, 8, 128));
  if (!lanes_go_with(lanes, f32 ? "f32" : "f64"))
    refuse(fmt::format("--lanes: {} does not go with {}; 8 to 64 do with f64, 16 to 128 with f32", lanes,
                       f32 ? "f32" : "f64"));
  return count;
}

std::vector<std::size_t> find_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  if (text.empty()) return sizes;
  try {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      sizes.push_back(parse_count(std::string_view(text).substr(begin, end - begin), 1, most_ops));
      begin = end + 1;
    }
  } catch (const std::invalid_argument& error) {
    refuse(fmt::format("--size: {}", error.what()));
  }
  return sizes;
}

}  // namespace

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& value, std::uint64_t low,
                       std::uint64_t high, const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, name, low, high](const std::string& text) {
            try {
              value = parse_count(text, low, high);
            } catch (const std::invalid_argument& error) {
              throw CLI::ValidationError(name, error.what());
            }
          },
          help)
      ->type_name("N")
      ->default_str(std::to_string(value));
}

CLI::Option* not_empty(CLI::Option* option) {
  return option->check([](const std::string& text) { return text.empty() ? "the name is empty" : ""; });
}

void add_fixed_selection(CLI::App& app, Selection& s) {
  app.add_option("--levels", s.levels, "levels in the order of the table, or `all`: v0 to the highest v")
      ->type_name("A,B,...")
      ->capture_default_str();
  app.add_flag("--peers", s.peers, "after the levels, all other tools that are here; see `wengert list`");
  add_count(app, "--peer-limit", s.peer_limit, 1, 1'000'000,
            "seconds that a peer may take for a batch, or to compile it")
      ->type_name("SECONDS");
  app.add_flag("--languages", s.languages, "after them, the same tapes in the other languages that are here");
  app.add_option("--workload", s.workload, "what is evaluated; see `wengert list`")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--isa", s.isa, "auto, scalar, avx2 or avx512; see `wengert info`")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--output", s.output, "last or sum: the last node, or the sum of all")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--size", s.size, "sizes of a workload that has some; see `wengert list`")
      ->type_name("N,N")
      ->default_str("the workload's own");
  add_count(app, "--seed", s.seed, 0, UINT64_MAX, "of the random inputs and of the order of rounds");
}

void add_selection(CLI::App& app, Selection& s) {
  add_fixed_selection(app, s);
  add_count(app, "--ops", s.ops, 1, most_ops, "recorded ops, of workloads that can be of any size");
  add_count(app, "--iterations", s.iterations, 1, most_iterations, "evaluations in a batch");
  app.add_option("--precision", s.precision, "f64 or f32")->type_name("TYPE")->capture_default_str();
  add_count(app, "--threads", s.threads, 1, most_threads, "threads of the levels that use them")
      ->default_str("all cores");
  app.add_option("--lanes", s.lanes, "auto, 8, 16, 32, 64 (f64) or 16 to 128 (f32): evaluations side by side")
      ->type_name("N")
      ->capture_default_str();
}

bool lanes_go_with(const std::string& lanes, const std::string& precision) {
  return precision == "f32" ? lanes != "8" : lanes != "128";
}

std::vector<std::string> command_line(const Selection& s) {
  std::vector<std::string> words = {"--levels",     s.levels,
                                    "--workload",   s.workload,
                                    "--ops",        std::to_string(s.ops),
                                    "--iterations", std::to_string(s.iterations),
                                    "--precision",  s.precision,
                                    "--isa",        s.isa,
                                    "--lanes",      s.lanes,
                                    "--output",     s.output,
                                    "--seed",       std::to_string(s.seed),
                                    "--peer-limit", std::to_string(s.peer_limit)};
  if (!s.size.empty()) words.insert(words.end(), {"--size", s.size});
  if (s.threads != 0) words.insert(words.end(), {"--threads", std::to_string(s.threads)});
  return words;
}

bench::LadderOptions resolve(const Selection& s) {
  bench::LadderOptions options;
  options.levels = find_levels(s.levels);
  find_workload(s.workload);
  options.workload = s.workload;
  find_choice("--precision", s.precision, {"f64", "f32"});
  options.f32 = s.precision == "f32";
  find_choice("--output", s.output, {"last", "sum"});
  options.workload_options.output = s.output == "sum" ? bench::Output::sum : bench::Output::last;
  options.workload_options.ops = s.ops;
  options.workload_options.seed = s.seed;
  options.workload_options.size = find_sizes(s.size);
  options.workload_options.samples = s.iterations;
  options.iterations = s.iterations;
  if (s.peers) add_those_here(options, bench::peers(), "peer");
  if (s.languages) add_those_here(options, bench::languages(), "language");
  find_choice("--isa", s.isa, {"auto", "scalar", "avx2", "avx512"});
  parse_isa(s.isa);  // whether this CPU has it
  options.level_options.isa = s.isa;
  options.level_options.lanes = find_lanes(s.lanes, options.f32);
  options.level_options.threads = int(s.threads != 0 ? s.threads : available_cores());
  options.level_options.peer_limit = double(s.peer_limit);
  return options;
}

bool remark(const bench::LadderOptions& options) {
  const std::size_t cores = available_cores();
  if (std::size_t(options.level_options.threads) <= cores) return false;
  complain(fmt::format("{} threads share {} core{}: times will say little of threads", options.level_options.threads,
                       cores, cores == 1 ? "" : "s"));
  return true;
}

}  // namespace wengert::command
