// Levels jax, casadi and so on: other tools in Python, each in a process of its own (child.py), from the virtual
// environment that scripts/peers makes, PyTorch from the system. What they are told is the recorded graph; compiling is
// part of the first batch.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/peers/child.hpp"
#include "bench/peers/peers.hpp"
#include "bench/recorded.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {
namespace {

namespace fs = std::filesystem;

class PythonLevel final : public Level<double> {
 public:
  PythonLevel(const std::string& tool, const Workload& workload, const std::string& python, double patience)
      : workload_(workload), child_({python, script_of_peers(), tool}, patience) {
    const auto start = std::chrono::steady_clock::now();
    child_.ask(graph_of(workload));
    record_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void evaluate(const Batch<double>& batch) override {
    const std::size_t n = batch.evaluations, p = workload_.parameters, columns = workload_.inputs - p;
    const std::size_t d = workload_.differentiated.size(), results = workload_.summed() ? 1 : n;
    if (n != mapped_) {
      shared_ = SharedNumbers(p + columns * n + (1 + d) * results);
      child_.ask("map " + shared_.path() + ' ' + std::to_string(n));
      mapped_ = n;
    }
    double* place = std::copy(batch.parameters.begin(), batch.parameters.end(), shared_.data());
    for (std::size_t i = 0; i < columns; ++i) place = std::copy_n(batch.inputs + i * batch.stride, n, place);
    child_.ask("run");
    std::copy_n(place, results, batch.values);
    place += results;
    for (std::size_t k = 0; k < d; ++k, place += results)
      std::copy_n(place, results, batch.gradients + k * (workload_.summed() ? 1 : batch.stride));
  }

  double record_seconds() const override { return record_seconds_; }
  std::string isa() const override { return "its own"; }

 private:
  const Workload workload_;
  Child child_;
  SharedNumbers shared_;
  std::size_t mapped_ = 0;  // evaluations in it
  double record_seconds_ = 0;
};

bool in_environment(const std::string& package) {
  const char* folder = std::getenv("WENGERT_PEERS");
  if (!folder) return false;
  std::error_code error;
  for (const fs::directory_entry& python : fs::directory_iterator(fs::path(folder) / "lib", error))
    if (fs::exists(python.path() / "site-packages" / package)) return true;
  return false;
}

}  // namespace

std::string graph_of(const Workload& workload) {
  const Recorded<double> recorded(workload);
  const TapeView<double> tape = recorded.tape.view();
  nlohmann::json ops = nlohmann::json::array(), constants = nlohmann::json::object();
  for (Id id : tape.constants) constants[std::to_string(id)] = tape.values[id];
  for (const OpRecord& op : tape.ops) {
    const int arity = info(op.op).arity;
    const Id fixed[] = {op.a, op.b, op.c};
    const std::span<const Id> operands =
        arity == 0 ? tape.operands.subspan(op.a, op.b) : std::span<const Id>(fixed, std::size_t(arity));
    ops.push_back({name(op.op), op.out, operands});
  }
  return nlohmann::json{{"inputs", workload.inputs},
                        {"parameters", workload.parameters},
                        {"differentiated", workload.differentiated},
                        {"constants", std::move(constants)},
                        {"ops", std::move(ops)},
                        {"output", recorded.output}}
      .dump();
}

std::string python_of_peers() {
  const char* folder = std::getenv("WENGERT_PEERS");
  return folder ? std::string(folder) + "/bin/python" : "";
}

std::string python_with_torch() {
  if (in_environment("torch")) return python_of_peers();
  // Debian's own interpreter, whose numpy is the one that its torch was built with; `python3` on the path may be another.
  return fs::exists("/usr/lib/python3/dist-packages/torch") ? "/usr/bin/python3" : "";
}

std::string script_of_peers() {
  const fs::path own = fs::read_symlink("/proc/self/exe").parent_path();
  // Beside the command, where an installed one has it, and as a test of the same build sees it.
  for (const fs::path& path : {own / "child.py", own.parent_path() / "share" / "wengert" / "child.py",
                               own.parent_path().parent_path() / "src" / "child.py"})
    if (fs::exists(path)) return path.string();
  return "";
}

std::string missing_python_peer(const std::string& package, const std::string& script) {
  const std::string how = script + " installs it and says how to name the folder in WENGERT_PEERS";
  if (python_of_peers().empty()) return "WENGERT_PEERS is not set; " + how;
  if (script_of_peers().empty()) return "child.py is not beside the command";
  if (in_environment(package)) return "";
  return package + " is not in " + std::getenv("WENGERT_PEERS") + "; " + how;
}

std::string missing_torch() {
  if (python_with_torch().empty())
    return "torch is neither in WENGERT_PEERS nor Debian's python3-torch; scripts/setup peers installs that";
  return script_of_peers().empty() ? "child.py is not beside the command" : "";
}

std::unique_ptr<Level<double>> make_python(const std::string& tool, const Workload& workload,
                                           const LevelOptions& options, const std::string& python) {
  return std::make_unique<PythonLevel>(tool, workload, python, options.peer_limit);
}

}  // namespace wengert::bench
