// `wengert program`: programs as files, made, looked at and run from the shell.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/recorded.hpp"
#include "src/exit_code.hpp"
#include "src/numbers.hpp"
#include "src/output.hpp"
#include "src/points.hpp"
#include "src/selection.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"
#include "tape/program.hpp"
#include "wengert/diagnose.hpp"
#include "wengert/serialize.hpp"

namespace wengert::command {
namespace {

/// Calls use(program) with a program of whatever precision the file has.
template <class Use>
void with_program(const std::string& path, Use use) {
  if (saved_precision(path) == 8) use(load_program<double>(path));
  else use(load_program<float>(path));
}

/// To a file or, where none is named, to standard output.
void deliver(const std::string& path, const std::string& text) {
  if (path.empty()) return print(Stream::out, text);
  const std::pair<OutputFile, std::string> file(OutputFile(path), text);
  write_files(std::span(&file, 1));
}

// ---- save ----

struct SaveArguments {
  std::string workload = "west", precision = "f64", output = "last", file;
  std::uint64_t ops = 1000, seed = 42;
};

template <class Real>
void save(const bench::Workload& workload, const std::string& file) {
  const bench::Recorded<Real> recorded(workload, true);
  compile(recorded.tape, recorded.output, {recorded.differentiated}).save(file);
}

int save(const SaveArguments& arguments) {
  bench::WorkloadOptions options;
  options.ops = arguments.ops;
  options.output = arguments.output == "sum" ? bench::Output::sum : bench::Output::last;
  options.seed = arguments.seed;
  const bench::Workload workload = bench::make_workload(arguments.workload, options);
  if (arguments.precision == "f32") save<float>(workload, arguments.file);
  else save<double>(workload, arguments.file);
  return ExitCode::ok;
}

// ---- info ----

template <class Real>
std::string about(const Program<Real>& program) {
  const ProgramStatistics& n = program.statistics();
  std::string text = fmt::format("{:<18}{}\n", "precision", sizeof(Real) == 8 ? "f64" : "f32");
  const auto line = [&](const char* what, const std::vector<std::string>& names) {
    constexpr std::size_t most = 8;
    const std::vector<std::string> first(names.begin(), names.begin() + std::ptrdiff_t(std::min(most, names.size())));
    text += fmt::format("{:<18}{}{}{}{}\n", what, names.size(), names.empty() ? "" : ": ", fmt::join(first, ", "),
                        names.size() > most ? ", ..." : "");
  };
  const Names names = names_of(program);
  line("inputs", names.inputs);
  line("parameters", names.parameters);
  line("outputs", names.outputs);
  line("uniform outputs", names.uniform_outputs);
  text +=
      fmt::format("{:<18}{} inputs, {} parameters\n", "differentiated", n.differentiated, n.differentiated_parameters);
  return text + program.describe();
}

// ---- run ----

struct RunArguments {
  std::string file, inputs = "-", isa = "auto", parameters, out, uniform;
  std::uint64_t threads = 0;
  bool values = false;
};

template <class Real>
void run(const Program<Real>& program, const RunArguments& arguments) {
  Replay<Real> replay(program, {arguments.isa, static_cast<unsigned>(arguments.threads), 0, {}});
  if (!arguments.parameters.empty()) replay.set_parameters(parse_numbers<Real>("--parameters", arguments.parameters));
  const Names names = names_of(program);
  const std::vector<Real> points =
      names.inputs.empty() ? std::vector<Real>() : parse_points<Real>(read_text(arguments.inputs), names.inputs);
  const std::size_t n = program.inputs(), m = program.outputs(), u = program.uniform_outputs(),
                    d = program.differentiated();
  const std::size_t samples = n == 0 ? 1 : points.size() / n;

  // One output is a gradient, several are a Jacobian.
  const bool jacobian = m + u != 1;
  const std::size_t derivatives = arguments.values ? 0 : (m + u) * d;
  std::vector<Real> values(samples * m), slopes(samples * derivatives);
  const Samples<const Real> in = rows(points.data(), n);
  if (arguments.values) replay.values(samples, in, rows(values.data(), m));
  else if (jacobian) replay.jacobian(samples, in, rows(values.data(), m), rows(slopes.data(), derivatives));
  else replay.gradient(samples, in, rows(values.data(), m), rows(slopes.data(), derivatives));

  using Texts = std::vector<std::string>;
  const auto add_slopes = [](Texts& to, const Texts& outputs, const Texts& inputs) {
    for (const std::string& output : outputs)
      for (const std::string& input : inputs) to.push_back(fmt::format("d{}/d{}", output, input));
  };
  Texts columns = names.outputs, all_outputs = names.outputs;
  all_outputs.insert(all_outputs.end(), names.uniform_outputs.begin(), names.uniform_outputs.end());
  if (!arguments.values) add_slopes(columns, all_outputs, names.differentiated);
  const std::string table = table_text<Real>(columns, samples, {{values, m}, {slopes, derivatives}});

  std::string uniform;
  if (!arguments.uniform.empty()) {
    const Texts& outputs = jacobian ? names.uniform_outputs : all_outputs;
    std::vector<Real> gradients;
    columns = names.uniform_outputs;
    if (!arguments.values) {
      add_slopes(columns, outputs, names.differentiated_parameters);
      gradients.resize(outputs.size() * program.differentiated_parameters());
      if (jacobian) replay.parameter_jacobian(samples, in, gradients);
      else std::ranges::copy(replay.parameter_gradients(), gradients.begin());
    }
    const std::span<const Real> totals = replay.uniform_outputs();
    uniform = table_text<Real>(columns, 1, {{totals, totals.size()}, {gradients, gradients.size()}});
  }
  deliver(arguments.out, table);
  if (!arguments.uniform.empty()) deliver(arguments.uniform, uniform);
}

void add_save(CLI::App& program, Action& action) {
  auto arguments = std::make_shared<SaveArguments>();
  CLI::App& app = *program.add_subcommand("save", "Compile a workload and write its program to a file");
  app.add_option("file", arguments->file, "where to")->type_name("FILE")->required();
  app.add_option("--workload", arguments->workload, "see `wengert list`")->type_name("NAME")->capture_default_str();
  add_count(app, "--ops", arguments->ops, 1, 4294967294, "recorded ops, of workloads that can be of any size");
  app.add_option("--precision", arguments->precision, "f64 or f32")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"f64", "f32"}))
      ->capture_default_str();
  app.add_option("--output", arguments->output, "last or sum: the last node, or the sum of all")
      ->type_name("NAME")
      ->check(CLI::IsMember({"last", "sum"}))
      ->capture_default_str();
  add_count(app, "--seed", arguments->seed, 0, UINT64_MAX, "of a workload that is random");
  app.footer("Examples:\n  wengert program save --workload west --ops 100 west.wng");
  app.callback([&action, arguments] { action = [arguments] { return save(*arguments); }; });
}

