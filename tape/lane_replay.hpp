// A tape as recorded, replayed W evaluations at a time: what level v3 is. No passes, no plan: every variable has a slot
// of W values and W adjoints, laid out [slot][W]. It doesn't look at guards: what records for it has none, or knows them to hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/dispatch.hpp"
#include "tape/transfer.hpp"
#include "wengert/tape.hpp"

namespace wengert {

template <class Real>
class LaneReplay {
 public:
  /// `lanes`: evaluations in a block, a multiple of the vector width of `isa` (0: chosen). Keeps a reference to the tape's
  /// arrays: the tape must outlive the replay and not change. Throws unsupported, bad_size, out_of_memory.
  LaneReplay(const NaiveTape<Real>& tape, Isa isa, std::size_t lanes = 0);

  std::size_t lanes() const { return lanes_; }
  Isa isa() const { return isa_; }
  std::size_t bytes() const;

  /// Loads `count` <= lanes() evaluations: input i of evaluation e is columns[i * stride + e]. Lanes past `count` repeat
  /// the last one, so that no lane takes another path. The first `skipped` inputs stay as they are and have no column.
  void load(const Real* columns, std::size_t stride, std::size_t count, std::size_t skipped = 0);
  /// The same number in all lanes of an input.
  void fill(Id input, Real value) { std::fill_n(values_.begin() + std::ptrdiff_t(input * lanes_), lanes_, value); }
  void forward();
  /// Adjoints of every lane, for the weighted sum of outputs.
  void backward(std::span<const Seed<Real>> seeds);

  /// The W values (adjoints) of a variable. Adjoints are raw: add +0.0 to report one.
  const Real* values(Id id) const { return values_.data() + std::size_t(id) * lanes_; }
  const Real* adjoints(Id id) const { return adjoints_.data() + std::size_t(id) * lanes_; }

 private:
  LaneSlot<Real> slot(std::vector<Real>& numbers, std::size_t k) const {
    return {numbers.data() + k * lanes_, lanes_, lanes_, lanes_};
  }

  TapeView<Real> tape_;
  ZeroRule zero_rule_;
  Isa isa_;
  std::size_t lanes_;
  std::vector<Real> values_, adjoints_, scratch_;
  std::vector<Real> room_, contributions_;  // of a custom op
};

extern template class LaneReplay<double>;
extern template class LaneReplay<float>;

}  // namespace wengert
