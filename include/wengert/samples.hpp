// wengert/samples.hpp: tables of numbers in memory, a line per sample of a batch: what goes in and out of everything that
// evaluates batches.
//
//   double points[3][2] = {{1, 2}, {0.5, 2}, {-1, 4}};
//   wengert::Samples<double> table = wengert::rows(points[0], 2);
//   double y_of_the_last = table(2, 1);  // 4
#pragma once

#include <cstddef>
#include <type_traits>

namespace wengert {

/// A table of numbers in memory, one line per sample of a batch: item i of sample e is data[e * sample + i * item].
/// Strides are in elements and may be anything, negative too; no alignment is asked for.
template <class T>
struct Samples {
  T* data = nullptr;          ///< item 0 of sample 0
  std::ptrdiff_t sample = 0;  ///< from a sample to the next
  std::ptrdiff_t item = 0;    ///< from an item to the next

  Samples() = default;  ///< none: what would be written isn't wanted; bad_argument where it can't be done without
  /// Strides as above.
  Samples(T* data_, std::ptrdiff_t sample_, std::ptrdiff_t item_) : data(data_), sample(sample_), item(item_) {}
  /// What may be written may be read.
  template <class U>
    requires std::is_same_v<const U, T>
  Samples(const Samples<U>& other) : data(other.data), sample(other.sample), item(other.item) {}

  /// Item i of sample e.
  T& operator()(std::size_t e, std::size_t i) const {
    return data[static_cast<std::ptrdiff_t>(e) * sample + static_cast<std::ptrdiff_t>(i) * item];
  }
};

/// Sample by sample: `items` numbers each, `stride` apart (0: `items`).
template <class T>
Samples<T> rows(T* data, std::size_t items, std::size_t stride = 0) {
  return {data, static_cast<std::ptrdiff_t>(stride ? stride : items), 1};
}
/// Item by item: the numbers of all samples, columns `stride` apart (usually the number of samples).
template <class T>
Samples<T> columns(T* data, std::size_t stride) {
  return {data, 1, static_cast<std::ptrdiff_t>(stride)};
}

}  // namespace wengert
