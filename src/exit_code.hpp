// How the command ends, and the exception that ends it early.
#pragma once

#include <stdexcept>
#include <string>

namespace wengert::command {

// Stopped by a signal, the command exits with 128 + its number, as a shell would say: 130 for Ctrl-C, 143 for TERM.
enum ExitCode : int {
  ok = 0,
  failed = 1,  ///< a result is wrong, or it can't be done here: files, memory, instruction set, a reader that went away
  usage = 2,   ///< the command line is wrong
  incomparable = 3,  ///< reports that have nothing in common, or with `compare --strict` something that they don't
};

/// Ends the command: `what()` is the one line that the user reads on standard error (nothing if it is empty).
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace wengert::command
