// wengert/array.hpp: the growing arrays that a tape is made of.
//
//   wengert::detail::Array<double> values;
//   values.make_room(2);
//   values.push(1.5);  // no check: there is room
//   values.push(2.5);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "wengert/api.hpp"

namespace wengert::detail {

/// Says that `count` elements of `size` bytes can't be had.
[[noreturn]] WENGERT_API void no_room(std::size_t count, std::size_t size);

/// A vector of plain data whose push doesn't look for room, which recording has made beforehand for all its arrays at once.
/// Grows by half, so that at most a third of the memory is idle and, while the elements move, at most 2.5 times what is
/// in use is held. At most 2^32 - 1 elements: what an Id can name.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  Array() noexcept = default;
  Array(const Array& other) : Array() {
    make_room(other.size());
    if (!other.empty()) std::memcpy(data_, other.data_, other.size() * sizeof(T));
    end_ = data_ + other.size();
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() { ::operator delete(data_); }

  std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - data_); }
  std::size_t capacity() const noexcept { return static_cast<std::size_t>(limit_ - data_); }
  bool empty() const noexcept { return end_ == data_; }
  bool full() const noexcept { return end_ == limit_; }
  bool has_room(std::size_t extra) const noexcept { return extra <= static_cast<std::size_t>(limit_ - end_); }

  T* data() noexcept { return data_; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return end_; }
  const T* data() const noexcept { return data_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return end_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T& back() noexcept { return end_[-1]; }
  const T& back() const noexcept { return end_[-1]; }

  /// Room for `extra` more, and of what it takes ahead not past `most` in all. Throws out_of_memory; all is then as before.
  void make_room(std::size_t extra, std::size_t most = UINT32_MAX) {
    if (!has_room(extra)) [[unlikely]]
      grow(extra, most);
  }
  /// There must be room.
  void push(const T& x) noexcept { ::new (static_cast<void*>(end_++)) T(x); }
  /// Appends `count` elements that the caller fills in; there must be room.
  T* extend(std::size_t count) noexcept { return std::exchange(end_, end_ + count); }
  /// Forgets all but the first `size`.
  void truncate(std::size_t size) noexcept { end_ = data_ + size; }

 private:
  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(end_, other.end_);
    std::swap(limit_, other.limit_);
  }

  void grow(std::size_t extra, std::size_t ahead) {
    constexpr std::size_t most = UINT32_MAX;
    const std::size_t used = size(), need = used + extra,
                      wanted = std::max(need, std::min({used + used / 2, most, ahead}));
    T* const fresh =
        need < extra || wanted > most ? nullptr : static_cast<T*>(::operator new(wanted * sizeof(T), std::nothrow));
    if (!fresh) no_room(std::max(wanted, extra), sizeof(T));
    if (used) std::memcpy(fresh, data_, used * sizeof(T));
    ::operator delete(data_);
    data_ = fresh;
    end_ = fresh + used;
    limit_ = fresh + wanted;
  }

  T *data_ = nullptr, *end_ = nullptr, *limit_ = nullptr;
};

}  // namespace wengert::detail
