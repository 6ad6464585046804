// wengert/error.hpp: what the library throws.
//
//   wengert::NaiveTape<double> tape;
//   try {
//     tape.backward(7);  // names nothing yet
//   } catch (const wengert::Error& error) {
//     if (error.code() == wengert::ErrorCode::stale_id) std::puts(error.what());
//   }
#pragma once

#include <stdexcept>
#include <string>

#include "wengert/api.hpp"

namespace wengert {

/// Why a call was refused. The message of the exception says what was given, what was expected and what to do.
enum class ErrorCode {
  bad_argument,    ///< a value outside what the function takes
  bad_size,        ///< a span, batch or operand list of the wrong length
  stale_id,        ///< an id (or Var) that names nothing on this tape: never recorded, rewound or cleared
  mixed_tapes,     ///< operands that live on different tapes
  not_an_input,    ///< `set_input` on something that is not an input
  unsupported,     ///< an instruction set or feature that this CPU or build lacks
  other_path,      ///< inputs at which a branch of the recorded code would go the other way
  too_many_paths,  ///< a Function needs more paths than it may keep
  no_root,         ///< Newton's method doesn't arrive at a root
  out_of_ids,      ///< a tape would need more than 2^32 - 2 variables
  out_of_memory,   ///< memory or a budget is exhausted; small change that is missing is a std::bad_alloc instead
  bad_file,        ///< a file that is not what it should be
};

/// Everything that goes wrong through misuse or lack of means. The object the call was made on is as it was before.
class WENGERT_API Error : public std::runtime_error {
 public:
  /// `message`: what was given, what was expected, what to do.
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }  ///< the kind of mistake, to decide by

 private:
  ErrorCode code_;
};

}  // namespace wengert
