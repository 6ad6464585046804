#include "bench/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "bench/batch.hpp"
#include "bench/make_level.hpp"
#include "bench/recorded.hpp"
#include "bench/reference.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {
namespace {

constexpr std::size_t mismatches_told = 5;
constexpr std::size_t most_differences = 16;     ///< inputs whose gradients are also taken by central differences
constexpr long double difference_error = 1e-7L;  ///< of such a difference, over the scale of its gradient

/// Error of a level that takes differences in its own precision, over the scales of gradient and value together: with the best
/// step both rounding and what the series leaves out are some eps^(2/3).
template <class Real>
const long double approximate_error =
    50 * std::pow(static_cast<long double>(std::numeric_limits<Real>::epsilon()), 2.0L / 3);

/// Seeds of all nodes: exact in any precision, and not all alike, so that a seed on the wrong node is found.
double seed_of(std::size_t variable) { return 1 + double(variable % 8) / 8; }

/// Evaluations whose every node is compared: the ends and the middle of the batch.
std::vector<std::size_t> looked_at(std::size_t evaluations) {
  std::vector<std::size_t> few{0, evaluations / 2, evaluations - 1};
  few.erase(std::unique(few.begin(), few.end()), few.end());
  return few;
}

template <class Real>
bool same_bits(Real a, Real b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

/// Counts comparisons and puts mismatches into words.
template <class Real>
class Comparison {
 public:
  explicit Comparison(Verification& result) : result_(result) {}

  /// True within 64 eps of the scale (and the smallest normal number, for what underflows on the way) plus `slack` of it.
  template <class Where>
  bool close(Real got, long double want, long double scale, const Where& where, long double slack = 0) {
    ++result_.compared;
    if (got == want || (std::isnan(got) && std::isnan(want))) return true;
    using Limits = std::numeric_limits<Real>;
    const long double error = std::fabs(got - want);
    const long double allowed = (64 * static_cast<long double>(Limits::epsilon()) + slack) * scale + Limits::min();
    if (slack == 0 && scale > Limits::min())
      result_.max_relative_error = std::max(result_.max_relative_error, double(error / scale));
    if (error <= allowed) return true;
    mismatch([&] {
      return fmt::format("{}: {} instead of {}, off by {:.3g} where {:.3g} is allowed", where(), got, Real(want),
                         double(error), double(allowed));
    });
    return false;
  }

  template <class Where>
  void same(Real got, Real want, const Where& where, std::string_view level = "v2") {
    ++result_.compared;
    if (!same_bits(got, want))
      mismatch([&] { return fmt::format("{}: {}, but {} with {}", where(), got, want, level); });
  }

 private:
  template <class Message>
  void mismatch(const Message& message) {
    if (++result_.wrong <= mismatches_told) result_.mismatches.push_back(message());
  }

  Verification& result_;
};

template <class Real>
struct Nodes {
  bool known = false;
  std::vector<Real> values, adjoints;

  Nodes(Level<Real>& level, const std::vector<Real>& inputs, std::size_t variables)
      : values(variables), adjoints(variables) {
    std::vector<Real> seeds(variables);
    for (std::size_t v = 0; v < variables; ++v) seeds[v] = Real(seed_of(v));
    known = level.nodes(inputs, seeds, values, adjoints);
  }
};

/// The level whose bits the rungs have: v2, or v5 for sums of gradients of what is planned.
const LevelInfo& bits_of(std::string_view name) {
  for (const LevelInfo& info : levels())
    if (info.name == name) return info;
  throw Error(ErrorCode::unsupported,
              fmt::format("level {}, which others are compared with, is missing from the registry", name));
}

/// A number of the reference.
struct Number {
  long double value = 0, scale = 0;
  void operator+=(const Number& other) {
    value += other.value;
    scale += other.scale;
  }
};

}  // namespace

template <class Real>
struct Verifier<Real>::Expected {
  struct Looked {
    std::size_t evaluation;
    ReferenceResult reference;
    Nodes<Real> v2;
  };
  struct Difference {
    std::size_t evaluation, k;
    long double slope;
    Number adjoint;  // of that evaluation
  };

  Workload workload;
  Recorded<Real> recorded;                // tells the op of a node
  BatchData<Real> data;                   // with the results of v2
  BatchData<Real> planned;                // with those of v5, where they are sums
  std::vector<Number> values, gradients;  // of the results
  std::vector<Looked> looked;
  std::vector<Difference> differences;

  Expected(const LadderOptions& options, std::size_t evaluations)
      : workload(make_workload(options.workload, options.workload_options)),
        recorded(workload),
        data(workload, evaluations),
        planned(workload, workload.summed() ? evaluations : 0),
        values(data.results()),
        gradients(data.results() * workload.differentiated.size()) {
    const Reference reference(workload);
    const auto level = make_level<Real>(bits_of("v2"), workload, options.level_options);
    level->evaluate(data.batch());
    if (workload.summed()) make_level<Real>(bits_of("v5"), workload, options.level_options)->evaluate(planned.batch());
    const std::vector<std::size_t> few = looked_at(evaluations);
    for (std::size_t e = 0; e < evaluations; ++e) {
      const std::vector<Real> row = data.row(e);
      const std::vector<double> inputs(row.begin(), row.end());
      const ReferenceResult right = reference.evaluate(inputs);
      const std::size_t result = workload.summed() ? 0 : e, gradients_each = workload.differentiated.size();
      values[result] += {right.values[reference.output()], right.value_scales[reference.output()]};
      for (std::size_t k = 0; k < gradients_each; ++k) {
        const std::uint32_t i = workload.differentiated[k];
        gradients[result * gradients_each + k] += {right.adjoints[i], right.adjoint_scales[i]};
      }
      if (std::find(few.begin(), few.end(), e) == few.end()) continue;
      std::vector<double> seeds(reference.variables());
      for (std::size_t v = 0; v < seeds.size(); ++v) seeds[v] = seed_of(v);
      looked.push_back({e, reference.evaluate(inputs, seeds), Nodes<Real>(*level, row, reference.variables())});
      const std::size_t count = std::min(gradients_each, most_differences);
      for (std::size_t d = 0; d < count; ++d) {
        const std::size_t k = d * gradients_each / count;
        const std::uint32_t i = workload.differentiated[k];
        differences.push_back({e, k, reference.difference(inputs, i), {right.adjoints[i], right.adjoint_scales[i]}});
      }
    }
  }

