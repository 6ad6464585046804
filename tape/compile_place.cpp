// Slots: each value gets the one that was free last, whose memory is the warmest.
#include <algorithm>
#include <array>

#include "tape/compile.hpp"

namespace wengert::plan {
namespace {

/// Of the catalogue's kinds: whether their operands are a list of any length, and whether a word for ties follows.
struct Form {
  bool list, tie;
};
constexpr std::array<Form, kernels::kind_count> forms = [] {
  std::array<Form, kernels::kind_count> forms{};
  for (std::size_t k = 0; k < forms.size(); ++k) {
    const kernels::Kind& kind = kernels::catalogue[k];
    forms[k] = {info(kind.op).arity == 0 && kind.n == 0, kernels::has_tie(kind.op, kind.adjoint ? kind.active : 7)};
  }
  return forms;
}();
constexpr std::size_t most_around = 4;  // words of an instruction beside its values

}  // namespace

Code Slots::place(const Items& code, std::span<const std::uint32_t> order, std::span<const ValueId> arriving,
                  std::span<const ValueId> pinned) {
  LargeVector<std::uint32_t> reads_left(slot_.size(), 0);
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
  LargeVector<std::uint32_t> words;
  words.resize(code.words.size() + most_around * order.size());
  std::uint32_t* to = words.data();
  out.recorded.assign(order.begin(), order.end());
  out.instructions = order.size();
  for (ValueId value : arriving) give(value);
  for (const std::uint32_t position : order) {
    const Item& item = code.items[position];
    const bool special = !in_catalogue(item.kind), call = is_call(item.kind);
    const Form form =
        special ? Form{call || item.kind == uniform_dots || item.kind == uniform_products, false} : forms[item.kind];
    if (out.runs.empty() || out.runs.back().kind != item.kind) {
      out.runs.push_back({item.kind, 0});
      out.first_word.push_back(static_cast<std::size_t>(to - words.data()));
    }
    ++out.runs.back().count;

    const std::span<const ValueId> writes = code.writes(item), reads = code.reads(item);
    std::size_t terms = 1, written = writes.size(), read = reads.size();  // of each term the words written, then read
    if (special) {
      const auto at =
          std::lower_bound(code.specials.begin(), code.specials.end(), position,
                           [](const Items::Special& one, std::uint32_t wanted) { return one.item < wanted; });
      *to++ = at->number;
      if (call) {
        for (const std::uint32_t word : {at->more, item.writes, item.reads}) *to++ = word;
      } else if (item.kind == uniform_products) {
        terms = writes.size() / (at->more == kernels::uniform_product_kernel(true) ? 2 : 1);
        written /= terms;
        read /= terms;
        *to++ = static_cast<std::uint32_t>(terms);
        *to++ = at->more;
      }
    } else if (form.list) {
      *to++ = kernels::catalogue[item.kind].adjoint ? item.writes : item.reads;
    }
    for (std::size_t term = 0; term < terms; ++term)
      for (std::size_t k = 0; k < read; ++k) to[term * (written + read) + written + k] = slot_[reads[term * read + k]];
    // A kernel reads before it writes, place by place, so a slot read here for the last time may be written here. Not where
    // it loops over a list.
    if (!form.list)
      for (ValueId value : reads) was_read(value);
    for (std::size_t term = 0; term < terms; ++term)
      for (std::size_t k = 0; k < written; ++k) {
        const ValueId value = writes[term * written + k];
        give(value);
        to[term * (written + read) + k] = slot_[value];
      }
    if (form.list)
      for (ValueId value : reads) was_read(value);
    for (ValueId value : writes)
      if (reads_left[value] == 0) take_back(value);
    to += writes.size() + reads.size();
    if (form.tie) *to++ = item.no_tie;
  }
  out.words.assign(words.data(), to);
  count_ = std::max(count_, next);
  return out;
}

}  // namespace wengert::plan
