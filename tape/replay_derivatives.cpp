// Of a Replay: forward mode, Jacobians, second derivatives.
#include <algorithm>
#include <string>
#include <utility>

#include "tape/native_seeds.hpp"

namespace wengert {
namespace {

/// Where the derivative in place k for a seed goes in a dense matrix.
struct DenseItems {
  std::size_t columns;
  bool seeds_are_columns;
  std::size_t operator()(std::size_t seed, std::size_t k) const {
    return seeds_are_columns ? k * columns + seed : seed * columns + k;
  }
};

/// Whether second derivatives go through what runs once per batch: those in parameters do, along directions of the inputs too.
template <class Real>
bool has_uniform_products(const Replay<Real>& replay, bool uniform_tangents) {
  return uniform_tangents || replay.program().differentiated_parameters() != 0;
}

/// Whether each block does one seed of a matrix after the other, which needs no looking for each lane's sample. Several threads have
/// more to share where all are side by side.
template <class Real>
bool one_seed_at_a_time(const Machine<Real>& machine, std::size_t samples) {
  return machine.fill_blocks(samples) && (machine.threads() == 1 || samples >= machine.threads() * machine.lanes());
}

/// A pass of dual numbers over a matrix's seeds.
template <class Real>
Pass<Real> pass_of_seeds(const plan::Layout<Real>& layout, std::size_t samples, std::size_t seeds, bool one_by_one,
                         std::size_t sums = 0) {
  return {layout, Numbers::dual, samples, one_by_one ? 1 : seeds, sums, 1, one_by_one ? seeds : 1};
}

/// As `along` has them for machine code that reads columns, which puts tangents into columns too.
template <class Real>
Samples<const Real> directions_of(const AlongDirections<Real>& along) {
  return along.directions;
}
template <class Real>
Samples<const Real> directions_of(const AlongSeeds<Real>&) {
  return {};
}

/// Values and tangents of all samples. Returns the sums over them.
template <class Real, class Tangent, class Item>
auto tangent_pass(Machine<Real>& machine, const Pass<Real>& pass, Samples<const Real> inputs, const Tangent& tangent,
                  Samples<Real> values, Samples<Real> tangents, const Item& item) {
  const plan::Evaluation what(false, Numbers::dual, machine.uniform().has_tangents());
  const std::vector<plan::Slot>& outputs = pass.layout.outputs;
  SumsOfBlocks<Real> sums(machine, pass);
  const NativeBatch<Real> batch{pass.samples, inputs, {}, values, {}, directions_of(tangent), tangents};
  if (run_points(machine, what, batch, pass, tangent, item)) return sums.finish();
  NativeRunner<Real>* const native = begin_native(machine, what, batch, pass);
  each_block(machine, pass, native, [&](const typename Machine<Real>::Block& block) {
    bool by_code = native;
    each_time(pass, tangent, item, [&](const auto& along, const auto& place_of, bool first) {
      by_code = by_code && run_native(*native, block, what, batch, along, place_of, first);
      if (by_code) return sums.take(block, *native);
      load_duals<Real>(block, pass.layout, inputs, along);
      sums.collect(block, [&](auto* taken) { block.values(taken); });
      if (first) store_outputs<Real>(block, pass.layout, values);
      for (std::size_t k = 0; tangents.data && k < outputs.size(); ++k)
        store_derivative(block.tangent(outputs[k]), block.lanes, tangents,
                         [&](std::size_t seed) { return place_of(seed, k); });
    });
  });
  return sums.finish();
}

}  // namespace

/// Whether something follows from all samples together.
template <class Real>
bool Replay<Real>::has_sums() const {
  return !machine_->data().uniform.sums.empty() || program().uniform_outputs() != 0;
}

/// Whether a Jacobian may come by columns: rows of uniform outputs, which hold the inputs of one sample, come by rows alone.
template <class Real>
bool Replay<Real>::may_go_forward() const {
  return machine_->data().call_without_jvp.empty() && program().uniform_outputs() == 0;
}

/// Whether tangents have to go through what runs once per batch.
template <class Real>
bool Replay<Real>::has_uniform_tangents() const {
  const auto& directions = machine_->uniform().directions();
  return has_sums() || std::any_of(directions.begin(), directions.end(), [](Real d) { return d != 0; });
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
  if (!uniform) {
    need("directions", samples, program().differentiated(), directions);
    need("tangents", samples, program().outputs(), tangents);
  }
  own_places<Real>(samples, {{"values", program().outputs(), values}, {"tangents", program().outputs(), tangents}},
                   {{"inputs", program().inputs(), inputs}, {"directions", program().differentiated(), directions}});
  if (NativePoint<Real>* const point = whole_point(*machine_, {false, Numbers::dual}, samples, inputs);
      point && point->run_checked({1, inputs, {}, values, {}, directions, tangents}))
    return;
  const Pass<Real> pass = values_pass(machine_->data(), samples, Numbers::dual);
  const InUse in_use = machine_->begin({pass}, uniform);
  const auto sums =
      tangent_pass(*machine_, pass, inputs, AlongDirections<Real>{directions}, values, tangents, same_item);
  machine_->uniform().values_after(sums.values, sums.tangents);
  machine_->finish();
}

template <class Real>
template <class Item>
void Replay<Real>::forward_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                    Samples<Real> derivatives, const Seeds& seeds, const Item& item) {
  const Pass<Real> pass =
      pass_of_seeds(machine_->data().values, samples, seeds.count, one_seed_at_a_time(*machine_, samples));
  const InUse in_use = machine_->begin({has_sums() ? values_pass(machine_->data(), samples) : pass, pass});
  if (has_sums()) sums_first(samples, inputs);
  tangent_pass(*machine_, pass, inputs, AlongSeeds<Real>{seeds}, values, derivatives, item);
  machine_->finish();
}

