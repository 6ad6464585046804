#include "tape/tables.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "wengert/error.hpp"

namespace wengert {

void need(const char* table, std::size_t samples, std::size_t items, const void* data) {
  if (!data && samples != 0 && items != 0)
    throw Error(ErrorCode::bad_argument, "no table of " + std::string(table) + " is given for " +
                                             std::to_string(samples) + " samples; there are " + std::to_string(items) +
                                             " numbers in each");
}

namespace {

std::size_t length(std::ptrdiff_t stride) {
  return stride < 0 ? ~static_cast<std::size_t>(stride) + 1 : static_cast<std::size_t>(stride);
}

/// Each number of a table in a place of its own.
template <class Real>
void own_places_within(std::size_t samples, const NamedTable<Real>& table) {
  const std::size_t sample = length(table.sample), item = length(table.item), items = table.items;
  if (samples == 1 && items == 1) return;
  // Two numbers share a place where so many samples and items as these two strides have no factor in common lead back to it.
  const std::size_t common = item == 1 || sample == 1 ? 1 : std::gcd(sample, item);
  const bool clash = samples == 1 ? items > 1 && item == 0
                     : items == 1 ? sample == 0
                                  : common == 0 || (item / common < samples && sample / common < items);
  if (clash)
    throw Error(ErrorCode::bad_argument,
                "the table of " + std::string(table.name) + " for " + std::to_string(samples) + " samples of " +
                    std::to_string(items) + " numbers has strides " + std::to_string(table.sample) + " and " +
                    std::to_string(table.item) +
                    ", at which numbers share a place; rows are that many numbers apart, or more");
}

/// Addresses: of the first place, and past the last.
struct Ends {
  std::uintptr_t low, high;

  bool apart_from(const Ends& other) const { return high <= other.low || other.high <= low; }
};

/// Of a table that isn't empty. Throws bad_size for one that no memory holds, so that what follows can count its places.
template <class Real>
Ends ends_of(std::size_t samples, const NamedTable<Real>& table) {
  constexpr std::ptrdiff_t most = std::numeric_limits<std::ptrdiff_t>::max() / 64;  // numbers: more than any addresses
  std::ptrdiff_t sample, item;
  if (__builtin_mul_overflow(samples - 1, table.sample, &sample) ||
      __builtin_mul_overflow(table.items - 1, table.item, &item) || sample > most || sample < -most || item > most ||
      item < -most) [[unlikely]]
    throw Error(ErrorCode::bad_size, "the table of " + std::string(table.name) + " for " + std::to_string(samples) +
                                         " samples of " + std::to_string(table.items) + " numbers has strides " +
                                         std::to_string(table.sample) + " and " + std::to_string(table.item) +
                                         ", with which it reaches further than any memory");
  const auto at = [&](std::ptrdiff_t number) {
    return reinterpret_cast<std::uintptr_t>(table.data) + static_cast<std::uintptr_t>(number) * sizeof(Real);
  };
  return {at(std::min<std::ptrdiff_t>(sample, 0) + std::min<std::ptrdiff_t>(item, 0)),
          at(std::max<std::ptrdiff_t>(sample, 0) + std::max<std::ptrdiff_t>(item, 0) + 1)};
}

using Place = std::int64_t;

/// Places as stretches: `count` of them, `period` numbers apart, of `inner` numbers `step` apart each.
struct Places {
  std::uintptr_t first;  // address
  Place period, count, step, inner;