  const Number& gradient(std::size_t result, std::size_t k) const {
    return gradients[result * workload.differentiated.size() + k];
  }

  std::string describe(std::size_t variable) const {
    if (variable < workload.inputs) return fmt::format("input {}", variable);
    const auto ops = recorded.tape.view().ops;
    const auto after = std::upper_bound(ops.begin(), ops.end(), variable,
                                        [](std::size_t v, const OpRecord& op) { return v < op.out; });
    // An op has the variables up to the next one, of which constants may be the last.
    return after == ops.begin() ? fmt::format("node {}", variable)
                                : fmt::format("node {} ({})", variable, wengert::name(std::prev(after)->op));
  }
};

template <class Real>
Verifier<Real>::Verifier(const LadderOptions& options, std::size_t evaluations)
    : expected_(std::make_unique<Expected>(options, evaluations)) {}

template <class Real>
Verifier<Real>::~Verifier() = default;

template <class Real>
Verification Verifier<Real>::check(const LevelInfo& info, const LevelOptions& options) const {
  const Expected& right = *expected_;
  const auto level = make_level<Real>(info, right.workload, options);
  Verification result;
  Comparison<Real> compare(result);

  for (const auto& looked : right.looked) {
    const Nodes<Real> nodes(*level, right.data.row(looked.evaluation), right.workload.variables);
    if (!nodes.known) break;
    result.has_nodes = true;
    for (std::size_t v = 0; v < right.workload.variables; ++v) {
      const auto value = [&] {
        return fmt::format("evaluation {}, value of {}", looked.evaluation, right.describe(v));
      };
      const auto adjoint = [&] {
        return fmt::format("evaluation {}, all nodes seeded, adjoint of {}", looked.evaluation, right.describe(v));
      };
      const ReferenceResult& reference = looked.reference;
      if (compare.close(nodes.values[v], reference.values[v], reference.value_scales[v], value) && info.ladder)
        compare.same(nodes.values[v], looked.v2.values[v], value);
      if (compare.close(nodes.adjoints[v], reference.adjoints[v], reference.adjoint_scales[v], adjoint) && info.ladder)
        compare.same(nodes.adjoints[v], looked.v2.adjoints[v], adjoint);
    }
  }

  const bool summed = right.workload.summed();
  BatchData<Real> data(right.workload, right.data.batch().evaluations);
  level->evaluate(data.batch());
  const auto place = [&](std::size_t e) { return summed ? "the batch" : fmt::format("evaluation {}", e); };
  const auto gradient_of = [&](std::size_t e, std::size_t k) {
    return fmt::format("{}, gradient of input {}", place(e), right.workload.differentiated[k]);
  };
  const BatchData<Real>& rung = summed && info.planned ? right.planned : right.data;
  if (summed && info.planned) result.gradient_bits_of = "v5";
  for (std::size_t e = 0; e < data.results(); ++e) {
    const auto value = [&] { return fmt::format("{}, value of the output", place(e)); };
    if (compare.close(data.value(e), right.values[e].value, right.values[e].scale, value) && info.ladder)
      compare.same(data.value(e), right.data.value(e), value);
    for (std::size_t k = 0; k < right.workload.differentiated.size(); ++k) {
      const auto gradient = [&] { return gradient_of(e, k); };
      const Number& want = right.gradient(e, k);
      if (info.approximate)
        compare.close(data.gradient(e, k), want.value, want.scale + right.values[e].scale, gradient,
                      approximate_error<Real>);
      else if (compare.close(data.gradient(e, k), want.value, want.scale, gradient) && info.ladder)
        compare.same(data.gradient(e, k), rung.gradient(e, k), gradient, result.gradient_bits_of);
    }
  }
  // Of a sum, the reference's terms are what is compared with differences.
  for (const auto& difference : right.differences) {
    if (info.approximate) break;
    compare.close(
        summed ? Real(difference.adjoint.value) : data.gradient(difference.evaluation, difference.k), difference.slope,
        difference.adjoint.scale,
        [&] { return gradient_of(difference.evaluation, difference.k) + " against a central difference"; },
        difference_error);
  }
  return result;
}

template <class Real>
Verifier<Real> ladder_verifier(const LadderOptions& options) {
  LadderOptions small = options;
  small.workload_options.ops = std::min(options.workload_options.ops, verification_ops);
  small.workload_options.output = Output::sum;
  if (options.workload == "heston")
    for (std::size_t& steps : small.workload_options.size) steps = std::min(steps, Heston::trading_days);
  return Verifier<Real>(small, verification_evaluations);
}

template class Verifier<double>;
template class Verifier<float>;
template Verifier<double> ladder_verifier(const LadderOptions&);
template Verifier<float> ladder_verifier(const LadderOptions&);

}  // namespace wengert::bench
