// wengert/function.hpp: ordinary C++ with branches on batches: one program for each path through the code.
//
//   wengert::Function<double> f(2, [](std::span<const wengert::Var<double>> x) {
//     return x[0] < x[1] ? exp(x[0]) * x[1] : x[0] - x[1];
//   });
//   double points[3][2] = {{1, 2}, {2, 1}, {-1, 4}}, values[3], gradients[3][2];
//   f.gradient(3, wengert::rows(points[0], 2), wengert::rows(values, 1), wengert::rows(gradients[0], 2));
//   std::printf("df/dx at (2, 1): %g, on %zu paths\n", gradients[1][0], f.statistics().paths);
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/replay.hpp"
#include "wengert/var.hpp"

namespace wengert {

/// What happens when a sample needs one path more than are kept.
enum class WhenFull {
  forget,  ///< the least recently used path goes; it is recorded again when it is needed again
  refuse   ///< too_many_paths is thrown
};

/// How paths are run and kept.
struct FunctionOptions {
  ReplayOptions replay = {};              ///< of all paths; their threads are shared. report_departures isn't looked at
  std::size_t most_paths = 64;            ///< programs kept, at least 1
  WhenFull when_full = WhenFull::forget;  ///< of most_paths
  ZeroRule zero_rule = ZeroRule::exact;   ///< of the tapes
};

/// What a Function did so far.
struct FunctionStatistics {
  std::size_t paths = 0;      ///< kept now
  std::size_t recorded = 0;   ///< how often the function itself was called
  std::size_t forgotten = 0;  ///< paths that had to go
  std::uint64_t samples = 0;  ///< asked for
  /// Of them, what was computed on a path that turned out to be another sample's, and again on its own.
  std::uint64_t repeated = 0;
  std::size_t bytes = 0;  ///< of programs and workspaces
};

template <class Real>
class FunctionPaths;

/// A function of `inputs` numbers, given as code over Vars, evaluated on batches. Where a sample takes a branch that was not
/// taken before, the code is called with that sample's values, and recorded; each sample is computed by the program of its path.
/// So the results are those of recording every sample by itself, bit for bit.
///
/// The code may do what depends on comparisons of Vars, `decide` and `to_integer` (wengert/var.hpp): if, loops, early return,
/// sorting, pivoting, recursion. Otherwise it must be a function of its inputs: what it does may not depend on `value(x)`, on
/// random numbers or on what it did before, and it records no inputs or parameters of its own. It is called seldom, in no particular order, on the calling thread.
///
/// Results are not in memory that is read (bad_argument). An exception from the code goes to the caller; results are then unspecified, and the
/// Function is as usable as before. One thread at a time per Function.
template <class Real>
class WENGERT_API Function {
 public:
  /// `code` takes std::span<const Var<Real>> and returns a Var, or a range of them, of the same length for all inputs.
  /// Throws bad_argument (most_paths), and as Replay.
  template <class Code>
    requires std::invocable<Code&, std::span<const Var<Real>>>
  Function(std::size_t inputs, Code code, const FunctionOptions& options = {})
      : Function(inputs, type_erased(std::make_shared<Code>(std::move(code))), options, 0) {}
  /// @{
  /// What was moved from may be assigned to or destroyed, no more.
  Function(Function&&) noexcept;
  Function& operator=(Function&&) noexcept;
  /// @}
  ~Function();

  std::size_t inputs() const;  ///< numbers per sample
  /// 0 until a sample was evaluated.
  std::size_t outputs() const;

  /// @{
  /// As of Replay (wengert/replay.hpp). All throw what the code throws; bad_size where it returns another number of outputs
  /// than before; bad_argument where it turns out to be no function of its inputs, or of `gradient` and `hvp` without weights
  /// where there are several outputs; too_many_paths; out_of_memory.
  void values(std::size_t samples, Samples<const Real> inputs, Samples<Real> values);
  void gradient(std::size_t samples, Samples<const Real> inputs, Samples<Real> values, Samples<Real> gradients);
  void vjp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> weights, Samples<Real> values,
           Samples<Real> gradients);
  void jvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions, Samples<Real> values,
           Samples<Real> tangents);
  void jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values, Samples<Real> jacobians);
  void hvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions, Samples<Real> values,
           Samples<Real> gradients, Samples<Real> products, Samples<const Real> weights = {});
  void hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values, Samples<Real> gradients,
               Samples<Real> hessians, Samples<const Real> weights = {});
  /// @}

  FunctionStatistics statistics() const;  ///< since it was made
  /// Forgets all paths.
  void clear();

 private:
  /// For the library itself.
  friend const FunctionPaths<Real>& paths_of(const Function& f) { return *f.paths_; }

  using Record = std::function<void(std::span<const Var<Real>> inputs, std::vector<Var<Real>>& outputs)>;

  template <class Code>
  static Record type_erased(std::shared_ptr<Code> code) {
    return [code](std::span<const Var<Real>> inputs, std::vector<Var<Real>>& outputs) {
      auto&& result = (*code)(inputs);
      if constexpr (std::is_convertible_v<decltype(result), Var<Real>>) outputs.push_back(result);
      else
        for (const Var<Real>& output : result) outputs.push_back(output);
    };
  }
  Function(std::size_t inputs, Record record, const FunctionOptions& options, int);

  std::unique_ptr<FunctionPaths<Real>> paths_;
};

extern template class Function<double>;
extern template class Function<float>;

}  // namespace wengert
