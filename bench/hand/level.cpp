// Levels hand and hand-simd: give the hand-written code (all.hpp) its batch and its room.
#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

#include "bench/batch.hpp"
#include "bench/hand/hand.hpp"
#include "bench/make_levels.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {

#if !defined(HAVE_SECOND_COMPILER)
const HandCode hand_code_second = {}, hand_simd_code_second = {};
#endif

namespace {

bool runs_here(const HandCode& code) {
  if (!code.compiler) return false;
#if defined(__x86_64__)
  return (!code.avx2 || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) &&
         (!code.avx512 || (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")));
#else
  return true;
#endif
}

std::vector<const HandCode*> usable(const HandCode& first, const HandCode& second) {
  std::vector<const HandCode*> codes;
  for (const HandCode* code : {&first, &second})
    if (runs_here(*code)) codes.push_back(code);
  return codes;
}

HandWorkload hand_workload(Workload::Kind kind) {
  switch (kind) {
    case Workload::Kind::expr: return hand_expr;
    case Workload::Kind::west: return hand_west;
    case Workload::Kind::dag: return hand_dag;
    case Workload::Kind::black_scholes: return hand_black_scholes;
    case Workload::Kind::heston: return hand_heston;
    case Workload::Kind::gmm: return hand_gmm;
    case Workload::Kind::logistic: return hand_logistic;
    case Workload::Kind::lstm_cell: return hand_lstm_cell;
    case Workload::Kind::rosenbrock: break;
  }
  return hand_rosenbrock;
}

template <class Real>
class HandLevel final : public Level<Real> {
 public:
  /// Takes the fastest of `codes`.
  HandLevel(const Workload& workload, std::span<const HandCode* const> codes, std::string isa)
      : workload_(workload),
        constant_(workload.kind == Workload::Kind::gmm ? gmm_constant(workload.gmm(), workload.samples) : 0),
        isa_(std::move(isa)) {
    for (const RandomGraph::Step& s : workload_.random_graph.steps) steps_.push_back({s.kind, s.a, s.b, s.c});
    double best = std::numeric_limits<double>::infinity();
    for (const HandCode* code : codes) {
      const double seconds = codes.size() == 1 ? 0 : time(*code);
      if (seconds < best) {
        best = seconds;
        use(*code);
      }
    }
  }

  void evaluate(const Batch<Real>& batch) override {
    const auto lanes = static_cast<std::size_t>(lanes_);
    if (batch.evaluations >= lanes) return run(batch, batch.evaluations);
    // Less than a vector: repeat the last evaluation.
    const std::size_t columns = workload_.inputs - workload_.parameters, gradients = workload_.differentiated.size();
    std::vector<Real> in(columns * lanes), values(lanes), out(gradients * lanes);
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t e = 0; e < lanes; ++e)
        in[i * lanes + e] = batch.inputs[i * batch.stride + std::min(e, batch.evaluations - 1)];
    Batch<Real> whole{.evaluations = lanes,
                      .stride = lanes,
                      .inputs = in.data(),
                      .values = values.data(),
                      .gradients = out.data(),
                      .parameters = batch.parameters};
    if (workload_.summed()) {
      whole.values = batch.values;
      whole.gradients = batch.gradients;
      return run(whole, batch.evaluations);
    }
    run(whole, lanes);
    std::copy_n(values.begin(), batch.evaluations, batch.values);
    for (std::size_t k = 0; k < gradients; ++k)
      std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(k * lanes), batch.evaluations,
                  batch.gradients + k * batch.stride);
  }

  std::size_t tape_bytes() const override { return hand_room(workload_.variables) * sizeof(Real) * lanes(); }
  int lanes() const override { return lanes_; }
  std::string isa() const override { return isa_ + ' ' + compiler_; }

 private:
  struct Free {
    void operator()(Real* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };

  void use(const HandCode& code) {
    const HandWorkload which = hand_workload(workload_.kind);
    const HandFunctions<Real>& functions = [&]() -> const auto& {
      if constexpr (sizeof(Real) == 8) return code.f64;
      else return code.f32;
    }();
    function_ = functions.function[which];
    lanes_ = functions.lanes;
    compiler_ = code.compiler;
    while (!compiler_.empty() && compiler_.back() == ' ') compiler_.pop_back();
    const std::size_t numbers = hand_room(workload_.variables) * static_cast<std::size_t>(lanes_);
    room_.reset(static_cast<Real*>(::operator new[](numbers * sizeof(Real), std::align_val_t{64})));
  }

  void run(const Batch<Real>& batch, std::size_t counted) {
    function_({.evaluations = batch.evaluations,
               .stride = batch.stride,
               .inputs = batch.inputs,
               .values = batch.values,
               .gradients = batch.gradients,
               .parameters = batch.parameters.data(),
               .counted = counted,
               .samples = workload_.samples,
               .constant = constant_,
               .size = {workload_.size[0], workload_.size[1]},
               .ops = workload_.ops,
               .sum = workload_.output == Output::sum,
               .steps = steps_.data(),
               .step_count = steps_.size(),
               .constants = workload_.random_graph.constants.data(),
               .constant_count = workload_.random_graph.constants.size(),
               .room = room_.get()});
  }

  /// Seconds of a small batch, of at least a vector: the least of several.
  double time(const HandCode& code) {
    use(code);
    const std::size_t evaluations = std::clamp<std::size_t>(20000 / workload_.recorded_ops, 32, 1024);
    const BatchData<Real> data(workload_, evaluations);
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 20; ++k) {
      const auto start = std::chrono::steady_clock::now();
      run(data.batch(), evaluations);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  }

  const Workload workload_;
  const double constant_;
  std::vector<typename HandTask<Real>::Step> steps_;
  void (*function_)(const HandTask<Real>&) = nullptr;
  std::unique_ptr<Real[], Free> room_;
  int lanes_ = 1;
  std::string isa_, compiler_;
};

}  // namespace

template <class Real>
std::unique_ptr<Level<Real>> make_hand(const Workload& workload, const LevelOptions&) {
  const auto codes = usable(hand_code, hand_code_second);
  if (codes.empty())
    throw Error(ErrorCode::unsupported, "level hand was compiled for another CPU; build it on this one");
  return std::make_unique<HandLevel<Real>>(workload, codes, "scalar");
}

template <class Real>
std::unique_ptr<Level<Real>> make_hand_simd(const Workload& workload, const LevelOptions&) {
  const auto codes = usable(hand_simd_code, hand_simd_code_second);
  if (codes.empty())
    throw Error(ErrorCode::unsupported,
                "level hand-simd needs a CPU with AVX-512 or AVX2, here and where it was built, and glibc's libmvec of "
                "2.35 or later");
  return std::make_unique<HandLevel<Real>>(workload, codes, codes.front()->avx512 ? "avx512" : "avx2");
}

template std::unique_ptr<Level<double>> make_hand(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_hand(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<double>> make_hand_simd(const Workload&, const LevelOptions&);
template std::unique_ptr<Level<float>> make_hand_simd(const Workload&, const LevelOptions&);

}  // namespace wengert::bench
