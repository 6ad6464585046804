#include "bench/languages/languages.hpp"

#include <filesystem>

#include "bench/make_levels.hpp"
#include "bench/peers/peers.hpp"

namespace wengert::bench {
namespace {

bool expr_or_west(const Workload& workload) {
  return workload.kind == Workload::Kind::expr || workload.kind == Workload::Kind::west;
}

LevelInfo row(std::string name, std::string title, std::string description) {
  LevelInfo info;
  info.name = std::move(name);
  info.title = std::move(title);
  info.description = std::move(description);
  info.ladder = false;
  return info;
}

/// Why a library isn't there; empty where it is.
std::string missing_library(const std::string& language) {
  const std::string path = tape_library(language);
  if (path.empty()) return "WENGERT_PEERS is not set; scripts/languages builds it and says how to name the folder";
  return std::filesystem::exists(path) ? "" : path + " is not there; scripts/languages builds it";
}

}  // namespace

const std::vector<LevelInfo>& languages() {
  static const std::vector<LevelInfo> all = [] {
    std::vector<LevelInfo> found;
    LevelInfo& c = found.emplace_back(row("c", "plain C", "an index tape in plain C on libm"));
    c.make_f64 = make_c<double>;
    c.make_f32 = make_c<float>;
    LevelInfo& pool = found.emplace_back(row("c-v1", "plain C, v1", "a pool of linked nodes in plain C on libm"));
    pool.make_f64 = make_c_pool;
    pool.available = expr_or_west;
    const auto add = [&](const std::string& language, const std::string& title, bool own_process,
                         const std::string& why, auto make) {
      for (const int version : {2, 1}) {
        LevelInfo info = row("lang-" + language + (version == 1 ? "-v1" : ""), title + (version == 1 ? ", v1" : ""),
                             (version == 1 ? "a pool of linked nodes in " : "an index tape in ") + title);
        info.available = expr_or_west;
        info.own_process = own_process;
        info.make_f64 = [=](const Workload& workload, const LevelOptions& options) {
          return make(version, workload, options);
        };
        found.push_back(why.empty() ? info : absent(info, why));
      }
    };
    for (const auto& [language, title] : {std::pair{"rust", "Rust"}, std::pair{"zig", "Zig"}})
      add(language, title, false, missing_library(language),
          [path = tape_library(language)](int version, const Workload& workload, const LevelOptions&) {
            return make_library_tape(path, version, workload);
          });
    add("numba", "Numba", true, missing_python_peer("numba", "scripts/languages"),
        [](int version, const Workload& workload, const LevelOptions& options) {
          return make_python(version == 1 ? "numba-v1" : "numba", workload, options, python_of_peers());
        });
    return found;
  }();
  return all;
}

}  // namespace wengert::bench
