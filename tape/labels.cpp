#include "wengert/labels.hpp"

#include <algorithm>

namespace wengert::detail {
namespace {

auto place_of(auto& names, Id id) {
  return std::lower_bound(names.begin(), names.end(), id,
                          [](const Labels::Name& name, Id wanted) { return name.id < wanted; });
}

}  // namespace

void Labels::name(Id id, std::string_view text) {
  std::string copy(text);
  const auto at = place_of(names_, id);
  if (at != names_.end() && at->id == id) {
    at->text.swap(copy);
    return;
  }
  // Room first: nothing after it throws, and the rest is moves.
  const std::ptrdiff_t place = at - names_.begin();
  if (names_.size() == names_.capacity()) names_.reserve(names_.size() + names_.size() / 2 + 8);
  names_.insert(names_.begin() + place, Name{id, std::move(copy)});
}

void Labels::open(Id begin, std::string_view text) {
  std::string copy(text);
  if (stretches_.size() == stretches_.capacity()) stretches_.reserve(stretches_.size() + stretches_.size() / 2 + 8);
  open_.push_back(static_cast<std::uint32_t>(stretches_.size()));
  const std::uint32_t parent = open_.size() > 1 ? open_[open_.size() - 2] : no_id;
  stretches_.push_back({begin, no_id, parent, std::move(copy)});
}

void Labels::close(Id end) {
  if (open_.empty()) return;  // of a tape that was moved from or assigned to
  stretches_[open_.back()].end = end;
  open_.pop_back();
}

void Labels::rewind(Id size) {
  names_.erase(place_of(names_, size), names_.end());
  // Those that are still open begin again; of the others only what is before `size` is left.
  std::vector<std::uint32_t>::iterator open = open_.begin();
  std::size_t kept = 0;
  for (std::size_t k = 0; k < stretches_.size(); ++k) {
    Stretch& stretch = stretches_[k];
    const bool is_open = open != open_.end() && *open == k;
    if (!is_open && stretch.begin >= size) continue;
    if (is_open) {
      stretch.parent = open == open_.begin() ? no_id : *(open - 1);
      *open++ = static_cast<std::uint32_t>(kept);
    }
    stretch.begin = std::min(stretch.begin, size);
    if (stretch.end != no_id) stretch.end = std::min(stretch.end, size);
    if (kept != k) stretches_[kept] = std::move(stretch);
    ++kept;
  }
  stretches_.erase(stretches_.begin() + static_cast<std::ptrdiff_t>(kept), stretches_.end());
}

std::string_view Labels::name_of(Id id) const {
  const auto at = place_of(names_, id);
  return at != names_.end() && at->id == id ? std::string_view(at->text) : std::string_view();
}

std::string Labels::scope_of(Id id) const {
  // The last to begin, or one that it is in.
  const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), id,
                                      [](Id wanted, const Stretch& stretch) { return wanted < stretch.begin; });
  std::uint32_t at = static_cast<std::uint32_t>(after - stretches_.begin());
  at = at == 0 ? no_id : at - 1;
  while (at != no_id && stretches_[at].end <= id) at = stretches_[at].parent;
  std::vector<const std::string*> parts;
  std::size_t length = 0;
  for (; at != no_id; at = stretches_[at].parent) {
    parts.push_back(&stretches_[at].text);
    length += parts.back()->size() + 1;
  }
  std::string text;
  text.reserve(length);
  for (std::size_t k = parts.size(); k-- > 0;) text += (text.empty() ? "" : "/") + *parts[k];
  return text;
}

std::string Labels::of(Id id) const {
  std::string text = scope_of(id);
  const std::string_view own = name_of(id);
  if (!own.empty() && !text.empty()) text += '/';
  return text.append(own);
}

}  // namespace wengert::detail
