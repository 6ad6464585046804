// Eager recording in a user's own build: this file alone is compiled with -O3 -march=native and contraction allowed, as
// users do, and what its header code computes must be the bits of the library, which is compiled without.
#define BOOST_TEST_MODULE native
#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

#include "wengert/wengert.hpp"

using wengert::Id;
using wengert::NaiveTape;
using wengert::Op;
using wengert::Var;

namespace {

template <class Real>
bool same(Real a, Real b) {
  return (a != a && b != b) ||
         std::bit_cast<std::array<char, sizeof(Real)>>(a) == std::bit_cast<std::array<char, sizeof(Real)>>(b);
}

/// The same computation twice: by operators of Var, compiled here, and by ids, computed in the library.
template <class Real>
struct Twice {
  NaiveTape<Real> here, there;
  std::vector<Var<Real>> vars;
  std::vector<Id> ids;

  void input(Real value) {
    vars.push_back(wengert::input(here, value));
    ids.push_back(there.input(value));
  }
  void compare(std::size_t made) { BOOST_TEST(same(value(vars[made]), there.value(ids[made])), "variable " << made); }
};

/// Products that feed sums: what contraction changes.
template <class Real>
void products_into_sums() {
  std::uint64_t state = 7;
  const auto random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<Real>(static_cast<double>(state >> 11) * 0x1p-52 - 1);
  };
  for (int round = 0; round < 2000; ++round) {
    Twice<Real> t;
    for (int i = 0; i < 4; ++i) t.input(random());
    const Var<Real> x = t.vars[0], y = t.vars[1], z = t.vars[2], w = t.vars[3];
    const Id a = t.ids[0], b = t.ids[1], c = t.ids[2], d = t.ids[3];
    NaiveTape<Real>& tape = t.there;
    t.vars.push_back(x * y + z);
    t.ids.push_back(tape.add(tape.mul(a, b), c));
    t.vars.push_back(x * y - z * w);
    t.ids.push_back(tape.sub(tape.mul(a, b), tape.mul(c, d)));
    t.vars.push_back(-(x * y) + z / w);
    t.ids.push_back(tape.add(tape.neg(tape.mul(a, b)), tape.div(c, d)));
    Var<Real> sum = x;
    Id total = a;
    for (int k = 0; k < 4; ++k) {
      sum += y * z;
      total = tape.add(total, tape.mul(b, c));
      sum -= sum * w;
      total = tape.sub(total, tape.mul(total, d));
    }
    t.vars.push_back(softplus(sum) * sum + exp(x) * y);
    t.ids.push_back(tape.add(tape.mul(tape.softplus(total), total), tape.mul(tape.exp(a), b)));
    for (std::size_t made = 4; made < t.vars.size(); ++made) t.compare(made);
    backward(t.vars.back());
    tape.backward(t.ids.back());
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(same(grad(t.vars[i]), tape.grad(t.ids[i])), "slope in input " << i);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(products_into_sums_f64) { products_into_sums<double>(); }
BOOST_AUTO_TEST_CASE(products_into_sums_f32) { products_into_sums<float>(); }

BOOST_AUTO_TEST_CASE(this_file_would_contract) {
  // Else the cases above could not fail: with products rounded to 53 bits the difference is 0, fused it is not.
  volatile double a = 1 + 0x1p-30, b = 1 - 0x1p-30, one = 1;
  const double x = a, y = b, z = one;
#if defined(__FMA__) || defined(__aarch64__)
  BOOST_TEST(x * y - z != 0);
#else
  BOOST_TEST(x * y - z == 0);
#endif
}
