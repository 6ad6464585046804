// Custom ops at work: numbers of a block's slots are handed to a rule's functions item by item, and what comes back is put into
// slots. The tape, its replay in lanes and a program's replay all do it by this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "tape/transfer.hpp"
#include "wengert/custom.hpp"
#include "wengert/error.hpp"

namespace wengert {

/// Calls ops(first, end) for the stretches of a tape's first `ops` ops that have no call in them, and call(Call) for those, in
/// the order of the tape.
template <class Real, class Ops, class One>
void each_stretch(std::span<const Call<Real>> calls, std::size_t count, const Ops& ops, const One& call) {
  std::size_t first = 0;
  for (const Call<Real>& one : calls) {
    ops(first, std::size_t(one.op));
    call(one);
    first = one.op + 1;
  }
  ops(first, count);
}
/// The same from the last one to the first.
template <class Real, class Ops, class One>
void each_stretch_back(std::span<const Call<Real>> calls, std::size_t count, const Ops& ops, const One& call) {
  for (std::size_t k = calls.size(); k-- > 0;) {
    if (calls[k].op >= count) continue;
    ops(std::size_t(calls[k].op) + 1, count);
    call(calls[k]);
    count = calls[k].op;
  }
  ops(std::size_t(0), count);
}

/// Numbers that a call needs room for, for each sample.
template <class Real>
std::size_t room_for(const CustomRule<Real>& rule) {
  return 4 * rule.inputs + 3 * rule.outputs + 2 * rule.kept;
}

/// Throws bad_size unless it takes so many.
template <class Real>
void check_operands(const CustomRule<Real>& rule, std::size_t operands) {
  if (operands != rule.inputs)
    throw Error(ErrorCode::bad_size,
                rule.name + " takes " + std::to_string(rule.inputs) + " operands, not " + std::to_string(operands));
}

/// One call on a block. Arguments of its functions say where numbers are: x(i) is the LaneSlot of operand i. Lanes past `samples`
/// get what the last one has.
template <class Real>
class RunningCall {
 public:
  /// `look`: called when code of the rule has run and before its results are put in place, if given.
  RunningCall(const CustomRule<Real>& rule, std::size_t samples, Real* room,
              const std::function<void()>* look = nullptr)
      : rule_(rule), samples_(samples), room_(room), look_(look) {}

  template <class X, class Y>
  void values(X x, Y y) {
    values(read(rule_.inputs, x), y);
  }
  template <class X, class DX, class Y, class DY>
  void dual_values(bool ieee, X x, DX dx, Y y, DY dy) {
    const Table at = read(rule_.inputs, x), result = values(at, y);
    const Samples<Real> tangents = take(results());
    for (std::size_t j = 0; j < results(); ++j) std::fill_n(&tangents(0, j), samples_, Real(0));
    if (rule_.jvp) {  // or nothing that is differentiated reaches the operands
      const Table directions = read(rule_.inputs, dx);
      const Zeros none = ieee ? Zeros::nowhere : zeros(directions, rule_.inputs);
      if (none != Zeros::everywhere) rule_.jvp(samples_, at, result, directions, tangents);
      erase(none, directions, rule_.inputs, tangents, rule_.outputs);
    }
    write(tangents, results(), dy);
  }

