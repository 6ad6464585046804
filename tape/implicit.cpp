#include "wengert/implicit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tape/lending.hpp"
#include "tape/lu.hpp"
#include "tape/show.hpp"
#include "wengert/error.hpp"

namespace wengert {
namespace {

template <class Real>
using In = Samples<const Real>;

// ---- A x = b ---------------------------------------------------------------------------------------------------------

/// Samples that are solved side by side.
constexpr std::size_t lanes = 8;

/// `lanes` samples of tables; those past the last one repeat it.
struct Group {
  std::size_t first, count;

  template <class Real>
  void read(In<Real> from, std::size_t item, Real* to) const {
    const Real* const numbers = &from(first, item);  // one after another
    if (count == lanes) std::copy_n(numbers, lanes, to);
    else
      for (std::size_t l = 0; l < lanes; ++l) to[l] = numbers[std::min(l, count - 1)];
  }
  template <class Real>
  void write(const Real* from, Samples<Real> to, std::size_t item) const {
    std::copy_n(from, count, &to(first, item));
  }
  /// Numbers of `table` from an item on, one after the other.
  template <class Real>
  void read_all(In<Real> table, std::size_t first_item, std::vector<Real>& to) const {
    for (std::size_t k = 0; k < to.size() / lanes; ++k) read(table, first_item + k, to.data() + k * lanes);
  }
};

template <class Each>
void each_group(std::size_t samples, const Each& each) {
  for (std::size_t first = 0; first < samples; first += lanes) each(Group{first, std::min(lanes, samples - first)});
}

/// The matrices of a group. `y`: x, then what Lu keeps.
template <class Real>
void take_up(Lu<Real, lanes>& lu, std::size_t n, const Group& group, In<Real> y) {
  lu.take_up(n, [&](std::size_t k, Real* to) { group.read(y, n + k, to); });
}

/// from -= a b, lane by lane.
template <class Real>
void subtract(Real* from, const Real* a, const Real* b) {
  for (std::size_t l = 0; l < lanes; ++l) from[l] -= a[l] * b[l];
}

/// dx = A^-1 (db - dA x)
template <class Real>
void tangent_of(const Lu<Real, lanes>& lu, const Group& group, const std::vector<Real>& x, In<Real> directions,
                std::vector<Real>& dx) {
  const std::size_t n = x.size() / lanes;
  Real entry[lanes];
  group.read_all(directions, n * n, dx);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      group.read(directions, i * n + j, entry);
      subtract(dx.data() + i * lanes, entry, x.data() + j * lanes);
    }
  lu.solve(dx.data());
}

}  // namespace

void detail::check_system(std::size_t matrix, std::size_t right) {
  if (matrix != right * right)
    throw Error(ErrorCode::bad_size, "solve is given a matrix of " + std::to_string(matrix) + " numbers for " +
                                         std::to_string(right) + " of b; it takes " + std::to_string(right * right));
}

