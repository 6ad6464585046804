// Other processes: this command once more, or another program.
#pragma once

#include <string>
#include <vector>

namespace wengert::command {

struct ProcessResult {
  int exit_code = 0;   ///< -1 if a signal ended it
  int signal = 0;      ///< which one
  std::string output;  ///< standard output and standard error together
};

/// Runs this very executable with these arguments (without the program's name) and waits for it. Ends it early once
/// `stop_signal` says so. Throws Failure if it can't be started.
ProcessResult run_self(const std::vector<std::string>& arguments);

/// The same of another program, looked for in PATH where its name has no slash.
ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace wengert::command
