// Of a Replay: forward mode, Jacobians, second derivatives.
#include <algorithm>
#include <string>
#include <utility>

#include "tape/compressed.hpp"
#include "tape/passes.hpp"

namespace wengert {
namespace {

/// What a sum of outputs is differentiated, for functions that take weights or want one output.
template <class Real>
void check_weights(const Program<Real>& program, const char* what, Samples<const Real> weights,
                   std::span<const Real> uniform_weights = {}) {
  if (!uniform_weights.empty() && uniform_weights.size() != program.uniform_outputs())
    throw Error(ErrorCode::bad_size, std::string(what) + " is given " + std::to_string(uniform_weights.size()) +
                                         " weights for " + std::to_string(program.uniform_outputs()) +
                                         " uniform outputs");
  const std::size_t outputs = program.outputs(), uniform = program.uniform_outputs();
  const bool enough = (weights.data || outputs == 0) && (!uniform_weights.empty() || uniform == 0);
  if (!enough && outputs + uniform != 1)
    throw Error(ErrorCode::bad_argument, std::string(what) + " of a program with " + std::to_string(outputs + uniform) +
                                             " outputs: give a weight for each");
}

/// Tangents of the differentiated inputs along a direction for each sample, or none.
template <class Real>
auto along(Samples<const Real> directions) {
  return [directions](const LaneRange& lanes, std::size_t k, LaneSlot<Real> slot) {
    if (directions.data) load_item(directions, lanes, k, slot);
    else slot.fill(Real(0));
  };
}

/// Where the derivative in place k for a seed goes in a dense matrix.
struct DenseItems {
  std::size_t columns;
  bool seeds_are_columns;
  std::size_t operator()(std::size_t seed, std::size_t k) const {
    return seeds_are_columns ? k * columns + seed : seed * columns + k;
  }
};

}  // namespace

template <class Real>
void Replay<Real>::refuse_sums(const char* what) const {
  if (!machine_->data().uniform.sums.empty() || program().uniform_outputs() != 0)
    throw Error(ErrorCode::unsupported, std::string(what) +
                                            " of a program with sums over samples or uniform outputs: only values, "
                                            "gradient, vjp, jvp, hvp, parameter_jacobian and parameter_hessian know "
                                            "those");
}

/// Whether tangents have to go through what runs once per batch.
template <class Real>
bool Replay<Real>::has_uniform_tangents() const {
  const auto& directions = machine_->uniform().directions();
  return !machine_->data().uniform.sums.empty() || program().uniform_outputs() != 0 ||
         std::any_of(directions.begin(), directions.end(), [](Real d) { return d != 0; });
}

template <class Real>
void Replay<Real>::refuse_calls(const char* what, const std::string& without, const char* rule) const {
  if (!without.empty())
    throw Error(ErrorCode::unsupported, std::string(what) + " of a program with the custom op " + without +
                                            ", which has no " + rule + "; give it one (CustomRule::" + rule + ")");
}

template <class Real>
void Replay<Real>::jvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions,
                       Samples<Real> values, Samples<Real> tangents) {
  const bool uniform = has_uniform_tangents();
  refuse_calls("jvp", machine_->data().call_without_jvp, "jvp");
  if (uniform) refuse_calls("jvp", machine_->data().uniform.call_without_jvp, "jvp");
  need("inputs", samples, program().inputs(), inputs);
  if (!uniform) need("directions", samples, program().differentiated(), directions);
  need("tangents", samples, program().outputs(), tangents);
  own_places("values", samples, program().outputs(), values);
  own_places("tangents", samples, program().outputs(), tangents);
  const InUse in_use = machine_->begin({values_pass(machine_->data(), samples, Numbers::dual)}, uniform);
  tangent_pass(samples, inputs, along(directions), values, tangents);
  machine_->finish();
}

