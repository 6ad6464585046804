// Tables that a call can't do without, where {} was given: an error that names them, and nothing is written.
#include <array>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

void refuses(const std::string& what, const std::function<void()>& call) {
  BOOST_CHECK_EXCEPTION(call(), Error, [&](const Error& error) {
    return error.code() == ErrorCode::bad_argument &&
           std::string(error.what()).find("no table of " + what + " is given") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE(missing_tables)

BOOST_AUTO_TEST_CASE(replay) {
  NaiveTape<double> tape;
  const Var<double> x = input(tape, 1.0), y = input(tape, 2.0);
  const Id outputs[] = {(x * y * y).id(), exp(x).id(), sin(y).id()};
  Replay<double> one(compile(tape, outputs[0])), three(compile(tape, std::span(outputs)));
  const double in[2] = {1, 2};
  std::array<double, 12> out;
  const auto to = rows(out.data(), 1), none = Samples<double>();
  const Samples<const double> at = rows(in, 2), nothing;

  refuses("inputs", [&] { one.values(1, nothing, to); });
  refuses("inputs", [&] { one.gradient(1, nothing, to, to); });
  refuses("inputs", [&] { three.vjp(2, nothing, at, to, to); });
  refuses("inputs", [&] { one.jvp(1, nothing, at, to, to); });
  refuses("directions", [&] { one.jvp(1, at, nothing, to, to); });
  refuses("tangents", [&] { one.jvp(1, at, at, to, none); });
  refuses("inputs", [&] { one.jacobian(1, nothing, to, to); });
  refuses("jacobians", [&] { one.jacobian(1, at, to, none); });
  refuses("inputs", [&] { three.jacobian(1, nothing, to, to); });
  refuses("jacobians", [&] { three.jacobian(1, at, to, none); });
  refuses("inputs", [&] { three.sparse_jacobian(1, nothing, to, to); });
  refuses("inputs", [&] { one.hvp(1, nothing, at, to, to, to); });
  refuses("directions", [&] { one.hvp(1, at, nothing, to, to, to); });
  refuses("products", [&] { one.hvp(1, at, at, to, to, none); });
  refuses("inputs", [&] { one.hessian(1, nothing, to, to, to); });
  refuses("hessians", [&] { one.hessian(1, at, to, to, none); });
  refuses("inputs", [&] { one.sparse_hessian(1, nothing, to, to, to); });

  refuses("nonzeros", [&] { three.sparse_jacobian(1, at, to, none); });
  refuses("nonzeros", [&] { one.sparse_hessian(1, at, to, to, none); });
  refuses("inputs", [&] { diagnose(one.program(), 1, nothing); });
  refuses("inputs", [&] { check_gradient(one.program(), 1, nothing); });
  Replay<double> native(one.program(), {.engine = "native"});
  native.gradient(1, at, rows(out.data() + 2, 1), to);
  refuses("inputs", [&] { native.gradient(1, nothing, to, to); });

  one.values(0, nothing, none);  // no samples, nothing is missing
  NaiveTape<double> constant;
  Replay<double> no_inputs(compile(constant, constant.constant(3)));
  no_inputs.values(1, nothing, to);
  BOOST_TEST(out[0] == 3);
  BOOST_CHECK_EXCEPTION(compile(constant, Var<double>(1).id()), Error, [](const Error& error) {
    return error.code() == ErrorCode::stale_id && std::string(error.what()).find("is a constant") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(drivers) {
  const auto first = [](std::span<const Var<double>> x) { return x[0]; };
  const double in[2] = {1, 2};
  double out[2];
  const auto to = rows(out, 1);
  const Samples<const double> at = rows(in, 1), nothing;

  Function<double> function(1, first);
  refuses("inputs", [&] { function.values(1, nothing, to); });
  function.values(1, at, to);
  refuses("inputs", [&] { function.gradient(1, nothing, to, to); });

  TimeLoop<double> loop(1, 0, first);
  refuses("inputs", [&] { loop.values(1, 3, nothing, to); });
  refuses("inputs", [&] { loop.vjp(1, 3, nothing, at, to, to); });
  refuses("weights", [&] { loop.vjp(1, 3, at, nothing, to, to); });
  refuses("gradients", [&] { loop.vjp(1, 3, at, at, to, {}); });
  refuses("inputs", [&] { check_custom(make_solve<double>(1), 1, nothing); });
  BOOST_TEST(check_custom(make_solve<double>(1), 0, nothing).passed());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace wengert::test
