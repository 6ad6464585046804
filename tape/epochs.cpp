// What finds out a Var that names nothing any more: the epochs of a tape and, in checked builds, the list of all tapes.
#include <algorithm>
#include <mutex>
#include <utility>

#include "wengert/epochs.hpp"
#include "wengert/error.hpp"

namespace wengert::detail {

#ifdef WENGERT_CHECKED
namespace {
std::mutex lifetimes_lock;
Lifetime* lifetimes = nullptr;
}  // namespace

Lifetime::Lifetime() noexcept {
  const std::lock_guard lock(lifetimes_lock);
  next_ = std::exchange(lifetimes, this);
  if (next_) next_->previous_ = this;
}
Lifetime::~Lifetime() {
  const std::lock_guard lock(lifetimes_lock);
  (previous_ ? previous_->next_ : lifetimes) = next_;
  if (next_) next_->previous_ = previous_;
}
void Lifetime::check(const Lifetime* lifetime) {
  const std::lock_guard lock(lifetimes_lock);
  for (const Lifetime* l = lifetimes; l; l = l->next_)
    if (l == lifetime) return;
  throw Error(ErrorCode::stale_id, "this Var's tape has ended; a tape has to outlive the Vars that are recorded on it");
}
#else
Lifetime::Lifetime() noexcept {}
Lifetime::~Lifetime() {}
void Lifetime::check(const Lifetime*) {}
#endif

void Epochs::used_up() {
  throw Error(ErrorCode::out_of_ids, "this tape was rewound or cleared 2^32 - 2 times; use a new one");
}

void Epochs::rewind(Id size) {
  if (now_ == none - 1) used_up();
  rewinds_.make_room(1);
  while (!rewinds_.empty() && rewinds_.back().size >= size) rewinds_.truncate(rewinds_.size() - 1);
  rewinds_.push({now_, size});
  ++now_;
  floor_ = std::min(floor_, size);
}

bool Epochs::forgotten_since(Id id, std::uint32_t epoch) const {
  if (epoch < first_) return true;
  const auto since = std::lower_bound(rewinds_.begin(), rewinds_.end(), epoch,
                                      [](const Rewind& rewind, std::uint32_t e) { return rewind.epoch < e; });
  return since != rewinds_.end() && id >= since->size;
}

}  // namespace wengert::detail
