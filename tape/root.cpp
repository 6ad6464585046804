#include "wengert/root.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tape/lu.hpp"
#include "tape/transfer.hpp"
#include "wengert/error.hpp"

namespace wengert {

template <class Real>
class RootSolver {
 public:
  RootSolver(std::size_t unknowns, Function<Real> equations, const RootOptions& options)
      : n_(unknowns), equations_(std::move(equations)), tolerance_(options.tolerance), most_steps_(options.most_steps) {
    if (n_ == 0) throw Error(ErrorCode::bad_argument, "a Root without unknowns: give it one at least");
    if (tolerance_ == 0) tolerance_ = std::sqrt(static_cast<double>(std::numeric_limits<Real>::epsilon()));
  }

  void values(std::size_t samples, Samples<const Real> guesses, Samples<const Real> inputs, Samples<Real> roots) {
    run(samples, guesses, inputs, roots, [](std::size_t) {});
  }

  void vjp(std::size_t samples, Samples<const Real> guesses, Samples<const Real> inputs, Samples<const Real> weights,
           Samples<Real> roots, Samples<Real> gradients) {
    run(samples, guesses, inputs, roots, [&](std::size_t first) {
      jacobians_.resize(count_ * n_ * all());
      equations_.jacobian(count_, points(), {}, rows(jacobians_.data(), n_ * all()));
      std::vector<Real> adjoints(count_ * n_), derivatives(count_ * all());
      for (std::size_t e = 0; e < count_; ++e) {
        Real* const adjoint = adjoints.data() + e * n_;
        for (std::size_t i = 0; i < n_; ++i) adjoint[i] = -*place(weights, first + e, i);
        factor(e);
        lu_.solve_transposed(adjoint);
      }
      equations_.vjp(count_, points(), rows(static_cast<const Real*>(adjoints.data()), n_), {},
                     rows(derivatives.data(), all()));
      for (std::size_t e = 0; e < count_; ++e)
        for (std::size_t i = n_; i < all(); ++i) *place(gradients, first + e, i - n_) = derivatives[e * all() + i];
    });
  }

  std::size_t steps() const { return steps_; }
  FunctionStatistics statistics() const { return equations_.statistics(); }

 private:
  /// Samples that are solved together, and what comes after: derive(first sample).
  template <class Derive>
  void run(std::size_t samples, Samples<const Real> guesses, Samples<const Real> inputs, Samples<Real> roots,
           const Derive& derive) {
    constexpr std::size_t most_together = 4096;
    steps_ = 0;
    std::size_t lost = samples;
    for (std::size_t first = 0; first < samples; first += count_) {
      count_ = std::min(most_together, samples - first);
      points_.resize(count_ * all());
      for (std::size_t e = 0; e < count_; ++e) {
        for (std::size_t i = 0; i < n_; ++i) point(e)[i] = guesses.data ? *place(guesses, first + e, i) : Real(0);
        for (std::size_t i = n_; i < all(); ++i) point(e)[i] = *place(inputs, first + e, i - n_);
      }
      check_size();
      if (const std::size_t e = solve(); e != count_) lost = std::min(lost, first + e);
      if (roots.data)
        for (std::size_t e = 0; e < count_; ++e)
          for (std::size_t i = 0; i < n_; ++i) *place(roots, first + e, i) = point(e)[i];
      derive(first);
    }
    if (lost != samples)
      throw Error(ErrorCode::no_root,
                  "sample " + std::to_string(lost) + ": Newton's method finds no root in " +
                      std::to_string(most_steps_) +
                      " steps, or meets a singular Jacobian; begin closer to it, or raise RootOptions::most_steps");
  }

  std::size_t all() const { return equations_.inputs(); }
  Real* point(std::size_t e) { return points_.data() + e * all(); }
  Samples<const Real> points() const { return rows(static_cast<const Real*>(points_.data()), all()); }

  /// Calls the equations for the first time, if need be: that tells how many there are.
  void check_size() {
    if (equations_.outputs() == 0) equations_.values(1, points(), {});
    if (equations_.outputs() != n_)
      throw Error(ErrorCode::bad_size, "the code of this Root returns " + std::to_string(equations_.outputs()) +
                                           " equations for " + std::to_string(n_) + " unknowns");
  }

  /// dF/dy of the e-th of `jacobians_`.
  void factor(std::size_t e) {
    std::vector<Real> matrix(n_ * n_);
    for (std::size_t k = 0; k < n_; ++k)
      std::copy_n(jacobians_.data() + (e * n_ + k) * all(), n_, matrix.data() + k * n_);
    lu_.factor(n_, std::move(matrix));
  }

  /// A sample that isn't solved yet.
  struct Search {
    std::size_t sample;
    std::vector<Real> from, step;
    double norm;    // of the equations at `from`
    double length;  // of the step that is tried, in Newton steps
  };