template <class Real>
CustomOp<Real> make_solve(std::size_t n) {
  using Column = std::vector<Real>;
  if (n == 0) throw Error(ErrorCode::bad_argument, "solve for no unknowns: give it one at least");
  if (n >= 65535)
    throw Error(
        ErrorCode::bad_argument,
        "solve for " + std::to_string(n) + " unknowns: its matrix alone is more than the 2^32 - 2 variables of a tape");
  CustomRule<Real> rule;
  rule.name = "solve";
  rule.inputs = n * n + n;
  rule.outputs = n;
  rule.kept = Lu<Real>::kept(n);
  rule.values = [n](std::size_t samples, In<Real> at, Samples<Real> y) {
    Lu<Real, lanes> lu;
    Column x(n * lanes);
    each_group(samples, [&](const Group& group) {
      lu.factor(n, [&](std::size_t i, std::size_t j, Real* to) { group.read(at, i * n + j, to); });
      group.read_all(at, n * n, x);
      lu.solve(x.data());
      for (std::size_t i = 0; i < n; ++i) group.write(x.data() + i * lanes, y, i);
      lu.put_away([&](std::size_t k, const Real* from) { group.write(from, y, n + k); });
    });
  };
  rule.vjp = [n](std::size_t samples, In<Real>, In<Real> y, In<Real> weights, Samples<Real> gradients) {
    Lu<Real, lanes> lu;
    Column adjoint(n * lanes), x(n * lanes);
    each_group(samples, [&](const Group& group) {
      group.read_all(weights, 0, adjoint);
      group.read_all(y, 0, x);
      take_up(lu, n, group, y);
      lu.solve_transposed(adjoint.data());
      for (std::size_t i = 0; i < n; ++i) {
        const Real* const a = adjoint.data() + i * lanes;
        for (std::size_t j = 0; j < n; ++j) {
          Real product[lanes];
          for (std::size_t l = 0; l < lanes; ++l) product[l] = -(a[l] * x[j * lanes + l]);
          group.write(product, gradients, i * n + j);
        }
        group.write(a, gradients, n * n + i);
      }
    });
  };
  rule.jvp = [n](std::size_t samples, In<Real>, In<Real> y, In<Real> directions, Samples<Real> tangents) {
    Lu<Real, lanes> lu;
    Column x(n * lanes), dx(n * lanes);
    each_group(samples, [&](const Group& group) {
      group.read_all(y, 0, x);
      take_up(lu, n, group, y);
      tangent_of(lu, group, x, directions, dx);
      for (std::size_t i = 0; i < n; ++i) group.write(dx.data() + i * lanes, tangents, i);
    });
  };
  // The tangent of what vjp computes: of adjoint(b) it is -A^-T dA^T adjoint(b).
  rule.hvp = [n](std::size_t samples, In<Real>, In<Real> y, In<Real> weights, In<Real> directions,
                 Samples<Real> products) {
    Lu<Real, lanes> lu;
    Column adjoint(n * lanes), turned(n * lanes), x(n * lanes), dx(n * lanes);
    each_group(samples, [&](const Group& group) {
      take_up(lu, n, group, y);
      group.read_all(y, 0, x);
      group.read_all(weights, 0, adjoint);
      tangent_of(lu, group, x, directions, dx);
      lu.solve_transposed(adjoint.data());
      std::fill(turned.begin(), turned.end(), Real(0));
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          Real entry[lanes];
          group.read(directions, i * n + j, entry);
          subtract(turned.data() + j * lanes, entry, adjoint.data() + i * lanes);
        }
      lu.solve_transposed(turned.data());
      for (std::size_t i = 0; i < n; ++i) {
        const Real *const a = adjoint.data() + i * lanes, *const t = turned.data() + i * lanes;
        for (std::size_t j = 0; j < n; ++j) {
          Real product[lanes];
          for (std::size_t l = 0; l < lanes; ++l) product[l] = -(t[l] * x[j * lanes + l]) - a[l] * dx[j * lanes + l];
          group.write(product, products, i * n + j);
        }
        group.write(t, products, n * n + i);
      }
    });
  };
  return CustomOp<Real>(std::move(rule));
}

// ---- F(y, p) = 0 -----------------------------------------------------------------------------------------------------

namespace {

/// Newton's method and the derivatives of what it finds, on a block of samples; for one thread at a time.
template <class Real>
class RootSolver {
 public:
  RootSolver(std::size_t unknowns, Function<Real> equations, const RootOptions& options)
      : n_(unknowns), equations_(std::move(equations)), options_(options), tolerance_(options.tolerance) {
    if (tolerance_ == 0) tolerance_ = std::sqrt(static_cast<double>(std::numeric_limits<Real>::epsilon()));
  }

  const Function<Real>& equations() const { return equations_; }

