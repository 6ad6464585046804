// Objects that one thread uses at a time, for ops that are called by several.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace wengert {

/// Lends objects, and makes one where all are lent: there are as many as were ever in use at a time.
///
/// A use that comes to another of the same thread recorded an op that lends from here: objects then hold the op that holds them. So
/// they don't stay once nobody uses any.
template <class T>
class Lending {
 public:
  explicit Lending(std::function<T()> make) : make_(std::move(make)) {}

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

 private:
  using Objects = std::vector<std::unique_ptr<T>>;

  /// A use, from beginning to end.
  class Turn {
   public:
    explicit Turn(Lending& of) : of_(of) {
      const std::lock_guard lock(of_.mutex_);
      const auto me = std::this_thread::get_id();
      const bool again = std::find(of_.users_.begin(), of_.users_.end(), me) != of_.users_.end();
      of_.users_.push_back(me);
      of_.holds_itself_ |= again;
    }
    ~Turn() {
      Objects leaving;  // without the lock: with them may go what comes here
      const std::lock_guard lock(of_.mutex_);
      of_.users_.erase(std::find(of_.users_.begin(), of_.users_.end(), std::this_thread::get_id()));
      if (!of_.users_.empty() || !of_.holds_itself_) return;
      of_.holds_itself_ = false;
      leaving.swap(of_.idle_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Lending& of_;
  };

  std::function<T()> make_;
  std::mutex mutex_;
  Objects idle_;
  std::vector<std::thread::id> users_;
  bool holds_itself_ = false;
};

}  // namespace wengert
