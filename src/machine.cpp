#include "src/machine.hpp"

#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "bench/memory.hpp"
#include "kernels/dispatch.hpp"
#include "src/build_info.hpp"
#include "tape/cores.hpp"

namespace wengert::command {
namespace {

using Json = nlohmann::ordered_json;

Json first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  return std::getline(in, line) && !line.empty() ? Json(line) : Json();
}

Json cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return {};
}

/// Caches as the first core sees them. Sizes come as "1024K".
Json caches() {
  Json all = Json::array();
  for (int index = 0;; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    const Json level = first_line(folder + "/level"), size = first_line(folder + "/size");
    if (level.is_null() || size.is_null()) return all;
    char* unit = nullptr;
    const std::string text = size.get<std::string>();
    const double count = std::strtod(text.c_str(), &unit);
    const double scale = *unit == 'M' ? 1 << 20 : *unit == 'K' ? 1 << 10 : 1;
    all.push_back({{"level", std::atoi(level.get<std::string>().c_str())},
                   {"type", first_line(folder + "/type")},
                   {"bytes", std::uint64_t(count * scale)},
                   {"shared_by", first_line(folder + "/shared_cpu_list")}});
  }
}

Json instruction_sets() {
  Json all = Json::object();
  for (Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    const std::string reason = why_not(isa);
    all[std::string(name(isa))] = reason.empty() ? "usable" : reason;
  }
  return all;
}

Json cores() {
  const auto quota = cgroup_core_limit(read_system_file);
  return {{"online", std::thread::hardware_concurrency()},
          {"affinity", affinity_cores()},
          {"cgroup_quota", quota ? Json(*quota) : Json()},
          {"available", available_cores()}};
}

Json load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? Json(load) : Json();
}

}  // namespace

Json machine_json() {
  utsname system{};
  uname(&system);
  const auto memory = bench::available_memory();
  return {{"cpu", cpu_model()},
          {"architecture", system.machine},
          {"instruction_sets", instruction_sets()},
          {"default_instruction_set", name(default_isa())},
          {"caches", caches()},
          {"cores", cores()},
          {"smt_active", first_line("/sys/devices/system/cpu/smt/active")},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"boost", first_line("/sys/devices/system/cpu/cpufreq/boost")},
          {"load_average", load_average()},
          {"available_memory_bytes", memory ? Json(*memory) : Json()},
          {"system", std::string(system.sysname) + " " + system.release}};
}

bench::CacheSizes cache_sizes() {
  bench::CacheSizes sizes;
  for (const Json& cache : caches()) {
    if (cache["type"] == "Instruction") continue;
    const std::size_t bytes = cache["bytes"].get<std::size_t>();
    if (cache["level"] == 1) sizes.l1 = bytes;
    if (cache["level"] == 2) sizes.l2 = bytes;
    if (cache["level"] == 3) sizes.l3 = bytes;
  }
  return sizes;
}

Json ceilings_json(std::span<const bench::Ceiling> ceilings) {
  Json all = Json::array();
  for (const bench::Ceiling& c : ceilings)
    all.push_back({{"ceiling", c.name},
                   {"threads", c.threads},
                   {"value", c.value},
                   {"unit", c.unit},
                   {"footprint_bytes", c.footprint}});
  return all;
}

Json build_json() {
  Json flags = Json::array();
  for (const CompileFlags& group : build_info.flags) flags.push_back({{"flags", group.flags}, {"files", group.files}});
  return {{"version", build_info.version},
          {"git_commit", build_info.commit.empty() ? Json() : Json(build_info.commit)},
          {"git_dirty", build_info.commit.empty() ? Json() : Json(build_info.dirty)},
          {"compiler", build_info.compiler},
          {"flags", std::move(flags)}};
}

}  // namespace wengert::command
