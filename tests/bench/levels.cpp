// Levels: the rungs of the ladder give the bits of v2, others are within 64 eps of the reference; every width, tail and
// number of threads; and what is too big is refused.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "bench/languages/languages.hpp"
#include "bench/level.hpp"
#include "bench/make_level.hpp"
#include "bench/reference.hpp"
#include "kernels/dispatch.hpp"
#include "tests/needs.hpp"
#include "wengert/error.hpp"

using namespace wengert;
using namespace wengert::bench;
using wengert::test::uses_threads;

namespace {

template <class Real>
struct Found {
  std::vector<Real> values, gradients;  // [result], [differentiated][result]
};

/// All levels, and the tapes in other languages that are here and in this process.
std::vector<LevelInfo> all_levels() {
  std::vector<LevelInfo> all = levels();
  for (const LevelInfo& info : languages())
    if (info.missing.empty() && !info.own_process) all.push_back(info);
  return all;
}

template <class Real>
bool written(const LevelInfo& info, const Workload& w) {
  return maker<Real>(info) && (!info.available || info.available(w));
}

template <class Real>
std::unique_ptr<Level<Real>> make(const std::string& name, const Workload& w, const LevelOptions& options = {}) {
  for (const LevelInfo& info : all_levels())
    if (info.name == name) return maker<Real>(info)(w, options);
  throw Error(ErrorCode::bad_argument, "no level " + name);
}

/// How many results a batch has.
std::size_t results_of(const Workload& w, std::size_t evaluations) { return w.summed() ? 1 : evaluations; }

/// A batch, with NaN around what a level may write.
template <class Real>
Found<Real> evaluate(Level<Real>& level, const Workload& w, std::size_t evaluations) {
  const std::size_t stride = evaluations + 5, outputs = w.differentiated.size(), results = results_of(w, evaluations);
  const std::size_t result_stride = w.summed() ? 1 : stride, columns = w.inputs - w.parameters;
  const Real nan = std::nanf("");
  std::vector<Real> parameters, inputs(columns * stride, nan), values(stride, nan),
      gradients(outputs * result_stride + 5, nan);
  for (std::size_t i = 0; i < w.parameters; ++i) parameters.push_back(static_cast<Real>(w.input(0, i)));
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t e = 0; e < evaluations; ++e)
      inputs[i * stride + e] = static_cast<Real>(w.input(e, w.parameters + i));
  level.evaluate({.evaluations = evaluations,
                  .stride = stride,
                  .inputs = inputs.data(),
                  .values = values.data(),
                  .gradients = gradients.data(),
                  .parameters = parameters});
  Found<Real> found;
  found.values.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(results));
  for (std::size_t k = 0; k < outputs; ++k)
    for (std::size_t e = 0; e < result_stride; ++e) {
      if (e < results) found.gradients.push_back(gradients[k * result_stride + e]);
      else BOOST_REQUIRE(std::isnan(gradients[k * result_stride + e]));
    }
  for (std::size_t i = outputs * result_stride; i < gradients.size(); ++i) BOOST_REQUIRE(std::isnan(gradients[i]));
  for (std::size_t e = results; e < stride; ++e) BOOST_REQUIRE(std::isnan(values[e]));
  return found;
}

