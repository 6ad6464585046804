// The k-th allocation fails, for every k: what was called says so, and everything is as it was before the call.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/memory/doubling_op.hpp"
#include "tests/memory/each_failure.hpp"
#include "tests/needs.hpp"
#include "wengert/wengert.hpp"

namespace wengert::test {
namespace {

/// Takes everything. (A stream of the standard library would take the failure for its own.)
struct Nowhere : std::streambuf {
  int overflow(int c) override { return c; }
  std::streamsize xsputn(const char*, std::streamsize n) override { return n; }
};

const Program<double>& some_program() {
  static const Program<double> program = compile(some_tape(), Id(9));
  return program;
}

/// Values and gradients at five points.
std::vector<double> run(Replay<double>& replay) {
  static const double points[10] = {1, 2, 0.5, 3, -1, 0.25, 1.5, 2.5, 0, 1};
  static std::vector<double> out(15);  // not an allocation of the replay's
  replay.gradient(5, rows(points, 2), rows(out.data(), 1), rows(out.data() + 5, 2));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failing_allocations)

BOOST_AUTO_TEST_CASE(recording) {
  static const std::vector<Id> list(100, Id(1));
  each_failure_on_a_tape("input", [](auto& t) { t.input(4); });
  each_failure_on_a_tape("parameter", [](auto& t) { t.parameter(4); });
  each_failure_on_a_tape("constant", [](auto& t) { t.constant(4); });
  each_failure_on_a_tape("shared_constant", [](auto& t) { t.shared_constant(4); });
  each_failure_on_a_tape("exp", [](auto& t) { t.exp(0); });
  each_failure_on_a_tape("max", [](auto& t) { t.max(0, 3); });
  each_failure_on_a_tape("fma", [](auto& t) { t.fma(0, 1, 2); });
  each_failure_on_a_tape("sum", [](auto& t) { t.sum(list); });
  each_failure_on_a_tape("softmax", [](auto& t) { t.softmax(list); });
  each_failure_on_a_tape("guard", [](auto& t) { t.guard(Id(0)); });
  each_failure_on_a_tape("reserve", [](auto& t) { t.reserve(1000, 1000, 1000); });
  each_failure_on_a_tape("label", [](auto& t) { t.label(0, "a label that is not short, and so is on the heap"); });
  each_failure_on_a_tape("rewind", [](auto& t) {
    if (t.size() > 5) t.rewind({4, 0, 0, 3, 1, 1, 0});
  });
  each_failure_on_a_tape("forward", [](auto& t) { t.forward(); });
  each_failure_on_a_tape("backward", [](auto& t) {
    const Seed<double> seed{8, 2};
    t.backward(std::span(&seed, 1));
  });
  each_failure_on_a_tape("scope",
                         [](auto& t) { const Scope scope(t, "a scope that is not short either, on the heap"); });
}

BOOST_AUTO_TEST_CASE(sweeps_that_visit_some_ops) {
  each_failure(
      "backward, ieee",
      [] {
        NaiveTape<double> tape = some_tape();
        tape.set_zero_rule(ZeroRule::ieee);
        return tape;
      },
      [](NaiveTape<double>& tape) { tape.backward(8); },
      [before = look_at(some_tape())](const NaiveTape<double>& tape, const std::string& where) {
        BOOST_TEST_REQUIRE((look_at(tape) == before), where);
      });
}

BOOST_AUTO_TEST_CASE(custom_ops) {
  static const CustomOp<double> twice = doubling_op();
  each_failure_on_a_tape("a custom op", [](auto& t) { twice.record(t, std::vector<Id>{1}); });
  const auto with_one = [] {
    NaiveTape<double> tape = some_tape();
    twice.record(tape, std::vector<Id>{1});
    return tape;
  };
  const Seen before = look_at(with_one());
  const auto unchanged = [&](const NaiveTape<double>& tape, const std::string& where) {
    BOOST_TEST_REQUIRE((look_at(tape) == before), where);
  };
  each_failure(
      "forward", with_one, [](NaiveTape<double>& tape) { tape.forward(); }, unchanged);
  each_failure(
      "backward", with_one, [](NaiveTape<double>& tape) { tape.backward(static_cast<Id>(tape.size() - 1)); },
      unchanged);
  each_failure(
      "assign", with_one, [](NaiveTape<double>& tape) { tape = some_tape(); }, unchanged);
  const Program<double> program = compile(with_one(), static_cast<Id>(before.sizes[0] - 1));
  each_failure(
      "Replay", [&] { return Replay<double>(program); },
      [](Replay<double>& replay) {
        static const double x[2] = {1, 2};
        static double y[1], g[2];
        replay.gradient(1, rows(x, 2), rows(y, 1), rows(g, 2));
      },
      [](Replay<double>&, const std::string&) {});
}

BOOST_AUTO_TEST_CASE(recording_by_vars) {
  // Several calls: what was recorded before the one that failed stays.
  each_failure(
      "Var", [] { return some_tape(); },
      [](NaiveTape<double>& tape) {
        const Var<double> x(tape, 0), y(tape, 1);
        const std::vector<Var<double>> list = {x, y, x * y + 2.5};
        if (sum(softmax(list)) < exp(x)) backward(x / y);
      },
      [](NaiveTape<double>& tape, const std::string& where) {
        tape.rewind(some_tape().mark());
        tape.backward(9);  // as in some_tape
        BOOST_TEST_REQUIRE((look_at(tape) == look_at(some_tape())), where);
      });
}

BOOST_AUTO_TEST_CASE(copies) {
  each_failure(
      "copy", [] { return some_tape(); },
      [](NaiveTape<double>& tape) {
        NaiveTape<double> copy = tape;
        tape = std::move(copy);
      },
      [before = look_at(some_tape())](const NaiveTape<double>& tape, const std::string& where) {
        BOOST_TEST_REQUIRE((look_at(tape) == before), where);
      });
}

BOOST_AUTO_TEST_CASE(compiling_saving_loading) {
  std::ostringstream stream;
  some_program().save(stream);
  const std::string file = stream.str();
  const auto unchanged = [&](const Program<double>& program, const std::string& where) {
    std::ostringstream again;
    program.save(again);
    BOOST_TEST_REQUIRE((again.str() == file), where);
  };
  const auto make = [] { return some_program(); };
  each_failure(
      "compile", make, [](Program<double>& program) { program = compile(some_tape(), Id(9)); }, unchanged);
  each_failure(
      "save", make,
      [](const Program<double>& program) {
        Nowhere nowhere;
        std::ostream to(&nowhere);
        program.save(to);
      },
      unchanged);
  each_failure(
      "load", make, [&](Program<double>& program) { program = load_program<double>(std::as_bytes(std::span(file))); },
      unchanged);
  each_failure(
      "dot", make, [](const Program<double>& program) { dot(program); }, unchanged);
  const double point[2] = {1, 2};
  each_failure(
      "diagnose", make, [&](const Program<double>& program) { diagnose(program, 1, rows(point, 2)); }, unchanged);
  each_failure(
      "check_gradient", make, [&](const Program<double>& program) { check_gradient(program, 1, rows(point, 2)); },
      unchanged);
}

BOOST_AUTO_TEST_CASE(replays) {
  ReplayOptions options;
  options.isa = "scalar";
  options.report_departures = true;
  Replay<double> always(some_program(), options);
  const std::vector<double> expected = run(always);
  each_failure(
      "Replay", [] { return 0; }, [&](int) { Replay<double> replay(some_program(), options); },
      [](int, const std::string&) {});
  each_failure(
      "Replay::gradient", [&] { return Replay<double>(some_program(), options); },
      [](Replay<double>& replay) { (void)run(replay); },
      [&](Replay<double>& replay, const std::string& where) {
        const std::vector<double> now = run(replay);
        for (std::size_t k = 0; k < now.size(); ++k) BOOST_TEST_REQUIRE(same_bits(now[k], expected[k]), where);
      });
}

BOOST_AUTO_TEST_CASE(all_that_a_replay_gives) {
  ReplayOptions options;
  options.isa = "scalar";
  options.report_departures = true;
  const auto make = [&] { return Replay<double>(some_program(), options); };
  each_failure_of_results("values", make,
                          [](auto& replay, Room& r) { replay.values(5, rows(r.points, 2), rows(r.values, 1)); });
  each_failure_of_results("jvp", make, [](auto& replay, Room& r) {
    replay.jvp(5, rows(r.points, 2), rows(r.points, 2), {}, rows(r.values, 1));
  });
  each_failure_of_results("jacobian", make, [](auto& replay, Room& r) {
    replay.jacobian(5, rows(r.points, 2), rows(r.values, 1), rows(r.more, 2));
  });
  each_failure_of_results("sparse_jacobian", make, [](auto& replay, Room& r) {
    replay.sparse_jacobian(5, rows(r.points, 2), rows(r.values, 1), rows(r.more, 2));
  });
  each_failure_of_results("hvp", make, [](auto& replay, Room& r) {
    replay.hvp(5, rows(r.points, 2), rows(r.points, 2), {}, rows(r.values, 2), rows(r.more, 2));
  });
  each_failure_of_results("hessian", make, [](auto& replay, Room& r) {
    replay.hessian(5, rows(r.points, 2), {}, rows(r.values, 2), rows(r.more, 4));
  });
  each_failure_of_results("sparse_hessian", make, [](auto& replay, Room& r) {
    replay.sparse_hessian(5, rows(r.points, 2), {}, rows(r.values, 2), rows(r.more, 4));
  });
}

BOOST_AUTO_TEST_CASE(sums_over_samples) {
  static const Program<double> program = [] {
    NaiveTape<double> tape;
    const Id p = tape.parameter(2), x = tape.input(1), y = tape.input(1);
    return compile(tape, tape.square(tape.sum_samples(tape.sin(tape.mul(p, tape.sub(x, y))))));
  }();
  const auto results = [](Replay<double>& replay, Room& r) {
    const double parameter = 0.5;
    replay.set_parameters(std::span(&parameter, 1));
    replay.gradient(5, rows(r.points, 2), {}, rows(r.values, 2));
    r.more[0] = replay.uniform_outputs()[0];
    r.more[1] = replay.parameter_gradients()[0];
  };
  each_failure_of_results(
      "sums", [] { return Replay<double>(program); }, results);
  each_failure(
      "diagnose of sums", [] { return 0; },
      [](int) {
        const double points[4] = {1, 2, 3, 4};
        diagnose(program, 2, rows(points, 2));
      },
      [](int, const std::string&) {});
}

BOOST_AUTO_TEST_CASE(machine_code, *needs(Isa::avx2)) {
  ReplayOptions options;
  options.engine = "native";
  options.report_departures = true;
  const auto make = [&] { return Replay<double>(some_program(), options); };
  each_failure_of_results("native", make, [](auto& replay, Room& r) {
    replay.gradient(5, rows(r.points, 2), rows(r.values, 1), rows(r.more, 2));
    replay.values(1, rows(r.points, 2), rows(r.values, 1));
  });
}

BOOST_AUTO_TEST_CASE(machine_code_of_sums, *needs(Isa::avx2)) {
  static const Program<double> program = [] {
    NaiveTape<double> tape;
    const Id p = tape.parameter(2), x = tape.input(1), y = tape.input(1);
    return compile(tape, tape.square(tape.sum_samples(tape.sin(tape.mul(p, tape.sub(x, y))))));
  }();
  ReplayOptions options;
  options.engine = "native";
  const auto make = [&] { return Replay<double>(program, options); };
  each_failure_of_results("hvp of sums", make, [](auto& replay, Room& r) {
    const double direction = 0.5;
    replay.set_parameter_directions(std::span(&direction, 1));
    replay.hvp(5, rows(r.points, 2), rows(r.points, 2), {}, rows(r.values, 2), rows(r.more, 2));
    r.values[0] += replay.parameter_products()[0];
    r.values[1] += replay.uniform_tangents()[0];
  });
}

/// A batch that is larger than those before, and then one that isn't.
BOOST_AUTO_TEST_CASE(machine_code_of_larger_batches, *needs(Isa::avx2)) {
  static const std::vector<double> along(2 * 2000, 1), points = [] {
    std::vector<double> rows;
    for (int k = 0; k < 2000; ++k) rows.insert(rows.end(), {1, 2});
    return rows;
  }();
  static std::vector<double> values(2000), slopes(2 * 2000), products(2 * 2000);
  const auto gradient = [](Replay<double>& replay, std::size_t samples) {
    replay.gradient(samples, rows(points.data(), 2), rows(values.data(), 1), rows(slopes.data(), 2));
  };
  const auto hvp = [](Replay<double>& replay, std::size_t samples) {
    replay.hvp(samples, rows(points.data(), 2), rows(along.data(), 2), rows(values.data(), 1), rows(slopes.data(), 2),
               rows(products.data(), 2));
  };
  const auto grows = [](const char* what, const auto& call) {
    std::vector<double> expected;
    each_failure(
        what,
        [&] {
          ReplayOptions options;
          options.engine = "native";
          auto replay = std::make_unique<Replay<double>>(some_program(), options);
          call(*replay, 20);
          expected = slopes;
          return replay;
        },
        [&](std::unique_ptr<Replay<double>>& replay) { call(*replay, 2000); },
        [&](std::unique_ptr<Replay<double>>& replay, const std::string& where) {
          std::fill(slopes.begin(), slopes.end(), 0);
          call(*replay, 20);
          for (std::size_t k = 0; k < 40; ++k) BOOST_TEST_REQUIRE(same_bits(slopes[k], expected[k]), where);
        });
  };
  grows("gradient", gradient);
  grows("hvp", hvp);
}

/// Of one sample, with weights that aren't there in the next call, while code with the zero rule is made.
BOOST_AUTO_TEST_CASE(machine_code_that_is_made_anew, *needs(Isa::avx2)) {
  static const Program<double> program = [] {
    NaiveTape<double> tape;
    const Id x = tape.input(1), y = tape.input(1);
    const std::vector<Id> outputs = {tape.mul(tape.sqrt(x), y), tape.mul(x, y)};
    return compile(tape, std::span<const Id>(outputs));
  }();
  static const double nowhere[2] = {0, 3}, weights[2] = {0, 20}, point[2] = {4, 3};
  static double values[2], slopes[2], expected[2];
  const auto call = [](Replay<double>& replay, const double* at, Samples<const double> weight) {
    replay.vjp(1, rows(at, 2), weight, rows(values, 2), rows(slopes, 2));
  };
  each_failure(
      "vjp",
      [&] {
        ReplayOptions options;
        options.engine = "native";
        auto replay = std::make_unique<Replay<double>>(program, options);
        call(*replay, point, {});
        std::copy_n(slopes, 2, expected);
        return replay;
      },
      [&](std::unique_ptr<Replay<double>>& replay) {
        for (int k = 0; k < 40; ++k) call(*replay, nowhere, rows(weights, 2));
      },
      [&](std::unique_ptr<Replay<double>>& replay, const std::string& where) {
        for (int k = 0; k < 70; ++k) {
          call(*replay, point, {});
          for (int i = 0; i < 2; ++i) BOOST_TEST_REQUIRE(same_bits(slopes[i], expected[i]), where);
        }
      });
}

BOOST_AUTO_TEST_CASE(functions) {
  const auto make = [] {
    FunctionOptions options;
    options.replay.isa = "scalar";
    options.most_paths = 2;  // so that paths are forgotten, and the tree is made anew
    return Function<double>(
        2,
        [](std::span<const Var<double>> x) {
          if (x[0] < 0.25) return x[0] * x[1];
          return x[1] < 2.75 ? exp(x[0]) * x[1] : x[0] - x[1];
        },
        options);
  };
  each_failure_of_results("Function", make, [](auto& f, Room& r) {
    f.vjp(5, rows(r.points, 2), {}, rows(r.values, 1), rows(r.more, 2));
    f.hessian(5, rows(r.points, 2), {}, {}, rows(r.most, 4));
  });
}

BOOST_AUTO_TEST_CASE(loops) {
  TimeLoopOptions loop;
  loop.function.replay.isa = "scalar";
  loop.most_bytes = 1000;  // several levels
  each_failure_of_results(
      "TimeLoop",
      [&] {
        return TimeLoop<double>(
            1, 1, [](std::span<const Var<double>> x) { return x[0] + 0.125 * x[1] * sin(x[0]); }, loop);
      },
      [](auto& steps, Room& r) {
        steps.vjp(5, 20, rows(r.points, 2), rows(r.points, 1), rows(r.values, 1), rows(r.more, 2));
        steps.values(5, 20, rows(r.points, 2), rows(r.most, 1));
      });
}

BOOST_AUTO_TEST_CASE(programs_are_shared_and_looked_at) {
  each_failure(
      "sparsity", [] { return 0; }, [](int) { (void)some_program().hessian_sparsity(); },
      [](int, const std::string&) {});
  each_failure(
      "describe", [] { return 0; }, [](int) { (void)some_program().describe(); }, [](int, const std::string&) {});
  each_failure(
      "guard", [] { return 0; }, [](int) { (void)some_program().guard(0); }, [](int, const std::string&) {});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
