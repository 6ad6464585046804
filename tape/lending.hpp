// Objects that one thread uses at a time, for ops that are called by several.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace wengert {

/// Lends objects, and makes one where all are lent: there are as many as were ever in use at a time.
template <class T>
class Lending {
 public:
  explicit Lending(std::function<T()> make) : make_(std::move(make)) {}

  /// Calls use(object).
  template <class Use>
  void lend(Use use) {
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
  std::function<T()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace wengert
