// The same bits from every build of the kernels, in every lane, beside any neighbour, one at a time or in blocks of any width.
#include "tests/same_bits.hpp"

#include "tests/backends.hpp"
#include "tests/every_op.hpp"
#include "tests/points.hpp"
#include "tests/soak.hpp"

using namespace wengert;
using namespace wengert::test;

namespace {

/// x with evaluation e moved to place (e + by) mod count.
template <class Real>
Columns<Real> rotated(Columns<Real> x, std::size_t by) {
  for (auto& column : x)
    std::rotate(column.begin(), column.end() - static_cast<std::ptrdiff_t>(by % column.size()), column.end());
  return x;
}

template <class Real>
void require_same(Op op, const Columns<Real>& x, const Columns<Real>& expected, const Columns<Real>& got,
                  std::size_t moved_by, const std::string& what) {
  for (std::size_t row = 0; row < expected.size(); ++row)
    for (std::size_t e = 0; e < expected[row].size(); ++e) {
      const Real a = expected[row][e], b = got[row][(e + moved_by) % expected[row].size()];
      if (same_bits(a, b)) continue;
      std::string at;
      for (const auto& column : x) at += " " + show(column[e]);
      BOOST_FAIL(name(op) << " at" << at << ", " << what << ": " << show(b) << " instead of " << show(a));
    }
}

template <class Real>
void check_op(Op op, std::size_t operands) {
  const std::size_t outputs = info(op).outputs(static_cast<std::uint32_t>(operands));
  if (outputs == 0) return;
  // As many points as no block width divides, edges and drawn ones mixed: good lanes sit beside NaN, inf, subnormals.
  Columns<Real> x = points<Real>(op, operands, soak(500), 21);
  Random random(22);
  for (std::size_t e = x[0].size(); e > 1; --e) {
    const std::size_t other = random.below(e);
    for (auto& column : x) std::swap(column[e - 1], column[other]);
  }
  std::vector<Real> seeds;
  for (std::size_t j = 0; j < outputs; ++j) seeds.push_back(static_cast<Real>(random.in(-2, 2)));

  for (const std::uint8_t constants : {0, 1}) {
    const auto all = backends<Real>();
    const OpResult<Real> expected = run_op(*all[0].backend, op, x, seeds, 1, constants);
    for (const auto& [isa, backend] : all)
      for (const std::size_t width : {8, 16, 32, 64, 128}) {
        if (width % static_cast<std::size_t>(backend->lanes) != 0) continue;
        const std::size_t by = random.below(width);
        const OpResult<Real> got = run_op(*backend, op, rotated(x, by), seeds, width, constants);
        const std::string what = isa + ", blocks of " + std::to_string(width) + ", moved by " + std::to_string(by);
        require_same(op, x, expected.outputs, got.outputs, by, what);
        require_same(op, x, expected.contributions, got.contributions, by, "backward, " + what);
      }
    // One at a time: what eager recording and graphs of other makes call.
    for (const auto& [isa, backend] : all) {
      if (!backend->value) continue;
      for (std::size_t e = 0; e < x[0].size(); ++e) {
        std::vector<Real> in, y(outputs), contributions(operands), scratch(operands);
        for (const auto& column : x) in.push_back(column[e]);
        backend->forward_op(op, operands, in.data(), y.data());
        backend->backward_op(op, operands, in.data(), y.data(), seeds.data(), constants, false, contributions.data(),
                             scratch.data());
        for (std::size_t j = 0; j < outputs; ++j)
          BOOST_REQUIRE_MESSAGE(same_bits(y[j], expected.outputs[j][e]), name(op) << ": forward_op of " << isa);
        for (std::size_t i = 0; i < operands; ++i)
          BOOST_REQUIRE_MESSAGE(same_bits(contributions[i] + Real(0), expected.contributions[i][e] + Real(0)),
                                name(op) << ": backward_op of " << isa << " gives operand " << i << " "
                                         << show(contributions[i]) << " instead of "
                                         << show(expected.contributions[i][e]));
        if (info(op).arity == 0) continue;
        in.resize(3, in[0]);
        BOOST_REQUIRE_MESSAGE(same_bits(backend->value(op, in[0], in[1], in[2]), y[0]), name(op)
                                                                                            << ": value of " << isa);
      }
    }
  }
}

template <class Real>
void check(Op op) {
  if (info(op).arity != 0) return check_op<Real>(op, static_cast<std::size_t>(info(op).arity));
  for (const std::size_t n : {1, 2, 3, 4, 5, 8}) check_op<Real>(op, n);
}

std::vector<Op> every_op() {
  std::vector<Op> all = fixed_ops;
  all.insert(all.end(), nary_ops.begin(), nary_ops.end());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(same_bits_suite)

BOOST_DATA_TEST_CASE(f64, boost::unit_test::data::make(every_op()), op) { check<double>(op); }
BOOST_DATA_TEST_CASE(f32, boost::unit_test::data::make(every_op()), op) { check<float>(op); }

BOOST_AUTO_TEST_SUITE_END()
