// `wengert list`: what there is to choose from.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bench/languages/languages.hpp"
#include "bench/level.hpp"
#include "bench/peers/peers.hpp"
#include "bench/workload.hpp"
#include "src/exit_code.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"
#include "wengert/ops.hpp"

namespace wengert::command {
namespace {

std::string levels() {
  std::size_t name = 0, title = 0;
  for (const std::vector<bench::LevelInfo>* all : {&bench::levels(), &bench::peers(), &bench::languages()})
    for (const bench::LevelInfo& level : *all) {
      name = std::max(name, level.name.size());
      title = std::max(title, level.title.size());
    }
  const auto line = [&](const bench::LevelInfo& level, std::string_view note) {
    return fmt::format("  {:<{}}  {:<{}}  {}{}\n", level.name, name, level.title, title, level.description, note);
  };
  std::string text = "levels (--levels):\n";
  for (const bench::LevelInfo& level : bench::levels()) text += line(level, level.ladder ? "" : " (by name only)");
  const auto others = [&](std::string_view heading, const std::vector<bench::LevelInfo>& all) {
    text += heading;
    for (const bench::LevelInfo& other : all)
      text += line(other, other.missing.empty() ? "" : "; not here: " + other.missing);
  };
  others("\npeers (--peers, or --levels by name):\n", bench::peers());
  others("\nthe same tapes in other languages (--languages, or --levels by name):\n", bench::languages());
  return text;
}

std::string workloads() {
  std::string text = "workloads (--workload):\n";
  for (const bench::WorkloadInfo& workload : bench::workloads()) {
    std::string names, usual;
    for (const bench::WorkloadInfo::Size& size : workload.sizes) {
      names += (names.empty() ? "" : ",") + size.name;
      usual += (usual.empty() ? "" : ",") + std::to_string(size.usual);
    }
    text += fmt::format("  {:<15} {}{}\n", workload.name, workload.description, workload.has_ops ? " (--ops)" : "");
    if (!names.empty()) text += fmt::format("  {:<15} --size {}, {} unless chosen\n", "", names, usual);
  }
  return text;
}

std::string ops() {
  std::string text = "ops:\n";
  for (std::size_t i = 0; i < op_count; ++i) {
    const OpInfo& op = info(static_cast<Op>(i));
    const std::string operands = op.arity == 0 ? "n" : std::to_string(op.arity);
    text += fmt::format("  {:<10} {} operand{}{}\n", op.name, operands, op.arity == 1 ? "" : "s",
                        op.many_outputs ? ", as many outputs" : "");
  }
  return text;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  CLI::App& list = *app.add_subcommand("list", "Levels, workloads and ops");
  list.footer("Examples:\n  wengert list");
  list.callback([&action] {
    action = [] {
      print(Stream::out, levels() + '\n' + workloads() + '\n' + ops());
      return int(ExitCode::ok);
    };
  });
}

}  // namespace wengert::command
