// The paths of a Function: recording them, finding each sample's, and running all samples of one together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "tape/in_use.hpp"
#include "tape/program.hpp"
#include "tape/worker_pool.hpp"
#include "wengert/function.hpp"

namespace wengert {

/// `items` numbers per sample that a call reads or writes.
template <class T>
struct Table {
  Samples<T> samples;
  std::size_t items;
};

template <class Real>
class FunctionPaths {
 public:
  using Record = std::function<void(std::span<const Var<Real>>, std::vector<Var<Real>>&)>;
  using In = std::vector<Table<const Real>>;
  using Out = std::vector<Table<Real>>;
  /// Evaluates `samples` on one path, from and to tables laid out as those that `run` was given.
  using Call = std::function<void(Replay<Real>& replay, std::size_t samples, const In& in, const Out& out)>;

  FunctionPaths(std::size_t inputs, Record record, const FunctionOptions& options);

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }
  FunctionStatistics statistics() const;
  void clear();
  /// Calls use(rule) for those of the custom ops on its programs, and on its tape.
  template <class Use>
  void each_rule(const Use& use) const {
    for (const auto& path : paths_)
      for (const auto& rule : path->replay.program().data().source.rules) use(*rule);
    for (const auto& call : tape_.view().calls) use(*call.rule);
  }

  /// Sees to it that there is a path, so that the number of outputs is known.
  void prepare(std::size_t samples, Samples<const Real> inputs);
  /// in[0] are the inputs.
  void run(std::size_t samples, const In& in, const Out& out, const Call& call);

 private:
  /// What tells a path from others: how each guard came out, and the constant it compares with, by which to_integer has
  /// more than two ways to go.
  struct Turn {
    bool outcome;
    Real constant;
  };
  /// Paths make a tree. One that first differs from this at guard k is found through next[k]: it, or one that differs from it
  /// later, and so on.
  struct Path {
    explicit Path(Replay<Real> replay_) : replay(std::move(replay_)) {}
    Replay<Real> replay;
    std::vector<Turn> turns;
    std::unordered_map<std::size_t, Path*> next;
    std::uint64_t served = 0, last_used = 0;
  };
  /// Samples that left `from` at a guard, when the tree was number `tree`: in another they have to begin at its root.
  struct Group {
    std::shared_ptr<Path> from;
    std::size_t guard;
    std::uint64_t tree;
    std::vector<std::size_t> samples;
  };

  InUse use() { return InUse(running_, "this Function"); }
  void run_code(std::span<const Var<Real>> inputs, std::vector<Var<Real>>& outputs);
  std::shared_ptr<Path> record(Samples<const Real> inputs, std::size_t sample);
  void make_room();
  void insert(Path& path);
  void plant();
  std::shared_ptr<Path> shared(const Path* path) const;
  void sort_out(const std::shared_ptr<Path>& path, std::span<const std::size_t> samples, std::size_t count,
                std::vector<Group>& groups);
  void run_group(const Group& group, const In& in, const Out& out, const Call& call, std::vector<Group>& groups);

  std::size_t inputs_, outputs_ = 0;
  Record record_;
  FunctionOptions options_;
  std::unique_ptr<WorkerPool, WorkerPool::End> pool_;
  std::vector<std::shared_ptr<Path>> paths_;  // the first is the root
  NaiveTape<Real> tape_;
  std::vector<Real> numbers_;  // of a group, one after another
  FunctionStatistics statistics_;
  std::uint64_t clock_ = 0, tree_ = 0;
  bool running_ = false;
  bool planted_ = true;  // the tree is whole: planting it didn't fail for want of memory
};

}  // namespace wengert