template <class Real>
bool same_bits(const std::vector<Real>& a, const std::vector<Real>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

/// Of `ops` ops or, where sizes are chosen, small.
Workload small_workload(const WorkloadInfo& info, std::size_t ops, std::size_t samples = 1000) {
  WorkloadOptions options{.ops = ops, .samples = samples};
  for (std::size_t k = 0; k < info.sizes.size(); ++k) options.size.push_back(5 - 2 * k);
  return make_workload(info.name, options);
}

std::vector<Workload> all_workloads(std::size_t ops) {
  std::vector<Workload> all;
  for (const WorkloadInfo& info : workloads()) all.push_back(small_workload(info, ops));
  all.push_back(make_workload("west", {.ops = ops, .output = Output::sum}));
  all.push_back(make_workload("heston"));
  return all;
}

template <class Real>
void check_rungs_equal_v2() {
  for (const Workload& w : all_workloads(203)) {
    const std::size_t evaluations = 70;
    const auto v2 = evaluate(*make<Real>("v2", w), w, evaluations);
    const auto v5 = evaluate(*make<Real>("v5", w), w, evaluations);
    for (const LevelInfo& info : levels()) {
      if (!info.ladder && info.name != "eager") continue;
      const auto got = evaluate(*make<Real>(info.name, w, {.threads = 2}), w, evaluations);
      const auto& sums = w.summed() && info.planned ? v5 : v2;
      BOOST_TEST(same_bits(got.values, v2.values), info.name << " " << w.name << " values");
      BOOST_TEST(same_bits(got.gradients, sums.gradients), info.name << " " << w.name << " gradients");
    }
  }
}

/// The level; null where it was compiled for another CPU, as what is written by hand may be.
template <class Real>
std::unique_ptr<Level<Real>> make_if_here(const LevelInfo& info, const Workload& w) {
  try {
    return make<Real>(info.name, w);
  } catch (const Error& error) {
    BOOST_TEST((!info.ladder && error.code() == ErrorCode::unsupported), info.name << ": " << error.what());
    return nullptr;
  }
}

template <class Real>
void check_against_reference(const LevelInfo& info, const Workload& w, std::size_t evaluations) {
  if (!written<Real>(info, w)) return;
  const long double allowed = 64 * static_cast<long double>(std::numeric_limits<Real>::epsilon());
  const Reference reference(w);
  const auto level = make_if_here<Real>(info, w);
  if (!level) return;
  const auto got = evaluate(*level, w, evaluations);
  const std::size_t results = results_of(w, evaluations), outputs = w.differentiated.size();
  std::vector<long double> value(results), value_scale(results), slope(results * outputs),
      slope_scale(results * outputs);
  for (std::size_t e = 0; e < evaluations; ++e) {
    std::vector<double> x;
    for (std::size_t i = 0; i < w.inputs; ++i) x.push_back(static_cast<Real>(w.input(e, i)));
    const ReferenceResult want = reference.evaluate(x);
    const std::size_t result = w.summed() ? 0 : e;
    value[result] += want.values[reference.output()];
    value_scale[result] += want.value_scales[reference.output()];
    for (std::size_t k = 0; k < outputs; ++k) {
      slope[k * results + result] += want.adjoints[w.differentiated[k]];
      slope_scale[k * results + result] += want.adjoint_scales[w.differentiated[k]];
    }
  }
  for (std::size_t e = 0; e < results; ++e)
    BOOST_TEST(
        std::fabs(got.values[e] - value[e]) <= allowed * value_scale[e],
        info.name << " " << w.name << " evaluation " << e << ": " << got.values[e] << " instead of " << value[e]);
  for (std::size_t q = 0; q < slope.size(); ++q)
    BOOST_TEST(std::fabs(got.gradients[q] - slope[q]) <=
                   allowed * slope_scale[q] + static_cast<long double>(evaluations) * std::numeric_limits<Real>::min(),
               info.name << " " << w.name << " evaluation " << q % results << ", input "
                         << w.differentiated[q / results] << ": " << got.gradients[q] << " instead of " << slope[q]);
}

template <class Real>
void check_nodes(const LevelInfo& info, const Workload& w) {
  if (!written<Real>(info, w)) return;
  const Reference reference(w);
  std::vector<double> x, seeds(w.variables);
  std::vector<Real> inputs, weights(w.variables), values(w.variables), adjoints(w.variables);
  for (std::size_t i = 0; i < w.inputs; ++i) {
    inputs.push_back(static_cast<Real>(w.input(9, i)));
    x.push_back(inputs.back());
  }
  for (std::size_t v = 0; v < w.variables; ++v) weights[v] = static_cast<Real>(seeds[v] = 0.25 * (v % 7) - 0.5);
  const auto level = make_if_here<Real>(info, w);
  if (!level) return;
  if (!level->nodes(inputs, weights, values, adjoints)) {  // a rung without them has compiled them away
    BOOST_TEST((!info.ladder || level->compile_seconds() > 0), info.name << " keeps no nodes");
    return;
  }
  const ReferenceResult want = reference.evaluate(x, seeds);
  const long double allowed = 64 * static_cast<long double>(std::numeric_limits<Real>::epsilon());
  for (std::size_t v = 0; v < w.variables; ++v) {
    BOOST_TEST(std::fabs(values[v] - want.values[v]) <= allowed * want.value_scales[v],
               info.name << " " << w.name << " value of variable " << v);
    const bool equal = adjoints[v] == static_cast<Real>(want.adjoints[v]);  // infinities too
    BOOST_TEST((equal || std::fabs(adjoints[v] - want.adjoints[v]) <= allowed * want.adjoint_scales[v]),
               info.name << " " << w.name << " adjoint of variable " << v << ": " << adjoints[v] << " instead of "
                         << want.adjoints[v]);
  }
}

const LevelInfo& planned_level() {
  for (const LevelInfo& info : levels())
    if (info.planned) return info;
  throw Error(ErrorCode::bad_argument, "no planned level");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(level)

BOOST_AUTO_TEST_CASE(registry) {
  std::vector<std::string> rungs;
  for (const LevelInfo& info : levels())
    if (info.ladder) rungs.push_back(info.name);
  const std::vector<std::string> first = {"v0", "v1", "v2", "v3", "v4"};
  BOOST_TEST_REQUIRE(rungs.size() >= first.size());
  BOOST_TEST(std::equal(first.begin(), first.end(), rungs.begin()));
}

BOOST_AUTO_TEST_CASE(hand_simd_has_two_vectors_of_its_instruction_set) {
  for (const LevelInfo& info : levels()) {
    if (info.name != "hand-simd") continue;
    const Workload w = small_workload(workloads().front(), 3);
    const auto f64 = make_if_here<double>(info, w);
    const auto f32 = make_if_here<float>(info, w);
    if (!f64 || !f32) return;
    const int doubles = f64->isa().starts_with("avx512 ") ? 8 : 4;
    BOOST_TEST((doubles == 8 || f64->isa().starts_with("avx2 ")), f64->isa());
    BOOST_TEST(f64->lanes() == 2 * doubles);
    BOOST_TEST(f32->lanes() == 4 * doubles);
  }
}

BOOST_AUTO_TEST_CASE(rungs_equal_v2_f64, *uses_threads()) { check_rungs_equal_v2<double>(); }
BOOST_AUTO_TEST_CASE(rungs_equal_v2_f32, *uses_threads()) { check_rungs_equal_v2<float>(); }

BOOST_AUTO_TEST_CASE(near_reference_f64) {
  for (const Workload& w : all_workloads(203))
    for (const LevelInfo& info : all_levels()) check_against_reference<double>(info, w, 21);
}
BOOST_AUTO_TEST_CASE(near_reference_f32) {
  for (const Workload& w : all_workloads(203))
    for (const LevelInfo& info : all_levels()) check_against_reference<float>(info, w, 21);
}

BOOST_AUTO_TEST_CASE(west_of_any_length) {  // the hand-written levels take groups of four ops apart
  for (std::size_t ops = 1; ops <= 12; ++ops)
    for (const Output output : {Output::last, Output::sum})
      for (const LevelInfo& info : all_levels())
        if (!info.ladder)
          check_against_reference<double>(info, make_workload("west", {.ops = ops, .output = output}), 3);
}

BOOST_AUTO_TEST_CASE(nodes_near_reference) {
  for (const Workload& w : all_workloads(203))
    for (const LevelInfo& info : all_levels()) {
      check_nodes<double>(info, w);
      check_nodes<float>(info, w);
    }
}

BOOST_AUTO_TEST_CASE(any_number_of_evaluations, *uses_threads()) {
  for (const std::string name : {"v3", "v4"})
    for (const std::string workload : {"expr", "west"}) {
      const Workload w = make_workload(workload, {.ops = 40});
      const auto all = evaluate(*make<double>("v2", w), w, 140);
      for (const int lanes : {0, 16, 64}) {
        const auto level = make<double>(name, w, {.lanes = lanes, .threads = 3});
        for (const std::size_t evaluations : {1, 2, 15, 16, 17, 63, 64, 65, 128, 139}) {
          const auto got = evaluate(*level, w, evaluations);
          for (std::size_t e = 0; e < evaluations; ++e) {
            BOOST_REQUIRE_EQUAL(got.values[e], all.values[e]);
            for (std::size_t k = 0; k < w.differentiated.size(); ++k)
              BOOST_REQUIRE_EQUAL(got.gradients[k * evaluations + e], all.gradients[k * 140 + e]);
          }
        }
      }
    }
}

BOOST_AUTO_TEST_CASE(hand_written_tails) {
  for (const WorkloadInfo& workload : workloads()) {
    if (workload.has_ops) continue;
    const Workload w = small_workload(workload, 1);
    for (const LevelInfo& info : all_levels())
      if (!info.ladder)
        for (const std::size_t evaluations : {1, 7, 8, 9, 17, 33}) {
          check_against_reference<double>(info, w, evaluations);
          check_against_reference<float>(info, w, evaluations);
        }
  }
}

BOOST_AUTO_TEST_CASE(sums_of_any_number_of_evaluations, *uses_threads()) {
  // Sums are taken in leaves of 64 and groups of 1024: the same bits in every rung, whatever its blocks.
  for (const WorkloadInfo& info : workloads()) {
    const Workload w = small_workload(info, 20, 3);
    if (!w.summed()) continue;
    for (const std::size_t evaluations : {1, 63, 65, 1024, 1025, 2100}) {
      const auto v2 = evaluate(*make<double>("v2", w), w, evaluations);
      const auto v5 = evaluate(*make<double>("v5", w), w, evaluations);
      for (const std::string name : {"v3", "v4"})
        for (const int lanes : {0, 8, 24}) {
          const auto got = evaluate(*make<double>(name, w, {.lanes = lanes, .threads = 3}), w, evaluations);
          BOOST_TEST(same_bits(got.values, v2.values), w.name << " " << name << " " << evaluations);
          BOOST_TEST(same_bits(got.gradients, v2.gradients), w.name << " " << name << " " << evaluations);
        }
      BOOST_TEST(same_bits(v5.values, v2.values), w.name << " " << evaluations);
      check_against_reference<double>(planned_level(), w, evaluations);
    }
  }
}

BOOST_AUTO_TEST_CASE(smallest_sizes) {
  for (const WorkloadInfo& info : workloads()) {
    if (info.sizes.empty()) continue;
    WorkloadOptions options;
    for (const WorkloadInfo::Size& size : info.sizes) options.size.push_back(size.least);
    const Workload w = make_workload(info.name, options);
    for (const LevelInfo& level : all_levels()) check_against_reference<double>(level, w, 19);
  }
}

BOOST_AUTO_TEST_CASE(any_number_of_threads, *uses_threads()) {
  const Workload w = make_workload("dag", {.ops = 60});
  const auto v2 = evaluate(*make<double>("v2", w), w, 333);
  for (const int threads : {1, 2, 3, 5, 16}) {
    const auto level = make<double>("v4", w, {.lanes = 8, .threads = threads});
    BOOST_TEST(level->threads() == threads);
    for (int again = 0; again < 3; ++again) {
      const auto got = evaluate(*level, w, 333);
      BOOST_TEST(same_bits(got.values, v2.values));
      BOOST_TEST(same_bits(got.gradients, v2.gradients));
    }
  }
}

BOOST_AUTO_TEST_CASE(every_instruction_set) {
  const Workload w = make_workload("west", {.ops = 100, .output = Output::sum});
  const auto v2 = evaluate(*make<double>("v2", w), w, 37);
  for (const Isa isa : usable_isas()) {
    const std::string text(name(isa));
    const auto level = make<double>("v3", w, {.isa = text});
    BOOST_TEST(level->isa() == text);
    const auto got = evaluate(*level, w, 37);
    BOOST_TEST(same_bits(got.values, v2.values), text);
    BOOST_TEST(same_bits(got.gradients, v2.gradients), text);
  }
}

BOOST_AUTO_TEST_CASE(a_graph_larger_than_the_pool) {
  const Workload w = make_workload("west", {.ops = 1'300'000});  // 2,275,100 variables
  try {
    make<double>("v1", w);
    BOOST_ERROR("accepted");
  } catch (const Error& error) {
    BOOST_TEST((error.code() == ErrorCode::out_of_memory));
    BOOST_TEST(std::string(error.what()).find("2097152 nodes") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_long_graph_on_the_heap) {
  // A chain of 500,000 ops: backward and the end of the graph must not recurse.
  Workload w = make_workload("dag", {.ops = 1});
  w.random_graph.constants.clear();
  w.random_graph.steps.clear();
  for (std::uint32_t k = 0; k < 500'000; ++k) w.random_graph.steps.push_back({RandomGraph::sub, 49 + k, 0, 0});
  w.variables = 50 + 500'000 + 1;
  const auto v0 = evaluate(*make<double>("v0", w), w, 1);
  const auto v2 = evaluate(*make<double>("v2", w), w, 1);
  BOOST_TEST(same_bits(v0.values, v2.values));
  BOOST_TEST(same_bits(v0.gradients, v2.gradients));
  BOOST_TEST(v0.gradients[0] == 1 - 500'000.0 * 500'001 / 2);  // x0 is taken away k times from result k
}

BOOST_AUTO_TEST_CASE(bad_options) {
  const Workload w = make_workload("expr");
  const auto code = [&](const std::string& level, const LevelOptions& options) {
    try {
      make<double>(level, w, options);
    } catch (const Error& error) {
      return static_cast<int>(error.code());
    }
    return -1;
  };
  BOOST_TEST(code("v4", {.threads = 0}) == static_cast<int>(ErrorCode::bad_argument));
  BOOST_TEST(code("v3", {.isa = "mmx"}) == static_cast<int>(ErrorCode::bad_argument));
  if (usable_isas().back() != Isa::scalar)  // one lane divides any block
    BOOST_TEST(code("v3", {.lanes = 7}) == static_cast<int>(ErrorCode::bad_size));
}

BOOST_AUTO_TEST_SUITE_END()
