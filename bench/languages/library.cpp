// Levels c-v1, lang-rust, lang-zig, ...: a tape behind the functions of tape.h, linked in or from a library.
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <type_traits>

#include "bench/languages/languages.hpp"
#include "bench/languages/tape.h"
#include "wengert/error.hpp"

namespace wengert::bench {
namespace {

struct Functions {
  decltype(&language_tape_new) record = language_tape_new;
  decltype(&language_tape_evaluate) evaluate = language_tape_evaluate;
  decltype(&language_tape_delete) remove = language_tape_delete;
};

/// A library, never unloaded: a language's own runtime may not bear that.
Functions functions_of(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error(ErrorCode::unsupported, std::string("can't load it: ") + dlerror());
  Functions functions;
  const auto find = [&](auto& function, const char* name) {
    void* found = dlsym(library, name);
    if (!found)
      throw Error(ErrorCode::unsupported, path + " has no function " + name + "; build it with scripts/languages");
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
  };
  find(functions.record, "language_tape_new");
  find(functions.evaluate, "language_tape_evaluate");
  find(functions.remove, "language_tape_delete");
  return functions;
}

class LibraryTape final : public Level<double> {
 public:
  LibraryTape(const Functions& functions, std::string isa, int version, const Workload& workload)
      : functions_(functions), isa_(std::move(isa)) {
    const bool west = workload.kind == Workload::Kind::west;
    if (!west && workload.kind != Workload::Kind::expr)
      throw Error(ErrorCode::unsupported,
                  "tapes in other languages have no workload " + workload.name + "; they have expr, west");
    const auto start = std::chrono::steady_clock::now();
    tape_ = functions_.record(version, west ? 1 : 0, workload.ops, workload.output == Output::sum);
    if (!tape_)
      throw Error(ErrorCode::out_of_memory, "it has no tape v" + std::to_string(version) + " of " +
                                                std::to_string(workload.ops) + " ops; choose fewer");
    record_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  LibraryTape(const LibraryTape&) = delete;
  ~LibraryTape() override { functions_.remove(tape_); }

  void evaluate(const Batch<double>& batch) override {
    functions_.evaluate(tape_, batch.evaluations, batch.stride, batch.inputs, batch.values, batch.gradients);
  }

  double record_seconds() const override { return record_seconds_; }
  std::string isa() const override { return isa_; }

 private:
  const Functions functions_;
  const std::string isa_;
  void* tape_ = nullptr;
  double record_seconds_ = 0;
};

}  // namespace

std::string tape_library(const std::string& language) {
  const char* folder = std::getenv("WENGERT_PEERS");
  return folder ? std::string(folder) + "/languages/" + language + ".so" : "";
}

std::unique_ptr<Level<double>> make_library_tape(const std::string& path, int version, const Workload& workload) {
  return std::make_unique<LibraryTape>(functions_of(path), "its own", version, workload);
}

std::unique_ptr<Level<double>> make_c_pool(const Workload& workload, const LevelOptions&) {
  return std::make_unique<LibraryTape>(Functions{}, "scalar", 1, workload);
}

}  // namespace wengert::bench