  Place reach() const { return (count - 1) * period + (inner - 1) * step; }  // from the first number to the last
  bool nested() const { return count == 1 || (inner - 1) * step < period; }
  bool solid() const { return step == 1; }
};

template <class Real>
Places places_of(std::size_t samples, const NamedTable<Real>& table) {
  struct Axis {
    Place stride, count;
  };
  std::uintptr_t first = reinterpret_cast<std::uintptr_t>(table.data);
  const auto axis = [&](std::ptrdiff_t stride, std::size_t count) {
    if (stride < 0) first += static_cast<std::uintptr_t>(stride) * (count - 1) * sizeof(Real);
    return stride == 0 || count == 1 ? Axis{1, 1} : Axis{static_cast<Place>(length(stride)), static_cast<Place>(count)};
  };
  Axis outer = axis(table.sample, samples), inner = axis(table.item, table.items);
  if (inner.count == 1 || (outer.count != 1 && outer.stride < inner.stride)) std::swap(outer, inner);
  // Windows that slide along a series: all of them are one stretch.
  if (const Place hop = outer.stride / inner.stride;
      outer.count != 1 && outer.stride % inner.stride == 0 && hop <= inner.count)
    return {first, 1, 1, inner.stride, inner.count + (outer.count - 1) * hop};
  return {first, outer.stride, outer.count, inner.count == 1 ? 1 : inner.stride, inner.count};
}

/// The least k with k * period >= x.
Place least_multiple(Place x, Place period) { return x <= 0 ? x / period : (x - 1) / period + 1; }

/// Whether a stretch of `a`, at `begin` as `b` counts, has a number in common with one of b.
bool meets(const Places& a, Place begin, const Places& b) {
  if (a.solid() && b.solid()) {
    // A multiple of b's period from begin - (b.inner - 1) to begin + a.inner - 1.
    const Place k = std::max<Place>(least_multiple(begin - (b.inner - 1), b.period), 0);
    return k < b.count && k * b.period <= begin + a.inner - 1;
  }
  for (Place k = 0; k < a.inner; ++k) {
    const Place at = begin + k * a.step;
    if (at < 0) continue;
    const Place stretch = std::min(at / b.period, b.count - 1), within = at - stretch * b.period;
    if (within % b.step == 0 && within / b.step < b.inner) return true;
  }
  return false;
}

/// Whether f(Places) is true of any of the fewest stretches that such places are made of.
template <class F>
bool any_stretch(const Places& of, Place size, const F& f) {
  const bool longer = of.count <= of.inner;
  const Place stretches = longer ? of.count : of.inner, between = longer ? of.period : of.step;
  Places one = longer ? Places{of.first, 1, 1, of.step, of.inner} : Places{of.first, 1, 1, of.period, of.count};
  for (Place k = 0; k < stretches; ++k, one.first += static_cast<std::uintptr_t>(between * size))
    if (f(one)) return true;
  return false;
}

/// Whether two tables have a number in common.
bool meet(Places a, Places b, std::size_t bytes) {
  const auto size = static_cast<Place>(bytes);
  if (a.first > b.first) std::swap(a, b);
  const auto apart = static_cast<Place>(b.first - a.first);
  if (apart / size > a.reach()) return false;
  if (!a.nested()) return any_stretch(a, size, [&](const Places& part) { return meet(part, b, bytes); });
  if (!b.nested()) return any_stretch(b, size, [&](const Places& part) { return meet(a, part, bytes); });
  if (apart % size != 0) return true;  // numbers that lie across others
  if (a.count == 1) a.period = b.period;
  if (b.count == 1) b.period = a.period;
  const Place begin = apart / size;  // of b, as a counts
  if (a.period == b.period && a.solid() && b.solid()) {
    // From a stretch of b to one of a are some periods.
    const Place periods = std::max(least_multiple(begin - (a.inner - 1), a.period), -(b.count - 1));
    return periods < a.count && periods * a.period <= begin + b.inner - 1;
  }
  if (a.count * (a.solid() ? 1 : a.inner) > b.count * (b.solid() ? 1 : b.inner)) {
    for (Place k = 0; k < b.count; ++k)
      if (meets(b, begin + k * b.period, a)) return true;
  } else {
    for (Place k = 0; k < a.count; ++k)
      if (meets(a, k * a.period - begin, b)) return true;
  }
  return false;
}

}  // namespace

template <class Real>
void own_places(std::size_t samples, std::initializer_list<NamedTable<Real>> written,
                std::initializer_list<NamedTable<Real>> read) {
  if (samples == 0) return;
  assert(written.size() + read.size() <= max_tables);
  // Tables that were looked at, and their ends.
  const NamedTable<Real>* seen[max_tables];
  Ends ends[max_tables];
  std::size_t count = 0;
  const auto see = [&](const NamedTable<Real>& table) {
    if (table.empty()) return;
    seen[count] = &table;
    ends[count++] = ends_of(samples, table);
  };
  const auto refuse_shared = [&](const NamedTable<Real>& to, const NamedTable<Real>& other) {
    if (!meet(places_of(samples, to), places_of(samples, other), sizeof(Real))) return;
    throw Error(ErrorCode::bad_argument, "the tables of " + std::string(other.name) + " and of " + to.name +
                                             " have memory in common; results are written while there is more to be "
                                             "read: give them memory of their own");
  };
  for (const NamedTable<Real>& to : written) {
    if (to.empty()) continue;
    own_places_within(samples, to);
    if (count == 0)
      for (const NamedTable<Real>& from : read) see(from);
    see(to);
    for (std::size_t k = 0; k + 1 < count; ++k)
      if (!ends[count - 1].apart_from(ends[k])) refuse_shared(to, *seen[k]);
  }
}

template void own_places(std::size_t, std::initializer_list<NamedTable<double>>,
                         std::initializer_list<NamedTable<double>>);
template void own_places(std::size_t, std::initializer_list<NamedTable<float>>,
                         std::initializer_list<NamedTable<float>>);

}  // namespace wengert