  /// `at`: guesses, then p.
  void values(std::size_t samples, In<Real> at, Samples<Real> roots) {
    take(samples, at, at);
    if (equations_.outputs() == 0) equations_.values(1, points(), {});  // that tells how many there are
    if (equations_.outputs() != n_)
      throw Error(ErrorCode::bad_size, "root is given " + std::to_string(equations_.outputs()) + " equations for " +
                                           std::to_string(n_) + " unknowns");
    const std::vector<std::size_t> lost = solve();
    if (!lost.empty() && !options_.nan_where_none) no_root(at, lost.front());
    for (const std::size_t e : lost) std::fill_n(point(e), n_, std::numeric_limits<Real>::quiet_NaN());
    for (std::size_t e = 0; e < samples; ++e)
      for (std::size_t i = 0; i < n_; ++i) roots(e, i) = point(e)[i];
  }

  void vjp(std::size_t samples, In<Real> at, In<Real> roots, In<Real> weights, Samples<Real> gradients) {
    linearise(samples, at, roots);
    find_adjoints(weights);
    results_.resize(samples * all());
    equations_.vjp(samples, points(), table(adjoints_, n_), {}, rows(results_.data(), all()));
    for (std::size_t e = 0; e < samples; ++e)
      for (std::size_t i = 0; i < all(); ++i) gradients(e, i) = i < n_ ? Real(0) : results_[e * all() + i];
  }

  void jvp(std::size_t samples, In<Real> at, In<Real> roots, In<Real> directions, Samples<Real> tangents) {
    linearise(samples, at, roots);
    find_tangents(directions);
    for (std::size_t e = 0; e < samples; ++e)
      for (std::size_t i = 0; i < n_; ++i) tangents(e, i) = directions_[e * all() + i];
  }

  /// The tangent of what vjp computes. With z = (y, p), its adjoints l = -F_y^-T w and D = d(F_z^T l) along dz, these two
  /// change: dl = -F_y^-T D_y, and the gradient by F_p^T dl + D_p.
  void hvp(std::size_t samples, In<Real> at, In<Real> roots, In<Real> weights, In<Real> directions,
           Samples<Real> products) {
    linearise(samples, at, roots);
    find_adjoints(weights);
    find_tangents(directions);
    std::vector<Real> curved(samples * all());
    equations_.hvp(samples, points(), table(directions_, all()), {}, {}, rows(curved.data(), all()),
                   table(adjoints_, n_));
    for (std::size_t e = 0; e < samples; ++e) {
      for (std::size_t i = 0; i < n_; ++i) adjoints_[e * n_ + i] = -curved[e * all() + i];
      factor(e);
      lu_.solve_transposed(adjoints_.data() + e * n_);
    }
    results_.resize(samples * all());
    equations_.vjp(samples, points(), table(adjoints_, n_), {}, rows(results_.data(), all()));
    for (std::size_t e = 0; e < samples; ++e)
      for (std::size_t i = 0; i < all(); ++i)
        products(e, i) = i < n_ ? Real(0) : results_[e * all() + i] + curved[e * all() + i];
  }

 private:
  std::size_t all() const { return equations_.inputs(); }
  Real* point(std::size_t e) { return points_.data() + e * all(); }
  static In<Real> table(const std::vector<Real>& numbers, std::size_t items) { return rows(numbers.data(), items); }
  In<Real> points() const { return table(points_, all()); }

