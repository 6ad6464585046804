// wengert/epochs.hpp: what a tape knows of the ids that it has handed out, and which of them still name something.
//
//   wengert::detail::Epochs epochs;
//   const std::uint32_t epoch = epochs.now();
//   epochs.rewind(10);  // ids from 10 on are forgotten
//   const bool kept = !epochs.forgotten(9, epoch), gone = epochs.forgotten(10, epoch);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wengert/api.hpp"
#include "wengert/array.hpp"
#include "wengert/ops.hpp"

namespace wengert::detail {

/// Which ids still name what they named when they were handed out. Each rewind ends an epoch. Belongs to the tape as an
/// object, not to what it holds: ids are not carried over by copying or moving, and what is assigned to or moved from has
/// forgotten all of its own.
class Epochs {
 public:
  Epochs() = default;
  Epochs(const Epochs&) noexcept {}
  Epochs(Epochs&& other) noexcept { other.forget_all(); }
  Epochs& operator=(const Epochs& other) noexcept {
    if (this != &other) forget_all();
    return *this;
  }
  Epochs& operator=(Epochs&& other) noexcept {
    if (this != &other) forget_all(), other.forget_all();
    return *this;
  }

  static constexpr std::uint32_t none = UINT32_MAX;  ///< no epoch

  std::uint32_t now() const { return now_; }
  /// Ids from `size` on name nothing any more. Throws out_of_ids, out_of_memory.
  WENGERT_API void rewind(Id size);
  /// No id does. Throws out_of_ids.
  void clear() {
    if (now_ == none - 1) [[unlikely]]
      used_up();
    forget_all();
  }
  bool forgotten(Id id, std::uint32_t epoch) const {
    return epoch != now_ && id >= floor_ && forgotten_since(id, epoch);
  }

 private:
  void forget_all() noexcept {
    rewinds_.truncate(0);
    first_ = ++now_;
    floor_ = 0;
  }
  WENGERT_API bool forgotten_since(Id id, std::uint32_t epoch) const;
  [[noreturn]] WENGERT_API static void used_up();

  struct Rewind {
    std::uint32_t epoch;  // that it ended
    Id size;
  };
  // Without those that a later one undercut: sizes ascend, so an epoch's ids survived up to the first entry from it on.
  Array<Rewind> rewinds_;
  std::uint32_t now_ = 0, first_ = 0;  // ids from before `first_` are gone
  Id floor_ = no_id;                   // ids below were never forgotten
};

/// Tells which tapes there are, so that a Var of one that has ended is found out; in checked builds (-Dchecked=true) alone, since
/// it takes a look through all tapes for each operand. Known by its address.
class WENGERT_API Lifetime {
 public:
  Lifetime() noexcept;
  Lifetime(const Lifetime&) noexcept : Lifetime() {}
  Lifetime& operator=(const Lifetime&) noexcept { return *this; }
  ~Lifetime();

  /// Throws stale_id unless it lives. Does nothing where the library isn't a checked build.
  static void check(const Lifetime* lifetime);

 private:
  // A list of all: it takes no memory that could be missing. Unused in other builds, which so have the same layout.
  [[maybe_unused]] Lifetime* previous_ = nullptr;
  [[maybe_unused]] Lifetime* next_ = nullptr;
};

/// Constants recorded lately, by their bits, so that a literal in a loop is recorded once. Belongs to the tape as an object, as
/// its epochs do: what is copied, moved or assigned to knows none.
template <class Real>
class SharedConstants {
 public:
  /// Where one was recorded, and when.
  struct Known {
    Real value = 0;
    Id id = no_id;
    std::uint32_t epoch = Epochs::none;

    bool is(Real x) const { return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(value); }
  };

  SharedConstants() = default;
  SharedConstants(const SharedConstants&) noexcept {}
  SharedConstants& operator=(const SharedConstants&) noexcept {
    forget(0);
    return *this;
  }

  /// Where it is if it is known.
  Known& at(Real value) { return known_[std::uint64_t(std::bit_cast<Bits>(value)) * 0x9e3779b97f4a7c15u >> 60]; }
  /// Those of ids from `size` on.
  void forget(Id size) noexcept {
    for (Known& known : known_)
      if (known.id >= size) known = {};
  }

 private:
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  Known known_[16];
};

}  // namespace wengert::detail
