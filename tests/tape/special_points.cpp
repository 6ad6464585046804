// The points of special_points.hpp, recorded there, replayed from elsewhere, and in every lane of every instruction set.
#include "tests/tape/special_points.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ostream>
#include <string_view>

#include "tape/lane_replay.hpp"
#include "tests/same_bits.hpp"
#include "tests/tape/expression.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {

std::ostream& operator<<(std::ostream& out, const SpecialPoint& point) {
  out << point.function << " at";
  for (double x : point.at) out << " " << x;
  return out << " (" << point.reason << ")";
}

namespace {

/// A value and its gradient.
template <class Real>
struct Result {
  Real value;
  std::vector<Real> slopes;
};

template <class Real>
void check(const SpecialPoint& point, const Result<Real>& got, const std::string& where) {
  const double tolerance = sizeof(Real) == 8 ? point.tolerance : std::fmax(point.tolerance, 1e-5);
  const auto near = [&](Real g, double expected) {
    if (std::isnan(expected)) return std::isnan(g);
    if (std::isinf(expected) || expected == 0) return g == static_cast<Real>(expected);
    return std::fabs(static_cast<double>(g) - expected) <= tolerance * std::fabs(expected);
  };
  BOOST_TEST(
      (near(got.value, point.value) && (point.value != 0 || std::signbit(got.value) == std::signbit(point.value))),
      where << ": value " << show(got.value) << ", not " << show(point.value));
  for (std::size_t i = 0; i < point.slopes.size(); ++i)
    BOOST_TEST((near(got.slopes[i], point.slopes[i]) && !(got.slopes[i] == 0 && std::signbit(got.slopes[i]))),
               where << ": slope " << i << " is " << show(got.slopes[i]) << ", not " << show(point.slopes[i]));
}

template <class Real>
Result<Real> result_of(NaiveTape<Real>& tape, const Expression<Real>& f) {
  tape.backward(f.output());
  Result<Real> r{tape.value(f.output()), {}};
  for (Id id : f.inputs()) r.slopes.push_back(tape.grad(id));
  return r;
}

/// All numbers of a point are special or normal in float.
bool fits_float(const SpecialPoint& point) {
  const auto fits = [](double x) { return x == 0 || !std::isfinite(x) || std::isnormal(static_cast<float>(x)); };
  bool all = fits(point.value) && !point.f64_only;
  for (double x : point.at) all &= fits(x);
  for (double x : point.slopes) all &= fits(x);
  return all;
}

template <class Real>
void run(const SpecialPoint& point) {
  NaiveTape<Real> there;
  const Expression<Real> f(there, point.function, point.at);
  const Result<Real> expected = result_of(there, f);
  check(point, expected, "recorded at the point");

  for (const double elsewhere : {0.0, 1.0, 0.3}) {
    NaiveTape<Real> tape;
    const Expression<Real> g(tape, point.function, std::vector<double>(point.at.size(), elsewhere));
    for (std::size_t i = 0; i < point.at.size(); ++i) tape.set_input(g.inputs()[i], static_cast<Real>(point.at[i]));
    tape.forward();
    check(point, result_of(tape, g), "recorded at " + std::to_string(elsewhere));

    for (const Isa isa : usable_isas()) {
      LaneReplay<Real> replay(tape, isa, 16);
      for (std::size_t place = 0; place < 16; ++place) {
        // The point in one lane, other numbers and NaNs in the rest.
        std::vector<Real> columns;
        for (double x : point.at)
          for (std::size_t lane = 0; lane < 16; ++lane)
            columns.push_back(lane == place   ? static_cast<Real>(x)
                              : lane % 5 == 3 ? std::nanf("")
                                              : Real(0.3 * static_cast<double>(lane) - 2));
        replay.load(columns.data(), 16, 16);
        replay.forward();
        const Seed<Real> seed{g.output(), 1};
        replay.backward(std::span(&seed, 1));
        Result<Real> got{replay.values(g.output())[place], {}};
        for (Id id : g.inputs()) got.slopes.push_back(replay.adjoints(id)[place] + Real(0));
        bool same = same_bits(got.value, expected.value);
        for (std::size_t i = 0; i < got.slopes.size(); ++i) same &= same_bits(got.slopes[i], expected.slopes[i]);
        if (!same) check(point, got, std::string(name(isa)) + ", lane " + std::to_string(place));
        BOOST_TEST(same, name(isa) << ", lane " << place << " has other bits than the tape");
      }
    }
  }
}

/// Forward mode knows the same points: a tangent along each input is that input's slope.
template <class Real>
void run_forward(const SpecialPoint& point) {
  NaiveTape<Real> tape;
  const Expression<Real> f(tape, point.function, std::vector<double>(point.at.size(), 0.3));
  if (std::string_view(point.function).find("sum_samples") != std::string_view::npos) return;  // no tangents of these
  const std::size_t n = point.at.size();
  std::vector<Real> x(n * n), along(n * n), y(n);
  for (std::size_t e = 0; e < n; ++e) {
    for (std::size_t i = 0; i < n; ++i) x[e * n + i] = static_cast<Real>(point.at[i]);
    along[e * n + e] = 1;
  }
  for (const Isa isa : usable_isas()) {
    Result<Real> got{Real(0), std::vector<Real>(n)};
    Replay<Real> replay(compile(tape, f.output()), {.isa = std::string(name(isa))});
    replay.jvp(n, rows(x.data(), n), rows(along.data(), n), rows(y.data(), 1), rows(got.slopes.data(), 1));
    got.value = y[0];
    for (Real& slope : got.slopes) slope += Real(0);
    check(point, got, std::string(name(isa)) + ", forward mode");
  }
}

}  // namespace
}  // namespace wengert::test

using namespace wengert::test;

BOOST_AUTO_TEST_SUITE(special)

BOOST_DATA_TEST_CASE(f64, boost::unit_test::data::make(special_points()), point) { run<double>(point); }

BOOST_DATA_TEST_CASE(forward_f64, boost::unit_test::data::make(special_points()), point) { run_forward<double>(point); }

BOOST_AUTO_TEST_CASE(forward_f32) {
  for (const SpecialPoint& point : special_points())
    if (fits_float(point)) {
      BOOST_TEST_CONTEXT(point) run_forward<float>(point);
    }
}

BOOST_AUTO_TEST_CASE(f32) {
  std::size_t tried = 0;
  for (const SpecialPoint& point : special_points()) {
    if (!fits_float(point)) continue;
    ++tried;
    BOOST_TEST_CONTEXT(point) run<float>(point);
  }
  BOOST_TEST(tried > special_points().size() / 2);
}

BOOST_AUTO_TEST_CASE(every_op_has_a_point) {
  for (std::size_t k = 0; k < wengert::op_count; ++k) {
    const std::string name = wengert::name(static_cast<wengert::Op>(k));
    bool found = false;
    for (const SpecialPoint& point : special_points()) {
      const std::string text = point.function;
      for (std::size_t at = text.find(name + "("); at != text.npos; at = text.find(name + "(", at + 1))
        found |= at == 0 || text[at - 1] == '(' || text[at - 1] == ' ';
    }
    BOOST_TEST(found, name << " has no special point: add one to tests/tape/special_points.hpp");
  }
}

BOOST_AUTO_TEST_SUITE_END()