  /// Puts points in place: unknowns from one table, p from the other.
  void take(std::size_t samples, In<Real> unknowns, In<Real> at) {
    count_ = samples;
    points_.resize(samples * all());
    for (std::size_t e = 0; e < samples; ++e)
      for (std::size_t i = 0; i < all(); ++i) point(e)[i] = i < n_ ? unknowns(e, i) : at(e, i);
  }
  /// The Jacobians at the roots.
  void linearise(std::size_t samples, In<Real> at, In<Real> roots) {
    take(samples, roots, at);
    jacobians_.resize(samples * n_ * all());
    equations_.jacobian(samples, points(), {}, rows(jacobians_.data(), n_ * all()));
  }
  /// dF/dy of the e-th of `jacobians_`.
  void factor(std::size_t e) {
    lu_.factor(n_, [&](std::size_t i, std::size_t j, Real* to) { *to = jacobians_[(e * n_ + i) * all() + j]; });
  }
  /// -F_y^-T w
  void find_adjoints(In<Real> weights) {
    adjoints_.resize(count_ * n_);
    for (std::size_t e = 0; e < count_; ++e) {
      for (std::size_t i = 0; i < n_; ++i) adjoints_[e * n_ + i] = -weights(e, i);
      factor(e);
      lu_.solve_transposed(adjoints_.data() + e * n_);
    }
  }
  /// dz: dy = -F_y^-1 F_p dp, then dp.
  void find_tangents(In<Real> directions) {
    directions_.resize(count_ * all());
    for (std::size_t e = 0; e < count_; ++e) {
      Real* const dz = directions_.data() + e * all();
      for (std::size_t i = n_; i < all(); ++i) dz[i] = directions(e, i);
      for (std::size_t k = 0; k < n_; ++k) {
        dz[k] = 0;
        for (std::size_t i = n_; i < all(); ++i) dz[k] -= jacobians_[(e * n_ + k) * all() + i] * dz[i];
      }
      factor(e);
      lu_.solve(dz);
    }
  }

  /// A sample that isn't solved yet.
  struct Search {
    std::size_t sample;
    std::vector<Real> from, step;
    double norm;    // of the equations at `from`
    double length;  // of the step that is tried, in Newton steps
  };

  /// Newton's method for all samples at hand, side by side. Returns those for which it fails, the first one first.
  std::vector<std::size_t> solve() {
    std::vector<Search> open;
    for (std::size_t e = 0; e < count_; ++e)
      open.push_back({e, {}, std::vector<Real>(n_, Real(0)), std::numeric_limits<double>::infinity(), 1});
    std::vector<std::size_t> lost;
    std::vector<Real> at, values;
    for (std::size_t round = 0; !open.empty(); ++round) {
      at.resize(open.size() * all());
      values.resize(open.size() * n_);
      jacobians_.resize(open.size() * n_ * all());
      for (std::size_t k = 0; k < open.size(); ++k) std::copy_n(point(open[k].sample), all(), at.data() + k * all());
      equations_.jacobian(open.size(), table(at, all()), rows(values.data(), n_), rows(jacobians_.data(), n_ * all()));
      std::size_t left = 0;
      for (std::size_t k = 0; k < open.size(); ++k) {
        const bool goes_on = advance(open[k], k, values.data() + k * n_, round);
        if (!goes_on && std::isnan(open[k].norm)) lost.push_back(open[k].sample);
        if (goes_on && left++ != k) std::swap(open[left - 1], open[k]);
      }
      open.resize(left);
    }
    std::sort(lost.begin(), lost.end());
    return lost;
  }

