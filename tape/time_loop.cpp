#include "wengert/time_loop.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <vector>

#include "tape/cores.hpp"
#include "tape/transfer.hpp"
#include "wengert/error.hpp"

namespace wengert {
namespace {

/// Samples that are taken through the loop together: enough for lanes and cores, few enough to be kept in the caches.
constexpr std::size_t most_together = 1024, fewest_together = 64;

/// Parts that each level cuts its steps into, so that `levels` of them reach every step.
std::size_t parts_for(std::size_t steps, std::size_t levels) {
  const auto reach = [&](std::size_t parts) {
    double product = 1;
    for (std::size_t k = 0; k < levels; ++k) product *= static_cast<double>(parts);
    return product >= static_cast<double>(steps);
  };
  auto parts = static_cast<std::size_t>(std::pow(static_cast<double>(steps), 1.0 / static_cast<double>(levels)));
  parts = std::max<std::size_t>(parts, 2) - 1;
  while (!reach(parts)) ++parts;
  return parts;
}

}  // namespace

template <class Real>
class Checkpoints {
 public:
  Checkpoints(std::size_t state, Function<Real> step, const TimeLoopOptions& options)
      : state_(state), step_(std::move(step)), most_bytes_(options.most_bytes) {
    if (state_ == 0) throw Error(ErrorCode::bad_argument, "a TimeLoop without a state: give it one number at least");
    const unsigned threads = options.function.replay.threads;
    most_together_ = most_together * (threads != 0 ? threads : available_cores());
  }

  void values(std::size_t samples, std::size_t steps, Samples<const Real> inputs, Samples<Real> values) {
    need("inputs", samples, step_.inputs(), inputs);
    own_places<Real>(samples, {{"values", state_, values}}, {{"inputs", step_.inputs(), inputs}});
    for (std::size_t first = 0; first < samples; first += most_together_) {
      count_ = std::min(most_together_, samples - first);
      load(inputs, first);
      for (std::size_t k = 0; k < steps; ++k) advance();
      store(now_.data(), state_, values, first);
    }
  }

  void vjp(std::size_t samples, std::size_t steps, Samples<const Real> inputs, Samples<const Real> weights,
           Samples<Real> values, Samples<Real> gradients) {
    need("inputs", samples, step_.inputs(), inputs);
    need("weights", samples, state_, weights);
    need("gradients", samples, step_.inputs(), gradients);
    own_places<Real>(samples, {{"values", state_, values}, {"gradients", step_.inputs(), gradients}},
                     {{"inputs", step_.inputs(), inputs}, {"weights", state_, weights}});
    const std::size_t together = plan(samples, steps);
    for (std::size_t first = 0; first < samples; first += together) {
      count_ = std::min(together, samples - first);
      load(inputs, first);
      adjoint_.resize(state_ * count_);
      for (std::size_t i = 0; i < state_; ++i)
        for (std::size_t e = 0; e < count_; ++e) adjoint_[i * count_ + e] = *place(weights, first + e, i);
      gradients_.resize(step_.inputs() * count_);
      totals_.assign((step_.inputs() - state_) * count_, Real(0));
      wanted_ = values;
      first_sample_ = first;
      if (steps == 0) store(now_.data(), state_, values, first);
      else back(steps, levels_, true);
      store(adjoint_.data(), state_, gradients, first);
      for (std::size_t i = state_; i < step_.inputs(); ++i)
        for (std::size_t e = 0; e < count_; ++e)
          *place(gradients, first + e, i) = totals_[(i - state_) * count_ + e] + Real(0);
    }
  }

  std::size_t bytes() const { return kept_.size() * sizeof(Real); }
  std::size_t levels() const { return levels_; }
  FunctionStatistics statistics() const { return step_.statistics(); }

 private:
  /// How many samples at a time, and how many levels: as few levels as there is room for, where two are few enough.
  std::size_t plan(std::size_t samples, std::size_t steps) {
    std::size_t together = std::max<std::size_t>(1, std::min(samples, most_together_));
    for (;; together = (together + 1) / 2) {
      const std::size_t room = most_bytes_ / (together * state_ * sizeof(Real));
      std::size_t least = 0;
      for (levels_ = 1; levels_ <= 64; ++levels_) {
        parts_ = parts_for(std::max<std::size_t>(steps, 1), levels_);
        least = levels_ == 1 ? parts_ * levels_ : std::min(least, parts_ * levels_);
        if (parts_ * levels_ <= room) break;
      }
      const bool fits = levels_ <= 64;
      if (fits && (levels_ <= 2 || together <= fewest_together)) return prepared(together);
      if (together == 1) {
        if (fits) return prepared(together);
        throw Error(ErrorCode::out_of_memory, "a TimeLoop of " + std::to_string(steps) + " steps keeps at least " +
                                                  std::to_string(least * state_ * sizeof(Real)) +
                                                  " bytes of states for each sample; TimeLoopOptions::most_bytes is " +
                                                  std::to_string(most_bytes_));
      }
    }
  }
  std::size_t prepared(std::size_t together) {
    const std::size_t numbers = levels_ * parts_ * state_ * together;
    try {
      kept_.resize(numbers);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory, "a TimeLoop's states need " + std::to_string(numbers * sizeof(Real)) +
                                                " bytes, which can't be had; lower TimeLoopOptions::most_bytes");
    }
    return together;
  }