/// Values and tangents of all samples, and what follows from their sums.
template <class Real>
template <class Tangent>
void Replay<Real>::tangent_pass(std::size_t samples, Samples<const Real> inputs, const Tangent& tangent,
                                Samples<Real> values, Samples<Real> tangents) {
  using Block = typename Machine<Real>::Block;
  const plan::Layout<Real>& layout = machine_->data().values;
  const Pass<Real> pass = values_pass(machine_->data(), samples, Numbers::dual);
  SumsOfBlocks<Real> sums(*machine_, pass);
  machine_->each_block(pass, [&](const Block& block) {
    load_duals<Real>(block, layout, inputs, [&](std::size_t k, LaneSlot<Real> slot) { tangent(block.lanes, k, slot); });
    sums.collect(block, [&](auto* taken) { block.values(taken); });
    store_outputs<Real>(block, layout, values);
    if (!tangents.data) return;
    for (std::size_t k = 0; k < layout.outputs.size(); ++k)
      store_derivative(block.tangent(layout.outputs[k]), block.lanes, tangents, [&](std::size_t) { return k; });
  });
  const auto [all, of_tangents] = sums.finish();
  machine_->uniform().values_after(all, of_tangents);
}

template <class Real>
template <class Item>
void Replay<Real>::forward_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                    Samples<Real> derivatives, std::size_t seeds, const std::uint32_t* colour,
                                    const Item& item) {
  need("inputs", samples, program().inputs(), inputs);
  own_places("values", samples, program().outputs(), values);
  using Block = typename Machine<Real>::Block;
  const plan::Layout<Real>& layout = machine_->data().values;
  const Pass<Real> pass{layout, Numbers::dual, samples, seeds};
  const InUse in_use = machine_->begin({pass});
  machine_->each_block(pass, [&](const Block& block) {
    load_duals<Real>(block, layout, inputs,
                     [&](std::size_t k, LaneSlot<Real> slot) { load_seed(block.lanes, colour ? colour[k] : k, slot); });
    block.values();
    store_outputs<Real>(block, layout, values);
    for (std::size_t k = 0; k < layout.outputs.size(); ++k)
      store_derivative(block.tangent(layout.outputs[k]), block.lanes, derivatives,
                       [&](std::size_t seed) { return item(seed, k); });
  });
  machine_->finish();
}

template <class Real>
template <class Item>
void Replay<Real>::reverse_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                    Samples<Real> derivatives, std::size_t seeds, const std::uint32_t* colour,
                                    const Item& item) {
  need("inputs", samples, program().inputs(), inputs);
  own_places("values", samples, program().outputs(), values);
  using Block = typename Machine<Real>::Block;
  const plan::ProgramData<Real>& data = machine_->data();
  // Many samples: one forward sweep, then a reverse sweep for each seed. Few: all seeds side by side in the lanes.
  const bool side_by_side = samples < machine_->lanes() / 2;
  const Pass<Real> pass{data.gradient, Numbers::plain, samples, side_by_side ? seeds : 1};
  const InUse in_use = machine_->begin({pass});
  machine_->each_block(pass, [&](const Block& block) {
    load_inputs<Real>(block, data.gradient, inputs);
    block.forward();
    store_outputs<Real>(block, data.gradient, values);
    for (std::size_t seed = 0; seed < (side_by_side ? 1 : seeds); ++seed) {
      for (std::size_t k = 0; k < data.seeds.size(); ++k) {
        if (data.seeds[k] == plan::no_slot) continue;
        const std::size_t wanted = colour ? colour[k] : k;
        if (side_by_side) load_seed(block.lanes, wanted, block.slot(data.seeds[k]));
        else block.slot(data.seeds[k]).fill(wanted == seed ? Real(1) : Real(0));
      }
      block.backward();
      store_gradients<Real>(block, derivatives,
                            [&](std::size_t s, std::size_t k) { return item(side_by_side ? s : seed, k); });
    }
  });
  machine_->finish();
}

template <class Real>
void Replay<Real>::values_if_wanted(std::size_t samples, Samples<const Real> inputs, Samples<Real> to) {
  if (to.data || program().statistics().guards != 0) values(samples, inputs, to);
}

template <class Real>
void Replay<Real>::jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                            Samples<Real> jacobians) {
  refuse_sums("jacobian");
  const std::size_t rows = program().outputs(), columns = program().differentiated();
  const bool may_go_forward = machine_->data().call_without_jvp.empty();
  need("jacobians", samples, rows * columns, jacobians);
  own_places("jacobians", samples, rows * columns, jacobians);
  if (columns == 0) values_if_wanted(samples, inputs, values);
  else if (columns < rows && may_go_forward)
    forward_jacobian(samples, inputs, values, jacobians, columns, nullptr, DenseItems{columns, true});
  else reverse_jacobian(samples, inputs, values, jacobians, rows, nullptr, DenseItems{columns, false});
}