template <class Text>
void add_text(CLI::App& program, Action& action, const char* name, const char* help, const char* footer, Text text) {
  auto file = std::make_shared<std::string>(), out = std::make_shared<std::string>();
  CLI::App& app = *program.add_subcommand(name, help);
  app.add_option("file", *file, "a saved program")->type_name("FILE")->required();
  not_empty(app.add_option("--out", *out, "where to write it"))->type_name("FILE")->default_str("standard output");
  app.footer(footer);
  app.callback([&action, file, out, text] {
    action = [file, out, text] {
      with_program(*file, [&](const auto& loaded) { deliver(*out, text(loaded)); });
      return int(ExitCode::ok);
    };
  });
}

void add_run(CLI::App& program, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App& app = *program.add_subcommand("run", "Values and derivatives at the points of a CSV file");
  app.add_option("file", arguments->file, "a saved program")->type_name("FILE")->required();
  app.add_option("points", arguments->inputs, "CSV, a line per sample and a column per input, by name or in order")
      ->type_name("CSV")
      ->default_str("-, standard input");
  app.add_option("--parameters", arguments->parameters, "values of the parameters")
      ->type_name("A,B,...")
      ->default_str("as saved");
  app.add_flag("--values", arguments->values, "no derivatives");
  not_empty(app.add_option("--out", arguments->out, "CSV of values and derivatives, a line per sample"))
      ->type_name("FILE")
      ->default_str("standard output");
  not_empty(app.add_option("--uniform", arguments->uniform,
                           "CSV of what there is once per batch: uniform outputs, derivatives in parameters"))
      ->type_name("FILE")
      ->default_str("not written");
  app.add_option("--isa", arguments->isa, "auto, scalar, avx2 or avx512")->type_name("NAME")->capture_default_str();
  add_count(app, "--threads", arguments->threads, 1, 65536, "threads")->default_str("all cores");
  app.footer(
      "A first line that isn't numbers names the inputs, in any order. Numbers are decimal, inf or nan, and read back "
      "as\n"
      "they were.\n\n"
      "Examples:\n"
      "  wengert program run f.wng points.csv --out gradients.csv\n"
      "  echo 1,2 | wengert program run expr.wng");
  app.callback([&action, arguments] {
    action = [arguments] {
      with_program(arguments->file, [&](const auto& loaded) { run(loaded, *arguments); });
      return int(ExitCode::ok);
    };
  });
}

}  // namespace

void add_program(CLI::App& app, Action& action) {
  CLI::App& program = *app.add_subcommand("program", "Saved programs: save, info, dot, run");
  program.require_subcommand(1);
  add_save(program, action);
  add_text(program, action, "info", "What a program takes, gives, and is made of",
           "Examples:\n  wengert program info f.wng", [](const auto& loaded) { return about(loaded); });
  add_text(program, action, "dot", "The graph in Graphviz's language",
           "Examples:\n  wengert program dot f.wng | dot -Tsvg > f.svg",
           [](const auto& loaded) { return dot(loaded); });
  add_run(program, action);
  program.footer("Programs are written by Program::save (docs/program-files.md) or by `wengert program save`.");
}

}  // namespace wengert::command
