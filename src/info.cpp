// `wengert info`: this machine and this build.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "src/exit_code.hpp"
#include "src/machine.hpp"
#include "src/numbers.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"

namespace wengert::command {
namespace {

using Json = nlohmann::ordered_json;

std::string text(const Json& value) {
  if (value.is_null()) return "unknown";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string line(std::string_view name, const std::string& value) { return fmt::format("{:<18}{}\n", name, value); }

std::string machine_text(const Json& machine) {
  std::string all = line("CPU", text(machine["cpu"]));
  all += line("architecture", text(machine["architecture"]));
  for (const auto& [name, usable] : machine["instruction_sets"].items())
    all += line("  " + name, text(usable) + (machine["default_instruction_set"] == name ? " (the default)" : ""));
  for (const Json& cache : machine["caches"])
    all +=
        line(fmt::format("L{} {}", text(cache["level"]), text(cache["type"])),
             fmt::format("{} KiB, of cores {}", cache["bytes"].get<std::uint64_t>() / 1024, text(cache["shared_by"])));
  const Json& cores = machine["cores"];
  all += line("cores", fmt::format("{} available: {} online, {} by affinity, {} by cgroup", text(cores["available"]),
                                   text(cores["online"]), text(cores["affinity"]),
                                   cores["cgroup_quota"].is_null() ? "no limit" : text(cores["cgroup_quota"])));
  all += line("governor", text(machine["governor"]));
  if (!machine["available_memory_bytes"].is_null())
    all += line("free memory", bytes(machine["available_memory_bytes"].get<double>()));
  all += line("load average", text(machine["load_average"]));
  return all + line("system", text(machine["system"]));
}

std::string build_text(const Json& build) {
  std::string all = line("version", text(build["version"]));
  all += line("commit", text(build["git_commit"]) + (build["git_dirty"] == true ? ", modified" : ""));
  all += line("compiler", text(build["compiler"]));
  all += "flags\n";
  for (const Json& group : build["flags"])
    all += fmt::format("  {}\n      {}\n", text(group["flags"]), text(group["files"]));
  return all;
}

std::string ceilings_text(std::span<const bench::Ceiling> ceilings) {
  std::string all;
  for (const bench::Ceiling& c : ceilings)
    all += line(c.name, fmt::format("{:>8} {} on {} core{}{}", significant(c.value), c.unit, c.threads,
                                    c.threads == 1 ? "" : "s",
                                    c.footprint == 0 ? "" : ", " + bytes(double(c.footprint)) + " each"));
  return all;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  CLI::App& info = *app.add_subcommand("info", "This machine and this build");
  info.footer(
      "Examples:\n"
      "  wengert info\n"
      "  wengert info --ceilings                the roofs of a roofline\n"
      "  wengert info --json | jq .machine.caches\n"
      "  taskset -c 0 wengert info              one core is available");
  auto json = std::make_shared<bool>(false);
  info.add_flag("--json", *json, "as in the `machine` and `build` of a report's meta.json");
  auto ceilings = std::make_shared<bool>(false);
  info.add_flag("--ceilings", *ceilings,
                "measure, in about a second, what arithmetic, caches and memory can do at most");
  info.callback([&action, json, ceilings] {
    action = [json, ceilings] {
      Json both = {{"machine", machine_json()}, {"build", build_json()}};
      if (*ceilings) {
        const std::vector<bench::Ceiling> measured = bench::measure_ceilings(cache_sizes());
        if (!*json) {
          print(Stream::out, ceilings_text(measured));
          return int(ExitCode::ok);
        }
        both["ceilings"] = ceilings_json(measured);
      }
      print(Stream::out,
            *json ? both.dump(2) + '\n' : machine_text(both["machine"]) + '\n' + build_text(both["build"]));
      return int(ExitCode::ok);
    };
  });
}

}  // namespace wengert::command
