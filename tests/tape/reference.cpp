// Random graphs against MPFR: every value from its operands, and the whole reverse sweep with a bound on its rounding
// errors that is carried along.
#include "tests/oracle.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "tests/soak.hpp"
#include "tests/ulp.hpp"

using namespace wengert;
using namespace wengert::test;

namespace {

/// An op's exact outputs and Jacobian at given operands, and the sizes that rounding errors are relative to.
struct Linear {
  std::vector<Big> outputs, output_sizes;
  std::vector<std::vector<Big>> slopes, slope_sizes;  // [output][operand]
};

Linear linearise(Op op, const std::vector<Big>& x) {
  Linear l;
  if (info(op).arity == 0) {
    const NaryOracle& truth = *nary_oracle(op);
    l.outputs = truth.value(x);
    l.output_sizes = truth.value_scale ? truth.value_scale(x) : l.outputs;
    for (std::size_t j = 0; j < l.outputs.size(); ++j) {
      l.slopes.emplace_back(), l.slope_sizes.emplace_back();
      for (std::size_t i = 0; i < x.size(); ++i) {
        l.slopes[j].push_back(truth.partial(x, j, i));
        l.slope_sizes[j].push_back(truth.partial_scale ? truth.partial_scale(x, j, i) : l.slopes[j][i]);
      }
    }
  } else {
    const Oracle& truth = *oracle(op);
    std::vector<Big> o = x;
    o.resize(3, Big(0));
    l.outputs = {truth.value(o.data())};
    l.output_sizes = {truth.value_scale ? truth.value_scale(o.data()) : l.outputs[0]};
    l.slopes.emplace_back(), l.slope_sizes.emplace_back();
    for (std::size_t i = 0; i < x.size(); ++i) {
      l.slopes[0].push_back(truth.partials[i](o.data()));
      l.slope_sizes[0].push_back(truth.partial_scales[i] ? truth.partial_scales[i](o.data()) : l.slopes[0][i]);
    }
  }
  return l;
}

/// Where a bound says something at all: no overflow, no subnormals, no poles, no ties on the way.
bool ordinary(const Big& x) { return x.is_zero() || (x.is_finite() && abs(x) > 1e-100 && abs(x) < 1e100); }

/// Number of variables whose adjoint was judged.
std::size_t check_graph(std::uint64_t seed) {
  constexpr double eps = 0x1p-53;
  Random random(seed);
  RandomTape<double> graph = random_tape<double>(random, 1 + random.below(25));
  NaiveTape<double>& tape = graph.tape;
  tape.backward(graph.outputs[0]);
  const TapeView<double> view = tape.view();

  std::vector<Big> adjoints(tape.size(), Big(0)), errors(tape.size(), Big(0));  // |our adjoint - adjoint| <= error
  std::vector<char> judged(tape.size(), 1);
  adjoints[graph.outputs[0]] = 1;
  for (std::size_t k = view.ops.size(); k-- > 0;) {
    const OpRecord& record = view.ops[k];
    const OpInfo& row = info(record.op);
    std::vector<Id> operands = {record.a, record.b, record.c};
    if (row.arity == 0) operands.assign(view.operands.begin() + record.a, view.operands.begin() + record.a + record.b);
    else operands.resize(static_cast<std::size_t>(row.arity));
    std::vector<Big> x;
    bool fine = true;
    for (Id id : operands) {
      x.push_back(tape.value(id));
      fine &= ordinary(x.back());
    }
    const std::uint32_t outputs = row.outputs(static_cast<std::uint32_t>(operands.size()));
    for (std::uint32_t j = 0; j < outputs; ++j) fine &= ordinary(Big(tape.value(record.out + j)));
    if (!fine) {
      for (Id id : operands) judged[id] = 0;
      continue;
    }
    const Linear l = linearise(record.op, x);
    for (std::uint32_t j = 0; j < outputs; ++j) {
      const double error =
          ulp_error(tape.value(record.out + j), l.outputs[j], larger(abs(l.output_sizes[j]), abs(l.outputs[j])));
      BOOST_TEST(error <= (row.ulp + 0.5) * static_cast<double>(operands.size() + 1),
                 name(record.op) << " in graph " << seed << ": value " << show(tape.value(record.out + j)) << ", not "
                                 << l.outputs[j].to_double());
    }
    bool tie = false;
    for (std::size_t i = 1; i < operands.size(); ++i) tie |= x[i] == x[0];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Id id = operands[i];
      if (tie && (row.uses[0] & uses::T)) judged[id] = 0;  // its slopes depend on what is a constant
      Big size = 0;
      for (std::uint32_t j = 0; j < outputs; ++j) {
        const Big &g = adjoints[record.out + j], &p = l.slopes[j][i];
        if (!ordinary(p) || !ordinary(g) || !ordinary(l.slope_sizes[j][i]) || !judged[record.out + j]) {
          judged[id] = 0;
          continue;
        }
        adjoints[id] = adjoints[id] + g * p;
        size = size + abs(g) * larger(abs(p), abs(l.slope_sizes[j][i]));
        errors[id] = errors[id] + errors[record.out + j] * larger(abs(p), abs(l.slope_sizes[j][i]));
      }
      // The partial, the product, and one addition; twice over, for what is of second order.
      errors[id] =
          errors[id] +
          2 * eps * ((2 * row.ulp_partials + 2 + static_cast<double>(operands.size())) * size + abs(adjoints[id]));
    }
  }
  std::size_t count = 0;
  for (Id id = 0; id < tape.size(); ++id) {
    if (!judged[id] || adjoints[id].is_nan()) continue;
    ++count;
    const Big off = abs(Big(tape.grad(id)) - adjoints[id]);
    BOOST_TEST((off <= errors[id] + 1e-250), "graph " << seed << ", adjoint " << id << ": " << show(tape.grad(id))
                                                      << ", not " << adjoints[id].to_double() << " +- "
                                                      << errors[id].to_double());
  }
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference)

BOOST_AUTO_TEST_CASE(random_graphs) {
  const ReferenceFor<double> precision;
  std::size_t judged = 0, graphs = soak(1500);
  for (std::uint64_t seed = 0; seed < graphs; ++seed) judged += check_graph(seed);
  BOOST_TEST(judged > 4 * graphs, "only " << judged << " adjoints could be judged");
}

BOOST_AUTO_TEST_SUITE_END()
