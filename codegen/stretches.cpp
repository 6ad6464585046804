#include "codegen/stretches.hpp"

#include <utility>

namespace wengert::codegen {
namespace {

/// Periods that are tried as an iteration.
constexpr Value most_periods = 4;
/// Iterations that something is carried through.
constexpr Value most_back = 4;
/// Of what a loop streams, from which on what is as cheap to have again is computed again: half of the first cache, which it would
/// share with all else.
constexpr std::size_t many_bytes = 16 << 10;
/// That are worth it to have one value again, if what they take isn't needed anyway.
constexpr int most_operations = 4;

}  // namespace

bool Stretches::find() {
  const std::vector<Repeat> repeats = find_repeats(nodes_);
  if (repeats.empty()) return false;
  find_last_uses();
  // Several periods at a time where an earlier loop does several in an iteration.
  for (const Repeat& repeat : repeats)
    for (Value times = 1; times <= most_periods && !add(repeat, times * repeat.period);) ++times;
  return !stretches_.empty();
}

void Stretches::lay_out_streams(bool again) {
  streams_ = 0;
  for (Stretch& stretch : stretches_) stretch.needs.assign(stretch.period, {});
  find_needs();
  for (Stretch& stretch : stretches_) {
    if (again) find_cheap(stretch);
    stretch.streams = 0;
    for (Need& need : stretch.needs)
      if (need.how == Need::streamed) need.stream = stretch.streams++;
    stretch.first_stream = streams_;
    streams_ += stretch.streams * stretch.iterations;
  }
}

void Stretches::find_last_uses() {
  last_use_.resize(nodes_.size());
  std::fill(last_use_.begin(), last_use_.end(), 0);
  for (Value v = static_cast<Value>(nodes_.size()); v-- > 0;) {
    if (has_effect(nodes_[v].what)) last_use_[v] = v;
    if (!live(v)) continue;
    for (int k = 0; k < operand_count(nodes_[v].what); ++k)
      last_use_[operand(v, k)] = std::max(last_use_[operand(v, k)], v);
  }
}

Change Stretches::change(Value x, Value y, Value v, Value period, Value begin) const {
  if (x == y) return {Relation::same};
  const Node &from = nodes_[x], &to = nodes_[y];
  if (from.what != to.what || from.immediate != to.immediate) return {};
  const auto by = static_cast<std::int32_t>(y - x);
  switch (from.what) {
    case Do::uniform: return {Relation::number, static_cast<std::int32_t>(to.a - from.a)};
    case Do::input:
      if (from.c != to.c) return {};
      return {Relation::number, static_cast<std::int32_t>(to.b - from.b)};
    case Do::constant:
    case Do::table: return {};
    default: break;
  }
  if (x >= begin) {
    const bool near = y == x + period && v - x <= most_back * period;
    return near ? Change{Relation::previous} : Change{};
  }
  const Stretch* stretch = stretch_of(x);
  if (!stretch || stretch != stretch_of(y) || in_mask_register(x)) return {};
  const auto its_period = static_cast<std::int32_t>(stretch->period);
  if (by % its_period != 0) return {};
  return {Relation::streamed, by / its_period, static_cast<std::uint32_t>(stretch - stretches_.data())};
}

bool Stretches::changes(Value v, Value period, Value begin, Changes& found) const {
  const Node &from = nodes_[v], &to = nodes_[v + period];
  if (from.what != to.what || from.immediate != to.immediate || live(v) != live(v + period)) return false;
  found = {};
  if (!live(v)) return true;
  if (at_hand(from.what) || (from.what == Do::call && from.a != to.a)) return false;
  for (int k = 0; k < operand_count(from.what); ++k) {
    found[k] = change(operand(v, k), operand(v + period, k), v, period, begin);
    if (found[k].relation == Relation::none) return false;
  }
  if (from.what != Do::output) return true;
  found[1] = {Relation::number, static_cast<std::int32_t>(to.b - from.b)};
  return from.c == to.c;
}

bool Stretches::add(const Repeat& repeat, Value period) {
  const Value begin = stretches_.empty() ? 0 : stretches_.back().end(), from = std::max(repeat.first, begin);
  if (from + (least_iterations + 1) * period > repeat.end) return false;
  const Value middle = from + (repeat.end - from) / period / 2 * period;
  const auto place = [&](Value v) { return (v + period - middle % period) % period; };
  std::vector<Changes> expected(period);
  for (Value v = middle; v < middle + period; ++v)
    if (!changes(v, period, begin, expected[place(v)])) return false;
  Changes here;
  Value first = middle, end = middle + 2 * period;
  while (end < repeat.end && changes(end - period, period, begin, here) && here == expected[place(end)]) ++end;
  while (first > from && changes(first - 1, period, begin, here) && here == expected[place(first - 1)]) --first;

  // A call is in one iteration with what it is given and what is taken of it.
  for (Do what = nodes_[first].what; first < end && (what == Do::give || what == Do::call || what == Do::take);)
    what = nodes_[++first].what;
  if ((end - first) / period < least_iterations + 1) return false;

  Stretch stretch{first + period, period, (end - first) / period - 1, {}, {}, {}};
  stretch.carried.assign(period, 0);
  for (Value v = first; v < first + period; ++v) stretch.changes.push_back(expected[place(v)]);
  if (!fits(stretch)) return false;
  stretches_.push_back(std::move(stretch));
  return true;
}

bool Stretches::fits(Stretch& stretch) const {
  std::vector<std::pair<std::uint32_t, std::int32_t>>
      steps;  // about: of numbers in bytes, of each loop's streams, its own
  const auto note = [&](std::uint32_t what, std::int32_t by) {
    if (by != 0 && std::find(steps.begin(), steps.end(), std::pair(what, by)) == steps.end())
      steps.emplace_back(what, by);
  };
  note(0, 1);
  for (Value v = stretch.first; v < stretch.first + stretch.period; ++v) {
    if (!live(v)) continue;
    for (int k = 0; k < 3; ++k) {
      const Change& change = stretch.change(v, k);
      if (change.relation == Relation::number)
        note(1, change.by * (nodes_[v].what != Do::output && nodes_[operand(v, k)].what == Do::uniform ? real_bytes_
                                                                                                       : place_bytes_));
      if (change.relation == Relation::streamed) note(2 + change.loop, change.by);
      if (change.relation != Relation::previous || operand(v, k) >= stretch.first) continue;
      Value& carried = stretch.carried[stretch.node_before(operand(v, k))];
      carried = std::max(carried, stretch.back(operand(v, k)));
      if (in_mask_register(operand(v, k))) return false;
    }
  }
  if (steps.size() > Loop::most_steps) return false;
  // Masks aren't streamed: what needs one later isn't in the loop, nor is what follows.
  for (Value v = stretch.first; target_.mask_registers && v < stretch.end(); ++v)
    if (in_mask_register(v) && last_use_[v] >= stretch.end()) stretch.iterations = (v - stretch.first) / stretch.period;
  return stretch.iterations >= least_iterations && (stretch.iterations - 1) * stretch.period >= least_saved;
}

void Stretches::find_needs() {
  for (Value v = stretches_.front().first; v < nodes_.size(); ++v) {
    const Stretch* within = stretch_of(v);
    if (within && !within->in_first(v)) {
      v = within->end() - 1;
      continue;
    }
    if (!live(v)) continue;
    for (int k = 0; k < operand_count(nodes_[v].what); ++k) {
      const Value x = operand(v, k);
      const Stretch* of = stretch_of(x);
      if (!of || of == within) continue;
      const bool streamed = within && within->change(v, k).relation == Relation::streamed;
      if (!streamed && of->in_last(x) && of->carried[of->node(x)] != 0) continue;
      Need& need = stretches_[static_cast<std::size_t>(of - stretches_.data())].needs[of->node(x)];
      need.how = Need::streamed;
      if (!streamed) continue;
      const Value last = operand(v + (within->iterations - 1) * within->period, k);
      need.first = std::min({need.first, of->iteration(x), of->iteration(last)});
    }
  }
}

void Stretches::find_cheap(Stretch& stretch) const {
  std::size_t bytes = 0;
  for (const Need& need : stretch.needs) bytes += (need.how == Need::streamed) * stretch.iterations * slot_bytes_;
  for (Value j = stretch.period; bytes > many_bytes && j-- > 0;) {
    const Need& need = stretch.needs[j];
    int left = most_operations;
    if (need.how == Need::streamed && !need.kept && cheap_again(stretch, j, need.first, j, left))
      compute_again(stretch, j, need.first);
  }
}

bool Stretches::cheap_again(const Stretch& stretch, Value j, Value first, Value root, int& left) const {
  const Value v = stretch.first + j;
  if (!is_cheap(nodes_[v].what) || left-- == 0) return false;
  for (int k = 0; k < operand_count(nodes_[v].what); ++k) {
    const Relation relation = stretch.change(v, k).relation;
    if (relation == Relation::same && stretch_of(operand(v, k)))
      return false;  // that others would have to have as well
    if (relation != Relation::previous) continue;
    const Value before = stretch.back(operand(v, k)), x = stretch.node_before(operand(v, k));
    const Need& need = stretch.needs[x];
    if (before != 0 && (first < before || x == root || need.how != Need::streamed)) return false;
    if (need.how == Need::streamed || (need.how == Need::again && need.first <= first)) continue;
    if (!cheap_again(stretch, x, first, root, left)) return false;
  }
  return true;
}

void Stretches::compute_again(Stretch& stretch, Value j, Value first) const {
  const Value v = stretch.first + j;
  stretch.needs[j].how = Need::again;
  stretch.needs[j].first = std::min(stretch.needs[j].first, first);
  for (int k = 0; k < operand_count(nodes_[v].what); ++k) {
    if (stretch.change(v, k).relation != Relation::previous) continue;
    const Value before = stretch.back(operand(v, k)), x = stretch.node_before(operand(v, k));
    Need& need = stretch.needs[x];
    if (before != 0) need.kept = true;
    else if (need.how == Need::streamed) need.first = std::min(need.first, first);
    else if (need.how == Need::none || need.first > first) compute_again(stretch, x, first);
  }
}

}  // namespace wengert::codegen
