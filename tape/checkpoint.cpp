#include "wengert/checkpoint.hpp"

#include <string>

#include "tape/lending.hpp"
#include "tape/program.hpp"
#include "wengert/error.hpp"

namespace wengert {
namespace {

/// A Function's or a Replay's evaluations as an op.
template <class Real, class Evaluator>
CustomOp<Real> op_of(std::size_t inputs, std::size_t outputs, const std::shared_ptr<Lending<Evaluator>>& all) {
  using In = Samples<const Real>;
  CustomRule<Real> rule;
  rule.name = "checkpoint";
  rule.inputs = inputs;
  rule.outputs = outputs;
  rule.values = LentValues<Real>{all, [all](std::size_t samples, In x, Samples<Real> y) {
                                   all->lend([&](Evaluator& f) { f.values(samples, x, y); });
                                 }};
  rule.vjp = [all](std::size_t samples, In x, In, In weights, Samples<Real> gradients) {
    all->lend([&](Evaluator& f) { f.vjp(samples, x, weights, {}, gradients); });
  };
  rule.jvp = [all](std::size_t samples, In x, In, In directions, Samples<Real> tangents) {
    all->lend([&](Evaluator& f) { f.jvp(samples, x, directions, {}, tangents); });
  };
  rule.hvp = [all](std::size_t samples, In x, In, In weights, In directions, Samples<Real> products) {
    all->lend([&](Evaluator& f) { f.hvp(samples, x, directions, {}, {}, products, weights); });
  };
  return CustomOp<Real>(std::move(rule));
}

}  // namespace

template <class Real>
CustomOp<Real> detail::checkpoint_op(std::span<const Real> point, MakeFunction<Real> make) {
  if (point.empty()) throw Error(ErrorCode::bad_argument, "checkpoint of no inputs: what depends on none is a number");
  auto all = std::make_shared<Lending<Function<Real>>>(std::move(make));
  std::size_t outputs = 0;
  all->lend([&](Function<Real>& f) {
    f.values(1, rows(point.data(), point.size()), {});
    outputs = f.outputs();
  });
  return op_of<Real>(point.size(), outputs, all);
}

template <class Real>
CustomOp<Real> make_checkpoint(const Program<Real>& segment) {
  const plan::ProgramData<Real>& data = segment.data();
  bool all_inputs = segment.differentiated() == segment.inputs();
  for (std::size_t k = 0; k < data.differentiated.size(); ++k) all_inputs = all_inputs && data.differentiated[k] == k;
  if (!all_inputs || segment.parameters() != 0 || data.uniform.any)
    throw Error(
        ErrorCode::bad_argument,
        "checkpoint takes a program that has no parameters and no sums over samples, and is differentiated in all "
        "its inputs, in the order recorded");
  return op_of<Real>(
      segment.inputs(), segment.outputs(),
      std::make_shared<Lending<Replay<Real>>>([segment] { return Replay<Real>(segment); },
                                              [segment](const Lender::Visit& visit) { each_lender(segment, visit); }));
}

template CustomOp<double> detail::checkpoint_op(std::span<const double>, MakeFunction<double>);
template CustomOp<float> detail::checkpoint_op(std::span<const float>, MakeFunction<float>);
template CustomOp<double> make_checkpoint(const Program<double>&);
template CustomOp<float> make_checkpoint(const Program<float>&);

}  // namespace wengert