  /// Puts inputs of the samples at hand in place, item by item.
  void load(Samples<const Real> inputs, std::size_t first) {
    now_.resize(step_.inputs() * count_);
    for (std::size_t i = 0; i < step_.inputs(); ++i)
      for (std::size_t e = 0; e < count_; ++e) now_[i * count_ + e] = *place(inputs, first + e, i);
  }
  void store(const Real* from, std::size_t items, Samples<Real> to, std::size_t first) const {
    if (!to.data) return;
    for (std::size_t i = 0; i < items; ++i)
      for (std::size_t e = 0; e < count_; ++e) *place(to, first + e, i) = from[i * count_ + e];
  }

  Samples<const Real> now() const { return columns(static_cast<const Real*>(now_.data()), count_); }
  /// Calls the step for the first time, if need be: that tells how many numbers it returns.
  void check_size() {
    if (step_.outputs() == 0) step_.values(1, now(), {});
    if (step_.outputs() != state_)
      throw Error(ErrorCode::bad_size, "the step of this TimeLoop returns " + std::to_string(step_.outputs()) +
                                           " numbers for a state of " + std::to_string(state_));
    next_.resize(state_ * count_);
  }
  /// One step on.
  void advance() {
    check_size();
    step_.values(count_, now(), columns(next_.data(), count_));
    std::copy_n(next_.data(), state_ * count_, now_.data());
  }

  /// The reverse sweep over `steps` steps from the state in `now_`. The states at the beginnings of this level's parts are
  /// kept; each part is then done one level down, the last one first.
  void back(std::size_t steps, std::size_t level, bool last) {
    Real* const kept = kept_.data() + (level - 1) * parts_ * state_ * count_;
    const std::size_t numbers = state_ * count_;
    const std::size_t part = level > 1 ? (steps + parts_ - 1) / parts_ : 1;  // steps in each
    const std::size_t parts = (steps + part - 1) / part;
    for (std::size_t k = 0; k < parts; ++k) {
      std::copy_n(now_.data(), numbers, kept + k * numbers);
      if (k + 1 == parts) break;
      for (std::size_t j = 0; j < part; ++j) advance();
    }
    for (std::size_t k = parts; k-- > 0;) {
      std::copy_n(kept + k * numbers, numbers, now_.data());
      const std::size_t length = k + 1 == parts ? steps - k * part : part;
      if (level > 1) back(length, level - 1, last && k + 1 == parts);
      else derive(last && k + 1 == parts);
    }
  }
  /// The derivatives of the step from `now_`.
  void derive(bool last) {
    check_size();
    step_.vjp(count_, now(), columns(static_cast<const Real*>(adjoint_.data()), count_),
              last ? columns(next_.data(), count_) : Samples<Real>(), columns(gradients_.data(), count_));
    if (last) store(next_.data(), state_, wanted_, first_sample_);
    const std::size_t numbers = state_ * count_;
    std::copy_n(gradients_.data(), numbers, adjoint_.data());
    for (std::size_t k = 0; k < totals_.size(); ++k) totals_[k] += gradients_[numbers + k];
  }

  std::size_t state_;
  Function<Real> step_;
  std::size_t most_bytes_, most_together_;
  std::size_t levels_ = 0, parts_ = 0;
  std::size_t count_ = 0, first_sample_ = 0;  // of the samples at hand
  Samples<Real> wanted_;
  // Item by item: state and parameters; the state after; the adjoint of a state; what a step gives; sums for parameters.
  std::vector<Real> now_, next_, adjoint_, gradients_, totals_;
  std::vector<Real> kept_;  // [level][part]
};

template <class Real>
TimeLoop<Real>::TimeLoop(std::size_t state, Function<Real> step, const TimeLoopOptions& options)
    : checkpoints_(std::make_unique<Checkpoints<Real>>(state, std::move(step), options)) {}
template <class Real>
TimeLoop<Real>::TimeLoop(TimeLoop&&) noexcept = default;
template <class Real>
TimeLoop<Real>& TimeLoop<Real>::operator=(TimeLoop&&) noexcept = default;
template <class Real>
TimeLoop<Real>::~TimeLoop() = default;

template <class Real>
void TimeLoop<Real>::values(std::size_t samples, std::size_t steps, Samples<const Real> inputs, Samples<Real> values) {
  checkpoints_->values(samples, steps, inputs, values);
}
template <class Real>
void TimeLoop<Real>::vjp(std::size_t samples, std::size_t steps, Samples<const Real> inputs,
                         Samples<const Real> weights, Samples<Real> values, Samples<Real> gradients) {
  checkpoints_->vjp(samples, steps, inputs, weights, values, gradients);
}
template <class Real>
std::size_t TimeLoop<Real>::bytes() const {
  return checkpoints_->bytes();
}
template <class Real>
std::size_t TimeLoop<Real>::levels() const {
  return checkpoints_->levels();
}
template <class Real>
FunctionStatistics TimeLoop<Real>::statistics() const {
  return checkpoints_->statistics();
}

template class TimeLoop<double>;
template class TimeLoop<float>;

}  // namespace wengert
