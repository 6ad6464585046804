// wengert/time_loop.hpp: a step done a million times, with derivatives in a bounded amount of memory.
//
//   wengert::TimeLoop<double> spring(2, 1, [](std::span<const wengert::Var<double>> x) {
//     const auto speed = x[1] - 1e-3 * x[2] * x[0];  // place, speed; stiffness
//     return std::array{x[0] + 1e-3 * speed, speed};
//   });
//   const double start[3] = {1, 0, 4}, weights[2] = {1, 0};
//   double end[2], gradient[3];  // of the place after 10000 steps, in place, speed and stiffness
//   spring.vjp(1, 10000, wengert::rows(start, 3), wengert::rows(weights, 2), wengert::rows(end, 2),
//              wengert::rows(gradient, 3));
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "wengert/api.hpp"
#include "wengert/function.hpp"

namespace wengert {

/// How steps are run and states are kept.
struct TimeLoopOptions {
  FunctionOptions function = {};                   ///< of the step
  std::size_t most_bytes = std::size_t(64) << 20;  ///< of the states that are kept to go back from
};

template <class Real>
class Checkpoints;

/// state = step(state, parameters), done many times: evaluated on batches of start states and parameters, and differentiated
/// in reverse. States are kept at some steps only; those between are computed again on the way back, in as many levels as it
/// takes for `most_bytes`: n steps with room for s states take L evaluations of each step before its derivatives, for the
/// least L with L * n^(1/L) <= s. (Multi-level checkpointing; for optimal schedules see Griewank & Walther, Algorithm 799, ACM
/// TOMS 26 (2000) 19-45.) The bits don't depend on what is kept.
///
/// The step is code as of Function (wengert/function.hpp), with branches if need be. Time, or a sum along the way, is one more
/// number of the state. One thread at a time per TimeLoop.
template <class Real>
class WENGERT_API TimeLoop {
 public:
  /// `step` takes the `state` numbers, then the `parameters`, as one std::span<const Var<Real>>, and returns the next state.
  /// Throws bad_argument (no state), and as Function.
  template <class Step>
    requires std::invocable<Step&, std::span<const Var<Real>>>
  TimeLoop(std::size_t state, std::size_t parameters, Step step, const TimeLoopOptions& options = {})
      : TimeLoop(state, Function<Real>(state + parameters, std::move(step), options.function), options) {}
  /// @{
  /// What was moved from may be assigned to or destroyed, no more.
  TimeLoop(TimeLoop&&) noexcept;
  TimeLoop& operator=(TimeLoop&&) noexcept;
  /// @}
  ~TimeLoop();

  /// The state after `steps` steps. Per sample `state + parameters` numbers in, `state` out.
  /// Throws bad_size where the step returns another number than `state`, and as Function.
  void values(std::size_t samples, std::size_t steps, Samples<const Real> inputs, Samples<Real> values);
  /// Derivatives of the last state, weighted by `weights` (`state` per sample), in the first one and the parameters.
  /// `values` may be left empty. Throws out_of_memory where most_bytes is too little for any way to do it, saying what it takes.
  void vjp(std::size_t samples, std::size_t steps, Samples<const Real> inputs, Samples<const Real> weights,
           Samples<Real> values, Samples<Real> gradients);

  /// Of states kept by the last `vjp`.
  std::size_t bytes() const;
  /// How often the last `vjp` computed each step before it took its derivatives.
  std::size_t levels() const;
  FunctionStatistics statistics() const;  ///< of the step

 private:
  TimeLoop(std::size_t state, Function<Real> step, const TimeLoopOptions& options);

  std::unique_ptr<Checkpoints<Real>> checkpoints_;
};

extern template class TimeLoop<double>;
extern template class TimeLoop<float>;

}  // namespace wengert