template <class Real>
void Replay<Real>::sparse_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                   Samples<Real> nonzeros) {
  refuse_sums("sparse_jacobian");
  if (!jacobian_)
    jacobian_ = std::make_unique<Compressed>(
        compress_jacobian(program().jacobian_sparsity(), machine_->data().call_without_jvp.empty()));
  const Compressed& plan = *jacobian_;
  need("nonzeros", samples, plan.nonzeros, nonzeros);
  own_places("nonzeros", samples, plan.nonzeros, nonzeros);
  const auto item = [&](std::size_t seed, std::size_t k) { return plan.item(seed, k); };
  if (plan.seeds == 0) values_if_wanted(samples, inputs, values);
  else if (plan.seeds_are_columns)
    forward_jacobian(samples, inputs, values, nonzeros, plan.seeds, plan.colour.data(), item);
  else reverse_jacobian(samples, inputs, values, nonzeros, plan.seeds, plan.colour.data(), item);
}

template <class Real>
template <class Tangent, class Item>
void Replay<Real>::second_order(std::size_t samples, std::size_t seeds, Samples<const Real> inputs,
                                Samples<const Real> weights, Samples<Real> values, Samples<Real> gradients,
                                Samples<Real> products, const Tangent& tangent, const Item& item, bool with_uniform,
                                std::span<const Real> uniform_weights) {
  need("inputs", samples, program().inputs(), inputs);
  own_places("values", samples, program().outputs(), values);
  own_places("gradients", samples, program().differentiated(), gradients);
  using Block = typename Machine<Real>::Block;
  const plan::ProgramData<Real>& data = machine_->data();
  UniformSide<Real>& uniform = machine_->uniform();
  const bool first = with_uniform && !data.uniform.linear;
  const std::size_t terms = data.uniform.sums.size(), totals = with_uniform ? data.uniform.totals.size() : 0;
  const Pass<Real> pass{data.gradient, Numbers::dual, samples, seeds, terms + totals};
  const InUse in_use = machine_->begin({first ? values_pass(data, samples, Numbers::dual) : pass, pass}, with_uniform);
  if (first) {  // as in vjp
    tangent_pass(samples, inputs, tangent, {}, {});
    machine_->forget_departures();
  }
  if (with_uniform) uniform.adjoints_before(uniform_weights);
  SumsOfBlocks<Real> sums(*machine_, pass);
  machine_->each_block(pass, [&](const Block& block) {
    load_duals<Real>(block, data.gradient, inputs,
                     [&](std::size_t k, LaneSlot<Real> slot) { tangent(block.lanes, k, slot); });
    sums.collect(block, [&](auto* taken) {
      block.forward(taken);
      store_outputs<Real>(block, data.gradient, values);
      load_weights<Real>(block, data.seeds, weights);
      for (const plan::Slot seed : data.seeds)
        if (seed != plan::no_slot) block.tangent(seed).fill(Real(0));
      load_sum_adjoints<Real>(block, uniform);
      block.backward(taken);
    });
    store_gradients<Real>(block, gradients, [](std::size_t seed, std::size_t k) { return seed == 0 ? k : no_item; });
    if (!products.data) return;
    for (std::size_t k = 0; k < data.gradients.size(); ++k)
      store_derivative(block.tangent(data.gradients[k]), block.lanes, products,
                       [&](std::size_t seed) { return item(seed, k); });
  });
  if (with_uniform) {
    const auto [all, tangents] = sums.finish();
    if (!first) uniform.values_after(all.first(terms), tangents.first(terms));
    uniform.adjoints_after(all.subspan(terms), tangents.subspan(terms));
  }
  machine_->finish();
}

template <class Real>
void Replay<Real>::refuse_second(const char* what) const {
  const plan::ProgramData<Real>& data = machine_->data();
  refuse_calls(what, data.call_without_jvp, "jvp");
  refuse_calls(what, data.call_without_hvp, "hvp");
  if (!has_uniform_tangents()) return;
  refuse_calls(what, data.uniform.call_without_jvp, "jvp");
  refuse_calls(what, data.uniform.call_without_hvp, "hvp");
}

