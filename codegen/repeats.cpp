#include "codegen/repeats.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace wengert::codegen {
namespace {

/// Members that are compared at a time to find out how far away the same was last.
constexpr std::size_t window = 64;
/// Shorter ones are taken several at a time.
constexpr Value least_period = 16;
/// Distances that are tried, and which part of the members have to be as far from the same as that.
constexpr std::size_t most_tried = 6, least_part = 32;
/// Shorter code stays in the caches anyway.
constexpr Value short_code = 2048;

/// Of what is at hand, whose places tell nothing, anything.
Sign sign_of(const Node& node, Value v) {
  return static_cast<Sign>(at_hand(node.what) ? v * 0x9e3779b9u >> 24
                                              : static_cast<unsigned>(node.what) + 61u * (node.immediate & 3u));
}

/// How often what is in a window was last so far away: the distances that are most frequent, about (J. Misra, D. Gries, "Finding
/// repeated elements", Science of Computer Programming 2, 1982).
class Distances {
 public:
  void count(Value distance) {
    Entry& entry = entries_[distance % entries_.size()];
    if (entry.distance == distance) ++entry.count;
    else if (entry.count > 0) --entry.count;
    else entry = {distance, 1};
  }
  std::vector<Value> most_frequent(std::size_t least) {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.count > b.count; });
    std::vector<Value> found;
    for (std::size_t k = 0; k < most_tried && entries_[k].count >= least; ++k) found.push_back(entries_[k].distance);
    return found;
  }

 private:
  struct Entry {
    Value distance = 0;
    std::uint32_t count = 0;
  };
  std::array<Entry, 512> entries_;
};

Distances distances_of(const LargeVector<Sign>& signs) {
  constexpr std::uint64_t base = 0x9e3779b97f4a7c15u;
  std::uint64_t oldest = 1, hash = 0;  // of a window: a polynomial in the base
  for (std::size_t k = 0; k < window; ++k) oldest *= base;
  struct Place {
    std::uint32_t hash;
    Value at;
  };
  std::vector<Place> places(4096, {0, no_value});
  Distances distances;
  for (std::size_t v = 0; v < signs.size(); ++v) {
    hash = hash * base + signs[v];
    if (v < window) continue;
    hash -= oldest * signs[v - window];
    const auto top = static_cast<std::uint32_t>(hash >> 32);
    Place& place = places[top >> 20];
    const auto at = static_cast<Value>(v);
    if (place.hash == top && place.at != no_value) distances.count(at - place.at);
    place = {top, at};
  }
  return distances;
}

/// Where, from v on, the first is that doesn't do what the one `distance` later does, or that has none so much later.
Value first_other(const LargeVector<Sign>& signs, Value v, Value distance) {
  const auto end = static_cast<Value>(signs.size()) - distance;
  const Sign* const sign = signs.data();
  for (std::uint64_t here, there; v + sizeof here <= end; v += static_cast<Value>(sizeof here)) {
    std::memcpy(&here, sign + v, sizeof here);
    std::memcpy(&there, sign + v + distance, sizeof there);
    if (here != there) break;
  }
  while (v < end && sign[v] == sign[v + distance]) ++v;
  return v;
}

/// Whether operands in its middle are, from one period to the next and to the one after, as many nodes further on. It is mostly not
/// so where operations alone repeat themselves.
bool regular(const LargeVector<Node>& nodes, const Repeat& repeat) {
  const Value middle = repeat.first + (repeat.end - repeat.first) / 2, period = repeat.period;
  for (Value v = middle; v < middle + period && v + 2 * period < repeat.end; ++v)
    for (int k = 0; k < operand_count(nodes[v].what); ++k) {
      const Value a = operand(nodes[v], k), b = operand(nodes[v + period], k), c = operand(nodes[v + 2 * period], k);
      if (b - a != c - b) return false;
    }
  return true;
}

}  // namespace

std::vector<Repeat> find_repeats(const LargeVector<Sign>& signs, const std::function<bool(const Repeat&)>& regular) {
  const auto n = static_cast<Value>(signs.size());
  std::vector<Repeat> candidates;
  for (const Value distance : distances_of(signs).most_frequent(std::max<std::size_t>(window, n / least_part))) {
    const Value period = (least_period + distance - 1) / distance * distance;
    // Whatever is as long as that has one of these in it.
    const auto length = static_cast<Value>(least_saved + period);
    for (Value v = 0; v + distance < n; v += length) {
      const Value end = first_other(signs, v, distance);
      if (end == v) continue;
      Value first = v;
      while (first > 0 && signs[first - 1] == signs[first - 1 + distance]) --first;
      if (end - first >= length) candidates.push_back({first, end + distance, period});
      v += (end - v) / length * length;
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Repeat& a, const Repeat& b) { return a.saved() > b.saved(); });
  std::vector<Repeat> repeats;
  for (Repeat repeat : candidates) {
    for (const Repeat& other : repeats) {
      if (repeat.end <= other.first || repeat.first >= other.end) continue;
      if (repeat.first < other.first) repeat.end = other.first;
      else repeat.first = std::min(other.end, repeat.end);
    }
    if (repeat.saved() >= static_cast<std::int64_t>(least_saved) && regular(repeat)) repeats.push_back(repeat);
  }
  std::sort(repeats.begin(), repeats.end(), [](const Repeat& a, const Repeat& b) { return a.first < b.first; });
  return repeats;
}

std::vector<Repeat> find_repeats(const LargeVector<Node>& nodes) {
  const auto n = static_cast<Value>(nodes.size());
  if (n < short_code) return {};
  LargeVector<Sign> signs;
  signs.resize(n);
  for (Value v = 0; v < n; ++v) signs[v] = sign_of(nodes[v], v);
  return find_repeats(signs, [&](const Repeat& repeat) { return regular(nodes, repeat); });
}

}  // namespace wengert::codegen