template <class Real>
template <class Item>
void Replay<Real>::reverse_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                    Samples<Real> derivatives, const Seeds& seeds, const Item& item) {
  using Block = typename Machine<Real>::Block;
  const plan::ProgramData<Real>& data = machine_->data();
  UniformSide<Real>& uniform = machine_->uniform();
  // Many samples: one forward sweep, then a reverse sweep for each seed. Few: all seeds side by side in the lanes.
  const bool side_by_side =
      machine_->threads() == 1 ? !machine_->fill_blocks(samples) : samples < machine_->lanes() / 2;
  const std::size_t sweeps = side_by_side ? 1 : seeds.count;
  const Pass<Real> pass{data.gradient, Numbers::plain, samples, side_by_side ? seeds.count : 1, 0, sweeps};
  const InUse in_use = machine_->begin({has_sums() ? values_pass(data, samples) : pass, pass}, false, seeds.count);
  if (has_sums()) {
    sums_first(samples, inputs);
    uniform.adjoints_for(seeds.count,
                         [&](std::size_t seed, std::size_t k) { return seeds.of(data.seeds.size() + k) == seed; });
  }
  // Adjoints in a slot, or where code reads them.
  const auto load = [&](const Block& block, std::size_t seed, const LaneSlot<Real>& to, const auto& adjoint_for) {
    if (!side_by_side) return to.fill(adjoint_for(seed));
    for (std::size_t e = 0; e < block.lanes.count; ++e) to[e] = adjoint_for(block.lanes.seed(e));
    to.pad(block.lanes.count);
  };
  const auto of_output = [&](std::size_t k) {
    return [&seeds, k](std::size_t s) { return seeds.of(k) == s ? Real(1) : Real(0); };
  };
  const NativeBatch<Real> batch{samples, inputs, {}, values, derivatives};
  const bool by_code = data.sum_seeds.empty();
  const NativeBatch<Real> values_of_batch{samples, inputs, {}, values, {}};
  if (by_code && run_points(*machine_, true, values_of_batch, derivatives, pass, seeds, item))
    return machine_->finish();
  NativeRunner<Real>* const native = by_code ? begin_native(*machine_, true, batch, pass) : nullptr;
  const auto run_code = [&](const Block& block, std::size_t seed) {
    return run_native(
        *native, block, batch, seed == 0,
        [&](std::size_t k, const LaneSlot<Real>& to) { load(block, seed, to, of_output(k)); },
        [&](std::size_t s, std::size_t k) { return item(side_by_side ? s : seed, k); });
  };
  each_block(*machine_, pass, native, [&](const Block& block) {
    std::size_t done = 0;
    while (native && done < sweeps && run_code(block, done)) ++done;
    if (done == sweeps) return;
    load_inputs<Real>(block, data.gradient, inputs);
    block.forward();
    store_outputs<Real>(block, data.gradient, values);
    for (std::size_t seed = 0; seed < sweeps; ++seed) {
      for (std::size_t k = 0; k < data.seeds.size(); ++k)
        if (data.seeds[k] != plan::no_slot) load(block, seed, block.slot(data.seeds[k]), of_output(k));
      for (std::size_t k = 0; k < data.sum_seeds.size(); ++k)
        load(block, seed, block.slot(data.sum_seeds[k]), [&](std::size_t s) { return uniform.adjoint_for(s, k); });
      block.backward();
      store_gradients<Real>(block, derivatives,
                            [&](std::size_t s, std::size_t k) { return item(side_by_side ? s : seed, k); });
    }
  });
  machine_->finish();
}

