// What a call may be given: tables of a caller's memory.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "wengert/samples.hpp"

namespace wengert {

/// A table that a call can't do without; of no sample or no number it may be none. Throws bad_argument.
void need(const char* table, std::size_t samples, std::size_t items, const void* data);
template <class T>
void need(const char* table, std::size_t samples, std::size_t items, const Samples<T>& given) {
  need(table, samples, items, static_cast<const void*>(given.data));
}

/// A table and its name for messages.
template <class Real>
struct NamedTable {
  const char* name;
  std::size_t items;
  const Real* data;
  std::ptrdiff_t sample, item;

  bool empty() const { return !data || items == 0; }  ///< or none

  template <class T>
  NamedTable(const char* of, std::size_t count, const Samples<T>& from)
      : name(of), items(count), data(from.data), sample(from.sample), item(from.item) {}
};

/// That a call may be given.
inline constexpr std::size_t max_tables = 8;

/// Every number that is written has a place of its own, which nothing else is written to nor read from: not even a number's own
/// input, since a sample may be computed more than once. Throws bad_argument; bad_size where no memory is long enough. Tables in each
/// other's gaps are told apart, whatever their strides.
template <class Real>
void own_places(std::size_t samples, std::initializer_list<NamedTable<Real>> written,
                std::initializer_list<NamedTable<Real>> read);

extern template void own_places(std::size_t, std::initializer_list<NamedTable<double>>,
                                std::initializer_list<NamedTable<double>>);
extern template void own_places(std::size_t, std::initializer_list<NamedTable<float>>,
                                std::initializer_list<NamedTable<float>>);

}  // namespace wengert