  /// Newton's method for all samples at hand, side by side. Returns the first one for which it fails, or how many there are.
  std::size_t solve() {
    std::vector<Search> open;
    for (std::size_t e = 0; e < count_; ++e)
      open.push_back({e, {}, std::vector<Real>(n_, Real(0)), std::numeric_limits<double>::infinity(), 1});
    std::size_t lost = count_;
    std::vector<Real> at, values;
    for (std::size_t round = 0; !open.empty(); ++round) {
      at.resize(open.size() * all());
      values.resize(open.size() * n_);
      jacobians_.resize(open.size() * n_ * all());
      for (std::size_t k = 0; k < open.size(); ++k) std::copy_n(point(open[k].sample), all(), at.data() + k * all());
      equations_.jacobian(open.size(), rows(static_cast<const Real*>(at.data()), all()), rows(values.data(), n_),
                          rows(jacobians_.data(), n_ * all()));
      std::size_t left = 0;
      for (std::size_t k = 0; k < open.size(); ++k) {
        const bool goes_on = advance(open[k], k, values.data() + k * n_, round);
        if (!goes_on && std::isnan(open[k].norm)) lost = std::min(lost, open[k].sample);
        if (goes_on) std::swap(open[left++], open[k]);
      }
      open.resize(left);
    }
    return lost;
  }

  /// Takes one sample on from what its equations are at its point. False: it is done; with a norm of NaN: lost.
  bool advance(Search& search, std::size_t k, const Real* values, std::size_t round) {
    Real* const y = point(search.sample);
    double norm = 0;
    for (std::size_t i = 0; i < n_; ++i) norm += std::fabs(static_cast<double>(values[i]));
    // A step that leads uphill or out of the domain is halved; not one that the rounding errors alone may have spoilt.
    if (round > 0 && !(norm <= search.norm) && search.length > 1e-6) {
      if (round >= most_steps_) return search.norm = std::numeric_limits<double>::quiet_NaN(), false;
      search.length /= 2;
      for (std::size_t i = 0; i < n_; ++i) y[i] = search.from[i] + static_cast<Real>(search.length) * search.step[i];
      return true;
    }
    search.from.assign(y, y + n_);
    search.norm = norm;
    search.length = 1;
    for (std::size_t i = 0; i < n_; ++i) search.step[i] = -values[i];
    factor(k);
    lu_.solve(search.step.data());
    double change = 0, size = 0;
    bool finite = std::isfinite(norm);
    for (std::size_t i = 0; i < n_; ++i) {
      const double s = static_cast<double>(search.step[i]);
      finite = finite && std::isfinite(s);
      change = std::max(change, std::fabs(s));
      y[i] += search.step[i];
      size = std::max(size, std::fabs(static_cast<double>(y[i])));
    }
    steps_ = std::max(steps_, round + 1);
    if (norm == 0) {  // a root already, whatever the Jacobian is
      std::copy_n(search.from.data(), n_, y);
      return false;
    }
    if (!finite || round >= most_steps_) return search.norm = std::numeric_limits<double>::quiet_NaN(), false;
    return change > tolerance_ * size && change > static_cast<double>(std::numeric_limits<Real>::epsilon());
  }

  std::size_t n_;
  Function<Real> equations_;
  double tolerance_;
  std::size_t most_steps_, steps_ = 0, count_ = 0;  // count_: of the samples at hand
  std::vector<Real> points_, jacobians_;            // of the samples at hand; of those that aren't solved yet
  Lu<Real> lu_;
};

template <class Real>
Root<Real>::Root(std::size_t unknowns, Function<Real> equations, const RootOptions& options)
    : solver_(std::make_unique<RootSolver<Real>>(unknowns, std::move(equations), options)) {}
template <class Real>
Root<Real>::Root(Root&&) noexcept = default;
template <class Real>
Root<Real>& Root<Real>::operator=(Root&&) noexcept = default;
template <class Real>
Root<Real>::~Root() = default;

template <class Real>
void Root<Real>::values(std::size_t samples, Samples<const Real> guesses, Samples<const Real> inputs,
                        Samples<Real> roots) {
  solver_->values(samples, guesses, inputs, roots);
}
template <class Real>
void Root<Real>::vjp(std::size_t samples, Samples<const Real> guesses, Samples<const Real> inputs,
                     Samples<const Real> weights, Samples<Real> roots, Samples<Real> gradients) {
  solver_->vjp(samples, guesses, inputs, weights, roots, gradients);
}
template <class Real>
std::size_t Root<Real>::steps() const {
  return solver_->steps();
}
template <class Real>
FunctionStatistics Root<Real>::statistics() const {
  return solver_->statistics();
}

template class Root<double>;
template class Root<float>;

}  // namespace wengert
