// Slots: each value gets the one that was free last, whose memory is the warmest.
#include <algorithm>

#include "tape/compile.hpp"

namespace wengert::plan {

Code Slots::place(const Items& code, std::span<const std::uint32_t> order, std::span<const ValueId> arriving,
                  std::span<const ValueId> pinned) {
  std::vector<std::uint32_t> reads_left(slot_.size(), 0);
  for (const Item& item : code.items)
    for (ValueId value : code.reads(item)) ++reads_left[value];
  for (ValueId value : pinned) ++reads_left[value];

  std::vector<Slot> unused;
  Slot next = kept_;
  const auto give = [&](ValueId value) {
    if (slot_[value] != no_slot) return;  // kept
    if (unused.empty()) {
      slot_[value] = next++;
    } else {
      slot_[value] = unused.back();
      unused.pop_back();
    }
  };
  const auto take_back = [&](ValueId value) {
    if (slot_[value] >= kept_) unused.push_back(slot_[value]);
  };
  const auto was_read = [&](ValueId value) {
    if (--reads_left[value] == 0) take_back(value);
  };

  Code out;
  out.words.reserve(code.words.size());
  out.recorded.assign(order.begin(), order.end());
  out.instructions = order.size();
  for (ValueId value : arriving) give(value);
  for (const std::uint32_t position : order) {
    const Item& item = code.items[position];
    const bool call = is_call(item.kind), special = !in_catalogue(item.kind);
    const kernels::Kind kind = special ? kernels::Kind() : kernels::catalogue[item.kind];
    const bool list =
        call || item.kind == uniform_dots || item.kind == uniform_products || (info(kind.op).arity == 0 && kind.n == 0);
    if (out.runs.empty() || out.runs.back().kind != item.kind) {
      out.runs.push_back({item.kind, 0});
      out.first_word.push_back(out.words.size());
    }
    ++out.runs.back().count;

    const std::span<const ValueId> writes = code.writes(item), reads = code.reads(item);
    std::size_t terms = 1;  // of words written, then read
    if (special) {
      const auto at =
          std::lower_bound(code.specials.begin(), code.specials.end(), position,
                           [](const Items::Special& one, std::uint32_t wanted) { return one.item < wanted; });
      out.words.push_back(at->number);
      if (call) out.words.insert(out.words.end(), {at->more, item.writes, item.reads});
      else if (item.kind == uniform_products) {
        terms = writes.size() / (at->more == kernels::uniform_product_kernel(true) ? 2 : 1);
        out.words.insert(out.words.end(), {static_cast<std::uint32_t>(terms), at->more});
      }
    } else if (list) {
      out.words.push_back(kind.adjoint ? item.writes : item.reads);
    }
    const std::size_t first = out.words.size(), written = writes.size() / terms, read = reads.size() / terms;
    out.words.resize(first + writes.size() + reads.size());
    for (std::size_t term = 0; term < terms; ++term)
      for (std::size_t k = 0; k < read; ++k)
        out.words[first + term * (written + read) + written + k] = slot_[reads[term * read + k]];
    // A kernel reads before it writes, place by place, so a slot read here for the last time may be written here. Not where
    // it loops over a list.
    if (!list)
      for (ValueId value : reads) was_read(value);
    for (std::size_t term = 0; term < terms; ++term)
      for (std::size_t k = 0; k < written; ++k) {
        const ValueId value = writes[term * written + k];
        give(value);
        out.words[first + term * (written + read) + k] = slot_[value];
      }
    if (list)
      for (ValueId value : reads) was_read(value);
    for (ValueId value : writes)
      if (reads_left[value] == 0) take_back(value);
    if (!special && kernels::has_tie(kind.op, kind.adjoint ? kind.active : 7)) out.words.push_back(item.no_tie);
  }
  count_ = std::max(count_, next);
  return out;
}

}  // namespace wengert::plan
