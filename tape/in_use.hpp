// Tells an object that is at work and called again, by what it calls: a custom op, a parallel_for, the code of a Function.
//
//   const InUse in_use(running_, "this Function");
#pragma once

#include <string>
#include <utility>

#include "wengert/error.hpp"

namespace wengert {

class InUse {
 public:
  /// Throws bad_argument if it is in use. `what`: for the message.
  InUse(bool& flag, const char* what) : flag_(&flag) {
    if (flag)
      throw Error(ErrorCode::bad_argument, std::string(what) +
                                               " is called by code that it is running itself (a custom op, a "
                                               "parallel_for, the code of a Function); give that code one of its own");
    flag = true;
  }
  InUse(InUse&& other) noexcept : flag_(std::exchange(other.flag_, nullptr)) {}
  InUse& operator=(InUse&&) = delete;
  ~InUse() {
    if (flag_) *flag_ = false;
  }

 private:
  bool* flag_;
};

}  // namespace wengert