template <class Real>
void Replay<Real>::values_if_wanted(std::size_t samples, Samples<const Real> inputs, Samples<Real> to) {
  if (to.data || has_sums() || program().statistics().guards != 0) values(samples, inputs, to);
}

template <class Real>
void Replay<Real>::jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                            Samples<Real> jacobians) {
  const std::size_t rows = program().outputs() + program().uniform_outputs(), columns = program().differentiated();
  need("inputs", samples, program().inputs(), inputs);
  need("jacobians", samples, rows * columns, jacobians);
  own_places<Real>(samples, {{"values", program().outputs(), values}, {"jacobians", rows * columns, jacobians}},
                   {{"inputs", program().inputs(), inputs}});
  if (columns == 0) values_if_wanted(samples, inputs, values);
  else if (columns < rows && may_go_forward())
    forward_jacobian(samples, inputs, values, jacobians, {columns}, DenseItems{columns, true});
  else reverse_jacobian(samples, inputs, values, jacobians, {rows}, DenseItems{columns, false});
}

template <class Real>
void Replay<Real>::sparse_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                   Samples<Real> nonzeros) {
  if (!jacobian_)
    jacobian_ = std::make_unique<Compressed>(compress_jacobian(program().jacobian_sparsity(), may_go_forward()));
  const Compressed& plan = *jacobian_;
  need("inputs", samples, program().inputs(), inputs);
  need("nonzeros", samples, plan.nonzeros, nonzeros);
  own_places<Real>(samples, {{"values", program().outputs(), values}, {"nonzeros", plan.nonzeros, nonzeros}},
                   {{"inputs", program().inputs(), inputs}});
  const auto item = [&](std::size_t seed, std::size_t k) { return plan.item(seed, k); };
  if (plan.seeds.count == 0) values_if_wanted(samples, inputs, values);
  else if (plan.seeds_are_columns) forward_jacobian(samples, inputs, values, nonzeros, plan.seeds, item);
  else reverse_jacobian(samples, inputs, values, nonzeros, plan.seeds, item);
}