  /// g(i): what is to be added to the adjoint of operand i. w(j): the adjoint of output j.
  template <class X, class Y, class W, class G>
  void adjoint(bool ieee, X x, Y y, W w, G g) {
    const Table at = read(rule_.inputs, x), result = read(results(), y), weights = read(rule_.outputs, w);
    const Samples<Real> gradients = take(rule_.inputs);
    product(ieee, at, result, weights, gradients);
    write(gradients, rule_.inputs, g);
  }
  template <class X, class DX, class Y, class W, class DW, class G, class DG>
  void dual_adjoint(bool ieee, X x, DX dx, Y y, W w, DW dw, G g, DG dg) {
    const Table at = read(rule_.inputs, x), result = read(results(), y), weights = read(rule_.outputs, w);
    const Samples<Real> gradients = take(rule_.inputs), curved = take(rule_.inputs);
    product(ieee, at, result, weights, gradients);
    write(gradients, rule_.inputs, g);
    product(ieee, at, result, read(rule_.outputs, dw), gradients);
    const Table directions = read(rule_.inputs, dx);
    const Zeros no_weight = ieee ? Zeros::nowhere : zeros(weights, rule_.outputs),
                no_direction = ieee ? Zeros::nowhere : zeros(directions, rule_.inputs);
    if (no_weight != Zeros::everywhere && no_direction != Zeros::everywhere)
      rule_.hvp(samples_, at, result, weights, directions, curved);
    erase(no_weight, weights, rule_.outputs, curved, rule_.inputs);
    erase(no_direction, directions, rule_.inputs, curved, rule_.inputs);
    for (std::size_t i = 0; i < rule_.inputs; ++i)
      for (std::size_t e = 0; e < samples_; ++e) gradients(e, i) += curved(e, i);
    write(gradients, rule_.inputs, dg);
  }

 private:
  using Table = Samples<const Real>;

  std::size_t results() const { return rule_.outputs + rule_.kept; }
  Samples<Real> take(std::size_t items) { return columns(std::exchange(room_, room_ + items * samples_), samples_); }
  template <class Slots>
  Table read(std::size_t items, Slots slots) {
    const Samples<Real> table = take(items);
    for (std::size_t i = 0; i < items; ++i)
      slots(i).each_piece(samples_,
                          [&](std::size_t e, const Real* p, std::size_t n) { std::copy_n(p, n, &table(e, i)); });
    return table;
  }
  template <class Slots>
  void write(Table table, std::size_t items, Slots slots) const {
    for (std::size_t i = 0; i < items; ++i) {
      const LaneSlot<Real> slot = slots(i);
      slot.each_piece(samples_, [&](std::size_t e, Real* p, std::size_t n) { std::copy_n(&table(e, i), n, p); });
      slot.pad(samples_);
    }
  }

  template <class Y>
  Table values(Table at, Y y) {
    const Samples<Real> result = take(results());
    rule_.values(samples_, at, result);
    if (look_) (*look_)();
    write(result, results(), y);
    return result;
  }
  /// The zero rule: no weight, no contribution, whatever the partials are.
  void product(bool ieee, Table at, Table result, Table weights, Samples<Real> gradients) const {
    const Zeros none = ieee ? Zeros::nowhere : zeros(weights, rule_.outputs);
    if (none != Zeros::everywhere) {
      rule_.vjp(samples_, at, result, weights, gradients);
      if (look_) (*look_)();
    }
    erase(none, weights, rule_.outputs, gradients, rule_.inputs);
  }

  /// Where all numbers of a sample are zero.
  enum class Zeros { nowhere, somewhere, everywhere };
  Zeros zeros(Table table, std::size_t items) const {
    for (std::size_t i = 0; i < items; ++i) {  // what is so mostly is found out quickly
      const Real* const p = &table(0, i);
      bool other = true;
      for (std::size_t e = 0; e < samples_; ++e) other &= p[e] != Real(0);
      if (other) return Zeros::nowhere;
    }
    std::size_t count = 0;
    for (std::size_t e = 0; e < samples_; ++e) count += zero(table, items, e);
    return count == 0 ? Zeros::nowhere : count == samples_ ? Zeros::everywhere : Zeros::somewhere;
  }
  static bool zero(Table table, std::size_t items, std::size_t e) {
    for (std::size_t i = 0; i < items; ++i)
      if (table(e, i) != Real(0)) return false;
    return true;
  }
  /// Puts zeros where `factors` are `where` zero.
  void erase(Zeros where, Table factors, std::size_t items, Samples<Real> products, std::size_t results) const {
    if (where == Zeros::nowhere) return;
    for (std::size_t e = 0; e < samples_; ++e)
      if (zero(factors, items, e))
        for (std::size_t i = 0; i < results; ++i) products(e, i) = Real(0);
  }

  const CustomRule<Real>& rule_;
  const std::size_t samples_;
  Real* room_;
  const std::function<void()>* look_;
};

}  // namespace wengert
