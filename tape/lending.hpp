// Objects that one thread uses at a time, for ops that are called by several.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tape/function_paths.hpp"
#include "tape/program.hpp"
#include "wengert/custom.hpp"
#include "wengert/replay.hpp"

namespace wengert {

/// What lends, as others see it: what it keeps may hold ops, and so what these lend from.
class Lender {
 public:
  using Visit = std::function<void(const std::shared_ptr<const Lender>&)>;

  virtual ~Lender() = default;
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;

  /// Those that ops are of which it keeps. Threads may use it meanwhile.
  virtual void each_held(const Visit& visit) const = 0;

 protected:
  Lender() = default;

  /// Whether what it keeps holds it, by way of others maybe. Where memory fails it is taken to.
  bool holds_itself() const noexcept try {
    struct Search {
      const Lender* wanted;
      bool found = false;
      std::vector<std::shared_ptr<const Lender>> seen = {};
    } search{this};
    const Visit see = [&search](const std::shared_ptr<const Lender>& held) {
      search.found |= held.get() == search.wanted;
      if (std::find(search.seen.begin(), search.seen.end(), held) == search.seen.end()) search.seen.push_back(held);
    };
    each_held(see);
    for (std::size_t k = 0; k < search.seen.size() && !search.found; ++k) {
      const std::shared_ptr<const Lender> next = search.seen[k];
      next->each_held(see);
    }
    return search.found;
  } catch (...) {
    return true;
  }
};

/// The values of an op that lends, by which it is known for one: CustomRule::values is one of these.
template <class Real>
struct LentValues {
  std::shared_ptr<const Lender> lender;
  decltype(CustomRule<Real>::values) values;

  void operator()(std::size_t samples, Samples<const Real> x, Samples<Real> y) const { values(samples, x, y); }
};

/// @{
/// What ops lend from.
template <class Real>
void each_lender(const CustomRule<Real>& rule, const Lender::Visit& visit) {
  if (const auto* const lent = rule.values.template target<LentValues<Real>>()) visit(lent->lender);
}
template <class Real>
void each_lender(const Program<Real>& program, const Lender::Visit& visit) {
  for (const auto& rule : program.data().source.rules) each_lender(*rule, visit);
}
template <class Real>
void each_lender(const Replay<Real>& replay, const Lender::Visit& visit) {
  each_lender(replay.program(), visit);
}
template <class Real>
void each_lender(const Function<Real>& function, const Lender::Visit& visit) {
  paths_of(function).each_rule([&](const CustomRule<Real>& rule) { each_lender(rule, visit); });
}
/// @}

/// Lends objects, and makes one where all are lent: there are as many as were ever in use at a time.
///
/// Code that comes to an op which comes to this code, as recursion does, makes objects that hold each other. So those kept here go
/// once nobody uses any, if one of them holds this. Of any that hold each other in a ring one is the last to come back, and finds it.
template <class T>
class Lending : public Lender {
 public:
  /// `always`: what `make` holds itself, if it holds any.
  explicit Lending(std::function<T()> make, std::function<void(const Visit&)> always = {})
      : make_(std::move(make)), always_(std::move(always)) {}

  /// Calls use(object). Whoever calls it holds this.
  template <class Use>
  void lend(Use use) {
    const Turn turn(*this);
    std::unique_ptr<T> object;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        object = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!object) object = std::make_unique<T>(make_());
    use(*object);  // where it throws the object goes with it
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(object));
  }

  void each_held(const Visit& visit) const override {
    if (always_) always_(visit);
    const std::lock_guard lock(mutex_);
    for (const auto& object : idle_) each_lender(*object, visit);
    for (const auto& once : once_held_)
      if (const auto held = once.lock()) visit(held);
  }

 private:
  using Objects = std::vector<std::unique_ptr<T>>;

  /// A use, from beginning to end.
  class Turn {
   public:
    explicit Turn(Lending& of) : of_(of) {
      const std::lock_guard lock(of_.mutex_);
      ++of_.uses_;
    }
    ~Turn() {
      if (last() && of_.holds_itself()) of_.forget();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    bool last() const {
      const std::lock_guard lock(of_.mutex_);
      return --of_.uses_ == 0;
    }
    Lending& of_;
  };

  void forget() {
    Objects leaving;  // without the lock: with them may go what comes here
    const std::lock_guard lock(mutex_);
    if (uses_ != 0) return;
    remember();
    leaving.swap(idle_);
  }
  /// What objects hold `make` may hold too, out of sight in code. So it counts for as long as it is there.
  void remember() noexcept try {
    std::erase_if(once_held_, [](const auto& once) { return once.expired(); });
    const auto known = [this](const std::shared_ptr<const Lender>& held) {
      return std::any_of(once_held_.begin(), once_held_.end(), [&](const auto& once) { return once.lock() == held; });
    };
    for (const auto& object : idle_)
      each_lender(*object, [&](const std::shared_ptr<const Lender>& held) {
        if (!known(held)) once_held_.push_back(held);
      });
  } catch (...) {  // for want of memory: some stay unknown
  }

  const std::function<T()> make_;
  const std::function<void(const Visit&)> always_;
  mutable std::mutex mutex_;
  Objects idle_;
  std::vector<std::weak_ptr<const Lender>> once_held_;
  std::size_t uses_ = 0;
};

}  // namespace wengert