  /// Takes one sample on from what its equations are at its point. False: it is done; with a norm of NaN: lost.
  bool advance(Search& search, std::size_t k, const Real* values, std::size_t round) {
    Real* const y = point(search.sample);
    double norm = 0;
    for (std::size_t i = 0; i < n_; ++i) norm += std::fabs(static_cast<double>(values[i]));
    // A step that leads uphill or out of the domain is halved; not one that the rounding errors alone may have spoilt.
    if (round > 0 && !(norm <= search.norm) && search.length > 1e-6) {
      if (round >= options_.most_steps) return search.norm = std::numeric_limits<double>::quiet_NaN(), false;
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
    if (norm == 0) {  // a root already, whatever the Jacobian is
      std::copy_n(search.from.data(), n_, y);
      return false;
    }
    if (!finite || round >= options_.most_steps) return search.norm = std::numeric_limits<double>::quiet_NaN(), false;
    return change > tolerance_ * size && change > static_cast<double>(std::numeric_limits<Real>::epsilon());
  }

  [[noreturn]] void no_root(In<Real> at, std::size_t e) const {
    const auto list = [&](std::size_t first, std::size_t end) {
      constexpr std::size_t most = 4;
      std::string text;
      for (std::size_t i = first; i < end && i < first + most; ++i)
        text += (i == first ? "" : ", ") + shortest(static_cast<double>(at(e, i)));
      return "(" + text + (end - first > most ? ", ...)" : ")");
    };
    throw Error(ErrorCode::no_root, "Newton's method finds no root in " + std::to_string(options_.most_steps) +
                                        " steps from " + list(0, n_) + " with " + list(n_, all()) +
                                        ", or meets a singular Jacobian; begin closer to it, raise "
                                        "RootOptions::most_steps, or have NaN for it (nan_where_none)");
  }

  std::size_t n_;
  Function<Real> equations_;
  RootOptions options_;
  double tolerance_;
  std::size_t count_ = 0;  // samples at hand
  // Of them, or of those that aren't solved yet, one after the other: y and p; [equation][y, p]; l; dz; what a sweep gives.
  std::vector<Real> points_, jacobians_, adjoints_, directions_, results_;
  Lu<Real> lu_;
};

template <class Real>
void each_lender(const RootSolver<Real>& solver, const Lender::Visit& visit) {
  each_lender(solver.equations(), visit);
}

}  // namespace

template <class Real>
CustomOp<Real> detail::root_op(std::size_t unknowns, std::size_t inputs, MakeFunction<Real> make,
                               const RootOptions& options) {
  if (unknowns == 0) throw Error(ErrorCode::bad_argument, "root without unknowns: give it a guess for one at least");
  if (unknowns >= no_id || inputs >= no_id)
    throw Error(ErrorCode::bad_argument, "root of " + std::to_string(unknowns) + " unknowns and " +
                                             std::to_string(inputs) + " inputs: a tape has at most 2^32 - 2 variables");
  if (!(options.tolerance >= 0))
    throw Error(ErrorCode::bad_argument,
                "root with a tolerance of " + shortest(options.tolerance) + ": it is 0, for the usual one, or more");
  using Solver = RootSolver<Real>;
  const auto all = std::make_shared<Lending<Solver>>(
      [unknowns, options, make = std::move(make)] { return Solver(unknowns, make(), options); });
  CustomRule<Real> rule;
  rule.name = "root";
  rule.inputs = unknowns + inputs;
  rule.outputs = unknowns;
  rule.values = LentValues<Real>{all, [all](std::size_t samples, In<Real> x, Samples<Real> y) {
                                   all->lend([&](Solver& solver) { solver.values(samples, x, y); });
                                 }};
  rule.vjp = [all](std::size_t samples, In<Real> x, In<Real> y, In<Real> weights, Samples<Real> gradients) {
    all->lend([&](Solver& solver) { solver.vjp(samples, x, y, weights, gradients); });
  };
  rule.jvp = [all](std::size_t samples, In<Real> x, In<Real> y, In<Real> directions, Samples<Real> tangents) {
    all->lend([&](Solver& solver) { solver.jvp(samples, x, y, directions, tangents); });
  };
  rule.hvp = [all](std::size_t samples, In<Real> x, In<Real> y, In<Real> weights, In<Real> directions,
                   Samples<Real> products) {
    all->lend([&](Solver& solver) { solver.hvp(samples, x, y, weights, directions, products); });
  };
  return CustomOp<Real>(std::move(rule));
}

template CustomOp<double> make_solve(std::size_t);
template CustomOp<float> make_solve(std::size_t);
template CustomOp<double> detail::root_op(std::size_t, std::size_t, MakeFunction<double>, const RootOptions&);
template CustomOp<float> detail::root_op(std::size_t, std::size_t, MakeFunction<float>, const RootOptions&);

}  // namespace wengert