template <class Real>
void Replay<Real>::hvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions,
                       Samples<Real> values, Samples<Real> gradients, Samples<Real> products,
                       Samples<const Real> weights, std::span<const Real> uniform_weights) {
  refuse_second("hvp");
  check_weights(program(), "hvp", weights, uniform_weights);
  if (!has_uniform_tangents()) {
    need("directions", samples, program().differentiated(), directions);
    need("products", samples, program().differentiated(), products);
  }
  own_places("products", samples, program().differentiated(), products);
  second_order(samples, 1, inputs, weights, values, gradients, products, along(directions), same_item,
               has_uniform_tangents(), uniform_weights);
}

template <class Real>
void Replay<Real>::hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                           Samples<Real> gradients, Samples<Real> hessians, Samples<const Real> weights) {
  refuse_sums("hessian");
  refuse_second("hessian");
  check_weights(program(), "hessian", weights);
  const std::size_t n = program().differentiated();
  need("hessians", samples, n * n, hessians);
  own_places("hessians", samples, n * n, hessians);
  if (n == 0) return vjp(samples, inputs, weights, values, gradients);
  second_order(
      samples, n, inputs, weights, values, gradients, hessians,
      [](const LaneRange& lanes, std::size_t k, LaneSlot<Real> slot) { load_seed(lanes, k, slot); },
      DenseItems{n, true}, false);
}

template <class Real>
void Replay<Real>::sparse_hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                  Samples<Real> gradients, Samples<Real> nonzeros, Samples<const Real> weights) {
  refuse_sums("sparse_hessian");
  refuse_second("sparse_hessian");
  check_weights(program(), "sparse_hessian", weights);
  if (!hessian_) hessian_ = std::make_unique<Compressed>(compress_hessian(program().hessian_sparsity()));
  const Compressed& plan = *hessian_;
  need("nonzeros", samples, plan.nonzeros, nonzeros);
  own_places("nonzeros", samples, plan.nonzeros, nonzeros);
  if (plan.seeds == 0) return vjp(samples, inputs, weights, values, gradients);
  second_order(
      samples, plan.seeds, inputs, weights, values, gradients, nonzeros,
      [&](const LaneRange& lanes, std::size_t k, LaneSlot<Real> slot) { load_seed(lanes, plan.colour[k], slot); },
      [&](std::size_t seed, std::size_t k) { return plan.item(seed, k); }, false);
  for (std::size_t e = 0; e < samples; ++e)
    for (const auto& [to, from] : plan.copies) *place(nonzeros, e, to) = *place(nonzeros, e, from);
}

template <class Real>
void Replay<Real>::set_parameter_directions(std::span<const Real> directions) {
  if (directions.size() != program().differentiated_parameters())
    throw Error(ErrorCode::bad_size, "set_parameter_directions is given " + std::to_string(directions.size()) +
                                         " numbers for " + std::to_string(program().differentiated_parameters()) +
                                         " differentiated parameters");
  machine_->uniform().set_directions(directions);
}
template <class Real>
std::span<const Real> Replay<Real>::uniform_tangents() const {
  return machine_->uniform().tangents();
}
template <class Real>
std::span<const Real> Replay<Real>::parameter_products() const {
  return machine_->uniform().products();
}

namespace {

template <class Real>
void check_table(const char* what, std::span<Real> given, std::size_t rows, std::size_t columns) {
  if (given.size() != rows * columns)
    throw Error(ErrorCode::bad_size, std::string(what) + " is given room for " + std::to_string(given.size()) +
                                         " numbers; there are " + std::to_string(rows) + " times " +
                                         std::to_string(columns));
}

/// Directions of parameters for the time of a call; then those that were set before.
template <class Real>
class OneDirection {
 public:
  explicit OneDirection(UniformSide<Real>& uniform)
      : uniform_(uniform), before_(uniform.directions().begin(), uniform.directions().end()), now_(before_.size()) {}
  ~OneDirection() { uniform_.set_directions(before_); }
  OneDirection(const OneDirection&) = delete;
  OneDirection& operator=(const OneDirection&) = delete;

  void along(std::size_t k) {
    std::fill(now_.begin(), now_.end(), Real(0));
    now_[k] = 1;
    uniform_.set_directions(now_);
  }

 private:
  UniformSide<Real>& uniform_;
  std::vector<Real> before_, now_;
};

}  // namespace