template <class Real>
template <class Tangent, class Item>
void Replay<Real>::second_order(std::size_t samples, std::size_t seeds, Samples<const Real> inputs,
                                Samples<const Real> weights, Samples<Real> values, Samples<Real> gradients,
                                Samples<Real> products, const Tangent& tangent, const Item& item,
                                std::span<const Real> uniform_weights, bool uniform_tangents) {
  using Block = typename Machine<Real>::Block;
  const plan::ProgramData<Real>& data = machine_->data();
  UniformSide<Real>& uniform = machine_->uniform();
  // As in vjp. Where tangents aren't summed, values are, by a pass of their own: a sample may have several lanes here.
  const bool first = uniform_tangents ? !data.uniform.linear : has_sums();
  const std::size_t terms = data.uniform.sums.size(), totals = data.uniform.totals.size();
  const Pass<Real> pass =
                       pass_of_seeds(data.gradient, samples, seeds, seeds > 1 && one_seed_at_a_time(*machine_, samples),
                                     uniform_tangents ? terms + totals : 0),
                   before = values_pass(data, samples, uniform_tangents ? Numbers::dual : Numbers::plain);
  const InUse in_use = machine_->begin({first ? before : pass, pass}, uniform_tangents);
  if (first && uniform_tangents) {
    const auto sums = tangent_pass<Real>(*machine_, before, inputs, tangent, {}, {}, same_item);
    uniform.values_after(sums.values, sums.tangents);
    machine_->forget_departures();
  } else if (first) sums_first(samples, inputs);
  if (uniform.any()) uniform.adjoints_before(uniform_weights);
  SumsOfBlocks<Real> sums(*machine_, pass);
  const plan::Evaluation what(true, Numbers::dual, uniform.has_tangents());
  const NativeBatch<Real> batch{samples, inputs, weights, values, gradients, directions_of(tangent), products};
  const bool done = run_points(*machine_, what, batch, pass, tangent, item);
  NativeRunner<Real>* const native = done ? nullptr : begin_native(*machine_, what, batch, pass);
  if (!done)
    each_block(*machine_, pass, native, [&](const Block& block) {
      bool by_code = native;
      each_time(pass, tangent, item, [&](const auto& along, const auto& place_of, bool is_first) {
        by_code = by_code && run_native(*native, block, what, batch, along, place_of, is_first);
        if (by_code) return sums.take(block, *native);
        load_duals<Real>(block, data.gradient, inputs, along);
        sums.collect(block, [&](auto* taken) {
          block.forward(taken);
          if (is_first) store_outputs<Real>(block, data.gradient, values);
          load_weights<Real>(block, data.seeds, weights);
          for (const plan::Slot seed : data.seeds)
            if (seed != plan::no_slot) block.tangent(seed).fill(Real(0));
          load_sum_adjoints<Real>(block, uniform);
          block.backward(taken);
        });
        if (is_first)
          store_gradients<Real>(block, gradients,
                                [](std::size_t seed, std::size_t k) { return seed == 0 ? k : no_item; });
        for (std::size_t k = 0; products.data && k < data.gradients.size(); ++k)
          store_derivative(block.tangent(data.gradients[k]), block.lanes, products,
                           [&](std::size_t seed) { return place_of(seed, k); });
      });
    });
  if (uniform_tangents) {
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
  if (!has_uniform_products(*this, has_uniform_tangents())) return;
  refuse_calls(what, data.uniform.call_without_jvp, "jvp");
  refuse_calls(what, data.uniform.call_without_hvp, "hvp");
}

template <class Real>
void Replay<Real>::hvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions,
                       Samples<Real> values, Samples<Real> gradients, Samples<Real> products,
                       Samples<const Real> weights, std::span<const Real> uniform_weights) {
  refuse_second("hvp");
  check_weights(program(), "hvp", weights, uniform_weights);
  need("inputs", samples, program().inputs(), inputs);
  if (!has_uniform_tangents()) {
    need("directions", samples, program().differentiated(), directions);
    need("products", samples, program().differentiated(), products);
  }
  own_places<Real>(samples,
                   {{"values", program().outputs(), values},
                    {"gradients", program().differentiated(), gradients},
                    {"products", program().differentiated(), products}},
                   {{"inputs", program().inputs(), inputs},
                    {"weights", program().outputs(), weights},
                    {"directions", program().differentiated(), directions}});
  if (NativePoint<Real>* const point = whole_point(*machine_, {true, Numbers::dual}, samples, inputs);
      point && point->run_checked({1, inputs, weights, values, gradients, directions, products}))
    return;
  second_order(samples, 1, inputs, weights, values, gradients, products, AlongDirections<Real>{directions}, same_item,
               uniform_weights, has_uniform_products(*this, has_uniform_tangents()));
}

/// Of one sample's inputs a Hessian is a matrix only where samples don't meet.
template <class Real>
void Replay<Real>::check_hessian(const char* what, Samples<const Real> weights,
                                 std::span<const Real> uniform_weights) const {
  if (!machine_->data().uniform.linear)
    throw Error(ErrorCode::unsupported, std::string(what) +
                                            " of a program with outputs that aren't linear in its sums over samples: "
                                            "there each sample's inputs act on every other's; use hvp, or "
                                            "parameter_hessian");
  refuse_calls(what, machine_->data().call_without_jvp, "jvp");
  refuse_calls(what, machine_->data().call_without_hvp, "hvp");
  check_weights(program(), what, weights, uniform_weights);
}

template <class Real>
void Replay<Real>::hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                           Samples<Real> gradients, Samples<Real> hessians, Samples<const Real> weights,
                           std::span<const Real> uniform_weights) {
  check_hessian("hessian", weights, uniform_weights);
  const std::size_t n = program().differentiated();
  need("inputs", samples, program().inputs(), inputs);
  need("hessians", samples, n * n, hessians);
  own_places<Real>(
      samples, {{"values", program().outputs(), values}, {"gradients", n, gradients}, {"hessians", n * n, hessians}},
      {{"inputs", program().inputs(), inputs}, {"weights", program().outputs(), weights}});
  if (n == 0) return vjp(samples, inputs, weights, values, gradients, uniform_weights);
  const Seeds seeds{n};
  second_order(samples, n, inputs, weights, values, gradients, hessians, AlongSeeds<Real>{seeds}, DenseItems{n, true},
               uniform_weights, false);
}

template <class Real>
void Replay<Real>::sparse_hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                                  Samples<Real> gradients, Samples<Real> nonzeros, Samples<const Real> weights,
                                  std::span<const Real> uniform_weights) {
  check_hessian("sparse_hessian", weights, uniform_weights);
  if (!hessian_) hessian_ = std::make_unique<Compressed>(compress_hessian(program().hessian_sparsity()));
  const Compressed& plan = *hessian_;
  need("inputs", samples, program().inputs(), inputs);
  need("nonzeros", samples, plan.nonzeros, nonzeros);
  own_places<Real>(samples,
                   {{"values", program().outputs(), values},
                    {"gradients", program().differentiated(), gradients},
                    {"nonzeros", plan.nonzeros, nonzeros}},
                   {{"inputs", program().inputs(), inputs}, {"weights", program().outputs(), weights}});
  if (plan.seeds.count == 0) return vjp(samples, inputs, weights, values, gradients, uniform_weights);
  second_order(
      samples, plan.seeds.count, inputs, weights, values, gradients, nonzeros, AlongSeeds<Real>{plan.seeds},
      [&](std::size_t seed, std::size_t k) { return plan.item(seed, k); }, uniform_weights, false);
  for (std::size_t e = 0; e < samples; ++e)
    for (const auto& [to, from] : plan.copies) *place(nonzeros, e, to) = *place(nonzeros, e, from);
}

#define WENGERT_DERIVATIVES(Real)                                                                                      \
  template bool Replay<Real>::has_sums() const;                                                                        \
  template bool Replay<Real>::may_go_forward() const;                                                                  \
  template bool Replay<Real>::has_uniform_tangents() const;                                                            \
  template void Replay<Real>::check_hessian(const char*, Samples<const Real>, std::span<const Real>) const;            \
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
                                      Samples<const Real>, std::span<const Real>);                                     \
  template void Replay<Real>::sparse_hessian(std::size_t, Samples<const Real>, Samples<Real>, Samples<Real>,           \
                                             Samples<Real>, Samples<const Real>, std::span<const Real>);
WENGERT_DERIVATIVES(double)
WENGERT_DERIVATIVES(float)
#undef WENGERT_DERIVATIVES

}  // namespace wengert