template <class Real>
void Replay<Real>::parameter_jacobian(std::size_t samples, Samples<const Real> inputs, std::span<Real> jacobian) {
  const std::size_t rows = program().uniform_outputs(), columns = program().differentiated_parameters();
  check_table("parameter_jacobian", jacobian, rows, columns);
  const plan::ProgramData<Real>& data = machine_->data();
  if (columns < rows && data.call_without_jvp.empty() && data.uniform.call_without_jvp.empty()) {
    OneDirection<Real> direction(machine_->uniform());
    for (std::size_t k = 0; k < columns; ++k) {
      direction.along(k);
      need("inputs", samples, program().inputs(), inputs);
      const InUse in_use = machine_->begin({values_pass(data, samples, Numbers::dual)}, true);
      tangent_pass(samples, inputs, along(Samples<const Real>()), {}, {});
      machine_->finish();
      for (std::size_t row = 0; row < rows; ++row) jacobian[row * columns + k] = uniform_tangents()[row];
    }
    return;
  }
  std::vector<Real> weights(rows);
  const Real none = 0;  // outputs of samples are no part of it
  for (std::size_t row = 0; row < rows; ++row) {
    std::fill(weights.begin(), weights.end(), Real(0));
    weights[row] = 1;
    vjp(samples, inputs, {&none, 0, 0}, {}, {}, weights);
    std::copy_n(parameter_gradients().begin(), columns, jacobian.begin() + std::ptrdiff_t(row * columns));
  }
}

template <class Real>
void Replay<Real>::parameter_hessian(std::size_t samples, Samples<const Real> inputs, std::span<Real> hessian,
                                     Samples<const Real> weights, std::span<const Real> uniform_weights) {
  const std::size_t n = program().differentiated_parameters();
  check_table("parameter_hessian", hessian, n, n);
  check_weights(program(), "parameter_hessian", weights, uniform_weights);
  OneDirection<Real> direction(machine_->uniform());
  for (std::size_t k = 0; k < n; ++k) {
    direction.along(k);
    if (k == 0) refuse_second("parameter_hessian");
    second_order(samples, 1, inputs, weights, {}, {}, {}, along(Samples<const Real>()), same_item, true,
                 uniform_weights);
    std::copy_n(parameter_products().begin(), n, hessian.begin() + std::ptrdiff_t(k * n));
  }
}

#define WENGERT_DERIVATIVES(Real)                                                                                      \
  template bool Replay<Real>::has_uniform_tangents() const;                                                            \
  template void Replay<Real>::refuse_sums(const char*) const;                                                          \
  template void Replay<Real>::refuse_second(const char*) const;                                                        \
  template void Replay<Real>::refuse_calls(const char*, const std::string&, const char*) const;                        \
  template void Replay<Real>::values_if_wanted(std::size_t, Samples<const Real>, Samples<Real>);                       \
  template void Replay<Real>::jvp(std::size_t, Samples<const Real>, Samples<const Real>, Samples<Real>,                \
                                  Samples<Real>);                                                                      \
  template void Replay<Real>::jacobian(std::size_t, Samples<const Real>, Samples<Real>, Samples<Real>);                \
  template void Replay<Real>::sparse_jacobian(std::size_t, Samples<const Real>, Samples<Real>, Samples<Real>);         \
  template void Replay<Real>::hvp(std::size_t, Samples<const Real>, Samples<const Real>, Samples<Real>, Samples<Real>, \
                                  Samples<Real>, Samples<const Real>, std::span<const Real>);                          \
  template void Replay<Real>::hessian(std::size_t, Samples<const Real>, Samples<Real>, Samples<Real>, Samples<Real>,   \
                                      Samples<const Real>);                                                            \
  template void Replay<Real>::sparse_hessian(std::size_t, Samples<const Real>, Samples<Real>, Samples<Real>,           \
                                             Samples<Real>, Samples<const Real>);                                      \
  template void Replay<Real>::parameter_jacobian(std::size_t, Samples<const Real>, std::span<Real>);                   \
  template void Replay<Real>::parameter_hessian(std::size_t, Samples<const Real>, std::span<Real>,                     \
                                                Samples<const Real>, std::span<const Real>);                           \
  template void Replay<Real>::set_parameter_directions(std::span<const Real>);                                         \
  template std::span<const Real> Replay<Real>::uniform_tangents() const;                                               \
  template std::span<const Real> Replay<Real>::parameter_products() const;
WENGERT_DERIVATIVES(double)
WENGERT_DERIVATIVES(float)
#undef WENGERT_DERIVATIVES

}  // namespace wengert
